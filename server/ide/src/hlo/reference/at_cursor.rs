//! Finds the keyword of the reference at an offset of the text.

use ir::ElementType;
use syntax::Span;

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::hlo::reference::layouts::layout;
use crate::hlo::reference::{attribute, element_type, opcode};
use crate::hlo::scope::read_shape;
use crate::rich_text::RichText;

/// The documentation of a keyword.
pub(crate) enum Explained {
    /// The hover adds a description of the instruction.
    Opcode(Span, RichText),
    Other(Span, RichText),
}

/// The opcode, attribute name, element type or layout at byte `local` of a piece; `at` is the instruction
/// there.
pub(crate) fn at_cursor(
    context: &FileContext<'_>,
    at: Option<InstructionRef>,
    piece: usize,
    local: usize,
) -> Option<Explained> {
    let block = context.block(piece);
    let Some(at) = at else { return in_shape(&block.text, Span::new(0, block.text.len()), local) };
    let instruction = block.instruction(at.id);
    if instruction.opcode_span.contains(local) {
        return Some(Explained::Opcode(instruction.opcode_span, opcode(instruction.opcode?)));
    }
    for attribute_at in block.parse.attributes_of(instruction) {
        if attribute_at.key_span.contains(local) {
            let row = attribute(attribute_at.key?)?;
            return Some(Explained::Other(attribute_at.key_span, row.text()));
        }
    }
    if instruction.shape_span.contains(local) {
        return in_shape(&block.text, instruction.shape_span, local);
    }
    let operands = block.parse.operands_of(instruction).iter();
    let printed = operands.map(|o| Span { start: o.span.start, end: o.name.start.max(o.span.start) });
    in_shape(&block.text, printed.into_iter().find(|s| s.contains(local))?, local)
}

/// The element type or the layout under the cursor.
fn in_shape(text: &str, span: Span, local: usize) -> Option<Explained> {
    let bytes = text.as_bytes();
    let in_word = |at: &usize| bytes.get(*at).is_some_and(u8::is_ascii_alphanumeric);
    let start = (span.start as usize..local).rev().take_while(in_word).last().unwrap_or(local);
    let end = (local..span.end as usize).take_while(in_word).last().map_or(local, |n| n + 1);
    if let Some(element) = text.get(start..end).and_then(ElementType::from_name)
        && bytes.get(end) == Some(&b'[')
    {
        return Some(Explained::Other(Span::new(start, end), element_type(element)?));
    }
    let line = bytes[span.start as usize..local.min(bytes.len())].iter().rposition(|&b| b == b'\n');
    let from = span.start as usize + line.map_or(0, |n| n + 1);
    let open = from + bytes.get(from..(local + 1).min(bytes.len()))?.iter().rposition(|&b| b == b'{')?;
    let close = open + bytes[open..span.end as usize].iter().position(|&b| b == b'}')? + 1;
    // `]{1,0}`: the braces of a layout directly follow the dimensions.
    if local >= close || open == 0 || bytes[open - 1] != b']' {
        return None;
    }
    let sizes = from + bytes[from..open].iter().rposition(|&b| b == b'[')?;
    let name = (from..sizes).rev().take_while(in_word).last()?;
    let shape = read_shape(text.get(name..close)?)?;
    Some(Explained::Other(Span::new(open, close), layout(shape.as_array()?)?))
}

#[cfg(test)]
mod tests {
    use crate::fixture::{in_entry, open};

    /// The first line of the hover and the highlighted range.
    fn check(line: &str, expect: &str) {
        let text = in_entry(&format!("  p = f32[8,16]{{1,0}} parameter(0)\n  {line}"));
        let (analysis, file, offset) = open(&text);
        let rope = analysis.text(file).to_string();
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is something");
        let markdown = hover.markdown();
        let first = markdown.lines().next().unwrap_or_default();
        assert_eq!(format!("{} | {first}", &rope[hover.range]), expect, "for {line}");
    }

    #[test]
    fn words_of_an_instruction_are_explained() {
        check(
            "t = f32[16,8]{1,0} trans$0pose(p), dimensions={1,0}",
            "transpose | `transpose`: The dimensions in another order.",
        );
        check(
            "t = f32[16,8]{1,0} transpose(p), $0dimensions={1,0}",
            "dimensions | `dimensions`: Dimension numbers, from 0 for the outermost.",
        );
        check(
            "t = b$0f16[16,8]{1,0} transpose(p), dimensions={1,0}",
            "bf16 | `bf16`: 16 bits, bfloat16: exponent 8, mantissa 7: the range of f32, about 2 digits",
        );
        check(
            "t = (f32[16,8]{$01,0}, s32[]) custom-call(p)",
            "{1,0} | `{1,0}`: layout, fastest dimension first",
        );
        check("t = f32[8] negate(f32[8]$0{0} p)", "{0} | `{0}`: layout, fastest dimension first");
    }

    #[test]
    fn names_are_still_what_they_name() {
        check(
            "$0t = f32[16,8]{1,0} transpose(p), dimensions={1,0}",
            "t = f32[16,8]{1,0} transpose(p) | ```hlo",
        );
        check("t = f32[16,8]{1,0} transpose($0p), dimensions={1,0}", "p | ```hlo");
    }

    #[test]
    fn a_layout_tells_strides() {
        let text = in_entry("  t = bf16[8,16]{0,$01:T(8,128)(2,1)S(5)} parameter(0)");
        let (analysis, file, offset) = open(&text);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is something");
        for part in [
            "dimension 0, size 8: stride 1 (",
            "dimension 1, size 16: stride 8\n",
            "tiles",
            "`S(5)`: memory space (the host",
        ] {
            assert!(hover.markdown().contains(part), "{part} is missing in {}", hover.markdown());
        }
    }
}
