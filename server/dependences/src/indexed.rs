//! Ops with dynamic indices: dynamic slices, gather, scatter. The values of the index operands must be known.
//!
//! Semantics: XLA "Operation Semantics". Start indices are clamped so that a slice stays inside, except that
//! a scatter skips an update whose window leaves the operand.

use eval::{Checked, Reason, ensure};
use ir::AttributeKey;

use crate::case::Case;
use crate::traced::{Read, Traced, for_each_index, position};

/// The start of a slice of size `slice` in `whole`, by the index operands from `first` on.
fn starts(case: &Case<'_>, first: usize, whole: &[i64], slice: &[i64]) -> Checked<Vec<i64>> {
    ensure(whole.len() == slice.len(), "the slice and the array differ in rank")?;
    ensure(
        whole.iter().zip(slice).all(|(whole, slice)| slice <= whole),
        "the slice is larger than the array",
    )?;
    let mut given: Vec<i64> = Vec::new();
    for i in first..case.operand_count() {
        given.extend(case.values(i)?);
    }
    ensure(given.len() == whole.len(), "not one index per dimension")?;
    let clamped = given.iter().zip(whole).zip(slice);
    Ok(clamped.map(|((&start, &whole), &slice)| start.clamp(0, whole - slice)).collect())
}

/// Every output element depends on all start indices.
pub(crate) fn dynamic_slice(case: &Case<'_>) -> Checked<Traced> {
    let starts = starts(case, 1, case.operand(0)?, case.output()?)?;
    case.trace(|index, reads| {
        let from: Vec<i64> = index.iter().zip(&starts).map(|(i, start)| i + start).collect();
        reads.at(0, &from);
        (1..case.operand_count()).for_each(|i| reads.all(i));
    })
}

/// The update inside its window, the operand elsewhere; inside the window an element also depends on all
/// start indices.
pub(crate) fn dynamic_update_slice(case: &Case<'_>) -> Checked<Traced> {
    let starts = starts(case, 2, case.operand(0)?, case.operand(1)?)?;
    case.trace(|index, reads| {
        let from: Vec<i64> = index.iter().zip(&starts).map(|(i, start)| i - start).collect();
        if !reads.at_if_inside(1, &from) {
            reads.at(0, index);
        }
        (2..case.operand_count()).for_each(|i| reads.all(i));
    })
}

/// The index vectors of a gather or scatter.
struct IndexVectors<'a> {
    dims: &'a [i64],
    /// The dimension of the index vectors; the rank if vectors are scalars.
    vector_dim: usize,
    length: i64,
    values: &'a [i64],
}

