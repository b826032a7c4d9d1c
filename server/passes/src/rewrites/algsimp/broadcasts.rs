//! Rules for `broadcast`, `constant` and `iota`. Source: `HandleBroadcast`, `HandleConstant`, `HandleIota`.

use eval::{Column, Values};
use ir::{AttributeKey, Opcode, Shape};

use super::rewriter::{Id, Rewriter};
use crate::dimensions::{UnitChanges, inverse_permutation, with_element, without_unit_dimensions};

pub(super) fn broadcast(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    let (shape, dims) = (r.shape(id).clone(), r.dimensions(id).to_vec());
    if r.count(id) == r.count(operand) {
        if dims.is_sorted() {
            let new = r.reshape(shape, operand, id);
            r.replace(id, new, "repeats nothing");
            return;
        }
        if r.rank(id) == r.rank(operand) {
            let new = r.transpose(shape, operand, &inverse_permutation(&dims), id);
            r.replace(id, new, "repeats nothing");
            return;
        }
    }
    // Of a reshape that inserts dimensions of size 1.
    if let Some(inner) = r.operand_of(operand, Opcode::Reshape)
        && let Some(changes) = UnitChanges::of(r.dims(inner), r.dims(operand))
        && changes.deleted.is_empty()
    {
        let is_kept = |(at, _): &(usize, &i64)| !changes.inserted.contains(at);
        let dims: Vec<_> = dims.iter().enumerate().filter(is_kept).map(|(_, &dim)| dim).collect();
        let new = r.broadcast(shape, inner, &dims, id);
        r.replace(id, new, "needs no dimensions of size 1");
        return;
    }
    if sink(r, id, operand, &dims) {
        return;
    }
    if r.is_scalar(operand) {
        broadcast_to_user(r, id, operand);
        return;
    }
    if r.is(operand, Opcode::Iota) {
        let dim = r.attributes(operand).int(AttributeKey::IotaDimension).unwrap_or(0);
        if let Some(&dim) = usize::try_from(dim).ok().and_then(|dim| dims.get(dim)) {
            let new = r.iota(shape, dim, id);
            r.replace(id, new, "repeats a sequence");
        }
        return;
    }
    if let Some(inner) = r.operand_of(operand, Opcode::Broadcast) {
        let place = |&dim: &i64| dims.get(dim as usize).copied();
        let Some(dims) = r.dimensions(operand).iter().map(place).collect::<Option<Vec<_>>>() else { return };
        let new = r.broadcast(shape, inner, &dims, id);
        r.replace(id, new, "repeats twice");
        return;
    }
    if !r.options.is_layout_sensitive && r.dims(operand).contains(&1) {
        let sizes = r.dims(operand).to_vec();
        let small = r.reshape(without_unit_dimensions(r.shape(operand)), operand, operand);
        let of_size = dims.iter().zip(&sizes).filter(|(_, size)| **size != 1);
        let dims: Vec<_> = of_size.map(|(&dim, _)| dim).collect();
        let new = r.broadcast(shape, small, &dims, id);
        r.replace(id, new, "needs no dimensions of size 1");
    }
}

/// Computes elementwise users of broadcasts before the broadcast.
///
/// Source: `TryToSinkBroadcastAfterElementwiseOps`.
fn sink(r: &mut Rewriter<'_, '_>, id: Id, operand: Id, dims: &[i64]) -> bool {
    if r.is_scalar(id) {
        return false;
    }
    let mut has_changed = false;
    for user in r.users(id).to_vec() {
        let is_of_scalar = |x: Id| r.operand_of(x, Opcode::Broadcast).is_some_and(|inner| r.is_scalar(inner));
        let is_alike = |x: Id| {
            let inner = r.operand_of(x, Opcode::Broadcast);
            let is_equal = |a: Id| r.shape(operand) == r.shape(a);
            inner.is_some_and(is_equal) && r.dimensions(x) == dims
        };
        let is_candidate = !r.is_dead(user)
            && ir::is_elementwise(r.opcode(user))
            && !r.is(user, Opcode::Copy)
            && r.operands(user).iter().all(|&x| is_of_scalar(x) || is_alike(x));
        if !is_candidate {
            continue;
        }
        let parts: Vec<_> = r.operands(user).iter().map(|&x| (x, is_of_scalar(x))).collect();
        let small = r.shape(operand).clone();
        let mut operands = Vec::with_capacity(parts.len());
        for (x, is_of_scalar) in parts {
            let inner = r.operand(x, 0);
            operands.push(match is_of_scalar {
                true => r.broadcast(with_element(&small, r.element(x)), inner, &[], x),
                false => inner,
            });
        }
        let computed = r.copy_of(user, with_element(&small, r.element(user)), &operands);
        let new = r.broadcast(r.shape(user).clone(), computed, dims, id);
        r.replace_uses(user, new, "is computed before the broadcast");
        has_changed = true;
    }
    has_changed
}

