//! Compares maps with the reads that evaluating the op on tensors of their own indices gives, element by
//! element, on random instructions and fusions of all opcodes.

mod access;
mod fusions;
mod instructions;
mod tally;

use std::collections::BTreeSet;

/// An element of an array in an operand or result: leaf, replica (if known), row-major position.
type Element = (u32, Option<u32>, u32);
type Elements = BTreeSet<Element>;
