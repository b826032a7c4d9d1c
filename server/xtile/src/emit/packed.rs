//! Arrays of 4-bit floats, of which memory and tiles hold two in a byte: the operands of scaled dots.
//! Source: `GetStorageShape` and others of `codegen/xtile/codegen/emitter_helpers.cc`, `ValidateF4UseInTritonFusion` of
//! `backends/gpu/codegen/triton/xtile_compiler.cc`.

use gpu::Fused;
use ir::{OpId, Opcode, Shape};
use syntax::hlo::ElementType;

use super::{Emission, instruction};
use crate::Reason;
use crate::program::{Arithmetic, Kind, Type, ValueId};
use crate::tile::{Tile, is_multiple_of};
use crate::tiled::TiledId;

/// Elements in a byte.
const PER_BYTE: i64 = 2;

/// The dimension along which two elements are in a byte; `None` for other elements and for numbers.
pub(super) fn packed_dimension(shape: &Shape) -> Option<usize> {
    let array = shape.as_array().filter(|array| array.element == ElementType::F4e2m1fn)?;
    array.minor_to_major().first().copied()
}

/// The sizes of an array of bytes that hold elements of `shape`; `sizes` as they are for other elements.
pub(super) fn stored_sizes(shape: &Shape, mut sizes: Vec<i64>) -> Result<Vec<i64>, Reason> {
    let Some(size) = packed_dimension(shape).and_then(|dim| sizes.get_mut(dim)) else { return Ok(sizes) };
    if *size % PER_BYTE != 0 {
        return Err(format!(
            "Packed storage dimension must be divisible by {PER_BYTE}, got {size} for shape {shape}"
        )
        .into());
    }
    *size /= PER_BYTE;
    Ok(sizes)
}

/// Refuses 4-bit floats that do anything but go to scaled dots.
pub(super) fn check_uses(fused: &Fused) -> Result<(), Reason> {
    let is_packed = |op: OpId| fused.op(op).shape.element() == Some(ElementType::F4e2m1fn);
    let keeps = |op: OpId| {
        use Opcode::*;
        matches!(fused.op(op).opcode, Bitcast | Copy | Parameter | Reshape | Slice | Transpose)
    };
    for op in (0..fused.graph.ops.len() as OpId).filter(|&op| is_packed(op)) {
        cancel::tick();
        if !keeps(op) {
            return Err(format!(
                "Generic f4e2m1fn Triton codegen is unsupported outside storage-preserving scaled-dot operand \
                 paths: {}",
                instruction(fused, op)
            )
            .into());
        }
        if fused.users[op as usize].is_empty() {
            return Err(format!(
                "f4e2m1fn storage value must feed scaled-dot operand 0 or 1: {}",
                instruction(fused, op)
            )
            .into());
        }
        for &user in &fused.users[op as usize] {
            let is_operand = fused.op(user).opcode == Opcode::ScaledDot
                && fused.operands(user).iter().take(2).any(|&operand| operand == op);
            if !(is_operand || is_packed(user) && keeps(user)) {
                return Err(format!(
                    "f4e2m1fn storage value has unsupported Triton user: {} -> {}",
                    instruction(fused, op),
                    instruction(fused, user)
                )
                .into());
            }
        }
    }
    Ok(())
}

impl Emission<'_> {
    /// The sizes of a tile in memory and in the program.
    pub(super) fn stored_sizes(&self, id: TiledId) -> Result<Vec<i64>, Reason> {
        stored_sizes(&self.hlo(id).shape, self.sizes(id)?)
    }

    /// Where a tile starts in an array of bytes.
    pub(super) fn stored_offsets(
        &mut self,
        shape: &Shape,
        tile: &Tile,
        mut offsets: Vec<ValueId>,
    ) -> Result<Vec<ValueId>, Reason> {
        let Some(dim) = packed_dimension(shape) else { return Ok(offsets) };
        let (Some(along), Some(offset)) = (tile.get(dim), offsets.get_mut(dim)) else { return Ok(offsets) };
        if crate::tile::constant(&along.stride) != Some(1) {
            return Err(
                format!("Packed storage requires unit stride in dimension {dim} for shape {shape}").into()
            );
        }
        if !is_multiple_of(&along.offset, PER_BYTE) {
            return Err(format!(
                "Packed storage requires offset in dimension {dim} to be divisible by {PER_BYTE} for shape \
                 {shape}, got {}",
                along.offset
            )
            .into());
        }
        let two = self.index(PER_BYTE);
        let divide = Kind::Arithmetic(Arithmetic::Divide);
        *offset = self.push(divide, vec![*offset, two], Type::Index);
        Ok(offsets)
    }
}
