//! Chains of transposes and reshapes that come back to where they started.
//! Source: `TryRemovingBitcastOrReshapeTransposeChain`.

use ir::Opcode;

use super::rewriter::{Id, Rewriter};
use crate::dimensions::{UnitChanges, is_identity, permute};

/// Removes the chain that ends at `id`, if all its reshapes only move one dimension of size 1, and its transposes together
/// move nothing else.
pub(super) fn remove(r: &mut Rewriter<'_, '_>, id: Id) -> bool {
    let is_start = match r.opcode(id) {
        Opcode::Transpose => !is_identity(r.dimensions(id)),
        _ => is_simple_reshape(r, id),
    };
    if !is_start {
        return false;
    }
    let mut permutation: Vec<i64> = match r.opcode(id) {
        Opcode::Transpose => match effective_permutation(r, id) {
            Some(permutation) => permutation,
            None => return false,
        },
        _ => (0..r.dims(id).iter().filter(|&&size| size != 1).count() as i64).collect(),
    };
    let (mut current, mut last) = (r.operand(id, 0), None);
    while matches!(r.opcode(current), Opcode::Reshape | Opcode::Transpose | Opcode::Bitcast) {
        if r.is(current, Opcode::Transpose) {
            if is_identity(r.dimensions(current)) {
                return false;
            }
            let Some(inner) = effective_permutation(r, current) else { return false };
            permutation = permute(&inner, &permutation);
        } else if !is_simple_reshape(r, current) {
            return false;
        }
        last = Some(current);
        current = r.operand(current, 0);
    }
    let Some(source) = last.map(|last| r.operand(last, 0)).filter(|_| is_identity(&permutation)) else {
        return false;
    };
    let rule = "undoes the moves before it";
    let (from, to) = (r.shape(source).clone(), r.shape(id).clone());
    if r.is_same_shape(&from, &to) {
        return r.replace(id, source, rule);
    }
    if r.reshape_is_bitcast(&from, &to) {
        let new = r.bitcast(to, source, id);
        return r.replace(id, new, rule);
    }
    false
}

/// A reshape, or a bitcast that is one, between shapes with at most one dimension of size 1, which it may move.
fn is_simple_reshape(r: &Rewriter<'_, '_>, id: Id) -> bool {
    let Some(&operand) = r.operands(id).first() else { return false };
    let is_reshape = match r.opcode(id) {
        Opcode::Reshape => true,
        Opcode::Bitcast => r.reshape_is_bitcast(r.shape(operand), r.shape(id)),
        _ => false,
    };
    let units = |id: Id| r.dims(id).iter().filter(|&&size| size == 1).count();
    is_reshape
        && units(id) <= 1
        && units(operand) <= 1
        && UnitChanges::of(r.dims(operand), r.dims(id)).is_some()
}

/// The permutation of a transpose without the dimension of size 1; all of it where there is none, or more than one.
fn effective_permutation(r: &Rewriter<'_, '_>, id: Id) -> Option<Vec<i64>> {
    let permutation = r.dimensions(id);
    let from = r.dims(r.operand(id, 0));
    let mut units = (0..).zip(from).filter(|(_, size)| **size == 1).map(|(dim, _)| dim);
    let (Some(unit), None) = (units.next(), units.next()) else { return Some(permutation.to_vec()) };
    let others = permutation.iter().filter(|&&dim| dim != unit);
    Some(others.map(|&dim| if dim > unit { dim - 1 } else { dim }).collect())
}
