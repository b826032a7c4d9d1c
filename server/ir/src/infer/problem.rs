//! Why an op is refused: the token at fault, what was expected there, and what it is.

use std::fmt;

use syntax::hlo::AttributeKey;

use crate::finding::Part;

/// Boxed: it is rarely made, and often passed on.
pub type Reason = Box<Problem>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Stable kebab-case name.
    pub code: &'static str,
    pub part: Part,
    pub message: String,
    /// A called computation's token that does not fit.
    pub callee: Option<CalleePart>,
    /// The title of the quick fix, and the text that replaces `part`.
    pub fix: Option<(String, String)>,
}

/// A token of the n-th computation of an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CalleePart {
    Parameter(AttributeKey, u32, u32),
    Root(AttributeKey, u32),
}

impl Problem {
    pub(crate) fn at(at: At, message: impl Into<String>) -> Reason {
        Box::new(Problem {
            code: at.code,
            part: at.part,
            message: message.into(),
            callee: at.callee,
            fix: None,
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What kind of problem, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At {
    code: &'static str,
    part: Part,
    callee: Option<CalleePart>,
}

impl At {
    /// Reported at the opcode. The fix is inserted after the last attribute.
    pub(crate) fn missing_attribute() -> At {
        opcode("missing-attribute")
    }

    /// The same problem, reported at another token of the instruction.
    pub(crate) fn on(self, other: At) -> At {
        At { part: other.part, ..self }
    }
}

const fn at(code: &'static str, part: Part) -> At {
    At { code, part, callee: None }
}

pub(crate) const COUNT: At = at("operand-count", Part::Operands);
pub(crate) const SHAPE: At = at("shape-mismatch", Part::Shape);
/// Operands that do not fit each other, without telling which one is wrong.
pub(crate) const OPERANDS: At = at("operand-mismatch", Part::Operands);
pub(crate) const OPERANDS_TYPE: At = at("element-type", Part::Operands);
pub(crate) const RESULT_TYPE: At = at("element-type", Part::Shape);

pub(crate) fn operand(i: usize) -> At {
    at("operand-mismatch", Part::Operand(i as u32))
}

pub(crate) fn operand_type(i: usize) -> At {
    at("element-type", Part::Operand(i as u32))
}

pub(crate) fn value(key: AttributeKey) -> At {
    at("attribute-value", Part::Value(key))
}

/// The n-th number of a list.
pub(crate) fn element(key: AttributeKey, n: usize) -> At {
    at("attribute-value", Part::Element(key, n as u32))
}

pub(crate) fn field(key: AttributeKey, name: &'static str) -> At {
    at("attribute-value", Part::Field(key, name))
}

pub(crate) fn opcode(code: &'static str) -> At {
    at(code, Part::Opcode)
}

/// The n-th computation of an attribute as a whole.
pub(crate) fn callee(key: AttributeKey, n: usize) -> At {
    at("called-computation", Part::Element(key, n as u32))
}

pub(crate) fn callee_parameter(key: AttributeKey, n: usize, number: usize) -> At {
    At { callee: Some(CalleePart::Parameter(key, n as u32, number as u32)), ..callee(key, n) }
}

pub(crate) fn callee_root(key: AttributeKey, n: usize) -> At {
    At { callee: Some(CalleePart::Root(key, n as u32)), ..callee(key, n) }
}
