//! Arithmetic on constants alone: it could be a constant.

use syntax::hlo::{InstructionId, Opcode};

use super::{Warning, WarningKind};
use crate::block::{Block, OperandRef};
use crate::finding::Part;
use crate::op_table::is_elementwise;

/// Larger results are better computed than stored.
const ELEMENTS: i64 = 1 << 16;

pub(super) fn find(block: &Block, id: InstructionId, opcode: Opcode) -> Option<Warning> {
    let folds =
        is_elementwise(opcode) && !matches!(opcode, Opcode::Copy | Opcode::StochasticConvert | Opcode::Map);
    let moves = matches!(opcode, Opcode::Reshape | Opcode::Transpose | Opcode::Slice | Opcode::Reverse);
    if !(folds || moves) || block.instruction(id).operands.1 == 0 {
        return None;
    }
    let is_constant = |target| match target {
        OperandRef::Local(id) => block.instruction(id).opcode == Some(Opcode::Constant),
        _ => false,
    };
    let is_small = block.shape(id)?.as_array()?.elements()? <= ELEMENTS;
    if !is_small || !block.operands_of(id).all(|(_, target)| is_constant(target)) {
        return None;
    }
    let message = format!("this {opcode} of constants always has the same result");
    Some(Warning::new(WarningKind::ConstantOperands, id, Part::Opcode, message))
}
