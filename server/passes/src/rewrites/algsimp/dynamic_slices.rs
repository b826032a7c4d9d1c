//! Rules for `dynamic-slice` and `dynamic-update-slice`. Source: `HandleDynamicSlice`, `HandleDynamicUpdateSlice`.

use ir::{AttributeKey, Attributes, ElementType, Opcode, Shape};

use super::rewriter::{Id, Rewriter};
use crate::dimensions::{UnitChanges, inverse_permutation, kept_dimensions, permute, permuted, with_dims};

pub(super) fn dynamic_slice(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    let starts = r.operands(id)[1..].to_vec();
    let shape = r.shape(id).clone();
    if r.is_scalar(id) || r.is_same_shape(r.shape(operand), &shape) {
        r.replace(id, operand, "takes everything");
        return;
    }
    if starts.len() != r.rank(operand) || starts.is_empty() {
        return;
    }
    if zero_starts(r, id, 1, operand)
        || of_broadcast(r, id, operand, &starts)
        || !r.options.is_layout_sensitive
            && (of_reshape(r, id, operand, &starts) || of_transpose(r, id, operand, &starts))
        || at_constants(r, id, operand, &starts)
        || of_iota(r, id, operand, &starts)
    {
        return;
    }
    if r.is(operand, Opcode::DynamicSlice) && r.operands(operand).len() == r.operands(id).len() {
        let source = r.operand(operand, 0);
        let rule = "slices twice";
        r.replace_operand(id, 0, source, rule);
        for (i, &index) in starts.iter().enumerate() {
            let [whole, part] = [source, operand].map(|id| r.dims(id)[i]);
            let inner = Start { index: r.operand(operand, i + 1), bound: whole - part };
            let start = sum(r, operand, Start { index, bound: part - shape.dims()[i] }, inner);
            r.replace_operand(id, i + 1, start, rule);
        }
    }
}

/// A start, which is clamped to `0..=bound`.
struct Start {
    index: Id,
    bound: i64,
}

/// The sum of two starts, of the type of the first one.
fn sum(r: &mut Rewriter<'_, '_>, like: Id, first: Start, second: Start) -> Id {
    let first = clamped(r, first);
    let mut second = clamped(r, second);
    let shape = r.shape(first).clone();
    if r.element(second) != r.element(first) {
        second = r.plain(Opcode::Convert, shape.clone(), &[second], second);
    }
    r.plain(Opcode::Add, shape, &[first, second], like)
}

fn clamped(r: &mut Rewriter<'_, '_>, Start { index, bound }: Start) -> Id {
    let (low, high) = (r.scalar_like(index, 0.0), r.scalar_like(index, bound as f64));
    r.plain(Opcode::Clamp, r.shape(index).clone(), &[low, index, high], index)
}

/// Starts of dimensions that are taken whole are zero, whatever is written. `first` is the number of the first start,
/// `whole` what must be as large as the result.
fn zero_starts(r: &mut Rewriter<'_, '_>, id: Id, first: usize, whole: Id) -> bool {
    let mut operands = r.operands(id).to_vec();
    let is_whole = |dim: &usize| r.dims(whole).get(*dim) == r.dims(id).get(*dim);
    let is_open = |dim: &usize| {
        let start = operands[first + dim];
        !(r.is_constant(start) && r.is_all(start, 0.0))
    };
    let dims: Vec<_> = (0..operands.len() - first).filter(|dim| is_whole(dim) && is_open(dim)).collect();
    if dims.is_empty() {
        return false;
    }
    let zero = r.scalar_like(operands[first], 0.0);
    for dim in dims {
        operands[first + dim] = zero;
    }
    let new = r.copy_of(id, r.shape(id).clone(), &operands);
    r.replace(id, new, "starts at zero where it is whole")
}

