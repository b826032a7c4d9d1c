//! `reduce-window` and `select-and-scatter`. Window arithmetic: `window_util.h`.

use std::rc::Rc;

use ir::{AttributeKey, WindowDim};

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of};
use super::folding::{Combine, Sums, combine_of, fold_rows};
use super::moves::woven;
use super::positions::{array, count, each_index, sort, strides};
use super::reductions::{append, init_values, inputs, name, with_init};
use crate::checks::{Checked, Reason, ensure};

/// The largest number of elements of a window.
const MAX_WINDOW: i64 = 1 << 16;
const CHUNK: usize = 1 << 18;

/// The index along a dimension of window element `k` at output index `at`; `None` for padding and holes of a
/// dilated base. A reversed window covers the same base elements.
pub fn under(window: &WindowDim, size: i64, at: i64, k: i64) -> Option<i64> {
    let place = at * window.stride + k * window.window_dilation - window.pad_low;
    let is_element = place % window.base_dilation == 0;
    Some(place / window.base_dilation).filter(|i| is_element && (0..size).contains(i))
}

pub(crate) fn check(window: &[WindowDim], rank: usize) -> Checked<i64> {
    let limit = 1 << 40;
    let positive = |w: &WindowDim| {
        let sizes = [w.size, w.stride, w.base_dilation, w.window_dilation];
        let pads = [w.pad_low, w.pad_high];
        sizes.iter().all(|n| (1..limit).contains(n)) && pads.iter().all(|n| n.abs() < limit)
    };
    ensure(window.len() == rank && window.iter().all(positive), "the window does not fit the operand")?;
    let size = window.iter().try_fold(1i64, |n, w| n.checked_mul(w.size).filter(|&n| n <= MAX_WINDOW));
    size.ok_or_else(|| Reason::from("the window is too large to evaluate"))
}

/// For each output position and window element, the position of the operand's element; -1 for padding and
/// holes.
fn taps(window: &[WindowDim], operand: &[i64], output: &[i64], positions: &[i64]) -> Vec<i64> {
    let own = strides(operand);
    let sizes: Vec<i64> = window.iter().map(|w| w.size).collect();
    let turns: Vec<i64> = (0..sizes.iter().product()).collect();
    let mut all = Vec::with_capacity(positions.len() * turns.len());
    each_index(positions, output, |_, index| {
        each_index(&turns, &sizes, |_, k| {
            let mut place = Some(0);
            for d in 0..window.len() {
                let at = under(&window[d], operand[d], index[d], k[d]);
                place = place.and_then(|place| Some(place + at? * own[d]));
            }
            all.push(place.unwrap_or(-1));
        });
    });
    all
}

/// The elements of an operand at places, or `outside` where there is none.
fn with_padding(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    operand: usize,
    places: &[i64],
    outside: &Column,
) -> Checked<Rc<Column>> {
    let inside: Vec<i64> = places.iter().copied().filter(|&p| p >= 0).collect();
    let missing = places.len() - inside.len();
    let column = match inside.is_empty() {
        true => Column::none(outside.kind),
        false => super::moves::shared(evaluator, asked, operand, &inside)?,
    };
    let padding = outside.pick(&vec![0; missing]);
    let choice: Vec<usize> = places.iter().map(|&p| usize::from(p < 0)).collect();
    Ok(Rc::new(woven(outside.kind, &[column, padding], &choice)))
}

