//! The syntax elements around an offset: token, brackets, operand or attribute, their list, instruction,
//! body, computation.

use syntax::Span;
use syntax::hlo::{TokenClass, tokens};

use crate::TextRange;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;

/// The syntax elements of HLO around `offset`.
pub(crate) fn enclosing_ranges(context: &FileContext<'_>, offset: usize) -> Vec<TextRange> {
    let mut ranges: Vec<TextRange> = Vec::new();
    let (mut piece, _) = context.locate(offset);
    let instruction = context.instruction_at(offset);
    if let Some(at) = instruction {
        piece = at.piece;
        let mut push = |span: Span| ranges.push(context.range(at.piece, span));
        instruction_parts(context, at, offset, &mut push);
    }
    let block = context.block(piece);
    let start = context.range(piece, Span::default()).start;
    if let Some(header) = block.parse.header.as_ref().filter(|h| h.span.contains(offset - start)) {
        ranges.push(context.range(piece, header.span));
        header.attributes.iter().for_each(|(key, value)| {
            ranges.push(context.range(piece, Span { start: key.start, end: value.end }));
            ranges.push(context.range(piece, *value));
        });
        token_and_brackets(&block.text, header.span, offset - start, |s| {
            ranges.push(context.range(piece, s))
        });
    }
    for (id, computation) in block.parse.computations.iter().enumerate() {
        // For a giant the whole, not the part in this piece.
        let segment = ir::SegmentRef { piece, computation: id as u32 };
        let whole = match context.module().computation_of(segment) {
            Some(index) => context.computation_range(index),
            None => Some(context.range(piece, computation.span)),
        };
        ranges.extend(whole);
        let body = computation.instructions.clone();
        if let (Some(first), Some(last)) = (body.clone().next(), body.last()) {
            let (first, last) = (block.instruction(first).span, block.instruction(last).span);
            ranges.push(context.range(piece, Span { start: first.start, end: last.end.max(first.end) }));
        }
        if instruction.is_none() && computation.span.contains(offset - start) {
            let first = computation.instructions.clone().next().map(|id| block.instruction(id).span.start);
            let header = Span { start: computation.span.start, end: first.unwrap_or(computation.span.end) };
            token_and_brackets(&block.text, header, offset - start, |s| ranges.push(context.range(piece, s)));
        }
    }
    ranges
}

fn instruction_parts(
    context: &FileContext<'_>,
    at: InstructionRef,
    offset: usize,
    push: &mut impl FnMut(Span),
) {
    let block = context.block(at.piece);
    let instruction = block.instruction(at.id);
    push(instruction.span);
    push(instruction.shape_span);
    push(instruction.argument);
    for (operand, _) in block.operands_of(at.id) {
        push(operand.span);
    }
    let attributes = block.parse.attributes_of(instruction);
    for attribute in attributes {
        push(Span { start: attribute.key_span.start, end: attribute.value_span.end });
        push(attribute.value_span);
    }
    if let (Some(first), Some(last)) = (attributes.first(), attributes.last()) {
        push(Span { start: first.key_span.start, end: last.value_span.end });
    }
    let local = offset - context.range(at.piece, Span::default()).start;
    token_and_brackets(&block.text, instruction.span, local, push);
}

/// Tokens and brackets (with and without delimiters) inside `within` that contain `offset`.
fn token_and_brackets(text: &str, within: Span, offset: usize, mut push: impl FnMut(Span)) {
    let mut open: Vec<(u8, usize)> = Vec::new();
    let mut keep = |span: Span| {
        if span.contains(offset) {
            push(span);
        }
    };
    for token in tokens(text, within.start as usize, within.end as usize) {
        let at = token.span.start as usize;
        let opener = match token.class {
            TokenClass::Bracket(b'}') => b'{',
            TokenClass::Bracket(b')') => b'(',
            TokenClass::Bracket(b']') => b'[',
            TokenClass::Bracket(opening) => {
                open.push((opening, at));
                continue;
            }
            TokenClass::Sign => continue,
            _ => {
                keep(token.span);
                continue;
            }
        };
        if let Some((_, start)) = open.pop_if(|(b, _)| *b == opener) {
            keep(Span::new(start + 1, at));
            keep(Span::new(start, at + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::open;

    fn check(text: &str, expect: &[&str]) {
        let (analysis, file, offset) = open(text);
        let text = analysis.rope(file).to_string();
        let ranges = analysis.selection_ranges(file, offset).expect("nobody cancels");
        let shown: Vec<_> =
            ranges.iter().map(|r| text[r.clone()].lines().collect::<Vec<_>>().join("|")).collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn selections_grow_from_the_token_to_the_file() {
        check(
            "HloModule m\n\nENTRY e {\n  p = f32[2] parameter(0)\n  ROOT q = f32[2] add(p, f32[2] $0p), metadata={op_name=\"x\"}\n}\n",
            &[
                "p",
                "f32[2] p",
                "p, f32[2] p",
                "(p, f32[2] p)",
                "ROOT q = f32[2] add(p, f32[2] p), metadata={op_name=\"x\"}",
                "p = f32[2] parameter(0)|  ROOT q = f32[2] add(p, f32[2] p), metadata={op_name=\"x\"}",
                "ENTRY e {|  p = f32[2] parameter(0)|  ROOT q = f32[2] add(p, f32[2] p), metadata={op_name=\"x\"}|}",
                "HloModule m||ENTRY e {|  p = f32[2] parameter(0)|  ROOT q = f32[2] add(p, f32[2] p), metadata={op_name=\"x\"}|}",
            ],
        );
    }

    #[test]
    fn attributes_have_levels_of_their_own() {
        check(
            "ROOT q = f32[2] negate(f32[2] p), metadata={op_name=\"$0x\"}, sharding={replicated}",
            &[
                "\"x\"",
                "op_name=\"x\"",
                "{op_name=\"x\"}",
                "metadata={op_name=\"x\"}",
                "metadata={op_name=\"x\"}, sharding={replicated}",
                "ROOT q = f32[2] negate(f32[2] p), metadata={op_name=\"x\"}, sharding={replicated}",
            ],
        );
    }

    #[test]
    fn headers_have_tokens_too() {
        check(
            "HloModule m, is_scheduled=$0true\n",
            &[
                "true",
                "is_scheduled=true",
                "HloModule m, is_scheduled=true",
                "HloModule m, is_scheduled=true",
            ],
        );
    }
}
