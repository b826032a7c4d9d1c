//! Rules for `slice`. Source: `HandleSlice`.

use ir::{AttributeKey, Opcode, Shape};

use super::rewriter::{Id, Rewriter};
use crate::dimensions::{with_dims, without_dimensions};

/// Start, limit and stride of each dimension.
fn slices(r: &Rewriter<'_, '_>, id: Id) -> Vec<[i64; 3]> {
    r.attributes(id).triples(AttributeKey::Slice).to_vec()
}

pub(super) fn is_unstrided(r: &Rewriter<'_, '_>, id: Id) -> bool {
    r.attributes(id).triples(AttributeKey::Slice).iter().all(|slice| slice[2] == 1)
}

pub(super) fn slice(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    if r.attributes(id).triples(AttributeKey::Slice).len() != r.rank(id)
        || r.replace_if_same(id, operand, "takes everything")
        || of_pad(r, id, operand)
        || of_slice(r, id, operand)
        || of_broadcast(r, id, operand)
        || one_of_concatenation(r, id, operand)
        || of_concatenation(r, id, operand)
        || of_window(r, id, operand)
        || !r.options.is_layout_sensitive && of_reshape(r, id, operand)
        || of_reverse(r, id, operand)
    {
        return;
    }
    // A stride that takes one element.
    let mut slices = slices(r, id);
    let mut has_changed = false;
    for slice in &mut slices {
        let [start, limit, stride] = *slice;
        if stride != 1 && (stride >= limit || start.saturating_add(stride) >= limit) {
            *slice = [start, start + 1, 1];
            has_changed = true;
        }
    }
    if has_changed {
        let new = r.slice(r.shape(id).clone(), operand, slices, id);
        r.replace(id, new, "takes one element, so the stride says nothing");
    }
}

fn of_pad(r: &mut Rewriter<'_, '_>, id: Id, pad: Id) -> bool {
    let Some((inner, value)) = r.operands_of(pad, Opcode::Pad) else { return false };
    let (shape, mut slices) = (r.shape(id).clone(), slices(r, id));
    let paddings = r.attributes(pad).triples(AttributeKey::Padding);
    let (mut undoes, mut is_inside) = (true, true);
    for ((slice, &[low, high, interior]), &size) in slices.iter_mut().zip(paddings).zip(r.dims(pad)) {
        let [start, limit, stride] = *slice;
        let edge = size - high;
        if limit <= low || start >= edge {
            let new = r.broadcast(shape, value, &[], id);
            return r.replace(id, new, "takes only padding");
        }
        undoes &= start == low && stride - 1 == interior;
        is_inside &= start >= low && limit <= edge && interior == 0 && stride == 1;
        *slice = [start - low, limit - low, stride];
    }
    if undoes && r.replace_if_same(id, inner, "takes what was padded") {
        return true;
    }
    if !is_inside {
        return false;
    }
    let new = r.slice(shape, inner, slices, id);
    r.replace(id, new, "takes no padding")
}

fn of_slice(r: &mut Rewriter<'_, '_>, id: Id, outer: Id) -> bool {
    let Some(inner) = r.operand_of(outer, Opcode::Slice) else { return false };
    if !is_unstrided(r, id) || !is_unstrided(r, outer) {
        return false;
    }
    let moved = slices(r, id).into_iter().zip(slices(r, outer));
    let moved = moved.map(|([start, limit, _], [before, ..])| [start + before, limit + before, 1]).collect();
    let new = r.slice(r.shape(id).clone(), inner, moved, id);
    r.replace(id, new, "slices twice")
}