/// Reduces every operand element under the window; padding counts as the init value.
pub(crate) fn reduce_window(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    positions: &[i64],
) -> Checked<Vec<Column>> {
    let kinds = inputs(asked)?;
    let operand = array(asked.operand_shape(0)?)?;
    let window = asked.op.attributes.window();
    let length = check(window, operand.dims.len())?;
    let output: Vec<i64> = array(super::evaluator::leaf_shape(&asked.op.shape, 0)?)?.dims.clone();
    ensure(output.len() == operand.dims.len(), "output and operand differ in rank")?;
    let how = combine_of(evaluator, &name(asked)?, &kinds)?;
    let mut results: Vec<Column> = kinds.iter().map(|&kind| Column::none(kind)).collect();
    for positions in positions.chunks((CHUNK / length as usize).max(1)) {
        let places = taps(window, &operand.dims, &output, positions);
        let init = init_values(evaluator, asked, positions.len())?;
        let mut columns = Vec::new();
        for (i, outside) in init.iter().enumerate() {
            columns.push(with_padding(evaluator, asked, i, &places, outside)?);
        }
        evaluator.spend(places.len())?;
        let finished = match &how {
            Combine::Sum(kind) => {
                let mut totals = Sums::new(*kind, positions.len());
                for (k, _) in places.iter().enumerate().filter(|(_, place)| **place >= 0) {
                    totals.add(k / length as usize, &columns[0], k);
                }
                totals.add_init(&init[0]);
                vec![Rc::new(totals.finish())]
            }
            how => {
                let folded = fold_rows(evaluator, how, &columns, length as usize)?;
                with_init(evaluator, how, &init, &folded)?
            }
        };
        append(&mut results, &finished)?;
    }
    Ok(results)
}

/// Adds each source element to the element of its window that `select` prefers to all before it.
pub(crate) fn select_and_scatter(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    positions: &[i64],
) -> Checked<Vec<Column>> {
    let (operand, source) = (array(asked.operand_shape(0)?)?, array(asked.operand_shape(1)?)?);
    let window = asked.op.attributes.window();
    let length = check(window, operand.dims.len())? as usize;
    ensure(source.dims.len() == operand.dims.len(), "the shapes do not fit")?;
    let sources = count(source);
    ensure(sources <= 1 << 20, "too many windows to evaluate")?;
    let named = |key| {
        let name = asked.op.attributes.computation(key);
        name.map(str::to_owned).ok_or_else(|| Reason::from("a computation is not named"))
    };
    let (select, scatter) = (named(AttributeKey::Select)?, named(AttributeKey::Scatter)?);
    let all: Vec<i64> = (0..sources).collect();
    let places = taps(window, &operand.dims, &source.dims, &all);
    let kind = kind_of(asked.operand_shape(0)?)?;
    // The position chosen in each window so far.
    let mut chosen: Vec<i64> = vec![-1; all.len()];
    for k in 0..length {
        let candidates: Vec<i64> = (0..all.len()).map(|i| places[i * length + k]).collect();
        let both: Vec<usize> = (0..all.len()).filter(|&i| candidates[i] >= 0 && chosen[i] >= 0).collect();
        for i in 0..all.len() {
            if chosen[i] < 0 {
                chosen[i] = candidates[i];
            }
        }
        if both.is_empty() {
            continue;
        }
        let now: Vec<i64> = both.iter().map(|&i| chosen[i]).collect();
        let new: Vec<i64> = both.iter().map(|&i| candidates[i]).collect();
        let now = Rc::new(super::moves::shared(evaluator, asked, 0, &now)?);
        let new = Rc::new(super::moves::shared(evaluator, asked, 0, &new)?);
        let keeps = super::called::lanes(evaluator, &select, &[now, new], 0)?;
        ensure(keeps.len() == 1 && keeps[0].error.is_none(), "a choice that depends on inexact numbers")?;
        for (&i, &keep) in both.iter().zip(keeps[0].ints()) {
            if keep == 0 {
                chosen[i] = candidates[i];
            }
        }
    }
    let mut arrivals: Vec<(i64, i64)> =
        chosen.iter().zip(all).filter(|(to, _)| **to >= 0).map(|(&to, from)| (to, from)).collect();
    sort(&mut arrivals);
    let init = evaluator.scalar(asked.frame, asked.operand(2)?)?;
    let start = init.pick(&vec![0; positions.len()]);
    let how = combine_of(evaluator, &scatter, &[kind])?;
    super::scatters::arrived(evaluator, asked, &how, positions, &[Rc::new(start)], &arrivals, (1, true))
}
