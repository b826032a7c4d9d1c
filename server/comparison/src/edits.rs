//! What is written differently from the source text: names, and annotations that are left out.

use matching::Program;
use rustc_hash::FxHashMap;
use syntax::Span;
use syntax::hlo::{AttributeKey, OperandKind, Parse, ValueNode};

use crate::defaults::{Defaults, defaults};
use crate::names::Names;

/// Replacements, sorted by position; none overlaps another.
pub(crate) struct Edits<'n>(Vec<(Span, &'n str)>);

/// `named` renames; without it the names stay.
pub(crate) fn edits<'n>(
    source: &str,
    parse: &Parse,
    named: Option<(&Program<'_>, &'n Names<'_>)>,
) -> Edits<'n> {
    let mut edits = Vec::new();
    for instruction in &parse.instructions {
        cancel::tick();
        for attribute in parse.attributes_of(instruction) {
            let defaults = match attribute.key {
                Some(AttributeKey::BackendConfig) => defaults(attribute.value_span.of(source)),
                Some(key) if is_left_out(key) => Defaults::All,
                _ => continue,
            };
            if let Defaults::Some(ranges) = defaults {
                let start = attribute.value_span.start;
                let span = |range: std::ops::Range<usize>| Span {
                    start: start + range.start as u32,
                    end: start + range.end as u32,
                };
                edits.extend(ranges.into_iter().map(|range| (span(range), "")));
            } else {
                let before = source[..attribute.key_span.start as usize].trim_end();
                let start =
                    before.strip_suffix(',').map_or(attribute.key_span.start, |kept| kept.len() as u32);
                edits.push((Span { start, end: attribute.value_span.end }, ""));
            }
        }
        edits.extend(comments(source, instruction.argument).map(|comment| (comment, "")));
    }
    if let Some((program, names)) = named {
        rename(source, parse, program, names, &mut edits);
    }
    edits.sort_unstable_by_key(|(span, _)| (span.start, span.end));
    let mut end = 0;
    edits.retain(|(span, _)| {
        let is_apart = span.start >= end;
        end = if is_apart { span.end } else { end };
        is_apart
    });
    Edits(edits)
}

/// Annotations that say nothing about what is computed, where, and when.
fn is_left_out(key: AttributeKey) -> bool {
    matches!(key, AttributeKey::Metadata | AttributeKey::Origin | AttributeKey::Statistics)
}

/// `/*index=5*/`, which XLA writes into long lists of operands.
fn comments(source: &str, list: Span) -> impl Iterator<Item = Span> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let text = rest.of(source);
        let from = text.find("/*index=")?;
        let to = from + text[from..].find("*/")? + "*/".len();
        let start = rest.start + from as u32;
        rest.start += to as u32;
        Some(Span { start, end: rest.start })
    })
}

fn rename<'n>(
    source: &str,
    parse: &Parse,
    program: &Program<'_>,
    names: &'n Names<'_>,
    edits: &mut Vec<(Span, &'n str)>,
) {
    let instructions = program.instructions.iter().enumerate();
    let ids: FxHashMap<(u32, &str), u32> = instructions
        .map(|(id, instruction)| ((instruction.computation, instruction.name), id as u32))
        .collect();
    for (computation, name) in parse.computations.iter().zip(&names.computations) {
        edits.push((computation.name, name));
    }
    for (id, instruction) in parse.instructions.iter().enumerate() {
        edits.push((instruction.name, &names.instructions[id]));
        // Operands without a name are in the parse alone.
        let written = parse.operands_of(instruction).iter();
        let written = written.filter(|operand| operand.kind != OperandKind::ShapeOnly);
        for (operand, read) in written.zip(program.operands(id as u32)) {
            if !matches!(operand.kind, OperandKind::Nested(_)) {
                edits.push((operand.name, &names.instructions[read.instruction as usize]));
            }
        }
        let mut callees = program.callees(id as u32).iter();
        for attribute in parse.attributes_of(instruction) {
            let called: &[Span] = match &attribute.value {
                ValueNode::Computation(name) => std::slice::from_ref(name),
                ValueNode::Computations { start, len } => parse.spans(*start, *len),
                ValueNode::Inline(_) => &[Span { start: 0, end: 0 }],
                ValueNode::Names { start, len } => {
                    // Control predecessors are of the same computation.
                    let computation = program.instruction(id as u32).computation;
                    let named = |name: &Span| ids.get(&(computation, name.of(source)));
                    let spans = parse.spans(*start, *len).iter();
                    edits.extend(
                        spans.filter_map(|name| Some((*name, &*names.instructions[*named(name)? as usize]))),
                    );
                    continue;
                }
                _ => continue,
            };
            for (name, &callee) in called.iter().zip(&mut callees) {
                edits.push((*name, &names.computations[callee as usize]));
            }
        }
    }
    edits.retain(|(span, text)| text.is_empty() || !span.is_empty());
}

impl Edits<'_> {
    /// Writes a part of the source text.
    pub(crate) fn write(&self, source: &str, part: Span, text: &mut String) {
        let mut at = part.start;
        let first = self.0.partition_point(|(span, _)| span.start < part.start);
        for (span, new) in self.0[first..].iter().take_while(|(span, _)| span.end <= part.end) {
            text.push_str(&source[at as usize..span.start as usize]);
            text.push_str(new);
            at = span.end;
        }
        text.push_str(&source[at as usize..part.end as usize]);
    }
}
