//! Functions of each element that the two languages write differently.

use ir::{AttributeKey as K, Opcode as O};

use super::rows::*;
use crate::op_attributes::*;
use crate::op_row::Need::{Always, Sometimes};
use crate::op_row::*;

pub(super) const OPS: &[OpRow] = &[
    row("select", O::Select, Pretty::Select, &[]),
    row(
        "compare",
        O::Compare,
        Pretty::Compare,
        &[
            at("comparison_direction", "", K::Direction, Form::Word("comparison_direction"), Always),
            at("compare_type", "", K::Type, Form::Word("comparison_type"), Sometimes),
        ],
    ),
    row(
        "reduce_precision",
        O::ReducePrecision,
        Pretty::ReducePrecision,
        &[at("exponent_bits", "format", K::ExponentBits, Form::Float2, Always)],
    ),
];
