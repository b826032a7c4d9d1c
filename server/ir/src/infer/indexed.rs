//! Gather and scatter. Source: `ShapeInference::InferGatherShape`, `InferScatterShape`.

use syntax::hlo::AttributeKey;

use super::given::{
    Given, Inferred, array, dimensions, ensure, fits, is_integral, one_or_tuple, same_dims, same_kind,
    sorted_dimensions,
};
use super::moves::slice_sizes;
use super::problem::{COUNT, Problem, element, operand, operand_type, value};
use crate::shape::{ArrayShape, UNBOUNDED};

/// The index vectors: sizes without the vector's dimension, and the length of a vector. A vector dimension after the
/// last one means scalars.
fn vectors(given: &Given<'_>, i: usize) -> Inferred<(Vec<i64>, i64)> {
    let indices = given.array(i)?;
    ensure(is_integral(indices.element), operand_type(i), || {
        format!("expected integral indices, but they are {indices}")
    })?;
    let dim = given.attributes.int(AttributeKey::IndexVectorDim).unwrap_or(-1);
    let at = usize::try_from(dim).ok().filter(|&dim| dim <= indices.rank());
    let at = at.ok_or_else(|| {
        let message = format!("expected index_vector_dim in [0, {}], but it is {dim}", indices.rank());
        Problem::at(value(AttributeKey::IndexVectorDim), message)
    })?;
    let mut batch = indices.dims.clone();
    let length = if at < indices.rank() { batch.remove(at) } else { 1 };
    Ok((batch, length))
}

/// Each component of a vector indexes one dimension of the operand.
fn check_map(given: &Given<'_>, key: AttributeKey, operand: &ArrayShape, length: i64) -> Inferred<()> {
    let map = given.dimensions(key, operand)?;
    let holds = fits(length, map.len() as i64);
    ensure(holds, value(key), || {
        format!("expected {key} to have an entry per index, {length}, but it has {}", map.len())
    })
}

/// Batching dimensions of the operand and of the indices, in pairs.
fn batching(
    given: &Given<'_>,
    [of_operand, of_indices]: [AttributeKey; 2],
    indices: usize,
) -> Inferred<Vec<usize>> {
    let operand = sorted_dimensions(given.ints(of_operand), given.array(0)?.rank(), of_operand)?;
    let own = dimensions(given.ints(of_indices), given.array(indices)?.rank(), of_indices)?;
    let pairs = (operand.len(), own.len());
    let at = if given.attributes.has(of_indices) { value(of_indices) } else { value(of_operand) };
    ensure(pairs.0 == pairs.1, at, || {
        format!("expected batching dimensions in pairs, but there are {} and {}", pairs.0, pairs.1)
    })?;
    Ok(operand)
}

pub(crate) fn gather(given: &Given<'_>) -> Inferred {
    use AttributeKey::{
        CollapsedSliceDims, OffsetDims, OperandBatchingDims, SliceSizes, StartIndicesBatchingDims,
    };
    given.count(2)?;
    let from = given.array(0)?;
    let (batch, length) = vectors(given, 1)?;
    check_map(given, AttributeKey::StartIndexMap, from, length)?;
    let collapsed = sorted_dimensions(given.ints(CollapsedSliceDims), from.rank(), CollapsedSliceDims)?;
    let batching = batching(given, [OperandBatchingDims, StartIndicesBatchingDims], 1)?;
    let sizes = slice_sizes(given, SliceSizes, from)?;
    let is_gone = |dim: usize| collapsed.contains(&dim) || batching.contains(&dim);
    let wide = (0..from.rank()).find(|&dim| is_gone(dim) && sizes[dim] > 1);
    ensure(wide.is_none(), element(SliceSizes, wide.unwrap_or_default()), || {
        format!("expected slices of at most 1 in collapsed and batching dimensions, but they are {sizes:?}")
    })?;
    let offsets = given.ints(OffsetDims);
    let rank = batch.len() + offsets.len();
    let offsets = sorted_dimensions(offsets, rank, OffsetDims)?;
    let expected = from.rank().checked_sub(collapsed.len() + batching.len());
    let holds = expected == Some(offsets.len());
    ensure(holds, value(OffsetDims), || {
        let wanted = expected.unwrap_or_default();
        format!(
            "expected an entry of offset_dims per dimension of a slice, {wanted}, but there are {}",
            offsets.len()
        )
    })?;
    let mut window = (0..from.rank()).filter(|&dim| !is_gone(dim)).map(|dim| sizes[dim]);
    let mut batch = batch.into_iter();
    // Both are sorted.
    let mut next = offsets.iter().peekable();
    let dims = (0..rank).filter_map(|dim| match next.next_if(|&&offset| offset == dim) {
        Some(_) => window.next(),
        None => batch.next(),
    });
    Ok(array(from.element, dims.collect()))
}

