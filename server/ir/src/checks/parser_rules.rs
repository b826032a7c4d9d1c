//! What XLA's parser checks of the operands and the written shape of one opcode.

use syntax::hlo::{AttributeKey, Opcode};

use crate::shape::{ArrayShape, Shape, UNBOUNDED};

/// An instruction as it is written. Shapes that are missing or have errors are `None`.
pub(crate) struct Written<'a> {
    pub(crate) opcode: Opcode,
    pub(crate) operands: &'a [Option<&'a Shape>],
    pub(crate) shape: Option<&'a Shape>,
    pub(crate) has: &'a dyn Fn(AttributeKey) -> bool,
}

/// Returns the message of the error.
type Rule = fn(&Written<'_>) -> Option<String>;

/// The rule of an opcode, by what the error is about.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ParserRule {
    None,
    OfShape(Rule),
    OfOperands(Rule),
}

impl ParserRule {
    pub(crate) fn check(self, written: &Written<'_>) -> Option<String> {
        match self {
            ParserRule::None => None,
            ParserRule::OfShape(rule) | ParserRule::OfOperands(rule) => rule(written),
        }
    }
}

impl Written<'_> {
    fn first(&self) -> Option<&ArrayShape> {
        self.operands.first().copied().flatten().and_then(Shape::as_array)
    }
}

pub(crate) fn tuple(written: &Written<'_>) -> Option<String> {
    let count = written.operands.len();
    match written.shape?.tuple_elements() {
        Some(elements) if elements.len() != count => {
            Some(format!("the tuple has {} elements, but {count} operands", elements.len()))
        }
        Some(_) => None,
        None => Some("tuple makes a tuple, but its shape is an array".to_owned()),
    }
}

pub(crate) fn reshape(written: &Written<'_>) -> Option<String> {
    let (result, operand) = (written.shape?.as_array()?, written.first()?);
    let is_bounded = |array: &ArrayShape| !array.dims.contains(&UNBOUNDED);
    let differs = result.elements() != operand.elements();
    (is_bounded(result) && is_bounded(operand) && differs)
        .then(|| format!("{result} and {operand} have different numbers of elements"))
}

/// The start indices of a slice or an update: a scalar per dimension, or one vector.
pub(crate) fn starts(written: &Written<'_>) -> Option<String> {
    let opcode = written.opcode;
    let before = if opcode == Opcode::DynamicSlice { 1 } else { 2 };
    let rank = written.first()?.rank();
    let starts = written.operands.len().saturating_sub(before);
    let last = written.operands.last().copied().flatten();
    let is_vector = starts == 1 && last.is_some_and(|shape| shape.dims().len() == 1);
    (starts != rank && !is_vector)
        .then(|| format!("{opcode} of rank {rank} takes {rank} start indices, but has {starts}"))
}

pub(crate) fn non_empty_tuple(written: &Written<'_>) -> Option<String> {
    let is_fine = written.shape?.tuple_elements().is_some_and(|elements| !elements.is_empty());
    (!is_fine).then(|| format!("{} makes a non-empty tuple", written.opcode))
}

pub(crate) fn branches(written: &Written<'_>) -> Option<String> {
    use AttributeKey::{BranchComputations, FalseComputation, TrueComputation};
    let has = written.has;
    let is_fine = has(BranchComputations) || has(TrueComputation) && has(FalseComputation);
    (!is_fine).then(|| {
        "conditional needs branch_computations, or true_computation and false_computation".to_owned()
    })
}

pub(crate) fn calls(written: &Written<'_>) -> Option<String> {
    (!(written.has)(AttributeKey::Calls)).then(|| "async-start needs the attribute calls".to_owned())
}
