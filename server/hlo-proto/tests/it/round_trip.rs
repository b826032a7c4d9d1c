//! Text, message, text.

use std::path::Path;

use generators::hlo::random_graph;
use random::Rng;

use crate::{bytes_of, canonical, text_of};

/// Fails unless the text comes back, and nothing is left out on the way.
#[track_caller]
fn check(name: &str, text: &str) {
    let message = hlo_proto::module_proto(text).unwrap_or_else(|why| panic!("{name}: {why}\n{text}"));
    let expected: Vec<&str> = match canonical(text).contains("{...}") {
        true => vec!["a constant has no elements in the message, because it is {...} in the text"],
        false => Vec::new(),
    };
    let without_count = |note: &String| note.split(" (").next().unwrap_or_default().to_owned();
    assert_eq!(message.notes.iter().map(without_count).collect::<Vec<_>>(), expected, "{name}");
    let read = text_of(&bytes_of(text).unwrap()).unwrap_or_else(|why| panic!("{name}: {why}"));
    assert_eq!(read.text, canonical(text), "{name}");
    assert_eq!(read.notes, Vec::<String>::new(), "{name}");
}

/// The project's own modules, apart from those that are wrong on purpose.
#[test]
fn fixtures_come_back() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut refused = Vec::new();
    let mut count = 0;
    for folder in ["server", "tests", "grammar/textmate/tests"] {
        for path in test_files::below(root.join(folder), ".hlo") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).expect("it is text");
            match hlo_proto::module_proto(&text) {
                Ok(_) => check(&name, &text),
                Err(why) => refused.push(format!("{name}: {why}")),
            }
            count += 1;
        }
    }
    assert!(count >= 40);
    let expected = [
        // A list of opcodes and types, not a module.
        "every_opcode_and_type.hlo: ",
        "optimized_dump.hlo: ",
        "short_style.hlo: ",
    ];
    refused.sort();
    assert_eq!(refused.len(), expected.len(), "{refused:#?}");
    for (refused, expected) in refused.iter().zip(expected) {
        assert!(refused.starts_with(expected), "{refused}");
    }
}

#[test]
fn a_dump_comes_back() {
    let mut count = 0;
    for path in test_files::below(test_files::dump_folder(), ".txt") {
        let text = std::fs::read_to_string(&path).expect("it is readable");
        if text.starts_with("HloModule") {
            check(&path.display().to_string(), &text);
            count += 1;
        }
    }
    assert!(count >= 8);
}

#[test]
fn random_modules_come_back() {
    for case in 0..generators::cases(300) {
        let generated = random_graph(&mut Rng::new(generators::seed(case)));
        check("random", &generated.text);
    }
}

#[test]
fn what_is_not_in_the_message_of_a_module_is_kept_beside_it() {
    let text = "HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}, \
                allow_spmd_sharding_propagation_to_output={true,false}, replica_count=2, num_partitions=4\n\n\
                ENTRY %e (p: f32[2]) -> f32[2] {\n  ROOT %p = f32[2]{0} parameter(0)\n}\n";
    check("configuration", text);
    let message = hlo_proto::module_proto(text).unwrap();
    let config = message.config.as_ref().unwrap();
    assert_eq!((config.replica_count, config.num_partitions), (2, 4));
    let alone = text_of(&hlo_proto::messages::encoded(&message.module)).unwrap().text;
    assert!(!alone.contains("num_partitions"), "{alone}");
}

#[test]
fn what_is_not_understood_is_named() {
    let text = "HloModule m, new_key={1}\n\nENTRY e {\n  p = f32[4] parameter(0)\n  \
                ROOT odd = f32[4] new-opcode(p), new_attribute={1,2}, dimensions={3}\n}\n";
    let message = hlo_proto::module_proto(text).unwrap();
    assert_eq!(
        message.notes,
        [
            "the attribute new_attribute is not known and left out",
            "the module attribute new_key is not known and left out",
            "the opcode new-opcode is not known: XLA may refuse the message",
        ]
    );
    let read = text_of(&hlo_proto::messages::encoded(&message.module)).unwrap();
    assert!(read.text.contains("ROOT %odd = f32[4]{0} new-opcode(%p), dimensions={3}"), "{}", read.text);
    assert_eq!(read.notes, ["the opcode new-opcode is not known"]);
}

#[test]
fn text_with_errors_is_refused_at_its_line() {
    let refused = |text: &str| hlo_proto::module_proto(text).unwrap_err();
    let module = |body: &str| format!("HloModule m\n\nENTRY e {{\n  p = f32[4] parameter(0)\n  {body}\n}}\n");
    assert_eq!(
        refused(&module("ROOT a = f32[4] add(p, q)")),
        "line 5: no instruction named q above in this computation"
    );
    assert_eq!(refused(&module("ROOT a = f32[4] call(p), to_apply=f")), "computation does not exist: f");
    assert_eq!(refused(""), "the module has no entry computation");
    let two = module("ROOT n = f32[4] negate(p)");
    let two = format!("{two}\n// -----\n\n{two}");
    assert_eq!(refused(&two), "the file has several modules, separated by `// -----`: split it");
}

mod needs_shared {
    use test_files::needs::shared;

    use super::check;

    #[test]
    #[ignore = "needs shared: cargo xtask test"]
    fn real_modules_come_back() {
        let mut files = test_files::below(shared("corpus/hlo"), ".gz");
        files.extend(test_files::below(shared("corpus/scale"), ".gz"));
        assert!(!files.is_empty());
        for path in files {
            let text = test_files::gzip_text(&path).expect("it opens");
            check(&path.display().to_string(), &text);
        }
    }
}