fn of_broadcast(r: &mut Rewriter<'_, '_>, id: Id, broadcast: Id) -> bool {
    let Some(inner) = r.operand_of(broadcast, Opcode::Broadcast) else { return false };
    let (shape, slices) = (r.shape(id).clone(), slices(r, id));
    let dims = r.dimensions(broadcast).to_vec();
    let Some(of_inner) =
        dims.iter().map(|&dim| slices.get(dim as usize).copied()).collect::<Option<Vec<_>>>()
    else {
        return false;
    };
    let is_whole = of_inner.iter().zip(r.dims(inner)).all(|(slice, &size)| *slice == [0, size, 1]);
    let rule = "slices what is broadcast";
    if is_whole {
        let new = r.broadcast(shape, inner, &dims, id);
        return r.replace(id, new, "broadcasts to the shape at once");
    }
    let size = |&[start, limit, stride]: &[i64; 3]| (limit - start + stride - 1) / stride.max(1);
    let small = with_dims(r.shape(inner), of_inner.iter().map(size).collect());
    let sliced = r.slice(small, inner, of_inner, id);
    let new = r.broadcast(shape, sliced, &dims, broadcast);
    r.replace(id, new, rule)
}

/// One element of a concatenation of lists. Source: `TrySimplifyScalarSlice`.
fn one_of_concatenation(r: &mut Rewriter<'_, '_>, id: Id, concatenation: Id) -> bool {
    if !r.is(concatenation, Opcode::Concatenate) || r.dims(id) != [1] {
        return false;
    }
    let [start, _, stride] = slices(r, id)[0];
    let mut before = 0;
    let place = r.operands(concatenation).iter().find_map(|&operand| {
        let size = r.dims(operand).first().copied().unwrap_or(0);
        let here = before;
        before += size;
        (before > start).then_some((operand, here))
    });
    let Some((operand, before)) = place else { return false };
    let rule = "takes an element of one operand";
    if r.replace_if_same(id, operand, rule) {
        return true;
    }
    let new = r.slice(r.shape(id).clone(), operand, vec![[start - before, start - before + 1, stride]], id);
    r.replace(id, new, rule)
}

fn of_concatenation(r: &mut Rewriter<'_, '_>, id: Id, concatenation: Id) -> bool {
    if !r.is(concatenation, Opcode::Concatenate) || !is_unstrided(r, id) {
        return false;
    }
    let Some(&dim) = r.dimensions(concatenation).first() else { return false };
    let at = dim as usize;
    let (shape, mut slices) = (r.shape(id).clone(), slices(r, id));
    let Some(&[start, limit, _]) = slices.get(at) else { return false };
    let parts = r.operands(concatenation).to_vec();
    let (mut first, mut end, mut before) = (None, None, 0);
    for (i, &part) in parts.iter().enumerate() {
        let size = r.dims(part).get(at).copied().unwrap_or(0);
        if first.is_none() && before <= start && before + size > start {
            first = Some((i, before));
        }
        before += size;
        if before >= limit {
            end = Some(i + 1);
            break;
        }
    }
    let (Some((first, before)), Some(end)) = (first, end) else { return false };
    let rule = "takes elements of some operands";
    if first + 1 == end && r.is_same_shape(r.shape(parts[first]), &shape) {
        return r.replace(id, parts[first], rule);
    }
    if first >= end || end - first >= parts.len() {
        return false;
    }
    let mut operand = parts[first];
    if first + 1 != end {
        let mut dims = r.dims(concatenation).to_vec();
        dims[at] = parts[first..end].iter().map(|&part| r.dims(part)[at]).sum();
        let joined = with_dims(r.shape(concatenation), dims);
        operand = r.copy_of(concatenation, joined, &parts[first..end]);
    }
    slices[at] = [start - before, start - before + shape.dims()[at], 1];
    let new = r.slice(shape, operand, slices, id);
    r.replace(id, new, rule)
}

