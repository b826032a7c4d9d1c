//! Valid modules have no findings.

use generators::hlo;
use random::Rng;

use crate::{shown, verified};

#[test]
fn generated_instructions_are_valid() {
    let opcodes = hlo::opcodes();
    for i in 0..2000u64 {
        let opcode = opcodes[i as usize % opcodes.len()];
        let generated = hlo::random_op(opcode, &mut Rng::new(i * 7919 + 1)).expect("an instruction");
        let (block, findings) = verified(&generated.text);
        let told: Vec<_> = findings
            .iter()
            .filter(|f| f.code != "done-without-start" && f.code != "start-without-done")
            .collect();
        assert!(told.is_empty(), "{}\n{}", generated.text, shown(&block, &findings).join("\n"));
    }
}

#[test]
fn generated_graphs_are_valid() {
    for i in 0..2000u64 {
        let generated = hlo::random_graph(&mut Rng::new(i * 7907 + 3));
        let (block, findings) = verified(&generated.text);
        assert!(findings.is_empty(), "{}\n{}", generated.text, shown(&block, &findings).join("\n"));
    }
}
