//! A computation while it is written.

use std::rc::Rc;

use mlir::{OpId, ValueId};
use rustc_hash::FxHashMap;

use crate::names::UniqueNames;

/// A value as HLO has it: the name of an instruction of this computation, and its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operand {
    pub name: Rc<str>,
    pub shape: Rc<str>,
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct Line {
    pub name: Rc<str>,
    /// Behind ` = `.
    pub text: String,
    /// The op that it is of.
    pub op: OpId,
}

/// Owner: the [`super::Writer`] of its function. Size: its text.
#[derive(Debug, Default)]
pub(crate) struct Body {
    pub lines: Vec<Line>,
    pub names: UniqueNames,
    /// Results of packs by their number.
    pub values: FxHashMap<(ValueId, u32), Operand>,
    pub parameters: usize,
}

impl Body {
    /// Adds an instruction, and answers it as an operand of others.
    pub fn push(&mut self, wanted: &str, shape: impl Into<Rc<str>>, rest: &str, op: OpId) -> Operand {
        cancel::check();
        let operand = Operand { name: self.names.take(wanted).into(), shape: shape.into() };
        self.lines.push(Line { name: operand.name.clone(), text: format!("{} {rest}", operand.shape), op });
        operand
    }

    pub fn parameter(&mut self, wanted: &str, shape: impl Into<Rc<str>>, behind: &str, op: OpId) -> Operand {
        let number = self.parameters;
        self.parameters += 1;
        self.push(wanted, shape, &format!("parameter({number}){behind}"), op)
    }

    /// The text of the computation, whose root is `root`; where each line starts in it, and its op.
    pub fn finish(mut self, head: &str, root: &Operand) -> (String, Vec<(u32, OpId)>) {
        // The root is the last instruction where nothing stands behind it.
        let at = self.lines.iter().rposition(|line| line.name == root.name);
        let mut text = format!("{head} {{\n");
        let mut lines = Vec::with_capacity(self.lines.len());
        for (i, line) in self.lines.drain(..).enumerate() {
            lines.push((text.len() as u32, line.op));
            text.push_str("  ");
            if Some(i) == at {
                text.push_str("ROOT ");
            }
            text.push_str(&line.name);
            text.push_str(" = ");
            text.push_str(&line.text);
            text.push('\n');
        }
        (text + "}\n", lines)
    }
}

/// `%a, %b`, as operands of an instruction.
pub(crate) fn list(operands: &[Operand]) -> String {
    operands.iter().map(|o| &*o.name).collect::<Vec<_>>().join(", ")
}

/// The shape of several values together.
pub(crate) fn tuple_shape<'s>(shapes: impl IntoIterator<Item = &'s str>) -> String {
    let shapes: Vec<_> = shapes.into_iter().collect();
    format!("({})", shapes.join(", "))
}
