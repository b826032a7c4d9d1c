//! The printer, shape inference and the verifier on random instructions of all opcodes: what is printed reads
//! back as the same op, inferred shapes are the declared ones, valid modules have no findings, and every
//! broken rule is reported at its place.

mod attributes;
mod modules;
mod mutations;
mod printing;
mod rules;
mod shapes;
mod unknown_words;

use std::sync::Arc;

use ir::{Block, InstructionFinding, Surroundings};
use syntax::hlo::PieceState;

/// The text as one block.
fn lowered(text: &str) -> Block {
    let text: Arc<str> = Arc::from(text);
    let parse = Arc::new(syntax::hlo::parse(&text, PieceState::HEADER));
    ir::lower(text, parse)
}

fn verified(text: &str) -> (Block, Vec<InstructionFinding>) {
    let block = lowered(text);
    let findings = ir::verify(&block, &Surroundings::alone(&block));
    (block, findings)
}

/// `code «token»: message` per finding.
fn shown(block: &Block, findings: &[InstructionFinding]) -> Vec<String> {
    let show = |f: &InstructionFinding| {
        let span = block.part(f.instruction, f.part);
        let line = block.instruction(f.instruction).span.of(&block.text);
        format!("{} «{}»: {}\n    {}", f.code, span.of(&block.text), f.message, &line[..floor(line, 300)])
    };
    findings.iter().map(show).collect()
}

fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