pub(crate) fn scatter(given: &Given<'_>) -> Inferred {
    use AttributeKey::{
        InputBatchingDims, InsertedWindowDims, ScatterDimsToOperandDims, ScatterIndicesBatchingDims,
        UpdateWindowDims,
    };
    let count = given.operands.len();
    ensure(count >= 3 && count % 2 == 1, COUNT, || {
        format!("expected n operands, indices, n updates, but there are {count}")
    })?;
    let inputs = count / 2;
    let (into, updates) = (given.array(0)?, given.array(inputs + 1)?);
    let (batch, length) = vectors(given, inputs)?;
    check_map(given, ScatterDimsToOperandDims, into, length)?;
    let inserted = sorted_dimensions(given.ints(InsertedWindowDims), into.rank(), InsertedWindowDims)?;
    let batching = batching(given, [InputBatchingDims, ScatterIndicesBatchingDims], inputs)?;
    let window_dims = given.ints(UpdateWindowDims);
    let rank = batch.len() + window_dims.len();
    let is_gone = |dim: &usize| inserted.contains(dim) || batching.contains(dim);
    let window: Vec<usize> = (0..into.rank()).filter(|dim| !is_gone(dim)).collect();
    let holds =
        window.len() == window_dims.len() && window.len() + inserted.len() + batching.len() == into.rank();
    ensure(holds, value(UpdateWindowDims), || {
        format!("expected window, inserted and batching dimensions to be those of {into} together")
    })?;
    ensure(updates.rank() == rank, operand(inputs + 1), || {
        format!("expected updates of rank {rank}, but they are {updates}")
    })?;
    let window_dims = sorted_dimensions(window_dims, rank, UpdateWindowDims)?;
    for (&of, &dim) in window_dims.iter().zip(&window) {
        let (size, whole) = (updates.dims[of], into.dims[dim]);
        let holds = size <= whole || whole == UNBOUNDED;
        ensure(holds, operand(inputs + 1), || {
            format!("expected a window of at most {whole} in dimension {dim}, but it is {size} in {updates}")
        })?;
    }
    let scattered = (0..rank).filter(|dim| !window_dims.contains(dim)).map(|dim| updates.dims[dim]);
    let holds = scattered.zip(&batch).all(|(a, &b)| fits(a, b));
    ensure(holds, operand(inputs + 1), || {
        format!("expected updates with the sizes {batch:?} of the indices, but they are {updates}")
    })?;
    let mut shapes = Vec::with_capacity(inputs);
    for i in 0..inputs {
        let (own, update) = (given.array(i)?, given.array(inputs + 1 + i)?);
        ensure(same_dims(own, into), operand(i), || {
            format!("expected operand {i} with the sizes of {into}, but it is {own}")
        })?;
        ensure(same_dims(update, updates), operand(inputs + 1 + i), || {
            format!(
                "expected updates with the sizes of {updates}, but operand {} is {update}",
                inputs + 1 + i
            )
        })?;
        ensure(same_kind(own.element, update.element), operand_type(inputs + 1 + i), || {
            format!("expected updates of the type of {own}, but operand {} is {update}", inputs + 1 + i)
        })?;
        shapes.push(given.operand(i)?.clone());
    }
    let elements: Inferred<Vec<_>> = (0..inputs).map(|i| Ok(given.array(i)?.element)).collect();
    super::windows::check_reducer(given, AttributeKey::ToApply, &elements?)?;
    Ok(one_or_tuple(shapes))
}
