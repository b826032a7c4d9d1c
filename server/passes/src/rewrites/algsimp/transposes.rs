//! Rules for `transpose`. Source: `HandleTranspose`.

use ir::{AttributeKey, Opcode};

use super::rewriter::{Id, Rewriter};
use super::{chains, dots};
use crate::dimensions::{inverse_permutation, is_identity, permute, permuted, transpose_is_bitcast};

pub(super) fn transpose(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    let (shape, permutation) = (r.shape(id).clone(), r.dimensions(id).to_vec());
    if fold_into_scatter(r, id, operand) {
        return;
    }
    if is_identity(&permutation) {
        r.replace(id, operand, "moves nothing");
        return;
    }
    if let Some(inner) = r.operand_of(operand, Opcode::Transpose) {
        let composed = permute(r.dimensions(operand), &permutation);
        let new = r.transpose(shape, inner, &composed, id);
        r.replace(id, new, "transposes twice");
        return;
    }
    if chains::remove(r, id) || dots::transpose_of_dot(r, id, operand) {
        return;
    }
    let sizes = shape.dims();
    let moved: Vec<_> = (0..sizes.len()).filter(|&dim| sizes[dim] != 1).map(|dim| permutation[dim]).collect();
    if moved.len() < sizes.len() && moved.is_sorted() {
        let new = r.reshape(shape, operand, id);
        r.replace(id, new, "moves dimensions of size 1 alone");
        return;
    }
    if r.options.is_layout_sensitive && transpose_is_bitcast(r.shape(operand), &shape, &permutation) {
        let new = r.bitcast(shape, operand, id);
        r.replace(id, new, "moves nothing in memory");
        return;
    }
    of_broadcast(r, id, &permutation);
}

/// A transpose, or a bitcast that is one, of a broadcast whose dimensions keep their order.
///
/// Source: `SimplifyTransposeOfBroadcast`.
pub(super) fn of_broadcast(r: &mut Rewriter<'_, '_>, id: Id, permutation: &[i64]) -> bool {
    let broadcast = r.operand(id, 0);
    let Some(inner) = r.operand_of(broadcast, Opcode::Broadcast) else { return false };
    let dims = r.dimensions(broadcast);
    let places = inverse_permutation(permutation);
    let dims_after: Vec<i64> = permute(&places, dims);
    if !dims.is_sorted() || !dims_after.is_sorted() {
        return false;
    }
    let shape = r.shape(id).clone();
    if r.options.is_layout_sensitive {
        let (Some(inner), Some(result)) = (r.shape(inner).as_array(), shape.as_array()) else { return false };
        // A broadcast that transposes as well is slow.
        let order = |layout: &[usize]| {
            let mut order: Vec<_> = (0..layout.len()).collect();
            order.sort_by_key(|&at| layout[at]);
            order
        };
        let of_result: Vec<_> =
            result.minor_to_major().into_iter().filter(|&dim| dims_after.contains(&(dim as i64))).collect();
        if order(&inner.minor_to_major()) != order(&of_result) {
            return false;
        }
    }
    let new = r.broadcast(shape, inner, &dims_after, id);
    r.replace(id, new, "broadcasts to the shape at once")
}

/// A transpose of a scatter into one dimension: operand and updates are transposed instead.
///
/// Source: `TryFoldTransposeIntoScatter`.
fn fold_into_scatter(r: &mut Rewriter<'_, '_>, id: Id, scatter: Id) -> bool {
    let &[operand, indices, updates] = r.operands(scatter) else { return false };
    if !r.is(scatter, Opcode::Scatter) || !r.has_one_user(scatter) {
        return false;
    }
    let attributes = r.attributes(scatter);
    let rank = r.rank(scatter) as i64;
    let window: Vec<i64> = (1..=rank).collect();
    let is_simple = attributes.int(AttributeKey::IndexVectorDim) == Some(1)
        && r.rank(indices) == 2
        && attributes.ints(AttributeKey::InsertedWindowDims).is_empty()
        && attributes.ints(AttributeKey::UpdateWindowDims) == window
        && attributes.ints(AttributeKey::InputBatchingDims).is_empty()
        && attributes.ints(AttributeKey::ScatterIndicesBatchingDims).is_empty();
    if !is_simple {
        return false;
    }
    let (shape, permutation) = (r.shape(id).clone(), r.dimensions(id).to_vec());
    let places = inverse_permutation(&permutation);
    let dims = permute(&places, attributes.ints(AttributeKey::ScatterDimsToOperandDims));
    let mut changed = attributes.clone();
    changed.set(AttributeKey::ScatterDimsToOperandDims, dims);
    let of_updates: Vec<_> = [0].into_iter().chain(permutation.iter().map(|dim| dim + 1)).collect();
    let operand = r.transpose(shape.clone(), operand, &permutation, id);
    let updates_shape = permuted(r.shape(updates), &of_updates);
    let updates = r.transpose(updates_shape, updates, &of_updates, id);
    let new = r.make_calling(Opcode::Scatter, shape, &[operand, indices, updates], changed, scatter);
    r.replace(id, new, "transposes what the scatter reads")
}
