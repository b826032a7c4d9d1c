//! The result shape of every opcode, from operand shapes, attributes and called computations.
//!
//! Used where the text leaves the shape out, and to hold a written one against. Messages say what was expected and what
//! is there. Layouts are not inferred; dynamic dimensions where they simply stay. Source of the rules: XLA
//! `service/shape_inference.cc`, and `hlo_verifier.cc` for the ops that have none there.
//!
//! Architecture Invariant: no panic and no wrap, whatever the operands and attributes: sizes are checked, an unbounded
//! dimension stays unbounded.

pub(crate) mod algebra;
pub(crate) mod calls;
pub(crate) mod collectives;
pub(crate) mod contractions;
mod element_types;
pub(crate) mod elementwise;
mod given;
pub(crate) mod indexed;
pub(crate) mod moves;
mod problem;
pub(crate) mod windows;

use syntax::hlo::Opcode;

use crate::attributes::Attributes;
use crate::op_table::op_info;
use crate::shape::Shape;
pub use element_types::has_result_of;
pub(crate) use element_types::{ElementTypes, ResultType};
use given::Inferred;
pub(crate) use given::array;
pub use given::{Called, Given};
pub use problem::{CalleePart, Problem, Reason as ShapeReason};

/// The shape where the text gives none, and nothing is known of called computations.
pub(crate) fn infer_shape(opcode: Opcode, operands: &[&Shape], attributes: &Attributes) -> Inferred {
    // A reducer's result types are those of the inputs then, and a scalar may be combined with an array.
    result_shape(
        opcode,
        &Given { operands, attributes: attributes.view(), declared: None, called: &|_| None },
    )
}

/// The shape of `opcode`'s result. `Err` says what was expected and what is there.
pub fn result_shape(opcode: Opcode, given: &Given<'_>) -> Result<Shape, ShapeReason> {
    match op_info(opcode).shape {
        ShapeRule::Of(rule) => rule(given),
        ShapeRule::ByOpcode(rule) => rule(opcode, given),
    }
}

/// How the shape of an op's result follows from what is given.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ShapeRule {
    Of(fn(&Given<'_>) -> Inferred),
    /// The rule of a family of opcodes, which takes the opcode.
    ByOpcode(fn(Opcode, &Given<'_>) -> Inferred),
}

impl ShapeRule {
    /// Nothing to hold the declared shape against.
    pub(crate) const WRITTEN: ShapeRule = ShapeRule::Of(|given| Ok(given.declared()?.clone()));
}
