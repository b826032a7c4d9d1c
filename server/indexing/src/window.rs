//! Sliding windows: reduce-window, and the spatial part of convolutions.

use indexing_map::{Expr, IndexingMap};
use ir::{Op, WindowDim};

use crate::checks::{self, Checked, ensure, scalar};
use crate::operand_indexing::{OpIndexing, OperandIndexing};
use crate::reduce::inputs_then_scalars;
use crate::slices::{padded_size, unpad};

/// Maps `output`, with one range variable per window dimension, to the elements under the window.
///
/// `dims[i]` is the output dimension along which window dimension i slides, `operand[i]` the operand's size
/// there. In the padded operand the position is `s * window_dilation + d * stride`; padding and base dilation
/// are undone as for a pad. Not simplified. Source: `ComposeWindowIndexingMap`, `ComputePadIndexingMap`.
pub(crate) fn under_window(
    output: &[i64],
    dims: &[usize],
    operand: &[i64],
    window: &[WindowDim],
) -> Checked<IndexingMap> {
    let mut padded = Vec::with_capacity(window.len());
    let mut padding = Vec::with_capacity(window.len());
    let mut places = Vec::with_capacity(window.len());
    for (i, dim) in window.iter().enumerate() {
        let fits = dim.size >= 0 && dim.stride > 0 && dim.base_dilation > 0 && dim.window_dilation > 0;
        ensure(fits, format!("window dimension {i} has a size, stride or dilation that is not positive"))?;
        let pad = [dim.pad_low, dim.pad_high, dim.base_dilation - 1];
        padded.push(padded_size(operand[i], pad)?);
        padding.push(pad);
        places.push(Expr::var(output.len() + i) * dim.window_dilation + Expr::var(dims[i]) * dim.stride);
    }
    let sizes: Vec<i64> = window.iter().map(|dim| dim.size).collect();
    Ok(IndexingMap::from_sizes(output, &sizes, places).compose(&unpad(&padded, &padding)?))
}

/// Every input through the window, init values scalar. Shapes: equal inputs; `window` has one entry per
/// dimension.
/// Source: `ComputeOutputToInputReduceWindowOpIndexing`.
pub(crate) fn reduce_window(op: &Op) -> Checked<OpIndexing> {
    let count = op.operand_shapes.len();
    ensure(count > 0 && count.is_multiple_of(2), "reduce-window takes inputs and as many init values")?;
    let (output, input) = (checks::output(op, 0)?, checks::operand(op, 0)?);
    let window = op.attributes.window();
    let rank = input.len();
    ensure(window.len() == rank && output.len() == rank, "window does not have one entry per dimension")?;
    for i in 1..count / 2 {
        ensure(checks::operand(op, i)? == input, format!("input {i} has other sizes than input 0"))?;
    }
    let dims: Vec<usize> = (0..rank).collect();
    let mut access = OperandIndexing::from(under_window(output, &dims, input, window)?);
    access.simplify();
    Ok(inputs_then_scalars(access.map.into(), scalar(output).into(), count / 2))
}
