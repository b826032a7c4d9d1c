//! Ops and graphs as text of HLO, from their typed values alone.

use std::fmt::Write as _;

use syntax::hlo::Opcode;

use super::parsed::Verbatim;
use super::shapes::separate;
use super::value::write_value;
use crate::attributes::{AttributeValue, Attributes};
use crate::graph::{Graph, Op};

impl Op {
    /// Writes what comes after ` = ` of an instruction: `f32[8] add(a, b), metadata={…}`. `operands` are the names of the
    /// operands. Attributes are in their own order, layouts are left out where none is stated.
    pub fn write<'n>(&self, out: &mut String, operands: impl Iterator<Item = &'n str>) {
        self.write_verbatim(out, operands, &Verbatim::default());
    }

    /// As [`Op::write`], with the parts of the instruction that the op lacks.
    pub fn write_verbatim<'n>(
        &self,
        out: &mut String,
        operands: impl Iterator<Item = &'n str>,
        verbatim: &Verbatim,
    ) {
        let opcode = verbatim.opcode.as_deref().unwrap_or(self.opcode.name());
        _ = write!(out, "{} {opcode}({}", self.shape, verbatim.argument);
        match (self.opcode, self.parameter, &self.literal) {
            (Opcode::Parameter, Some(number), _) => _ = write!(out, "{number}"),
            (Opcode::Constant, _, Some(literal)) => out.push_str(literal),
            _ => {
                for (i, name) in operands.enumerate() {
                    separate(out, i, false);
                    out.push_str(name);
                }
            }
        }
        out.push(')');
        write_attributes(out, &self.attributes);
        for (key, value) in &verbatim.attributes {
            _ = write!(out, ", {key}={value}");
        }
    }
}

/// Each attribute with a comma in front. One whose value says nothing is left out.
fn write_attributes(out: &mut String, attributes: &Attributes) {
    for (key, value) in attributes.iter() {
        let before = out.len();
        _ = write!(out, ", {key}=");
        let behind_name = out.len();
        match value {
            // Canonical form keeps six digits of a number: text is written as it is.
            AttributeValue::Text(text) => out.push_str(text),
            value => write_value(out, Some(key), &value.borrow(), true),
        }
        if out.len() == behind_name {
            out.truncate(before);
        }
    }
}

impl Graph {
    /// Writes the instruction of op `id`, without a newline: `ROOT add.1 = f32[8] add(a, b)`.
    pub fn write_instruction(&self, out: &mut String, id: crate::OpId) {
        let name = |id: &crate::OpId| self.names[*id as usize].as_str();
        if id == self.root {
            out.push_str("ROOT ");
        }
        out.push_str(name(&id));
        out.push_str(" = ");
        self.ops[id as usize].write(out, self.operands[id as usize].iter().map(name));
    }
}
