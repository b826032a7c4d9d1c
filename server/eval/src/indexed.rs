//! Slices and gathers with dynamic start indices, which are clamped so that a slice stays inside.

use std::rc::Rc;

use ir::AttributeKey;

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of};
use super::moves::{shared, woven};
use super::positions::{array, count, each_index, strides};
use super::types::Kind;
use crate::checks::{Checked, dimensions, ensure};

/// An index as a number. Unsigned ones beyond the signed range become very large.
fn as_index(kind: Kind, value: i64) -> i64 {
    if kind == Kind::Unsigned(64) && value < 0 { i64::MAX } else { value }
}

/// The start of a slice of size `slice` in `whole`, by the index operands from `first` on.
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

/// The update inside its window, the operand elsewhere.
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

/// The layout of the index vectors of a gather or scatter.
pub(crate) struct Vectors {
    operand: usize,
    pub(crate) dims: Vec<i64>,
    vector_dim: usize,
    pub(crate) length: i64,
}

impl Vectors {
    pub(crate) fn of(asked: &Asked<'_>, operand: usize) -> Checked<Vectors> {
        let dims = array(asked.operand_shape(operand)?)?.dims.clone();
        let dim = asked.op.attributes.int(AttributeKey::IndexVectorDim);
        let vector_dim = dim.and_then(|dim| usize::try_from(dim).ok()).filter(|&d| d <= dims.len());
        let vector_dim = vector_dim.ok_or("index_vector_dim is no dimension")?;
        let length = dims.get(vector_dim).copied().unwrap_or(1);
        Ok(Vectors { operand, dims, vector_dim, length })
    }

    pub(crate) fn batch_rank(&self) -> usize {
        self.dims.len() - usize::from(self.vector_dim < self.dims.len())
    }

    /// The position of component 0 of the vector at `batch`, and the distance to the next component.
    pub(crate) fn place(&self, batch: &[i64], own: &[i64]) -> i64 {
        let dims = (0..self.dims.len()).filter(|&d| d != self.vector_dim);
        dims.zip(batch).map(|(d, i)| own[d] * i).sum()
    }

    /// The entry of a vector's index for dimension `dim` of the indices.
    pub(crate) fn batch_entry(&self, batch: &[i64], dim: usize) -> i64 {
        let at = if dim > self.vector_dim { dim - 1 } else { dim };
        batch.get(at).copied().unwrap_or_default()
    }

    /// The components of all vectors at `batches`, vector by vector.
    pub(crate) fn values(
        &self,
        evaluator: &mut Evaluator<'_>,
        asked: &Asked<'_>,
        places: &[i64],
    ) -> Checked<Vec<i64>> {
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
