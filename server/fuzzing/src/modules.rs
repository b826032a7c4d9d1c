//! Texts of HLO as blocks and modules.

use std::sync::Arc;

use ir::{Block, Module, PrintOptions, Severity, Surroundings};
use syntax::hlo::PieceState;

/// The text as one block.
pub fn lowered(text: &str) -> Block {
    let text: Arc<str> = Arc::from(text);
    let parse = Arc::new(syntax::hlo::parse(&text, PieceState::HEADER));
    ir::lower(text, parse)
}

/// What is wrong with a text of HLO: errors of the parser, then of the verifier.
pub fn faults(block: &Block) -> Vec<String> {
    let parser = block.parse.errors.iter().map(|error| error.message.to_string());
    let lowering = block.findings.iter().filter(|f| f.severity == Severity::Error);
    let module = Module::of_block(block);
    let whole = module.findings.iter();
    let mut found: Vec<String> = parser
        .chain(lowering.map(|f| f.message.to_string()))
        .chain(whole.map(|f| f.message.to_string()))
        .collect();
    if found.is_empty() {
        let rules = ir::verify(block, &Surroundings::alone(block));
        found.extend(
            rules.into_iter().filter(|f| f.severity == Severity::Error).map(|f| f.message.to_string()),
        );
    }
    found
}

/// The text of a block; `None` if it is too large.
pub fn printed(block: &Block, options: &PrintOptions) -> Option<String> {
    let module = Module::of_block(block);
    ir::print_module(&[block], &module, options).ok()
}
