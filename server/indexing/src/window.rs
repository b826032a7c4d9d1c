//! Sliding windows: reduce-window, and the spatial part of convolutions.

use indexing_map::{Expr, Interval};
use ir::{Op, WindowDim};

use crate::checks::{self, Checked, ensure};
use crate::extents::{self, Domain};
use crate::operand_indexing::{OpIndexing, OperandIndexing};
use crate::reduce::inputs_then_scalars;
use crate::slices::padded_size;

/// The indices of the elements `inside` the window at index `at` of the output; one per window dimension, as are
/// the extents of the operand and the numbers of `low` padding.
///
/// In the padded operand the position is `s * window_dilation + d * stride`. It is constrained to elements of the
/// operand: padding surrounds them, base dilation leaves holes between them. Not simplified. Source:
/// `ComposeWindowIndexingMap`, `ComputePadIndexingMap`.
pub(crate) fn under_window(
    domain: &mut Domain<'_>,
    at: &[Expr],
    inside: &[Expr],
    operand: &[Expr],
    window: &[WindowDim],
    low: &[Expr],
) -> Checked<Vec<Expr>> {
    let mut places = Vec::with_capacity(window.len());
    let mut bounds = Vec::with_capacity(window.len());
    for (i, (dim, extent)) in window.iter().zip(operand).enumerate() {
        let fits = dim.stride > 0 && dim.base_dilation > 0 && dim.window_dilation > 0;
        ensure(fits, format!("window dimension {i} has a stride or dilation that is not positive"))?;
        let position = inside[i].clone() * dim.window_dilation + at[i].clone() * dim.stride;
        let (distance, range) = match (low[i].as_const(), extent.as_const()) {
            (Some(low), Some(size)) => {
                let padded = padded_size(size, [low, dim.pad_high, dim.base_dilation - 1])?;
                let last = (padded - 1).checked_sub(dim.pad_high);
                let negated = low.checked_neg();
                let (last, negated) = last.zip(negated).ok_or("padding beyond 64 bits")?;
                (position.clone() + negated, Some(Interval::new(low.max(0), last.min(padded - 1))))
            }
            _ => (position.clone() - low[i].clone(), None),
        };
        if dim.base_dilation > 1 {
            domain.constrain(distance.clone().modulo(dim.base_dilation), Interval::point(0));
        }
        places.push(distance.floor_div(dim.base_dilation));
        bounds.push((position, range));
    }
    for ((place, extent), (position, range)) in places.iter().zip(operand).zip(bounds) {
        match range {
            Some(range) => domain.constrain(position, range),
            None => domain.within(place.clone(), extent),
        }
    }
    Ok(places)
}

/// The numbers of padding before the elements.
pub(crate) fn low(window: &[WindowDim]) -> Vec<Expr> {
    window.iter().map(|dim| Expr::Const(dim.pad_low)).collect()
}

/// The access to `operand` through the window that slides over all dimensions of `output`.
pub(crate) fn through_window(
    op: &Op,
    output: &[Expr],
    operand: &[Expr],
    window: &[WindowDim],
) -> Checked<OperandIndexing> {
    for (i, dim) in window.iter().enumerate() {
        ensure(dim.size >= 0, format!("window dimension {i} has a negative size"))?;
    }
    let mut domain = Domain::new(op, 0, output);
    let inside: Vec<Expr> = window.iter().map(|dim| domain.range(&Expr::Const(dim.size))).collect();
    let at: Vec<Expr> = (0..output.len()).map(Expr::var).collect();
    let places = under_window(&mut domain, &at, &inside, operand, window, &low(window))?;
    Ok(domain.access(places))
}

/// Every input through the window, init values scalar. Shapes: equal inputs; `window` has one entry per
/// dimension.
/// Source: `ComputeOutputToInputReduceWindowOpIndexing`.
pub(crate) fn reduce_window(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let count = op.operand_shapes.len();
    ensure(count > 0 && count.is_multiple_of(2), "reduce-window takes inputs and as many init values")?;
    let (mut output, mut input) = (extents::output(op, output_id)?, extents::operand(op, 0)?);
    let window = op.attributes.window();
    let rank = input.len();
    ensure(window.len() == rank && output.len() == rank, "window does not have one entry per dimension")?;
    for i in 1..count / 2 {
        let same = extents::all_shared(&input, &extents::operand(op, i)?);
        input =
            same.ok_or_else(|| checks::Reason::from(format!("input {i} has other sizes than input 0")))?;
    }
    for (dim, (output, input)) in window.iter().zip(output.iter_mut().zip(&input)) {
        // A dimension without a window keeps its extent.
        if *dim == WindowDim::of_size(1) && output.as_const().is_none() {
            *output = input.clone();
        }
    }
    let mut access = through_window(op, &output, &input, window)?;
    // XLA's way to simplify drops constraints on runtime variables.
    if access.runtime_variables.is_empty() {
        access.simplify();
    }
    let init = Domain::new(op, output_id, &output).access(Vec::new());
    Ok(inputs_then_scalars(access, init, count / 2))
}
