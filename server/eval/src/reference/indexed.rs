//! Ops whose places are runtime values. Places are clamped so that a slice stays inside, except that a scatter skips an
//! update whose window leaves the operand.

use std::rc::Rc;

use ir::AttributeKey;

use super::column::Column;
use super::evaluator::{Asked, Evaluator, kind_of};
use super::folding::{Combine, Sums, combine_of, combined};
use super::moves::{shared, woven};
use super::positions::{array, count, each_index, strides};
use super::types::Kind;
use crate::case::{Checked, dimensions, ensure};

/// Updates of a scatter and where they go: (place in the operand, place in the updates), in order.
pub(crate) type Arrivals = Vec<(i64, i64)>;

/// An index as a number: unsigned ones beyond the signed range are very large.
fn as_index(kind: Kind, value: i64) -> i64 {
    if kind == Kind::Unsigned(64) && value < 0 { i64::MAX } else { value }
}

/// Where the slice of size `slice` starts in `whole`, by the index operands from `first` on.
fn starts(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    first: usize,
    whole: &[i64],
    slice: &[i64],
) -> Checked<Vec<i64>> {
    let fits = whole.len() == slice.len() && whole.iter().zip(slice).all(|(whole, slice)| slice <= whole);
    ensure(fits, "the slice does not fit the array")?;
    let mut given = Vec::new();
    for i in first..asked.operands().len() {
        let index = array(asked.operand_shape(i)?)?;
        let all: Vec<i64> = (0..count(index).min(64)).collect();
        let column = evaluator.at(asked.frame, asked.operand(i)?, 0, all)?;
        ensure(column.error.is_none(), "a place that depends on an inexact number")?;
        given.extend(column.ints().iter().map(|&v| as_index(column.kind, v)));
    }
    ensure(given.len() == whole.len(), "not one index per dimension")?;
    let clamped = given.iter().zip(whole).zip(slice);
    Ok(clamped.map(|((&start, &whole), &slice)| start.min(whole - slice).max(0)).collect())
}

pub(crate) fn dynamic_slice(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let (operand, output) = (array(asked.operand_shape(0)?)?, array(&asked.op.shape)?);
    let starts = starts(evaluator, asked, 1, &operand.dims, &output.dims)?;
    let own = strides(&operand.dims);
    let base = starts.iter().zip(&own).map(|(start, stride)| start * stride).sum();
    let from = super::positions::affine(&asked.batch.positions, &output.dims, base, &own);
    Ok(Rc::unwrap_or_clone(evaluator.at(asked.frame, asked.operand(0)?, 0, from)?))
}

/// The update where it lies, the operand elsewhere.
pub(crate) fn dynamic_update_slice(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let (operand, update) = (array(asked.operand_shape(0)?)?, array(asked.operand_shape(1)?)?);
    let starts = starts(evaluator, asked, 2, &operand.dims, &update.dims)?;
    let own = strides(&update.dims);
    let (mut before, mut after, mut choice) = (Vec::new(), Vec::new(), Vec::new());
    each_index(&asked.batch.positions, &operand.dims, |i, index| {
        let mut place = Some(0);
        for d in 0..index.len() {
            let at = index[d] - starts[d];
            let is_inside = (0..update.dims[d]).contains(&at);
            place = place.filter(|_| is_inside).map(|place| place + at * own[d]);
        }
        choice.push(usize::from(place.is_some()));
        match place {
            Some(place) => after.push(place),
            None => before.push(asked.batch.positions[i]),
        }
    });
    let kind = kind_of(&asked.op.shape)?;
    let mut part = |operand: usize, from: Vec<i64>| -> Checked<Column> {
        match from.is_empty() {
            true => Ok(Column::none(kind)),
            false => Ok(Rc::unwrap_or_clone(evaluator.at(asked.frame, asked.operand(operand)?, 0, from)?)),
        }
    };
    let parts = [part(0, before)?, part(1, after)?];
    Ok(woven(kind, &parts, &choice))
}

/// The index vectors of a gather or scatter: their dimensions, and how they lie.
struct Vectors {
    operand: usize,
    dims: Vec<i64>,
    vector_dim: usize,
    length: i64,
}

impl Vectors {
    fn of(asked: &Asked<'_>, operand: usize) -> Checked<Vectors> {
        let dims = array(asked.operand_shape(operand)?)?.dims.clone();
        let dim = asked.op.attributes.int(AttributeKey::IndexVectorDim);
        let vector_dim = dim.and_then(|dim| usize::try_from(dim).ok()).filter(|&d| d <= dims.len());
        let vector_dim = vector_dim.ok_or("index_vector_dim is no dimension")?;
        let length = dims.get(vector_dim).copied().unwrap_or(1);
        Ok(Vectors { operand, dims, vector_dim, length })
    }

