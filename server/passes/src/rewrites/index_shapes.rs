//! Indices of gathers and scatters as lists of index vectors. Source: XLA `service/gather_scatter_utils.cc`.

use ir::Shape;
use syntax::hlo::Opcode;

use super::every::add;
use crate::dimensions::{is_identity, permute};
use crate::driver::Run;
use crate::module::{InstructionId, NewOp};

/// A reshape to row-major extents.
pub(super) fn reshape(run: &mut Run<'_>, operand: InstructionId, dims: &[i64]) -> InstructionId {
    let element = run.module[operand].shape().element().unwrap_or(ir::ElementType::Opaque);
    add(run, operand, NewOp::new(Opcode::Reshape, Shape::array(element, dims), &[operand]))
}

/// A transpose into row-major layout, if it moves anything.
pub(super) fn transpose(run: &mut Run<'_>, operand: InstructionId, permutation: &[i64]) -> InstructionId {
    if is_identity(permutation) {
        return operand;
    }
    let element = run.module[operand].shape().element().unwrap_or(ir::ElementType::Opaque);
    let shape = Shape::array(element, &permute(run.module[operand].dims(), permutation));
    add(run, operand, NewOp::new(Opcode::Transpose, shape, &[operand]).dimensions(permutation))
}

/// Joins the first `count` dimensions, at least one.
pub(super) fn collapse_first(run: &mut Run<'_>, operand: InstructionId, count: usize) -> InstructionId {
    let dims = run.module[operand].dims();
    let first = dims[..count].iter().fold(1i64, |product, &size| product.saturating_mul(size));
    let dims: Vec<_> = [first].into_iter().chain(dims[count..].iter().copied()).collect();
    reshape(run, operand, &dims)
}

/// Inserts dimensions of size 1 at these places of the result, which are sorted.
pub(super) fn insert_units(run: &mut Run<'_>, operand: InstructionId, places: &[i64]) -> InstructionId {
    let mut dims = run.module[operand].dims().to_vec();
    for &place in places {
        dims.insert((place as usize).min(dims.len()), 1);
    }
    reshape(run, operand, &dims)
}

/// Drops these dimensions of size 1.
pub(super) fn drop_units(run: &mut Run<'_>, operand: InstructionId, dims: &[i64]) -> InstructionId {
    let all = (0..).zip(run.module[operand].dims());
    let kept: Vec<_> = all.filter(|(dim, _)| !dims.contains(dim)).map(|(_, &size)| size).collect();
    reshape(run, operand, &kept)
}

/// Start indices as a list of index vectors: two dimensions, of which the second one is the vector.
pub(super) fn as_list(run: &mut Run<'_>, mut indices: InstructionId, vector: i64) -> InstructionId {
    let mut rank = run.module[indices].dims().len() as i64;
    if vector == rank {
        indices = insert_units(run, indices, &[vector]);
        rank += 1;
    } else if vector < rank - 1 {
        let permutation: Vec<_> = (0..rank).filter(|&dim| dim != vector).chain([vector]).collect();
        indices = transpose(run, indices, &permutation);
    }
    match rank {
        1 => insert_units(run, indices, &[0]),
        2 => indices,
        _ => collapse_first(run, indices, rank as usize - 1),
    }
}