fn make(r: &mut Rewriter<'_, '_>, shape: Shape, source: Id, starts: &[Id], like: Id) -> Id {
    let sizes = Attributes::default().with(AttributeKey::DynamicSliceSizes, shape.dims().to_vec());
    let operands: Vec<_> = [source].into_iter().chain(starts.iter().copied()).collect();
    r.make(Opcode::DynamicSlice, shape, &operands, sizes, like)
}

fn of_broadcast(r: &mut Rewriter<'_, '_>, id: Id, broadcast: Id, starts: &[Id]) -> bool {
    let Some(source) = r.operand_of(broadcast, Opcode::Broadcast) else { return false };
    let (shape, dims) = (r.shape(id).clone(), r.dimensions(broadcast).to_vec());
    let starts = permute(starts, &dims);
    let mut sliced = source;
    if !dims.is_empty() {
        let small = with_dims(r.shape(source), permute(shape.dims(), &dims));
        sliced = make(r, small, source, &starts, id);
    }
    let new = r.broadcast(shape, sliced, &dims, broadcast);
    r.replace(id, new, "slices what is broadcast")
}

fn of_reshape(r: &mut Rewriter<'_, '_>, id: Id, reshape: Id, starts: &[Id]) -> bool {
    let Some(source) = r.operand_of(reshape, Opcode::Reshape) else { return false };
    if UnitChanges::of(r.dims(source), r.dims(reshape)).is_none() {
        return false;
    }
    let shape = r.shape(id).clone();
    let zero = r.scalar_like(starts[0], 0.0);
    let (mut places, mut sizes) = (vec![zero; r.rank(source)], vec![1; r.rank(source)]);
    for (from, to) in kept_dimensions(r.dims(source), r.dims(reshape)) {
        if r.dims(source)[from] != 1 {
            (places[from], sizes[from]) = (starts[to], shape.dims()[to]);
        }
    }
    let sliced = make(r, Shape::array(r.element(id), &sizes), source, &places, id);
    let new = r.reshape(shape, sliced, id);
    r.replace(id, new, "slices before the reshape")
}

fn of_transpose(r: &mut Rewriter<'_, '_>, id: Id, transpose: Id, starts: &[Id]) -> bool {
    let Some(source) = r.operand_of(transpose, Opcode::Transpose) else { return false };
    let (shape, permutation) = (r.shape(id).clone(), r.dimensions(transpose).to_vec());
    let inverse = inverse_permutation(&permutation);
    let sliced = make(r, permuted(&shape, &inverse), source, &permute(starts, &inverse), id);
    let new = r.transpose(shape, sliced, &permutation, id);
    r.replace(id, new, "slices before the transpose")
}

fn at_constants(r: &mut Rewriter<'_, '_>, id: Id, operand: Id, starts: &[Id]) -> bool {
    if r.is_constant(operand) || !starts.iter().all(|&start| r.is_constant(start)) {
        return false;
    }
    let shape = r.shape(id).clone();
    let mut slices = Vec::with_capacity(starts.len());
    for (i, &start) in starts.iter().enumerate() {
        let Some(start) = r.integer(start) else { return false };
        if start < 0 {
            return true;
        }
        let size = shape.dims()[i];
        let start = start.min(r.dims(operand)[i] - size);
        slices.push([start, start + size, 1]);
    }
    let new = r.slice(shape, operand, slices, id);
    r.replace(id, new, "starts at constants")
}