/// A scalar that is broadcast and then only moved or sliced is broadcast to the result's shape at once.
fn broadcast_to_user(r: &mut Rewriter<'_, '_>, id: Id, scalar: Id) {
    let is_moved = |user: Id| {
        let of_first = r.operands(user).first() == Some(&id) && r.is_used_once_by(user, id);
        match r.opcode(user) {
            Opcode::Reshape | Opcode::Reverse | Opcode::Transpose => true,
            Opcode::Sort => r.is_array(user),
            Opcode::Slice | Opcode::DynamicSlice => of_first,
            _ => false,
        }
    };
    let Some(&user) = r.users(id).iter().find(|&&user| !r.is_dead(user) && is_moved(user)) else { return };
    let new = r.broadcast(r.shape(user).clone(), scalar, &[], user);
    r.replace_uses(user, new, "moves equal elements");
}

pub(super) fn constant(r: &mut Rewriter<'_, '_>, id: Id) {
    if !r.is_array(id) || r.count(id) <= 1 {
        return;
    }
    let shape = r.shape(id).clone();
    let Some(column) = r.values(id) else { return };
    if let Some(first) = repeated(&column) {
        let literal = eval::print_literal(&first, &[]);
        let scalar = r.constant(literal, Shape::array(r.element(id), &[]), id);
        let new = r.broadcast(shape, scalar, &[], id);
        r.replace(id, new, "repeats one number");
        return;
    }
    if shape.dims().len() != 1 || r.element(id) == ir::ElementType::Pred {
        return;
    }
    let steps = |i: usize| -> Option<f64> {
        match &column.values {
            Values::Int(values) => values.get(i).map(|&value| value as f64),
            Values::Real(values) => values.get(i).copied(),
            Values::Complex(values) => values.get(i).filter(|value| value[1] == 0.0).map(|value| value[0]),
        }
    };
    let is_sequence = |stride: f64| (0..column.len()).all(|i| steps(i) == Some(i as f64 * stride));
    if is_sequence(1.0) {
        let new = r.iota(shape, 0, id);
        r.replace(id, new, "counts from zero");
        return;
    }
    let Some(stride) = steps(1).filter(|&stride| stride != 0.0 && r.is_integral(id) && is_sequence(stride))
    else {
        return;
    };
    let stride = r.scalar_like(id, stride);
    let iota = r.iota(shape.clone(), 0, id);
    let new = r.plain(Opcode::Multiply, shape, &[iota, stride], id);
    r.replace(id, new, "counts in equal steps");
}

/// The element that all elements are.
fn repeated(column: &Column) -> Option<Column> {
    let bits = |value: &f64| value.to_bits();
    match &column.values {
        Values::Int(values) => {
            let &first = values.first()?;
            values.iter().all(|&value| value == first).then(|| Column::int(column.kind, vec![first]))
        }
        Values::Real(values) => {
            let &first = values.first()?;
            let is_same = values.iter().all(|value| bits(value) == first.to_bits());
            is_same.then(|| Column::real(column.kind, vec![first]))
        }
        Values::Complex(values) => {
            let &first = values.first()?;
            let is_same = values.iter().all(|value| value.iter().map(bits).eq(first.iter().map(bits)));
            is_same.then(|| Column::complex(column.kind, vec![first]))
        }
    }
}

pub(super) fn iota(r: &mut Rewriter<'_, '_>, id: Id) {
    let dim = r.attributes(id).int(AttributeKey::IotaDimension).unwrap_or(0);
    let size = usize::try_from(dim).ok().and_then(|dim| r.dims(id).get(dim)).copied();
    if size.is_some_and(|size| size <= 1) {
        let zero = r.scalar_like(id, 0.0);
        r.replace(id, zero, "counts only zeros");
    }
}