    fn batch_rank(&self) -> usize {
        self.dims.len() - usize::from(self.vector_dim < self.dims.len())
    }

    /// Position of component 0 of the vector at `batch`, and the distance to the next component.
    fn place(&self, batch: &[i64], own: &[i64]) -> i64 {
        let dims = (0..self.dims.len()).filter(|&d| d != self.vector_dim);
        dims.zip(batch).map(|(d, i)| own[d] * i).sum()
    }

    /// The entry of a vector's place that belongs to dimension `dim` of the indices.
    fn batch_entry(&self, batch: &[i64], dim: usize) -> i64 {
        let at = if dim > self.vector_dim { dim - 1 } else { dim };
        batch.get(at).copied().unwrap_or_default()
    }

    /// Components of all vectors at `batches`, one vector behind the other.
    fn values(&self, evaluator: &mut Evaluator<'_>, asked: &Asked<'_>, places: &[i64]) -> Checked<Vec<i64>> {
        let own = strides(&self.dims);
        let step = own.get(self.vector_dim).copied().unwrap_or(0);
        let all: Vec<i64> = places.iter().flat_map(|p| (0..self.length).map(move |k| p + k * step)).collect();
        let column = shared(evaluator, asked, self.operand, &all)?;
        ensure(column.error.is_none(), "a place that depends on an inexact number")?;
        Ok(column.ints().iter().map(|&v| as_index(column.kind, v)).collect())
    }
}

pub(crate) fn gather(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let (operand, output) = (array(asked.operand_shape(0)?)?, array(&asked.op.shape)?);
    let vectors = Vectors::of(asked, 1)?;
    let (rank, out_rank) = (operand.dims.len(), output.dims.len());
    let of = |key, rank| dimensions(asked.op.attributes.ints(key), rank);
    let offset_dims = of(AttributeKey::OffsetDims, out_rank)?;
    let collapsed = of(AttributeKey::CollapsedSliceDims, rank)?;
    let start_map = of(AttributeKey::StartIndexMap, rank)?;
    let batching = of(AttributeKey::OperandBatchingDims, rank)?;
    let index_batching = of(AttributeKey::StartIndicesBatchingDims, vectors.dims.len())?;
    let sizes = asked.op.attributes.ints(AttributeKey::SliceSizes);
    let window: Vec<usize> = (0..rank).filter(|d| !collapsed.contains(d) && !batching.contains(d)).collect();
    let fits = sizes.len() == rank
        && sizes.iter().zip(&operand.dims).all(|(slice, whole)| (0..=*whole).contains(slice))
        && window.len() == offset_dims.len()
        && out_rank == offset_dims.len() + vectors.batch_rank()
        && vectors.length == start_map.len() as i64
        && batching.len() == index_batching.len();
    ensure(fits, "the attributes of the gather do not fit its shapes")?;
    let own = strides(&vectors.dims);
    let (mut places, mut fixed) = (Vec::new(), Vec::new());
    let weights = strides(&operand.dims);
    each_index(&asked.batch.positions, &output.dims, |_, index| {
        let batch: Vec<i64> = (0..out_rank).filter(|d| !offset_dims.contains(d)).map(|d| index[d]).collect();
        places.push(vectors.place(&batch, &own));
        let offsets = window.iter().zip(&offset_dims).map(|(&dim, &offset)| index[offset] * weights[dim]);
        let batched = batching.iter().zip(&index_batching);
        let batched = batched.map(|(&dim, &of)| vectors.batch_entry(&batch, of) * weights[dim]);
        fixed.push(offsets.sum::<i64>() + batched.sum::<i64>());
    });
    let values = vectors.values(evaluator, asked, &places)?;
    let length = vectors.length as usize;
    let from: Vec<i64> = fixed
        .iter()
        .enumerate()
        .map(|(i, fixed)| {
            let starts = start_map.iter().enumerate().map(|(k, &dim)| {
                let start = values[i * length + k].min(operand.dims[dim] - sizes[dim]).max(0);
                start * weights[dim]
            });
            fixed + starts.sum::<i64>()
        })
        .collect();
    shared(evaluator, asked, 0, &from)
}

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
    list.sort_unstable();
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

/// What elements become of whom updates arrive. Where the order of two updates shows, or they were said not to meet, the answer
/// is open. `first` is the number of the first operand with updates.
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
