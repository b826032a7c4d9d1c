//! Rules for `reduce-window`. Source: `HandleReduceWindow`.

use ir::{AttributeKey, Attributes, Opcode, WindowDim};

use super::rewriter::{Id, Rewriter};
use crate::dimensions::without_dimensions;

pub(super) fn reduce_window(r: &mut Rewriter<'_, '_>, id: Id) {
    let Some((operand, init)) = r.operands_of(id, Opcode::ReduceWindow).filter(|_| r.is_array(id)) else {
        return;
    };
    let shape = r.shape(id).clone();
    if r.count(operand) == 0 || r.count(id) == 0 {
        let new = r.broadcast(shape, init, &[], id);
        r.replace(id, new, "reduces nothing");
        return;
    }
    let window = r.attributes(id).window().to_vec();
    if window.len() != r.rank(operand) {
        return;
    }
    if r.is_scalar(operand) {
        r.replace(id, operand, "reduces one number");
        return;
    }
    if !as_reduce(r, id, operand, init, &window) {
        fold_pad(r, id, operand, init, window);
    }
}

/// A window that is as large as the array, or of size 1, in each dimension.
fn as_reduce(r: &mut Rewriter<'_, '_>, id: Id, operand: Id, init: Id, window: &[WindowDim]) -> bool {
    let shape = r.shape(id).clone();
    let is_plain =
        |dim: &WindowDim| *dim == WindowDim { is_reversed: dim.is_reversed, ..WindowDim::of_size(dim.size) };
    let mut reduced = Vec::new();
    for ((at, dim), &size) in (0..).zip(window).zip(shape.dims()) {
        match (dim.size, size) {
            _ if !is_plain(dim) => return false,
            (1, _) => {}
            (_, 1) => reduced.push(at),
            _ => return false,
        }
    }
    if reduced.is_empty() {
        return false;
    }
    let small = without_dimensions(&shape, &reduced);
    let attributes = Attributes::default().with(AttributeKey::Dimensions, reduced);
    let sums = r.make_calling(Opcode::Reduce, small, &[operand, init], attributes, id);
    let new = r.reshape(shape, sums, id);
    r.replace(id, new, "reduces whole dimensions")
}

/// Padding by the initial value becomes part of the window.
fn fold_pad(r: &mut Rewriter<'_, '_>, id: Id, pad: Id, init: Id, mut window: Vec<WindowDim>) -> bool {
    let Some((operand, value)) = r.operands_of(pad, Opcode::Pad) else { return false };
    let padding = r.attributes(pad).triples(AttributeKey::Padding).to_vec();
    let is_same = |a, b| a == b || r.is_constant(a) && r.is_constant(b) && r.literal(a) == r.literal(b);
    let has_inside = padding.iter().any(|padding| padding[2] != 0);
    let is_dilated = window.iter().any(|dim| dim.base_dilation != 1);
    // A window over one element and padding would be a broadcast.
    let is_single =
        r.dims(operand).iter().zip(&padding).all(|(&size, padding)| size == 1 || *padding == [0; 3]);
    if !is_same(value, init) || padding.len() != window.len() || has_inside && is_dilated || is_single {
        return false;
    }
    for (dim, [low, high, interior]) in window.iter_mut().zip(padding) {
        dim.pad_low += dim.base_dilation * low;
        dim.pad_high += dim.base_dilation * high;
        if interior != 0 {
            dim.base_dilation = 1 + interior;
        }
    }
    let mut attributes = r.attributes(id).clone();
    attributes.set(AttributeKey::Window, window);
    let new = r.make_calling(Opcode::ReduceWindow, r.shape(id).clone(), &[operand, init], attributes, id);
    r.replace(id, new, "pads within the window")
}