/// The last element of running sums over whole dimensions: a reduction.
fn of_window(r: &mut Rewriter<'_, '_>, id: Id, window: Id) -> bool {
    let Some((operand, init)) = r.operands_of(window, Opcode::ReduceWindow) else { return false };
    if !is_unstrided(r, id) || !r.has_one_use(window) || !r.is_array(window) {
        return false;
    }
    let (shape, slices) = (r.shape(id).clone(), slices(r, id));
    let dims = r.attributes(window).window().to_vec();
    let is_plain =
        |dim: &ir::WindowDim| dim.stride == 1 && dim.base_dilation == 1 && dim.window_dilation == 1;
    if !dims.iter().all(is_plain) || dims.iter().all(|dim| dim.pad_low == 0 && dim.pad_high == 0) {
        return false;
    }
    let mut reduced = Vec::new();
    for (i, (dim, [start, limit, _])) in dims.iter().zip(&slices).enumerate() {
        let (size, taken) = (r.dims(window)[i], shape.dims()[i]);
        if size != *limit || dim.pad_low != *start || dim.pad_high != 0 {
            return false;
        }
        if dim.size == 1 && size == taken && *start == 0 {
            continue;
        }
        if taken != 1 || size != dim.size || limit - start != 1 {
            return false;
        }
        reduced.push(i as i64);
    }
    if reduced.is_empty() {
        return false;
    }
    let attributes = ir::Attributes::default().with(AttributeKey::Dimensions, reduced.clone());
    let sums_shape = without_dimensions(r.shape(window), &reduced);
    let sums = r.make_calling(Opcode::Reduce, sums_shape, &[operand, init], attributes, window);
    let new = r.reshape(shape, sums, id);
    r.replace(id, new, "takes the last of the running sums")
}

/// A slice of the first dimension of a reshape, where it is a slice of the operand as well.
///
/// Source: `TryToReorderSliceAndReshape`.
fn of_reshape(r: &mut Rewriter<'_, '_>, id: Id, reshape: Id) -> bool {
    let Some(source) = r.operand_of(reshape, Opcode::Reshape) else { return false };
    let (shape, slices) = (r.shape(id).clone(), slices(r, id));
    let is_sliced = |(slice, &size): (&[i64; 3], &i64)| *slice != [0, size, 1];
    let mut sliced = slices.iter().zip(r.dims(reshape)).map(is_sliced);
    if !is_unstrided(r, id) || sliced.next() != Some(true) || sliced.any(|is_sliced| is_sliced) {
        return false;
    }
    let count = |dims: &[i64]| dims.iter().skip(1).fold(1i64, |count, &size| count.saturating_mul(size));
    let mut start = slices[0][0].saturating_mul(count(r.dims(reshape)));
    let mut elements = r.count(id);
    let dims = r.dims(source).to_vec();
    let mut of_source: Vec<_> = dims.iter().map(|&size| [0, size, 1]).collect();
    for (slice, &size) in of_source.iter_mut().zip(&dims).rev() {
        if size == 0 {
            return false;
        }
        if elements >= size {
            if elements % size != 0 || start % size != 0 {
                return false;
            }
            elements /= size;
        } else {
            let within = start % size;
            if within + elements > size {
                return false;
            }
            *slice = [within, within + elements, 1];
            elements = 1;
        }
        start /= size;
    }
    if start != 0 || elements != 1 {
        return false;
    }
    let sizes: Vec<_> = of_source.iter().map(|[start, limit, _]| limit - start).collect();
    let inner = r.slice(Shape::array(r.element(source), &sizes), source, of_source, id);
    let new = r.reshape(shape, inner, id);
    r.replace(id, new, "slices before the reshape")
}

/// Source: `TryToReorderSliceAndReverse`.
fn of_reverse(r: &mut Rewriter<'_, '_>, id: Id, reverse: Id) -> bool {
    let Some(source) = r.operand_of(reverse, Opcode::Reverse) else { return false };
    let (shape, mut slices, dims) = (r.shape(id).clone(), slices(r, id), r.dimensions(reverse).to_vec());
    for &dim in &dims {
        let (Some(slice), Some(&size)) = (slices.get_mut(dim as usize), r.dims(reverse).get(dim as usize))
        else {
            return false;
        };
        let [start, limit, stride] = *slice;
        // The last element that is taken is the first one of the source.
        let limit = start + (limit - start - 1) / stride.max(1) * stride + 1;
        *slice = [size - start - (limit - start), size - start, stride];
    }
    let inner = r.slice(shape.clone(), source, slices, id);
    let new = r.with_dimensions(Opcode::Reverse, shape, inner, &dims, id);
    r.replace(id, new, "slices before the reversal")
}
