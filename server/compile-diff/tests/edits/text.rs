//! The text of a module by its parts, for edits.

use std::collections::HashMap;
use std::ops::Range;

use crate::edit::At;
use syntax::Span;
use syntax::hlo::{ComputationKind, OperandKind, Parse, PieceState, ValueNode, parse};

pub struct Text<'t> {
    pub text: &'t str,
    pub parse: Parse,
    /// Per instruction.
    pub computation: Vec<usize>,
    names: HashMap<(usize, &'t str), usize>,
}

impl<'t> Text<'t> {
    pub fn new(text: &'t str) -> Text<'t> {
        let parse = parse(text, PieceState::HEADER);
        let mut computation = vec![0; parse.instructions.len()];
        for (at, own) in parse.computations.iter().enumerate() {
            own.instructions.clone().for_each(|id| computation[id as usize] = at);
        }
        let named = parse.instructions.iter().enumerate();
        let names =
            named.map(|(id, instruction)| ((computation[id], instruction.name.of(text)), id)).collect();
        Text { text, parse, computation, names }
    }

    pub fn of(&self, span: Span) -> &'t str {
        span.of(self.text)
    }

    pub fn name(&self, id: usize) -> &'t str {
        self.of(self.parse.instructions[id].name)
    }

    pub fn place(&self, id: usize) -> At {
        At::new(self.of(self.parse.computations[self.computation[id]].name), self.name(id))
    }

    /// The instructions of a computation.
    pub fn places(&self, computation: usize) -> Vec<At> {
        self.parse.computations[computation].instructions.clone().map(|id| self.place(id as usize)).collect()
    }

    /// Names of operands; `None` where one is written in place.
    pub fn operands(&self, id: usize) -> Vec<Option<(&'t str, Range<usize>)>> {
        let operands = self.parse.operands_of(&self.parse.instructions[id]).iter();
        operands
            .map(|operand| {
                let is_named = matches!(operand.kind, OperandKind::Name | OperandKind::Element { .. });
                is_named.then(|| (self.of(operand.name), operand.name.range()))
            })
            .collect()
    }

    /// Whether all instructions of the computation are written on their own, and computations are not written in place.
    pub fn is_plain(&self, computation: usize) -> bool {
        let own = &self.parse.computations[computation];
        matches!(own.kind, ComputationKind::Whole)
            && own.instructions.clone().all(|id| {
                let instruction = &self.parse.instructions[id as usize];
                !instruction.is_nested
                    && self
                        .parse
                        .attributes_of(instruction)
                        .iter()
                        .all(|a| !matches!(a.value, ValueNode::Inline(_)))
            })
    }

    pub fn definition(&self, computation: usize, name: &str) -> Option<usize> {
        self.names.get(&(computation, name)).copied()
    }

    /// Hashes per instruction of what it computes, within its computation.
    pub fn values(&self) -> Vec<u64> {
        use std::hash::{Hash as _, Hasher as _};
        let mut values = vec![0; self.parse.instructions.len()];
        for at in 0..self.parse.computations.len() {
            for id in self.parse.computations[at].instructions.clone() {
                let id = id as usize;
                let instruction = &self.parse.instructions[id];
                let mut hasher = std::hash::DefaultHasher::new();
                self.of(instruction.opcode_span).hash(&mut hasher);
                let operands = self.operands(id);
                if operands.is_empty() {
                    self.of(instruction.argument).hash(&mut hasher);
                }
                for attribute in self.parse.attributes_of(instruction) {
                    if self.of(attribute.key_span) != "metadata" {
                        self.of(attribute.value_span).hash(&mut hasher);
                    }
                }
                for (name, _) in operands.into_iter().flatten() {
                    self.definition(at, name).map(|operand| values[operand]).hash(&mut hasher);
                }
                values[id] = hasher.finish();
            }
        }
        values
    }
}

/// The text with some ranges replaced, which do not overlap.
pub fn replaced(text: &str, mut replacements: Vec<(Range<usize>, String)>) -> String {
    replacements.sort_by_key(|(range, _)| (range.start, range.end));
    let (mut out, mut at) = (String::with_capacity(text.len() + 64), 0);
    for (range, new) in replacements {
        out.push_str(&text[at..range.start]);
        out.push_str(&new);
        at = range.end;
    }
    out + &text[at..]
}
