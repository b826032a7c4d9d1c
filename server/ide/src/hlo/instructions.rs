//! The instructions that code actions look at, and spans of their attributes.

use syntax::Span;
use syntax::hlo::AttributeKey;

use crate::TextRange;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;

/// At most `limit` instructions that `range` touches, including nested ones.
pub(crate) fn instructions_in(
    context: &FileContext<'_>,
    range: &TextRange,
    limit: usize,
) -> Vec<InstructionRef> {
    let mut found = Vec::new();
    for piece in context.pieces_in(range) {
        for (id, instruction) in context.block(piece).parse.instructions.iter().enumerate() {
            let span = context.range(piece, instruction.span);
            if span.start <= range.end && range.start <= span.end {
                found.push(InstructionRef { piece, id: id as u32 });
                if found.len() == limit {
                    return found;
                }
            }
        }
    }
    found
}

/// All instructions of the file.
pub(crate) fn all_instructions(context: &FileContext<'_>) -> impl Iterator<Item = InstructionRef> {
    (0..context.pieces()).flat_map(|piece| {
        let count = context.block(piece).parse.instructions.len() as u32;
        (0..count).map(move |id| InstructionRef { piece, id })
    })
}

/// The range of an attribute including the comma before it.
pub(crate) fn attribute_with_comma(
    context: &FileContext<'_>,
    at: InstructionRef,
    key: AttributeKey,
) -> Option<Span> {
    let block = context.block(at.piece);
    let attributes = block.parse.attributes_of(block.instruction(at.id));
    let index = attributes.iter().position(|a| a.key == Some(key))?;
    let attribute = &attributes[index];
    // The gap before this attribute holds the comma; comments are kept.
    let before = match index.checked_sub(1) {
        Some(before) => attributes[before].value_span.end,
        None => block.instruction(at.id).argument.end,
    };
    let between = Span { start: before, end: attribute.key_span.start };
    let comma = between.of(&block.text).rfind(',')?;
    Some(Span { start: before + comma as u32, end: attribute.value_span.end })
}
