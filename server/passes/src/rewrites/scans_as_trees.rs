//! Running sums as sums of short parts, and running sums of those. What `reduce-window-rewriter` and `associative-scan-rewriter`
//! share.
//!
//! Source: XLA `hlo/transforms/simplifiers/reduce_window_rewriter.cc`, `RewriteScanAsTreeReduction`.

use std::sync::Arc;

use ir::{ArrayShape, AttributeValue, Layout, Shape, WindowDim};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::add;
use crate::dimensions::{permuted, with_dims, without_dimensions};
use crate::driver::Run;
use crate::module::{ComputationId, InstructionId, NewOp};

/// The length of the parts. Source: `xla_reduce_window_rewrite_base_length`.
pub(super) const BASE: i64 = 16;

/// A running reduction of an array along one dimension.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scan {
    pub(super) source: InstructionId,
    pub(super) init: InstructionId,
    pub(super) reducer: ComputationId,
    pub(super) dim: usize,
    pub(super) is_forward: bool,
    pub(super) is_exclusive: bool,
}

/// A reduction over windows of one array.
pub(super) fn reduce_window(
    source: InstructionId,
    init: InstructionId,
    shape: Shape,
    window: Vec<WindowDim>,
    reducer: ComputationId,
) -> NewOp {
    NewOp::new(Opcode::ReduceWindow, shape, &[source, init])
        .with(AttributeKey::Window, AttributeValue::Window(window))
        .calling(AttributeKey::ToApply, &[reducer])
}

/// The array with one more dimension behind the others, the slowest in memory. Source: `ShapeUtil::AppendMajorDimension`.
pub(super) fn with_major(shape: &Shape, size: i64) -> Shape {
    let Some(array) = shape.as_array() else { return shape.clone() };
    let mut dims = array.dims.clone();
    dims.push(size);
    let mut layout = array.layout.clone().unwrap_or_else(|| Layout::row_major(array.dims.len()));
    layout.minor_to_major.push(array.dims.len() as i64);
    Shape::Array(Arc::new(ArrayShape { dims, layout: Some(layout), ..ArrayShape::clone(array) }))
        .without_default_layouts()
}

/// Computes a scan in two steps, with instructions beside `beside`. `shape` is that of the result.
pub(super) fn in_two_steps(
    run: &mut Run<'_>,
    beside: InstructionId,
    scan: Scan,
    shape: &Shape,
) -> InstructionId {
    let Scan { mut source, init, reducer, dim, is_forward, .. } = scan;
    let rank = run.module[source].dims().len();
    let last = rank - 1;
    let length = run.module[source].dims()[dim];
    let mut order: Vec<i64> = (0..rank as i64).collect();
    order.swap(dim, last);
    let transposed = |run: &mut Run<'_>, value: InstructionId| {
        if dim == last {
            return value;
        }
        let shape = permuted(run.module[value].shape(), &order);
        add(run, beside, NewOp::new(Opcode::Transpose, shape, &[value]).dimensions(&order))
    };
    source = transposed(run, source);
    let columns = (length + BASE - 1) / BASE;
    if columns * BASE != length {
        let mut dims = run.module[source].dims().to_vec();
        dims[last] = columns * BASE;
        let mut padding = vec![[0, 0, 0]; rank];
        padding[last][1] = columns * BASE - length;
        let padded = with_dims(run.module[source].shape(), dims);
        let pad = NewOp::new(Opcode::Pad, padded, &[source, init]).with(AttributeKey::Padding, padding);
        source = add(run, beside, pad);
    }
    let padded = run.module[source].shape().clone();
    let mut dims = padded.dims().to_vec();
    dims[last] = columns;
    let tiled = with_major(&with_dims(&padded, dims), BASE);
    let tiles = add(run, beside, NewOp::new(Opcode::Reshape, tiled.clone(), &[source]));
    let pad = |mut of: WindowDim, by: i64| {
        if is_forward {
            of.pad_low = by
        } else {
            of.pad_high = by
        }
        of
    };
    let mut window = vec![WindowDim::of_size(1); rank];
    window.push(pad(WindowDim::of_size(BASE), BASE - 1));
    let outer = add(run, beside, reduce_window(tiles, init, tiled.clone(), window, reducer));
    // What the parts have summed up at their ends.
    let mut slices: Vec<[i64; 3]> = tiled.dims().iter().map(|&size| [0, size, 1]).collect();
    slices[rank] = if is_forward { [BASE - 1, BASE, 1] } else { [0, 1, 1] };
    let mut dims = tiled.dims().to_vec();
    dims[rank] = 1;
    let column = with_dims(&tiled, dims);
    let ends = NewOp::new(Opcode::Slice, column.clone(), &[outer]).with(AttributeKey::Slice, slices);
    let ends = add(run, beside, ends);
    let column = without_dimensions(&column, &[rank as i64]);
    let ends = add(run, beside, NewOp::new(Opcode::Reshape, column.clone(), &[ends]));
    let mut window = vec![WindowDim::of_size(1); rank];
    window[last] = pad(WindowDim::of_size(columns), columns);
    let mut dims = column.dims().to_vec();
    dims[last] = columns + 1;
    let inner = reduce_window(ends, init, with_dims(&column, dims.clone()), window, reducer);
    let inner = add(run, beside, inner);
    let mut slices: Vec<[i64; 3]> = dims.iter().map(|&size| [0, size, 1]).collect();
    slices[last] = if is_forward { [0, columns, 1] } else { [1, columns + 1, 1] };
    let before = NewOp::new(Opcode::Slice, column, &[inner]).with(AttributeKey::Slice, slices);
    let before = add(run, beside, before);
    let all: Vec<i64> = (0..rank as i64).collect();
    let before = add(run, beside, NewOp::new(Opcode::Broadcast, tiled.clone(), &[before]).dimensions(&all));
    let all: Vec<i64> = (0..=rank as i64).collect();
    let sums = NewOp::new(Opcode::Map, tiled, &[outer, before])
        .dimensions(&all)
        .calling(AttributeKey::ToApply, &[reducer]);
    let sums = add(run, beside, sums);
    let mut result = add(run, beside, NewOp::new(Opcode::Reshape, padded, &[sums]));
    result = transposed(run, result);
    if columns * BASE != length {
        let mut dims = run.module[result].dims().to_vec();
        dims[dim] = length;
        let slices: Vec<[i64; 3]> = dims.iter().map(|&size| [0, size, 1]).collect();
        let mut of = shape.dims().to_vec();
        of[dim] = length;
        let slice =
            NewOp::new(Opcode::Slice, with_dims(shape, of), &[result]).with(AttributeKey::Slice, slices);
        result = add(run, beside, slice);
    }
    if scan.is_exclusive {
        let mut padding = vec![[0, 0, 0]; rank];
        padding[dim][usize::from(!is_forward)] = 1;
        let pad =
            NewOp::new(Opcode::Pad, shape.clone(), &[result, init]).with(AttributeKey::Padding, padding);
        result = add(run, beside, pad);
    }
    result
}
