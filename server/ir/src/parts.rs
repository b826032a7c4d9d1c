//! From a token's name to its place in the text.

use syntax::Span;
use syntax::hlo::{Attribute, AttributeKey, InstructionId, Parse, ValueNode};

use crate::block::Block;
use crate::finding::Part;

impl Block {
    /// The place of a token of an instruction. Where the token is not written, that of the attribute around it or of the opcode.
    pub fn part(&self, id: InstructionId, part: Part) -> Span {
        Tokens { text: &self.text, parse: &self.parse }.part(id, part)
    }
}

/// A parse with its text.
#[derive(Clone, Copy)]
pub(crate) struct Tokens<'a> {
    pub(crate) text: &'a str,
    pub(crate) parse: &'a Parse,
}

impl Tokens<'_> {
    pub(crate) fn part(self, id: InstructionId, part: Part) -> Span {
        let instruction = &self.parse.instructions[id as usize];
        let operands = self.parse.operands_of(instruction);
        let attribute =
            |key| self.parse.attributes_of(instruction).iter().find(|attribute| attribute.key == Some(key));
        let found = match part {
            Part::Name => Some(instruction.name),
            Part::Opcode => None,
            Part::Shape => Some(instruction.shape_span).filter(|_| instruction.shape.is_some()),
            Part::Operand(n) => operands.get(n as usize).map(|operand| operand.span),
            Part::Operands => match (operands.first(), operands.last()) {
                (Some(first), Some(last)) => Some(Span { start: first.span.start, end: last.span.end }),
                _ => None,
            },
            Part::Argument => Some(instruction.argument),
            Part::Attribute(key) => {
                attribute(key).map(|a| Span { start: a.key_span.start, end: a.value_span.end })
            }
            Part::Value(key) => attribute(key).map(|a| a.value_span),
            Part::Element(key, n) => attribute(key).map(|a| self.element(a, key, n as usize)),
            Part::Field(key, name) => attribute(key).map(|a| self.field(a, name)),
            Part::End => Some(Span { start: instruction.span.end, end: instruction.span.end }),
        };
        found.filter(|span| part == Part::End || !span.is_empty()).unwrap_or(instruction.opcode_span)
    }

    fn element(self, attribute: &Attribute, key: AttributeKey, n: usize) -> Span {
        let span = attribute.value_span;
        let text = span.of(self.text);
        if let ValueNode::Computations { start, len } | ValueNode::Names { start, len } = attribute.value {
            return self.parse.spans(start, len).get(n).copied().filter(|s| !s.is_empty()).unwrap_or(span);
        }
        if matches!(attribute.value, ValueNode::Computation(_) | ValueNode::Inline(_)) {
            return span;
        }
        let of: fn(char) -> bool = match key {
            AttributeKey::Slice => |c| !matches!(c, '{' | '}' | ',') && !c.is_whitespace(),
            AttributeKey::Padding => |c| c != 'x' && !c.is_whitespace(),
            _ => |c| c.is_ascii_digit() || c == '-',
        };
        runs(text, of).nth(n).map_or(span, |run| within(span, run))
    }

    fn field(self, attribute: &Attribute, name: &str) -> Span {
        let span = attribute.value_span;
        let text = span.of(self.text);
        let field = runs(text, |c| !c.is_whitespace() && !matches!(c, '{' | '}'))
            .find(|run| text[run.clone()].strip_prefix(name).is_some_and(|rest| rest.starts_with('=')));
        field.map_or(span, |run| within(span, run))
    }
}

fn within(span: Span, run: std::ops::Range<usize>) -> Span {
    Span { start: span.start + run.start as u32, end: span.start + run.end as u32 }
}

/// Maximal runs of characters that `of` accepts.
fn runs(text: &str, of: impl Fn(char) -> bool) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(&of)?;
        let len = text[start..].find(|c| !of(c)).unwrap_or(text.len() - start);
        at = start + len;
        Some(start..at)
    })
}
