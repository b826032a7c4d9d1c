//! Rules for `reshape`. Source: `HandleReshape`.

use ir::{AttributeKey, Opcode, Shape};

use super::bitcasts::as_bitcast;
use super::chains;
use super::rewriter::{Id, Rewriter};
use crate::dimensions::{UnitChanges, common_factors, kept_by_reshape};

pub(super) fn reshape(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    let shape = r.shape(id).clone();
    if r.count(id) == 0 {
        return;
    }
    if r.is_same_shape(&shape, r.shape(operand)) {
        r.replace(id, operand, "keeps the shape");
        return;
    }
    if let Some(inner) = r.operand_of(operand, Opcode::Reshape) {
        let new = r.reshape(shape, inner, id);
        r.replace(id, new, "reshapes twice");
        return;
    }
    if chains::remove(r, id)
        || !r.options.is_layout_sensitive && r.options.hoists_transposes && hoist_transpose(r, id, operand)
        || of_broadcast(r, id, operand)
        || of_iota(r, id, operand)
        || !r.options.is_layout_sensitive && of_update(r, id, operand)
    {
        return;
    }
    as_bitcast(r, id, operand);
}

/// `reshape(transpose(reshape(x)))`, where the outer reshape joins dimensions that the transpose keeps together: one
/// reshape, then a transpose. Source: `TryHoistTransposeOfReshape`.
fn hoist_transpose(r: &mut Rewriter<'_, '_>, id: Id, transpose: Id) -> bool {
    if !r.is(transpose, Opcode::Transpose) {
        return false;
    }
    let Some(source) = r.operand_of(r.operand(transpose, 0), Opcode::Reshape) else { return false };
    let (shape, permutation) = (r.shape(id).clone(), r.dimensions(transpose));
    let cuts = common_factors(shape.dims(), r.dims(transpose));
    // First dimension of the transpose's operand, extent, dimension of the result.
    let mut chunks = Vec::with_capacity(cuts.len());
    for pair in cuts.windows(2) {
        let (start, end) = (pair[0], pair[1]);
        let Some(joined) = permutation.get(start.1..end.1).filter(|joined| !joined.is_empty()) else {
            return false;
        };
        if end.0 != start.0 + 1 || joined.windows(2).any(|pair| pair[1] != pair[0] + 1) {
            return false;
        }
        chunks.push((joined[0], shape.dims()[start.0], start.0));
    }
    chunks.sort_unstable();
    let dims: Vec<_> = chunks.iter().map(|chunk| chunk.1).collect();
    let mut permutation = vec![0; chunks.len()];
    for (at, chunk) in (0..).zip(&chunks) {
        permutation[chunk.2] = at;
    }
    let inner = r.reshape(Shape::array(r.element(id), &dims), source, id);
    let new = r.transpose(shape, inner, &permutation, id);
    r.replace(id, new, "joins dimensions before the transpose")
}

fn of_broadcast(r: &mut Rewriter<'_, '_>, id: Id, broadcast: Id) -> bool {
    let Some(inner) = r.operand_of(broadcast, Opcode::Broadcast) else { return false };
    let shape = r.shape(id).clone();
    let Some(dims) = kept_by_reshape(r.dims(broadcast), shape.dims(), r.dimensions(broadcast)) else {
        return false;
    };
    let new = r.broadcast(shape, inner, &dims, id);
    r.replace(id, new, "broadcasts to the shape at once")
}

/// A sequence that is split into dimensions: their numbers, weighted, are summed.
fn of_iota(r: &mut Rewriter<'_, '_>, id: Id, iota: Id) -> bool {
    if !r.is(iota, Opcode::Iota) {
        return false;
    }
    let dim = r.attributes(iota).int(AttributeKey::IotaDimension).unwrap_or(0) as usize;
    let shape = r.shape(id).clone();
    let cuts = common_factors(r.dims(iota), shape.dims());
    let is_first =
        |cut: &(usize, usize)| cut.0 == dim && shape.dims().get(cut.1).is_some_and(|&size| size > 1);
    let Some(first) = cuts.iter().position(is_first) else { return false };
    let Some(&(_, end)) = cuts.get(first + 1).filter(|_| cuts.iter().any(|cut| cut.0 == dim + 1)) else {
        return false;
    };
    let (mut multiplier, mut sum) = (1i64, None);
    for dim in (cuts[first].1..end).rev() {
        let part = r.iota(shape.clone(), dim as i64, iota);
        sum = Some(match sum {
            None => part,
            Some(sum) => {
                let factor = r.scalar_like(id, multiplier as f64);
                let scaled = r.plain(Opcode::Multiply, shape.clone(), &[part, factor], id);
                r.plain(Opcode::Add, shape.clone(), &[sum, scaled], id)
            }
        });
        multiplier = multiplier.saturating_mul(shape.dims()[dim]);
    }
    sum.is_some_and(|sum| r.replace(id, sum, "counts in the new dimensions"))
}

/// A reshape by dimensions of size 1 of an array that is written in place: what is written is reshaped.
fn of_update(r: &mut Rewriter<'_, '_>, id: Id, update: Id) -> bool {
    if !r.is(update, Opcode::DynamicUpdateSlice) || !r.has_one_user(update) {
        return false;
    }
    let shape = r.shape(id).clone();
    let Some(changes) = UnitChanges::of(r.dims(update), shape.dims()) else { return false };
    let (whole, part) = (r.operand(update, 0), r.operand(update, 1));
    let starts = r.operands(update)[2..].to_vec();
    let Some(&first) = starts.first() else { return false };
    let zero = r.scalar_like(first, 0.0);
    let whole = r.reshape(shape.clone(), whole, id);
    let (mut sizes, mut places) = (Vec::new(), Vec::new());
    let old_sizes = r.dims(part).to_vec();
    for i in 0..=old_sizes.len() {
        if changes.deleted.contains(&i) {
            continue;
        }
        while changes.inserted.contains(&sizes.len()) {
            sizes.push(1);
            places.push(zero);
        }
        if let (Some(&size), Some(&start)) = (old_sizes.get(i), starts.get(i)) {
            sizes.push(size);
            places.push(start);
        }
    }
    let part = r.reshape(Shape::array(r.element(part), &sizes), part, id);
    let operands: Vec<_> = [whole, part].into_iter().chain(places).collect();
    let new = r.copy_of(update, shape, &operands);
    r.replace(id, new, "reshapes what is written")
}
