//! Reductions, sliding windows and scans. Semantics: XLA "Operation Semantics"; window arithmetic:
//! `window_util.h`.

use eval::{Checked, ensure, under};
use ir::{AttributeKey, WindowDim};

use crate::case::{Case, MAX_ELEMENTS, Reads};
use crate::traced::{Traced, for_each_index, position};

/// The number of inputs: the first half of the operands; the init values follow.
fn inputs(case: &Case<'_>) -> Checked<usize> {
    let count = case.operand_count();
    ensure(count > 0 && count.is_multiple_of(2), "inputs and init values do not come in pairs")?;
    for i in 1..count / 2 {
        ensure(case.operand(i)? == case.operand(0)?, "the inputs differ in size")?;
    }
    Ok(count / 2)
}

fn init_values(inputs: usize, reads: &mut Reads<'_>) {
    (inputs..2 * inputs).for_each(|i| reads.at(i, &[]));
}

/// All elements with the output's index in the kept dimensions. If the reduction is variadic, every output
/// depends on every input.
pub(crate) fn reduce(case: &Case<'_>) -> Checked<Traced> {
    let inputs = inputs(case)?;
    let operand = case.operand(0)?;
    let reduced = case.dimensions(AttributeKey::Dimensions, operand.len())?;
    let kept: Vec<usize> = (0..operand.len()).filter(|dim| !reduced.contains(dim)).collect();
    ensure(kept.len() == case.output()?.len(), "the output does not have the kept dimensions")?;
    case.afford(operand.iter().copied())?;
    case.trace(|index, reads| {
        for_each_index(operand, |from| {
            if kept.iter().zip(index).all(|(&dim, &i)| from[dim] == i) {
                (0..inputs).for_each(|i| reads.at(i, from));
            }
        });
        init_values(inputs, reads);
    })
}

/// Every operand element under the window at `index`.
fn for_each_under(window: &[WindowDim], operand: &[i64], index: &[i64], mut f: impl FnMut(&[i64])) {
    let sizes: Vec<i64> = window.iter().map(|w| w.size).collect();
    for_each_index(&sizes, |k| {
        let from: Option<Vec<i64>> =
            (0..operand.len()).map(|d| under(&window[d], operand[d], index[d], k[d])).collect();
        from.iter().for_each(|from| f(from));
    });
}

pub(crate) fn check_window(window: &[WindowDim], rank: usize) -> Checked<()> {
    let positive = |w: &WindowDim| {
        let sizes = [w.size, w.stride, w.base_dilation, w.window_dilation];
        let pads = [w.pad_low, w.pad_high];
        sizes.iter().all(|n| (1..=MAX_ELEMENTS).contains(n)) && pads.iter().all(|n| n.abs() <= MAX_ELEMENTS)
    };
    ensure(window.len() == rank && window.iter().all(positive), "the window does not fit the operand")?;
    let count = window.iter().try_fold(1, |n: i64, w| n.checked_mul(w.size).filter(|&n| n <= MAX_ELEMENTS));
    ensure(count.is_some(), "the window is too large to evaluate")
}

pub(crate) fn reduce_window(case: &Case<'_>) -> Checked<Traced> {
    let inputs = inputs(case)?;
    let (operand, window) = (case.operand(0)?, case.op.attributes.window());
    check_window(window, operand.len())?;
    ensure(case.output()?.len() == operand.len(), "output and operand differ in rank")?;
    case.afford(window.iter().map(|w| w.size))?;
    case.trace(|index, reads| {
        for_each_under(window, operand, index, |from| (0..inputs).for_each(|i| reads.at(i, from)));
        init_values(inputs, reads);
    })
}

/// Each source element goes to one element of its window, chosen by comparing them. An output element depends
/// on the sources of all windows that contain it and on all elements of these windows.
pub(crate) fn select_and_scatter(case: &Case<'_>) -> Checked<Traced> {
    let (operand, source, window) = (case.operand(0)?, case.operand(1)?, case.op.attributes.window());
    check_window(window, operand.len())?;
    ensure(source.len() == operand.len() && case.output()? == operand, "the shapes do not fit")?;
    case.afford(source.iter().copied().chain(window.iter().map(|w| w.size)))?;
    let mut windows = Vec::new();
    for_each_index(source, |index| {
        let mut elements = Vec::new();
        for_each_under(window, operand, index, |from| elements.extend(position(operand, from)));
        windows.push(elements);
    });
    let mut at = 0;
    case.trace(|_, reads| {
        for (source, elements) in windows.iter().enumerate().filter(|(_, elements)| elements.contains(&at)) {
            reads.position(1, source);
            elements.iter().for_each(|&element| reads.position(0, element));
        }
        reads.at(2, &[]);
        at += 1;
    })
}

/// Operands are inputs, then carries; results are scanned arrays, then the final carries. An element depends
/// on all inputs at or before its index in the scanned dimension, and on the initial carries.
pub(crate) fn scan(case: &Case<'_>) -> Checked<Traced> {
    let carries = case.op.attributes.int(AttributeKey::NumCarries).unwrap_or(0);
    let inputs = usize::try_from(carries).ok().and_then(|n| case.operand_count().checked_sub(n));
    let inputs = inputs.filter(|&n| n > 0).ok_or("num_carries does not fit the operands")?;
    let operand = case.operand(0)?;
    let dim = case.dimension(AttributeKey::Dimensions, operand.len())?;
    let output = case.output()?;
    let is_carry = output.len() + 1 == operand.len();
    ensure(is_carry || output.len() == operand.len(), "the output is neither a scan nor a carry")?;
    let is_reverse = case.op.attributes.bool(AttributeKey::IsReverse).unwrap_or(false);
    case.trace(|index, reads| {
        let mut beside = index.to_vec();
        let at = if is_carry { None } else { Some(beside.remove(dim)) };
        for k in 0..operand[dim] {
            let is_before = at.is_none_or(|at| if is_reverse { k >= at } else { k <= at });
            if is_before {
                let mut from = beside.clone();
                from.insert(dim, k);
                (0..inputs).for_each(|i| reads.at(i, &from));
            }
        }
        for i in inputs..case.operand_count() {
            let is_scalar = case.operand(i).is_ok_and(<[i64]>::is_empty);
            reads.at(i, if is_scalar { &[] } else { &beside });
        }
    })
}
