//! The syntax elements around an offset: token, brackets, operand or attribute, their list, instruction,
//! body, computation.

use syntax::Span;

use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::selection_ranges::{Nesting, Surroundings};

impl Nesting for Hlo {
    fn surroundings(&self, context: &FileContext<'_>, offset: usize) -> Surroundings {
        let mut found = Surroundings::default();
        let (mut piece, _) = context.locate(offset);
        let instruction = context.instruction_at(offset);
        if let Some(at) = instruction {
            piece = at.piece;
            instruction_parts(context, at, &mut found);
        }
        let block = context.block(piece);
        let local = offset - context.range(piece, Span::default()).start;
        if let Some(header) = block.parse.header.as_ref().filter(|h| h.span.contains(local)) {
            found.elements.push(context.range(piece, header.span));
            for (key, value) in &header.attributes {
                found.elements.push(context.range(piece, Span { start: key.start, end: value.end }));
                found.elements.push(context.range(piece, *value));
            }
            found.tokens_of.push((piece, header.span));
        }
        for (id, computation) in block.parse.computations.iter().enumerate() {
            // For a giant the whole, not the part in this piece.
            let segment = ir::SegmentRef { piece, computation: id as u32 };
            let whole = match context.module().computation_of(segment) {
                Some(index) => context.computation_range(index),
                None => Some(context.range(piece, computation.span)),
            };
            found.elements.extend(whole);
            let body = computation.instructions.clone();
            let first = body.clone().next().map(|id| block.instruction(id).span);
            if let (Some(first), Some(last)) = (first, body.last()) {
                let end = block.instruction(last).span.end.max(first.end);
                found.elements.push(context.range(piece, Span { start: first.start, end }));
            }
            if instruction.is_none() && computation.span.contains(local) {
                let end = first.map_or(computation.span.end, |first| first.start);
                found.tokens_of.push((piece, Span { start: computation.span.start, end }));
            }
        }
        found
    }
}

fn instruction_parts(context: &FileContext<'_>, at: InstructionRef, found: &mut Surroundings) {
    let block = context.block(at.piece);
    let instruction = block.instruction(at.id);
    let mut push = |span: Span| found.elements.push(context.range(at.piece, span));
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
    found.tokens_of.push((at.piece, instruction.span));
}

#[cfg(test)]
mod tests {
    use crate::fixture::open;

    fn check(text: &str, expect: &[&str]) {
        let (analysis, file, offset) = open(text);
        let text = analysis.text(file).to_string();
        let ranges = analysis.selection_ranges(file, offset).expect("nobody cancels");
        let shown: Vec<_> =
            ranges.iter().map(|r| text[r.clone()].lines().collect::<Vec<_>>().join("|")).collect();
        assert_eq!(shown, expect);
    }

    #[test]
    fn selections_grow_from_the_token_to_the_file() {
        check(
            r#"HloModule m

ENTRY e {
  p = f32[2] parameter(0)
  ROOT q = f32[2] add(p, f32[2] $0p), metadata={op_name="x"}
}
"#,
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
