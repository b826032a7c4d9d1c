//! Ops without a map: the reason, and an upper bound.

use std::fmt::Display;

use indexing_map::{Expr, IndexingMap};
use ir::{Op, Opcode, Shape, op_info};

use crate::checks::{self, Checked, Reason};
use crate::fusion::MAX_MAPS_PER_OP;
use crate::operand_indexing::{OpIndexing, OperandIndexing};

/// Why XLA gives no map for `opcode`, from output to input.
pub(crate) fn reason(opcode: Opcode) -> Reason {
    Reason::from(op_info(opcode).without_map)
}

/// An upper bound: each element of the output reads every element of every operand.
pub(crate) fn everything(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let output = checks::output(op, output_id)?;
    let why = reason(op.opcode);
    Ok(OpIndexing { operands: (0..op.operand_shapes.len()).map(|i| whole(op, i, output, &why)).collect() })
}

/// At most all of operand `i`, with a reason; for a tuple, an access per leaf.
pub(crate) fn whole(op: &Op, i: usize, output: &[i64], why: impl Display) -> Vec<OperandIndexing> {
    let Some(shape) = op.operand_shapes.get(i) else {
        return vec![OperandIndexing::undefined(format!("operand {i} is missing"))];
    };
    let at_most = |shape: &Shape| every_element(shape, output).map(|a| a.at_most("the whole operand", &why));
    if shape.tuple_elements().is_none() {
        return vec![at_most(shape).unwrap_or_else(OperandIndexing::undefined)];
    }
    let leaves = checks::leaf_count(shape);
    if leaves > MAX_MAPS_PER_OP {
        return vec![OperandIndexing::undefined(format!("the operand is a tuple of {leaves} arrays"))];
    }
    let of_leaf = |k: usize| at_most(checks::leaf(shape, k)?).ok().map(|access| access.of_element(Some(k)));
    (0..leaves).filter_map(of_leaf).collect()
}

/// Reads all of an array, with a range variable per dimension.
pub(crate) fn every_element(shape: &Shape, output: &[i64]) -> Checked<OperandIndexing> {
    let operand = &checks::array(shape, "the operand")?.dims;
    let results = (0..operand.len()).map(|j| Expr::var(output.len() + j)).collect();
    Ok(IndexingMap::from_sizes(output, operand, results).into())
}

/// Every random number depends on the whole state, or on both ends of the distribution.
pub(crate) fn random(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let output = checks::output(op, output_id)?;
    let access = |shape: &Shape| every_element(shape, output).unwrap_or_else(OperandIndexing::undefined);
    Ok(OpIndexing::of(op.operand_shapes.iter().map(access)))
}
