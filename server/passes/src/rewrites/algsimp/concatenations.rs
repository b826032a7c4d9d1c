//! Rules for `concatenate` and `pad`. Source: `HandleConcatenate`, `HandlePad`.

use ir::{AttributeKey, Attributes, Opcode};

use super::rewriter::{Id, Rewriter};
use super::slices::is_unstrided;
use crate::dimensions::{with_dims, without_dimensions};

pub(super) fn concatenate(r: &mut Rewriter<'_, '_>, id: Id) {
    let operands = r.operands(id).to_vec();
    let shape = r.shape(id).clone();
    let Some(&dim) = r.dimensions(id).first() else { return };
    let at = dim as usize;
    if let &[operand] = &operands[..] {
        r.replace_if_same(id, operand, "has one operand");
        return;
    }
    let present: Vec<_> = operands.iter().copied().filter(|&operand| r.count(operand) != 0).collect();
    if present.len() < operands.len() {
        let new = match present[..] {
            [] => operands[0],
            [operand] => operand,
            _ => r.copy_of(id, shape, &present),
        };
        r.replace_if_same(id, new, "has empty operands");
        return;
    }
    if r.options.is_layout_sensitive || at >= shape.dims().len() {
        return;
    }
    let is_nested = |operand: Id| r.is(operand, Opcode::Concatenate) && r.dimensions(operand) == [dim];
    if operands.iter().any(|&operand| is_nested(operand)) {
        let parts = |&operand: &Id| match is_nested(operand) {
            true => r.operands(operand).to_vec(),
            false => vec![operand],
        };
        let flat: Vec<_> = operands.iter().flat_map(parts).collect();
        let new = r.copy_of(id, shape, &flat);
        r.replace(id, new, "joins joined arrays");
        return;
    }
    if join_slices(r, id, &operands, at) {
        return;
    }
    if let &[first, second] = &operands[..] {
        as_pad(r, id, first, second, at);
        return;
    }
    if operands.iter().all(|&operand| operand == operands[0]) && r.dims(operands[0])[at] == 1 {
        let kept = (0..shape.dims().len() as i64).filter(|&other| other != dim).collect::<Vec<_>>();
        let small = r.reshape(without_dimensions(r.shape(operands[0]), &[dim]), operands[0], id);
        let new = r.broadcast(shape, small, &kept, id);
        r.replace(id, new, "repeats one operand");
    }
}

/// Neighbouring slices of one array are one slice.
fn join_slices(r: &mut Rewriter<'_, '_>, id: Id, operands: &[Id], at: usize) -> bool {
    let slices = |r: &Rewriter<'_, '_>, id: Id| {
        let is_plain = r.is(id, Opcode::Slice) && is_unstrided(r, id);
        is_plain.then(|| r.attributes(id).triples(AttributeKey::Slice).to_vec())
    };
    let mut joined = Vec::with_capacity(operands.len());
    let mut i = 0;
    while i < operands.len() {
        let first = operands[i];
        i += 1;
        let Some(mut range) = slices(r, first).filter(|range| range.len() > at) else {
            joined.push(first);
            continue;
        };
        let before = i;
        while let Some(&next) = operands.get(i)
            && let Some(other) = slices(r, next)
            && r.operand(next, 0) == r.operand(first, 0)
            && other.iter().zip(&range).enumerate().all(|(dim, (next, here))| match dim == at {
                true => next[0] == here[1],
                false => next[0] == here[0],
            })
        {
            range[at][1] = other[at][1];
            i += 1;
        }
        if i == before {
            joined.push(first);
            continue;
        }
        let mut dims = r.dims(first).to_vec();
        dims[at] = range[at][1] - range[at][0];
        let shape = with_dims(r.shape(first), dims);
        joined.push(r.slice(shape, r.operand(first, 0), range, first));
    }
    if joined.len() == operands.len() {
        return false;
    }
    let new = r.copy_of(id, r.shape(id).clone(), &joined);
    r.replace_if_same(id, new, "joins neighbouring slices");
    true
}

