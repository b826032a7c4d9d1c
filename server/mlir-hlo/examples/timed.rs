//! How long the conversion of a file takes: `cargo run --release -p mlir-hlo --example timed -- FILE`.
#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant;

use mlir_hlo::Slice;

fn main() {
    let path = std::env::args().nth(1).unwrap_or_default();
    let text = std::fs::read_to_string(&path).expect("the file can be read");
    let told = |what: &str, start: Instant| println!("{what}: {:?}", start.elapsed());
    for _ in 0..5 {
        let start = Instant::now();
        if path.ends_with(".mlir") && !mlir::holds_hlo(&text) {
            let parse = mlir::parse(&text, mlir::PieceState::default());
            told("parsed", start);
            let start = Instant::now();
            let parts: Vec<_> =
                Slice::parts(&parse, &text).into_iter().map(|slice| vec![(0, slice)]).collect();
            let module = mlir_hlo::to_hlo(&parts);
            println!("{} bytes, {} not said", module.text.len(), module.incomplete.len());
            told("converted", start);
        } else {
            let text: Arc<str> = text.as_str().into();
            let parse = Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
            let block = ir::lower(text, parse);
            told("parsed and lowered", start);
            let start = Instant::now();
            let module = ir::Module::of_block(&block);
            let module = mlir_hlo::to_stablehlo(&[&block], &module);
            println!("{} bytes, {} not said", module.text.len(), module.incomplete.len());
            told("converted", start);
        }
    }
}
