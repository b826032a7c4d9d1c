//! `scatter`: updates go to dynamic places; an update whose window leaves the operand is skipped.

use std::rc::Rc;

use ir::AttributeKey;

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of};
use super::folding::{Combine, Sums, combine_of, combined};
use super::indexed::Vectors;
use super::moves::shared;
use super::positions::{array, count, each_index, sort, strides};
use crate::checks::{Checked, dimensions, ensure};

/// The updates of a scatter with their targets, in order: (position in the operand, position in the updates).
pub(crate) type Arrivals = Vec<(i64, i64)>;

/// Every element of an update belongs to one index vector and one element of the window there.
fn arrivals(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>, operands: usize) -> Checked<Arrivals> {
    let (operand, updates) = (array(asked.operand_shape(0)?)?, array(asked.operand_shape(operands + 1)?)?);
    let vectors = Vectors::of(asked, operands)?;
    let rank = operand.dims.len();
    let of = |key, rank| dimensions(asked.op.attributes.ints(key), rank);
    let window_dims = of(AttributeKey::UpdateWindowDims, updates.dims.len())?;
    let inserted = of(AttributeKey::InsertedWindowDims, rank)?;
    let start_map = of(AttributeKey::ScatterDimsToOperandDims, rank)?;
    let batching = of(AttributeKey::InputBatchingDims, rank)?;
    let index_batching = of(AttributeKey::ScatterIndicesBatchingDims, vectors.dims.len())?;
    let window: Vec<usize> = (0..rank).filter(|d| !inserted.contains(d) && !batching.contains(d)).collect();
    let fits = window.len() == window_dims.len()
        && updates.dims.len() == window_dims.len() + vectors.batch_rank()
        && vectors.length == start_map.len() as i64
        && batching.len() == index_batching.len();
    ensure(fits, "the attributes of the scatter do not fit its shapes")?;
    let total = count(updates);
    ensure(total <= 1 << 24, "too many updates to evaluate")?;
    evaluator.spend(total as usize)?;
    let mut sizes = vec![1; rank];
    window.iter().zip(&window_dims).for_each(|(&dim, &of)| sizes[dim] = updates.dims[of]);
    let all: Vec<i64> = (0..total).collect();
    let own = strides(&vectors.dims);
    let batch_dims: Vec<usize> = (0..updates.dims.len()).filter(|d| !window_dims.contains(d)).collect();
    let mut places = Vec::with_capacity(all.len());
    each_index(&all, &updates.dims, |_, index| {
        let batch: Vec<i64> = batch_dims.iter().map(|&d| index[d]).collect();
        places.push(vectors.place(&batch, &own));
    });
    let values = vectors.values(evaluator, asked, &places)?;
    let weights = strides(&operand.dims);
    let length = vectors.length as usize;
    let mut list = Vec::new();
    each_index(&all, &updates.dims, |i, index| {
        let mut to = vec![0; rank];
        for (k, &dim) in start_map.iter().enumerate() {
            to[dim] = values[i * length + k];
        }
        if !batching.is_empty() {
            let batch: Vec<i64> = batch_dims.iter().map(|&d| index[d]).collect();
            for (&dim, &of) in batching.iter().zip(&index_batching) {
                to[dim] = vectors.batch_entry(&batch, of);
            }
        }
        if (0..rank).all(|d| to[d] >= 0 && to[d] <= operand.dims[d] - sizes[d]) {
            window.iter().zip(&window_dims).for_each(|(&dim, &of)| to[dim] += index[of]);
            list.push((to.iter().zip(&weights).map(|(i, w)| i * w).sum(), i as i64));
        }
    });
    sort(&mut list);
    Ok(list)
}

