//! Messages that XLA wrote, beside the text that it prints of them: `XlaComputation(…).as_serialized_hlo_module_proto()` and
//! `HloModule.to_string()` of jaxlib 0.12.

use std::path::Path;

use hlo_proto::{Contents, Message, contents};

use crate::{bytes_of, text_of};

fn each(check: impl Fn(&str, &[u8], &str)) {
    let files = test_files::below(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures"), ".pb");
    assert!(files.len() >= 4);
    for path in files {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).expect("it is readable");
        let text = std::fs::read_to_string(path.with_extension("hlo")).expect("its text lies beside it");
        check(&name, &bytes, text.trim_end());
    }
}

#[test]
fn the_text_of_a_message_is_that_of_xla() {
    each(|name, bytes, text| {
        assert_eq!(contents(bytes), Contents::Module(Message::Module), "{name}");
        let read = text_of(bytes).unwrap();
        assert_eq!(read.text.trim_end(), text, "{name}");
        assert_eq!(read.notes, Vec::<String>::new(), "{name}");
    });
}

#[test]
fn the_text_survives_a_message_of_ours() {
    each(|name, _, text| {
        let read = text_of(&bytes_of(text).unwrap()).unwrap();
        assert_eq!(read.text.trim_end(), text, "{name}");
        assert_eq!(read.notes, Vec::<String>::new(), "{name}");
    });
}

/// What XLA's message of a module and ours have different, apart from numbers that identify instructions.
#[test]
fn the_message_of_a_text_is_that_of_xla() {
    use hlo_proto::messages::HloModuleProto;
    fn without_ids(mut module: HloModuleProto) -> Vec<(String, hlo_proto::messages::HloInstructionProto)> {
        let mut instructions = Vec::new();
        for computation in &mut module.computations {
            for mut instruction in computation.instructions.drain(..) {
                instruction.id = 0;
                instruction.operand_ids.clear();
                instruction.control_predecessor_ids.clear();
                instruction.called_computation_ids.clear();
                // Messages that say nothing are there or not.
                instruction.metadata =
                    instruction.metadata.filter(|metadata| *metadata != Default::default());
                instruction.frontend_attributes =
                    instruction.frontend_attributes.filter(|attributes| !attributes.map.is_empty());
                instruction.statistics_viz =
                    instruction.statistics_viz.filter(|statistics| !statistics.statistics.is_empty());
                instruction.sparsity_config = None;
                instruction.block_scaling_config = None;
                // Only older versions of XLA read it.
                instruction.comparison_type.clear();
                instructions.push((computation.name.clone(), instruction));
            }
        }
        instructions.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        instructions
    }
    each(|name, bytes, text| {
        // The names around an asynchronous operation are made up.
        if name == "asynchronous" {
            return;
        }
        let xla = without_ids(hlo_proto::read(bytes, Message::Module).unwrap().module);
        let ours = without_ids(hlo_proto::module_proto(text).unwrap().module);
        assert_eq!(xla.len(), ours.len(), "{name}");
        for (xla, ours) in xla.iter().zip(&ours) {
            assert_eq!(xla, ours, "{name}");
        }
    });
}
