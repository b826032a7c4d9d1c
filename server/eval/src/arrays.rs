//! The arrays of a value as text.

use ir::{OpId, Shape};

use super::evaluator::Evaluator;
use super::literals;
use super::positions::{array, count};
use super::summary::Summary;
use crate::checks::Reason;

/// The largest number of elements of an array that is printed as a literal.
const MAX_SHOWN: i64 = 1 << 16;

/// One array of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EvaluatedArray {
    /// Its index in nested tuples; empty if the value is not a tuple.
    pub index: Vec<usize>,
    /// Its type, with the layout.
    pub shape: String,
    /// In a summary, the reason if this array has no value.
    pub values: Result<String, Reason>,
}

/// All elements of an array as a literal.
pub(super) fn literal(
    evaluator: &mut Evaluator<'_>,
    op: OpId,
    leaf: usize,
    shape: &Shape,
) -> Result<String, Reason> {
    let array = array(shape)?;
    let count = count(array);
    if count > MAX_SHOWN {
        return Err(
            format!("too many elements for a literal: {count} of {array}, at most {MAX_SHOWN}").into()
        );
    }
    Ok(literals::print(&evaluator.whole(op, leaf)?, &array.dims))
}

/// The first `limit` arrays of an op, and the number of others.
pub(super) fn summaries(
    evaluator: &mut Evaluator<'_>,
    op: OpId,
    max_rows: i64,
    limit: usize,
) -> (Vec<EvaluatedArray>, usize) {
    let shape = match evaluator.op(0, op) {
        Ok((graph, at)) => graph.ops[at].shape.clone(),
        Err(_) => return (Vec::new(), 0),
    };
    let leaves = indexed_leaves(&shape);
    let left_out = leaves.len().saturating_sub(limit);
    let shown = leaves.into_iter().take(limit).enumerate();
    let arrays = shown.map(|(leaf, (index, shape))| {
        let values = array(shape).and_then(|array| {
            let summary = Summary::of(&array.dims, max_rows);
            Ok(summary.text(&evaluator.elements(op, leaf, &summary.positions())?))
        });
        EvaluatedArray { index, shape: shape.to_string(), values }
    });
    (arrays.collect(), left_out)
}

/// The arrays (and tokens) of a shape with their indices in nested tuples, in the order of [`leaves`](crate::checks::leaves).
pub(super) fn indexed_leaves(shape: &Shape) -> Vec<(Vec<usize>, &Shape)> {
    let mut found = Vec::new();
    let mut open = vec![(Vec::new(), shape)];
    while let Some((index, shape)) = open.pop() {
        match shape {
            Shape::Tuple(elements) => {
                let within = elements.iter().enumerate().rev();
                open.extend(within.map(|(i, element)| ([index.as_slice(), &[i]].concat(), element)));
            }
            other => found.push((index, other)),
        }
    }
    found
}
