//! Ops that are one instruction without computations: made without a computation around them.

use ir::{AttributeKey as K, Attributes, Op, Opcode, Shape};
use mlir_ops::OpText;

use super::attributes::attributes;
use super::body::Operand;
use super::ops::with_stated_layouts;
use super::sums::{broadcast_dimensions, kept_dimensions};
use crate::not_in_hlo::NotInHlo;
use crate::op_row::{How, OpRow, Special};

/// The instruction of an op with one result of shape `result`, without annotations. `None` where a [`super::Writer`] has to write
/// it: it calls computations, is several instructions, or drops operands.
pub(crate) fn one_instruction(
    op: &OpText<'_>,
    row: &OpRow,
    operands: &[Operand],
    result: &Shape,
) -> Option<Result<Op, NotInHlo>> {
    if !row.regions.is_empty() || row.opcode == Opcode::Rng {
        return None;
    }
    let attributes = match row.how {
        How::Row | How::ReadOnly => attributes(row, op, operands),
        How::Special(Special::BroadcastInDim) => broadcast(op, operands, result).transpose()?,
        How::Special(_) => return None,
    };
    Some(attributes.and_then(|attributes| {
        let shape = with_stated_layouts(op, vec![result.clone()]).pop().ok_or("it has no result")?;
        let operand_shapes = operands.iter().map(|operand| operand.shape.clone()).collect();
        Ok(Op { opcode: row.opcode, shape, operand_shapes, attributes, parameter: None, literal: None })
    }))
}

/// `None` where dimensions are stretched, which is an instruction of its own.
fn broadcast(op: &OpText<'_>, operands: &[Operand], result: &Shape) -> Result<Option<Attributes>, NotInHlo> {
    let [operand] = operands else { return Ok(None) };
    let dimensions = broadcast_dimensions(op)?;
    let is_static = operand.shape.is_static() && result.is_static();
    if is_static && kept_dimensions(&operand.shape, result, &dimensions)?.len() < dimensions.len() {
        return Ok(None);
    }
    Ok(Some(Attributes::default().with(K::Dimensions, dimensions)))
}
