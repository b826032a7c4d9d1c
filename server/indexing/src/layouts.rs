//! Indices in memory order.

use indexing_map::{Expr, IndexingMap, SimplifyMode};
use ir::{ArrayShape, Op, Shape};

use crate::checks;
use crate::operand_indexing::{OpIndexing, OperandIndexing};
use crate::reshape::reshape;

/// Sizes in memory order, slowest dimension first.
pub(crate) fn physical_sizes(array: &ArrayShape) -> (Vec<i64>, Vec<usize>) {
    let order: Vec<usize> = array.minor_to_major().into_iter().rev().collect();
    (order.iter().map(|&dim| array.dims[dim]).collect(), order)
}

/// Maps the logical index to the index in memory order, slowest dimension first. Ignores tiles. Undefined for
/// shapes that are not arrays. Source: `GetIndexingMapFromLogicalToPhysicalLayout`.
pub fn logical_to_physical(shape: &Shape) -> IndexingMap {
    let Ok(array) = checks::array(shape, "the shape") else { return IndexingMap::undefined() };
    let (_, order) = physical_sizes(array);
    IndexingMap::from_sizes(&array.dims, &[], order.into_iter().map(Expr::var).collect())
}

/// The inverse of [`logical_to_physical`]. Source: `GetIndexingMapFromPhysicalLayoutToLogical`.
pub fn physical_to_logical(shape: &Shape) -> IndexingMap {
    let Ok(array) = checks::array(shape, "the shape") else { return IndexingMap::undefined() };
    let (sizes, order) = physical_sizes(array);
    let mut results = vec![Expr::ZERO; order.len()];
    for (i, &dim) in order.iter().enumerate() {
        results[dim] = Expr::var(i);
    }
    IndexingMap::from_sizes(&sizes, &[], results)
}

/// Maps the logical index to the element's position in memory, in elements. Undefined if the count overflows.
pub fn logical_to_linear(shape: &Shape) -> IndexingMap {
    let physical = logical_to_physical(shape);
    let Ok(array) = checks::array(shape, "the shape") else { return IndexingMap::undefined() };
    let (sizes, _) = physical_sizes(array);
    let linear = array.elements().map(|n| reshape(&sizes, &[n]));
    match linear {
        Some(Ok(linear)) => physical.compose(&linear).simplified(SimplifyMode::Replace),
        _ => IndexingMap::undefined(),
    }
}

/// Maps the physical index of an output to the physical indices of the operands: `indexing`, a result of
/// [`crate::output_to_input()`] for `op`, between layouts. Simplified.
#[must_use]
pub fn physical(op: &Op, output_id: usize, indexing: &OpIndexing) -> OpIndexing {
    let from = checks::output_shape(op, output_id);
    between(indexing, |_| from.clone().ok(), |i| op.operand_shapes.get(i))
}

/// As [`physical`], for a result of [`crate::input_to_output()`].
#[must_use]
pub fn physical_input_to_output(op: &Op, input_id: usize, indexing: &OpIndexing) -> OpIndexing {
    between(indexing, |_| op.operand_shapes.get(input_id), |k| checks::output_shape(op, k).ok())
}

fn between<'a>(
    indexing: &OpIndexing,
    from: impl Fn(usize) -> Option<&'a Shape>,
    to: impl Fn(usize) -> Option<&'a Shape>,
) -> OpIndexing {
    let lists = indexing.operands.iter().enumerate().map(|(i, list)| {
        let ends = from(i).zip(to(i)).map(|(from, to)| (physical_to_logical(from), logical_to_physical(to)));
        let mut moved = Vec::with_capacity(list.len());
        for access in list {
            let access = match &ends {
                Some((before, after)) => physical_access(access, before, after),
                None => OperandIndexing::undefined("a shape is missing"),
            };
            crate::operand_indexing::insert(&mut moved, access);
        }
        moved
    });
    OpIndexing { operands: lists.collect() }
}

fn physical_access(access: &OperandIndexing, before: &IndexingMap, after: &IndexingMap) -> OperandIndexing {
    let before = OperandIndexing::from(before.clone());
    let mut moved = before.compose(access);
    if !moved.map.is_undefined() {
        moved.map = moved.map.compose(after);
        moved.simplify();
    }
    moved
}
