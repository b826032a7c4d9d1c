//! Programs of Triton's operations: those of small fusions are XLA's, line by line.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

mod fusions;

use std::collections::HashSet;
use std::path::Path;

use fusions::{program_of, text_of};
use xtile::Program;
use xtile::program::{Block, ValueId};

fn lowered(module: &str) -> Program {
    let program = program_of(module).expect("a program");
    let lowered = xtile::lower(&program).expect("it is lowered");
    check_values(&lowered);
    lowered
}

/// Each value is defined once, before it is used, in a block that is open where it is used.
fn check_values(program: &Program) {
    fn check(block: &Block, known: &mut HashSet<ValueId>) {
        let mut own = Vec::new();
        let mut define = |value: ValueId, known: &mut HashSet<ValueId>| {
            assert!(known.insert(value), "value {value} is defined twice");
            own.push(value);
        };
        block.arguments.iter().for_each(|&argument| define(argument, known));
        for op in &block.ops {
            for operand in &op.operands {
                assert!(known.contains(operand), "{:?} uses value {operand} before it is defined", op.kind);
            }
            op.blocks.iter().for_each(|inner| check(inner, known));
            op.results.iter().for_each(|&result| define(result, known));
        }
        assert!(block.yields.iter().all(|value| known.contains(value)));
        own.iter().for_each(|value| assert!(known.remove(value)));
    }
    let arguments = 0..=program.arguments.len() as ValueId;
    check(&program.body, &mut arguments.collect());
}

/// The program as XLA emits it, where the folder has that, and in Triton's operations.
#[test]
fn texts_are_those_of_xla() {
    let modules = test_files::below(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/triton"), ".hlo");
    assert!(modules.len() >= 40);
    let mut different = Vec::new();
    for path in modules {
        let module = std::fs::read_to_string(&path).expect("a module");
        let name = path.file_stem().unwrap_or_default().display();
        let expected = std::fs::read_to_string(path.with_extension("mlir")).expect("what XLA writes");
        let program = program_of(&module).unwrap_or_else(|why| panic!("{name}: {why}"));
        let emitted = std::fs::read_to_string(path.with_extension("tiles.mlir")).ok();
        let ours = text_of(&program);
        let pairs = [emitted.map(|emitted| (ours, emitted)), Some((text_of(&lowered(&module)), expected))];
        for (ours, expected) in pairs.into_iter().flatten().filter(|(ours, expected)| ours != expected) {
            let line = ours.lines().zip(expected.lines()).find(|(ours, expected)| ours != expected);
            different.push(format!("{name}: {line:#?}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}

#[test]
fn lowering_again_changes_nothing() {
    for path in test_files::below(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/triton"), ".hlo") {
        let once = lowered(&std::fs::read_to_string(&path).expect("a module"));
        let twice = xtile::lower(&once).expect("it is lowered");
        assert_eq!(text_of(&twice), text_of(&once), "{}", path.display());
    }
}

mod needs_shared {
    use super::*;

    /// Each kernel's text is XLA's, or the same op by op.
    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn texts_of_models_are_those_of_xla() {
        let (mut equal, mut all) = (0, 0);
        for set in ["pairs", "sweep"] {
            let path = test_files::needs::shared(&format!("conformance/triton/dev/{set}.jsonl.gz"));
            for line in test_files::gzip_lines(&path).expect("it is there") {
                let record: serde_json::Value = serde_json::from_str(&line).expect("a record");
                let of = |key: &str| record[key].as_str().unwrap_or_default();
                let text = text_of(&lowered(of("hlo")));
                all += 1;
                match text.trim_end() == of("ttir").trim_end() {
                    true => equal += 1,
                    false => println!("{} differs", of("id")),
                }
            }
        }
        println!("{equal} of {all} texts are XLA's");
        assert!(equal * 100 >= all * 98);
    }
}