pub(crate) fn scatter(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    positions: &[i64],
) -> Checked<Vec<Column>> {
    let operands = asked.operands().len() / 2;
    ensure(
        operands > 0 && asked.operands().len() % 2 == 1,
        "a scatter takes n operands, indices, n updates",
    )?;
    let key = (asked.frame, asked.id);
    let arrived_all = match evaluator.arrivals.get(&key) {
        Some(known) => known.clone(),
        None => {
            let list = Rc::new(arrivals(evaluator, asked, operands)?);
            evaluator.arrivals.insert(key, list.clone());
            list
        }
    };
    let mut start = Vec::new();
    let mut kinds = Vec::new();
    for i in 0..operands {
        start.push(evaluator.at(asked.frame, asked.operand(i)?, 0, positions.to_vec())?);
        kinds.push(kind_of(asked.operand_shape(i)?)?);
    }
    let how = combine_of(evaluator, &super::reductions::name(asked)?, &kinds)?;
    let is_unique = asked.op.attributes.bool(AttributeKey::UniqueIndices).unwrap_or(false);
    arrived(evaluator, asked, &how, positions, &start, &arrived_all, (operands + 1, !is_unique))
}

/// The new values of elements that updates land on. The result is open where the order of two updates
/// matters, or where updates collide despite unique indices. `first` is the number of the first operand with
/// updates.
pub(crate) fn arrived(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    how: &Combine,
    positions: &[i64],
    start: &[Rc<Column>],
    arrivals: &[(i64, i64)],
    (first, may_meet): (usize, bool),
) -> Checked<Vec<Column>> {
    let range = |p: i64| {
        let from = arrivals.partition_point(|&(to, _)| to < p);
        from..from + arrivals[from..].partition_point(|&(to, _)| to <= p)
    };
    let ranges: Vec<std::ops::Range<usize>> = positions.iter().map(|&p| range(p)).collect();
    let most = ranges.iter().map(std::ops::Range::len).max().unwrap_or(0);
    let mut state: Vec<Column> = start.iter().map(|c| Column::clone(c)).collect();
    if let Combine::Sum(kind) = how {
        let all: Vec<i64> =
            ranges.iter().flat_map(|r| arrivals[r.clone()].iter().map(|&(_, from)| from)).collect();
        let updates = match all.is_empty() {
            true => Column::none(*kind),
            false => shared(evaluator, asked, first, &all)?,
        };
        let mut at = 0;
        let mut totals = Sums::new(*kind, positions.len());
        for (i, range) in ranges.iter().enumerate() {
            totals.add(i, &start[0], i);
            for _ in range.clone() {
                totals.add(i, &updates, at);
                at += 1;
            }
        }
        state = vec![totals.finish()];
    } else {
        for turn in 0..most {
            let which: Vec<u32> =
                (0..ranges.len()).filter(|&i| ranges[i].len() > turn).map(|i| i as u32).collect();
            let from: Vec<i64> = which.iter().map(|&i| arrivals[ranges[i as usize].start + turn].1).collect();
            let own: Vec<Rc<Column>> = state.iter().map(|c| Rc::new(c.pick(&which))).collect();
            let mut updates = Vec::new();
            for i in 0..state.len() {
                updates.push(Rc::new(shared(evaluator, asked, first + i, &from)?));
            }
            let new = combined(evaluator, how, &own, &updates)?;
            ensure(new.len() == state.len(), "the computation does not answer as many values")?;
            for (state, new) in state.iter_mut().zip(&new) {
                let len = state.len();
                let mut place: Vec<u32> = (0..len as u32).collect();
                which.iter().enumerate().for_each(|(k, &i)| place[i as usize] = (len + k) as u32);
                state.append(new);
                *state = state.pick(&place);
            }
        }
    }
    let is_open =
        |range: &std::ops::Range<usize>| range.len() > 1 && (!may_meet || matches!(how, Combine::Called(_)));
    if ranges.iter().any(is_open) {
        for state in &mut state {
            let len = state.len();
            let errors = state.error.get_or_insert_with(|| vec![0.0; len]);
            for (error, range) in errors.iter_mut().zip(&ranges) {
                if is_open(range) {
                    *error = f64::INFINITY;
                }
            }
        }
    }
    Ok(state)
}