/// One number of a sequence: the index, clamped and scaled.
fn of_iota(r: &mut Rewriter<'_, '_>, id: Id, operand: Id, starts: &[Id]) -> bool {
    let is_index = |element| matches!(element, ElementType::S32 | ElementType::U32);
    let element = r.element(id);
    if r.rank(operand) != 1 || r.dims(id) != [1] || !is_index(element) {
        return false;
    }
    let scaled = r.operands_of(operand, Opcode::Multiply).and_then(|(iota, factor)| {
        let scalar = r.operand_of(factor, Opcode::Broadcast).filter(|&scalar| r.is_scalar(scalar))?;
        Some((iota, scalar))
    });
    let (iota, factor) = match scaled {
        Some((iota, factor)) => (iota, Some(factor)),
        None => (operand, None),
    };
    let index = starts[0];
    if !r.is(iota, Opcode::Iota) || !is_index(r.element(index)) {
        return false;
    }
    let (low, high) = (r.scalar_like(index, 0.0), r.scalar_like(index, (r.dims(iota)[0] - 1) as f64));
    let mut value = r.plain(Opcode::Clamp, r.shape(index).clone(), &[low, index, high], id);
    if r.element(index) != element {
        value = r.convert(value, element);
    }
    if let Some(factor) = factor {
        value = r.binary(Opcode::Multiply, value, factor);
    }
    let new = r.reshape(r.shape(id).clone(), value, id);
    r.replace(id, new, "takes one number of a sequence")
}

pub(super) fn dynamic_update_slice(r: &mut Rewriter<'_, '_>, id: Id) {
    let (whole, part) = (r.operand(id, 0), r.operand(id, 1));
    let starts = r.operands(id)[2..].to_vec();
    if starts.len() != r.rank(id) {
        return;
    }
    if as_pad(r, id, whole, part, &starts) {
        return;
    }
    if r.is_same_shape(r.shape(id), r.shape(part)) {
        r.replace(id, part, "writes everything");
        return;
    }
    if zero_starts(r, id, 2, part) {
        return;
    }
    if r.count(part) == 0 {
        r.replace(id, whole, "writes nothing");
        return;
    }
    // A part that is read, changed in a part of its own, and written back.
    if !r.is(part, Opcode::DynamicUpdateSlice) || r.operands(part).len() != r.operands(id).len() {
        return;
    }
    let read = r.operand(part, 0);
    if !r.is(read, Opcode::DynamicSlice) || r.operand(read, 0) != whole || r.operands(read)[1..] != starts {
        return;
    }
    let rule = "writes only what is changed";
    let inner = r.operand(part, 1);
    r.replace_operand(id, 1, inner, rule);
    for (i, &index) in starts.iter().enumerate() {
        let [of_whole, of_part, of_inner] = [whole, part, inner].map(|id| r.dims(id)[i]);
        let second = Start { index: r.operand(part, i + 2), bound: of_part - of_inner };
        let start = sum(r, part, Start { index, bound: of_whole - of_part }, second);
        r.replace_operand(id, i + 2, start, rule);
    }
}

/// An update at constant places of an array of one number.
fn as_pad(r: &mut Rewriter<'_, '_>, id: Id, whole: Id, part: Id, starts: &[Id]) -> bool {
    let scalar = r.operand_of(whole, Opcode::Broadcast).filter(|&value| r.is_scalar(value));
    let Some(value) = scalar.filter(|_| !moves_to_host(r, part)) else { return false };
    let mut padding = Vec::with_capacity(starts.len());
    for (i, &start) in starts.iter().enumerate() {
        let Some(start) = r.integer(start).filter(|_| r.is_scalar_constant(start)) else { return false };
        let (size, part) = (r.dims(whole)[i], r.dims(part)[i]);
        let start = start.max(0).min(size - part);
        padding.push([start, size - start - part, 0]);
    }
    let attributes = Attributes::default().with(AttributeKey::Padding, padding);
    let new = r.make(Opcode::Pad, r.shape(whole).clone(), &[part, value], attributes, id);
    r.replace(id, new, "surrounds what is written with one number")
}

/// Whether a value was moved to the host's memory just before.
fn moves_to_host(r: &Rewriter<'_, '_>, mut id: Id) -> bool {
    while matches!(r.opcode(id), Opcode::Reshape | Opcode::Bitcast | Opcode::Copy) {
        id = r.operand(id, 0);
    }
    r.is(id, Opcode::CustomCall)
        && r.attributes(id).text(AttributeKey::CustomCallTarget) == Some("MoveToHost")
}