impl<'a> IndexVectors<'a> {
    fn of(case: &Case<'a>, operand: usize) -> Checked<IndexVectors<'a>> {
        let dims = case.operand(operand)?;
        let vector_dim = case.op.attributes.int(AttributeKey::IndexVectorDim);
        let vector_dim = vector_dim.and_then(|dim| usize::try_from(dim).ok()).filter(|&d| d <= dims.len());
        let vector_dim = vector_dim.ok_or_else(|| Reason::from("index_vector_dim is no dimension"))?;
        let length = dims.get(vector_dim).copied().unwrap_or(1);
        Ok(IndexVectors { dims, vector_dim, length, values: case.values(operand)? })
    }

    /// The sizes of the array of vectors.
    fn batch(&self) -> Vec<i64> {
        (0..self.dims.len()).filter(|&dim| dim != self.vector_dim).map(|dim| self.dims[dim]).collect()
    }

    /// Component `k` of the vector at `batch`: its index, and its value.
    fn component(&self, batch: &[i64], k: i64) -> Option<(Vec<i64>, i64)> {
        let mut at = batch.to_vec();
        if self.vector_dim < self.dims.len() {
            at.insert(self.vector_dim, k);
        }
        let value = *self.values.get(position(self.dims, &at)?)?;
        Some((at, value))
    }

    /// The entry of a vector's index `batch` for dimension `dim` of the indices.
    fn batch_entry(&self, batch: &[i64], dim: usize) -> i64 {
        let at = if dim > self.vector_dim { dim - 1 } else { dim };
        batch.get(at).copied().unwrap_or_default()
    }
}

/// An output element belongs to one index vector (by its dimensions outside `offset_dims`) and to one element
/// of the slice there (by its dimensions in `offset_dims`, those of the slice that are neither collapsed nor
/// batching). It reads that element and the whole vector.
pub(crate) fn gather(case: &Case<'_>) -> Checked<Traced> {
    let (operand, output) = (case.operand(0)?, case.output()?);
    let vectors = IndexVectors::of(case, 1)?;
    let offset_dims = case.dimensions(AttributeKey::OffsetDims, output.len())?;
    let collapsed = case.dimensions(AttributeKey::CollapsedSliceDims, operand.len())?;
    let start_map = case.dimensions(AttributeKey::StartIndexMap, operand.len())?;
    let batching = case.dimensions(AttributeKey::OperandBatchingDims, operand.len())?;
    let index_batching = case.dimensions(AttributeKey::StartIndicesBatchingDims, vectors.dims.len())?;
    let sizes = case.ints(AttributeKey::SliceSizes);
    let window: Vec<usize> =
        (0..operand.len()).filter(|dim| !collapsed.contains(dim) && !batching.contains(dim)).collect();
    let fits = sizes.len() == operand.len()
        && sizes.iter().zip(operand).all(|(slice, whole)| (0..=*whole).contains(slice))
        && window.len() == offset_dims.len()
        && output.len() == offset_dims.len() + vectors.batch().len()
        && vectors.length == start_map.len() as i64
        && batching.len() == index_batching.len();
    ensure(fits, "the attributes of the gather do not fit its shapes")?;
    case.trace(|index, reads| {
        let batch: Vec<i64> =
            (0..output.len()).filter(|dim| !offset_dims.contains(dim)).map(|dim| index[dim]).collect();
        let mut from = vec![0; operand.len()];
        for (k, &dim) in start_map.iter().enumerate() {
            if let Some((at, start)) = vectors.component(&batch, k as i64) {
                from[dim] = start.clamp(0, operand[dim] - sizes[dim]);
                reads.at(1, &at);
            }
        }
        for (&dim, &index_dim) in batching.iter().zip(&index_batching) {
            from[dim] = vectors.batch_entry(&batch, index_dim);
        }
        window.iter().zip(&offset_dims).for_each(|(&dim, &offset)| from[dim] += index[offset]);
        reads.at(0, &from);
    })
}

/// Every update element belongs to one index vector and one element of its window. The window is placed in
/// the operand at the vector's value, or nowhere if it does not fit. An output element depends on its old
/// value, on all updates that land on it, and on all indices, since each could direct an update there.
pub(crate) fn scatter(case: &Case<'_>) -> Checked<Traced> {
    let count = case.operand_count() / 2;
    ensure(count > 0 && case.operand_count() % 2 == 1, "a scatter takes n operands, indices, n updates")?;
    let (operand, updates) = (case.operand(0)?, case.operand(count + 1)?);
    let vectors = IndexVectors::of(case, count)?;
    let window_dims = case.dimensions(AttributeKey::UpdateWindowDims, updates.len())?;
    let inserted = case.dimensions(AttributeKey::InsertedWindowDims, operand.len())?;
    let start_map = case.dimensions(AttributeKey::ScatterDimsToOperandDims, operand.len())?;
    let batching = case.dimensions(AttributeKey::InputBatchingDims, operand.len())?;
    let index_batching = case.dimensions(AttributeKey::ScatterIndicesBatchingDims, vectors.dims.len())?;
    let window: Vec<usize> =
        (0..operand.len()).filter(|dim| !inserted.contains(dim) && !batching.contains(dim)).collect();
    let fits = window.len() == window_dims.len()
        && updates.len() == window_dims.len() + vectors.batch().len()
        && vectors.length == start_map.len() as i64
        && batching.len() == index_batching.len();
    ensure(fits && case.output()? == operand, "the attributes of the scatter do not fit its shapes")?;
    let mut sizes = vec![1; operand.len()];
    window.iter().zip(&window_dims).for_each(|(&dim, &of)| sizes[dim] = updates[of]);

    let mut arrivals = vec![Vec::new(); operand.iter().product::<i64>() as usize];
    let mut source = 0;
    for_each_index(updates, |index| {
        let batch: Vec<i64> =
            (0..updates.len()).filter(|dim| !window_dims.contains(dim)).map(|dim| index[dim]).collect();
        let mut to = vec![0; operand.len()];
        for (k, &dim) in start_map.iter().enumerate() {
            to[dim] = vectors.component(&batch, k as i64).map_or(0, |(_, start)| start);
        }
        for (&dim, &index_dim) in batching.iter().zip(&index_batching) {
            to[dim] = vectors.batch_entry(&batch, index_dim);
        }
        let fits = (0..operand.len()).all(|d| to[d] >= 0 && to[d] <= operand[d] - sizes[d]);
        window.iter().zip(&window_dims).for_each(|(&dim, &of)| to[dim] = to[dim].saturating_add(index[of]));
        if let (true, Some(at)) = (fits, position(operand, &to)) {
            arrivals[at].push(source);
        }
        source += 1;
    });
    let replica = case.setting.replica;
    let mut at = 0;
    case.trace(|_, reads| {
        for k in 0..count {
            reads.position(k, at);
            let updates = (count + 1 + k) as u32;
            for &position in &arrivals[at] {
                reads.add(&[Read { operand: updates, leaf: 0, replica, position }]);
            }
        }
        reads.all(count);
        at += 1;
    })
}
