//! Gather and scatter. Source: `ShapeInference::InferGatherShape`, `InferScatterShape`.

use syntax::hlo::AttributeKey;

use super::given::{
    Given, Inferred, array, dimensions, ensure, fits, is_integral, one_or_tuple, same_dims, same_kind,
    sorted_dimensions,
};
use crate::shape::{ArrayShape, UNBOUNDED};

/// The index vectors: sizes without the vector's dimension, and the length of a vector. A vector dimension behind the
/// last one means scalars.
fn vectors(given: &Given<'_>, indices: &ArrayShape) -> Inferred<(Vec<i64>, i64, usize)> {
    ensure(is_integral(indices.element), || format!("expected integral indices, but they are {indices}"))?;
    let dim = given.attributes.int(AttributeKey::IndexVectorDim).unwrap_or(-1);
    let at = usize::try_from(dim).ok().filter(|&dim| dim <= indices.rank());
    let at =
        at.ok_or_else(|| format!("expected index_vector_dim in [0, {}], but it is {dim}", indices.rank()))?;
    let mut batch = indices.dims.clone();
    let length = if at < indices.rank() { batch.remove(at) } else { 1 };
    Ok((batch, length, at))
}

/// Each component of a vector indexes one dimension of the operand.
fn check_map(given: &Given<'_>, key: AttributeKey, operand: &ArrayShape, length: i64) -> Inferred<()> {
    let map = given.dimensions(key, operand)?;
    let holds = fits(length, map.len() as i64);
    ensure(holds, || format!("expected {key} to have an entry per index, {length}, but it has {}", map.len()))
}

pub(super) fn gather(given: &Given<'_>) -> Inferred {
    given.count(2)?;
    let (operand, indices) = (given.array(0)?, given.array(1)?);
    let (batch, length, _) = vectors(given, indices)?;
    check_map(given, AttributeKey::StartIndexMap, operand, length)?;
    let sorted = |key| sorted_dimensions(given.ints(key), operand.rank(), AttributeKey::name(key));
    let collapsed = sorted(AttributeKey::CollapsedSliceDims)?;
    let batching = sorted(AttributeKey::OperandBatchingDims)?;
    let indices_batching = dimensions(
        given.ints(AttributeKey::StartIndicesBatchingDims),
        indices.rank(),
        "start_indices_batching_dims",
    )?;
    let pairs = (batching.len(), indices_batching.len());
    ensure(pairs.0 == pairs.1, || {
        format!("expected batching dimensions in pairs, but there are {} and {}", pairs.0, pairs.1)
    })?;
    let sizes = given.ints(AttributeKey::SliceSizes);
    let inside = |(&s, &d): (&i64, &i64)| s >= 0 && (s <= d || d == UNBOUNDED);
    let holds = sizes.len() == operand.rank() && sizes.iter().zip(&operand.dims).all(inside);
    ensure(holds, || format!("expected slices within {operand}, but slice_sizes is {sizes:?}"))?;
    let gone: Vec<usize> = collapsed.iter().chain(&batching).copied().collect();
    let wide = gone.iter().find(|&&dim| sizes[dim] > 1);
    ensure(wide.is_none(), || {
        format!("expected slices of at most 1 in collapsed and batching dimensions, but they are {sizes:?}")
    })?;
    let mut window = (0..operand.rank()).filter(|dim| !gone.contains(dim)).map(|dim| sizes[dim]);
    let offsets = given.ints(AttributeKey::OffsetDims);
    let rank = batch.len() + offsets.len();
    let offsets = sorted_dimensions(offsets, rank, "offset_dims")?;
    let expected = operand.rank().checked_sub(gone.len());
    let holds = expected == Some(offsets.len());
    ensure(holds, || {
        format!("expected an entry of offset_dims per dimension of a slice, but there are {}", offsets.len())
    })?;
    let mut batch = batch.into_iter();
    let dims = (0..rank).filter_map(|dim| if offsets.contains(&dim) { window.next() } else { batch.next() });
    Ok(array(operand.element, dims.collect()))
}

pub(super) fn scatter(given: &Given<'_>) -> Inferred {
    let count = given.operands.len();
    ensure(count >= 3 && count % 2 == 1, || {
        format!("expected n operands, indices, n updates, but there are {count}")
    })?;
    let inputs = count / 2;
    let (operand, updates) = (given.array(0)?, given.array(inputs + 1)?);
    let (batch, length, _) = vectors(given, given.array(inputs)?)?;
    check_map(given, AttributeKey::ScatterDimsToOperandDims, operand, length)?;
    let sorted = |key| sorted_dimensions(given.ints(key), operand.rank(), AttributeKey::name(key));
    let inserted = sorted(AttributeKey::InsertedWindowDims)?;
    let batching = sorted(AttributeKey::InputBatchingDims)?;
    let indices_batching = given.ints(AttributeKey::ScatterIndicesBatchingDims).len();
    ensure(batching.len() == indices_batching, || {
        format!(
            "expected batching dimensions in pairs, but there are {} and {indices_batching}",
            batching.len()
        )
    })?;
    let window_dims = given.ints(AttributeKey::UpdateWindowDims);
    let rank = batch.len() + window_dims.len();
    ensure(updates.rank() == rank, || format!("expected updates of rank {rank}, but they are {updates}"))?;
    let window_dims = sorted_dimensions(window_dims, rank, "update_window_dims")?;
    let window: Vec<usize> =
        (0..operand.rank()).filter(|dim| !inserted.contains(dim) && !batching.contains(dim)).collect();
    let holds =
        window.len() == window_dims.len() && window.len() + inserted.len() + batching.len() == operand.rank();
    ensure(holds, || format!("expected window, inserted and batching dimensions to be those of {operand}"))?;
    for (&of, &dim) in window_dims.iter().zip(&window) {
        let (size, whole) = (updates.dims[of], operand.dims[dim]);
        let holds = size <= whole || whole == UNBOUNDED;
        ensure(holds, || {
            format!("expected a window of at most {whole} in dimension {dim}, but it is {size}")
        })?;
    }
    let scattered = (0..rank).filter(|dim| !window_dims.contains(dim)).map(|dim| updates.dims[dim]);
    let holds = scattered.zip(&batch).all(|(a, &b)| fits(a, b));
    ensure(holds, || {
        format!("expected updates with the sizes {batch:?} of the indices, but they are {updates}")
    })?;
    let mut shapes = Vec::new();
    for i in 0..inputs {
        let (own, update) = (given.array(i)?, given.array(inputs + 1 + i)?);
        let holds =
            same_dims(own, operand) && same_dims(update, updates) && same_kind(own.element, update.element);
        ensure(holds, || {
            format!("expected {operand} and {updates} for pair {i}, but they are {own} and {update}")
        })?;
        shapes.push(given.operand(i)?.clone());
    }
    super::windows::check_reducer(given, AttributeKey::ToApply, inputs)?;
    Ok(one_or_tuple(shapes))
}
