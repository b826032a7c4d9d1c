//! Rules for `bitcast` and `copy`. Source: `HandleBitcast`, `HandleCopy`.

use ir::Opcode;

use super::rewriter::{Id, Rewriter};
use super::{chains, transposes};
use crate::dimensions::bitcast_as_transpose;

pub(super) fn bitcast(r: &mut Rewriter<'_, '_>, id: Id) {
    // The end of a chain of bitcasts is simplified first, so that the whole chain is.
    let mut chain = vec![id];
    while let Some(operand) = r.operand_of(chain[chain.len() - 1], Opcode::Bitcast)
        && r.is(operand, Opcode::Bitcast)
    {
        chain.push(operand);
    }
    for id in chain.into_iter().rev() {
        if !r.is_removed(id) {
            one_bitcast(r, id);
        }
    }
}

fn one_bitcast(r: &mut Rewriter<'_, '_>, mut id: Id) {
    if r.has_control_predecessors(id) || around_elementwise(r, id) {
        return;
    }
    let shape = r.shape(id).clone();
    if let Some(inner) = r.operand_of(r.operand(id, 0), Opcode::Bitcast) {
        let new = r.bitcast(shape.clone(), inner, id);
        r.replace(id, new, "casts twice");
        id = new;
    }
    let operand = r.operand(id, 0);
    if r.element(id) != r.element(operand) {
        return;
    }
    if r.replace_if_same(id, operand, "casts to the same shape") {
        id = operand;
    }
    if chains::remove(r, id) {
        return;
    }
    if let Some(operand) = r.operand_of(id, Opcode::Bitcast)
        && r.is(operand, Opcode::Broadcast)
        && let Some(permutation) = bitcast_as_transpose(r.shape(operand), r.shape(id))
    {
        transposes::of_broadcast(r, id, &permutation);
    }
}

/// `bitcast(f(bitcast(x)))`: one bitcast, behind f.
fn around_elementwise(r: &mut Rewriter<'_, '_>, id: Id) -> bool {
    let function = r.operand(id, 0);
    let &[inner] = r.operands(function) else { return false };
    let Some(x) = r.operand_of(inner, Opcode::Bitcast) else { return false };
    let element = r.element(id);
    let is_alike = [function, inner, x].into_iter().all(|value| r.element(value) == element);
    if !is_alike || !ir::is_elementwise(r.opcode(function)) || !r.has_one_user(function) {
        return false;
    }
    let computed = r.copy_of(function, r.shape(x).clone(), &[x]);
    let new = r.bitcast(r.shape(id).clone(), computed, id);
    r.replace(id, new, "casts around an elementwise operation")
}

/// Makes a reshape or a copy a bitcast of the nearest value above it, past reshapes and copies, that lies in memory in the same way.
/// Returns whether there is one.
pub(super) fn as_bitcast(r: &mut Rewriter<'_, '_>, id: Id, operand: Id) -> bool {
    let shape = r.shape(id).clone();
    let mut source = operand;
    while !r.reshape_is_bitcast(r.shape(source), &shape) {
        if !matches!(r.opcode(source), Opcode::Reshape | Opcode::Copy) {
            return false;
        }
        source = r.operand(source, 0);
    }
    let new = r.bitcast(shape, source, id);
    r.replace(id, new, "moves nothing in memory");
    true
}

pub(super) fn copy(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    let shape = r.shape(id).clone();
    if let Some(inner) = r.operand_of(operand, Opcode::Copy) {
        let new = match r.shape(inner) == &shape {
            true => inner,
            false => r.plain(Opcode::Copy, shape, &[inner], id),
        };
        r.replace(id, new, "copies twice");
        return;
    }
    if r.replace_if_same(id, operand, "copies to the same layout") {
        return;
    }
    let space = |shape: &ir::Shape| {
        shape.as_array().and_then(|array| array.layout.as_ref()).map_or(0, |layout| layout.memory_space)
    };
    if space(&shape) != space(r.shape(operand)) {
        return;
    }
    if as_bitcast(r, id, operand) {
        return;
    }
    if let Some(inner) = r.operand_of(operand, Opcode::Reshape)
        && r.has_one_user(operand)
        && r.element(operand) == r.element(id)
        && gpu::reshape_is_bitcast(r.shape(operand), &shape)
    {
        let new = r.reshape(shape, inner, id);
        r.replace(id, new, "reshapes to the layout at once");
    }
}
