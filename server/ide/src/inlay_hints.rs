//! Behind the operands of an instruction, the domain of its map: `d0 ≤ 9, d1 ≤ 19`.

use indexing::Rules;
use indexing_map::{PrintStyle, domain_short};
use ir::Opcode;

use crate::locate::{FileContext, InstructionRef};
use crate::maps::{instruction_maps, widest_access};
use crate::markdown::shorten;
use crate::{InlayHint, TextRange};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InlayHintsConfig {
    pub domains: bool,
}

/// Characters of a hint.
const LIMIT: usize = 80;

/// Of the instructions that overlap `range`. They stand in front of the attributes, so that long metadata does not
/// push them off the screen.
pub(crate) fn inlay_hints(
    context: &FileContext<'_>,
    range: TextRange,
    config: &InlayHintsConfig,
) -> Vec<InlayHint> {
    let mut hints = Vec::new();
    if !config.domains {
        return hints;
    }
    for piece in context.pieces_in(&range) {
        // No query is asked per instruction: this is where a newer edit stops the loop.
        crate::analysis::check_cancelled(context.db);
        let instructions = &context.block(piece).parse.instructions;
        for (id, instruction) in instructions.iter().enumerate() {
            let span = context.range(piece, instruction.span);
            if span.end < range.start || span.start > range.end || instruction.is_nested {
                continue;
            }
            let at = InstructionRef { piece, id: id as u32 };
            if let Some(label) = domain(context, at) {
                // Behind the closing parenthesis.
                let offset = (context.range(piece, instruction.argument).end + 1).min(span.end);
                hints.push(InlayHint { offset, label, tooltip: None });
            }
        }
    }
    hints
}

/// Nothing for what reads no operand by index: parameters, constants, tuples.
pub(crate) fn domain(context: &FileContext<'_>, at: InstructionRef) -> Option<String> {
    let instruction = context.block(at.piece).instruction(at.id);
    if instruction.operands.1 == 0 || matches!(instruction.opcode?, Opcode::Tuple | Opcode::GetTupleElement) {
        return None;
    }
    let maps = instruction_maps(context, at, 0, Rules::Xla)?;
    let label = domain_short(&widest_access(&maps)?.map, PrintStyle::Floordiv);
    (!label.is_empty()).then(|| shorten(&label, LIMIT))
}
