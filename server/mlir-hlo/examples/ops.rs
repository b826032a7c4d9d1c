//! The ops of StableHLO and MHLO below a folder as modules of HLO, a line of JSON each, as `hlo-analyzer query` reads them:
//! `cargo run --release -p mlir-hlo --example ops -- DIR [METHOD]`.
#![allow(clippy::print_stdout)]

use std::collections::BTreeMap;

use mlir::{PieceState, parse};
use mlir_hlo::hlo_op;
use mlir_ops::Source;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let paths = test_files::below(arguments.next().unwrap_or_default(), ".mlir");
    let method = arguments.next().unwrap_or_else(|| "verify".to_owned());
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut done = std::collections::HashSet::new();
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if text.contains("expected-error") || mlir::holds_hlo(&text) {
            continue;
        }
        let read = parse(&text, PieceState::default());
        let source = Source::alone(&read, &text);
        for id in 0..read.ops.len() as u32 {
            match hlo_op(&source, id) {
                Some(Ok(op)) => {
                    let module = op.text();
                    if done.insert(module.clone()) {
                        let line = text[..read.op(id).span.start as usize].lines().count();
                        println!(
                            "{{\"id\": \"{}:{line} {}\", \"method\": \"{method}\", \"params\": {{\"instruction\": \"r\", \"text\": {:?}}}}}",
                            path.display(),
                            read.name(id, &text),
                            module
                        );
                    }
                }
                Some(Err(reason)) => {
                    *reasons.entry(format!("{}: {reason}", read.name(id, &text))).or_default() += 1
                }
                None => {}
            }
        }
    }
    for (reason, count) in reasons {
        eprintln!("{count} {reason}");
    }
}