/// Two arrays, of which one is one number.
fn as_pad(r: &mut Rewriter<'_, '_>, id: Id, first: Id, second: Id, at: usize) -> bool {
    let scalar = |x| r.operand_of(x, Opcode::Broadcast).filter(|&value| r.is_scalar(value));
    let (operand, value, low, high) = match (scalar(first), scalar(second)) {
        (Some(value), _) => (second, value, r.dims(first)[at], 0),
        (None, Some(value)) => (first, value, 0, r.dims(second)[at]),
        _ => return false,
    };
    let mut padding = vec![[0; 3]; r.rank(id)];
    padding[at] = [low, high, 0];
    let attributes = Attributes::default().with(AttributeKey::Padding, padding);
    let new = r.make(Opcode::Pad, r.shape(id).clone(), &[operand, value], attributes, id);
    r.replace(id, new, "surrounds an array with one number")
}

pub(super) fn pad(r: &mut Rewriter<'_, '_>, id: Id) {
    let Some((operand, value)) = r.operands_of(id, Opcode::Pad) else { return };
    let shape = r.shape(id).clone();
    if r.count(operand) == 0 {
        let new = r.broadcast(shape, value, &[], id);
        r.replace(id, new, "is nothing but padding");
        return;
    }
    let padding = r.attributes(id).triples(AttributeKey::Padding).to_vec();
    if padding.len() != r.rank(id) {
        return;
    }
    let with = |r: &mut Rewriter<'_, '_>, shape, padding: Vec<[i64; 3]>, operand| {
        let attributes = Attributes::default().with(AttributeKey::Padding, padding);
        r.make(Opcode::Pad, shape, &[operand, value], attributes, id)
    };
    let has_no_inside = |(padding, &size): (&[i64; 3], &i64)| padding[2] > 0 && size == 1;
    if padding.iter().zip(r.dims(operand)).any(has_no_inside) {
        let plain = padding
            .iter()
            .zip(r.dims(operand))
            .map(|(&[low, high, interior], &size)| [low, high, if size == 1 { 0 } else { interior }]);
        let plain = plain.collect();
        let new = with(r, shape, plain, operand);
        r.replace(id, new, "has one element, so nothing is between elements");
        return;
    }
    let has_no_edges = padding.iter().all(|padding| padding[..2] == [0, 0]);
    if has_no_edges && r.replace_if_same(id, operand, "pads nothing") {
        return;
    }
    if of_broadcast(r, id, operand, &padding) {
        return;
    }
    if padding.iter().any(|padding| padding[0] < 0 || padding[1] < 0) {
        let positive: Vec<_> =
            padding.iter().map(|&[low, high, interior]| [low.max(0), high.max(0), interior]).collect();
        let size = |(&[low, high, interior], &size): (&[i64; 3], &i64)| {
            low + high + size + (size - 1).max(0).saturating_mul(interior)
        };
        let dims: Vec<_> = positive.iter().zip(r.dims(operand)).map(size).collect();
        let cut = |(&[low, high, _], &size): (&[i64; 3], &i64)| [-low.min(0), size + high.min(0), 1];
        let slices = padding.iter().zip(&dims).map(cut).collect();
        let padded = with(r, with_dims(&shape, dims), positive, operand);
        let new = r.slice(shape, padded, slices, id);
        r.replace(id, new, "cuts off by a slice");
    }
}

/// A broadcast of values along the padded dimensions alone: pads before the other dimensions are broadcast.
fn of_broadcast(r: &mut Rewriter<'_, '_>, id: Id, broadcast: Id, padding: &[[i64; 3]]) -> bool {
    let Some(inner) = r.operand_of(broadcast, Opcode::Broadcast) else { return false };
    let padded: Vec<i64> =
        (0..).zip(padding).filter(|(_, padding)| **padding != [0; 3]).map(|(dim, _)| dim).collect();
    if padded.len() >= padding.len() || !r.has_one_user(broadcast) || r.rank(inner) > padded.len() {
        return false;
    }
    let place = |dim: &i64| padded.iter().position(|padded| padded == dim).map(|at| at as i64);
    let Some(dims) = r.dimensions(broadcast).iter().map(place).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let others: Vec<_> = (0..padding.len() as i64).filter(|dim| !padded.contains(dim)).collect();
    let (shape, value) = (r.shape(id).clone(), r.operand(id, 1));
    let small = r.broadcast(without_dimensions(r.shape(broadcast), &others), inner, &dims, broadcast);
    let of_padded: Vec<_> = padded.iter().map(|&dim| padding[dim as usize]).collect();
    let attributes = Attributes::default().with(AttributeKey::Padding, of_padded);
    let pad = r.make(Opcode::Pad, without_dimensions(&shape, &others), &[small, value], attributes, id);
    let new = r.broadcast(shape, pad, &padded, id);
    r.replace(id, new, "pads before the broadcast")
}
