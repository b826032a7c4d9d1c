//! Conversions of whole modules: what they yield parses, verifies, and means the same.

#![allow(clippy::print_stdout)]

mod graphs;
mod models;
mod more_ops;
mod named_dimensions;
mod records;
mod round_trip;
mod said;
mod single_ops;
mod spoilt;
mod started;
mod tensors;
mod unknown_extents;

use std::sync::Arc;

use ir::{Block, Severity, Surroundings};
use mlir::PieceState;
use mlir_hlo::{HloModule, Slice, StablehloModule};

/// The module of HLO that a text of MLIR is.
pub fn to_hlo(text: &str) -> HloModule {
    let parse = mlir::parse(text, PieceState::default());
    let parts: Vec<_> = Slice::parts(&parse, text).into_iter().map(|slice| vec![(0, slice)]).collect();
    mlir_hlo::to_hlo(&parts)
}

/// The module of StableHLO that a text of HLO is.
pub fn to_stablehlo(text: &str) -> StablehloModule {
    let block = lowered(text);
    let module = ir::Module::of_block(&block);
    mlir_hlo::to_stablehlo(&[&block], &module)
}

pub fn lowered(text: &str) -> Block {
    let text: Arc<str> = Arc::from(text);
    let parse = Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
    ir::lower(text, parse)
}

/// What is wrong with a text of HLO, line by line, module by module.
pub fn faults(text: &str) -> Vec<String> {
    text.split("\n// -----\n\n").flat_map(faults_of_module).collect()
}

fn faults_of_module(text: &str) -> Vec<String> {
    let block = lowered(text);
    let line_of = |at: u32| text[..at as usize].matches('\n').count() + 1;
    let line =
        |at: u32| text.lines().nth(line_of(at) - 1).unwrap_or_default().chars().take(200).collect::<String>();
    let mut found: Vec<String> =
        block.parse.errors.iter().map(|e| format!("{} in {}", e.message, line(e.span.start))).collect();
    let errors = block.findings.iter().filter(|f| f.severity == Severity::Error);
    found.extend(errors.map(|f| format!("{} in {}", f.message, line(f.span.start))));
    if !found.is_empty() {
        return found;
    }
    let module = ir::Module::of_block(&block);
    found.extend(module.findings.iter().map(|f| f.message.clone()));
    let surroundings = Surroundings::alone(&block);
    let verified = ir::verify(&block, &surroundings).into_iter().filter(|f| f.severity == Severity::Error);
    found.extend(
        verified.map(|f| format!("{} in {}", f.message, line(block.instruction(f.instruction).span.start))),
    );
    found
}
