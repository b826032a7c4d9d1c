//! What must hold of shapes and attributes before a map can be made of them; else the reason why there is none.

use std::borrow::Cow;

use indexing_map::{IndexingMap, Variable};
use ir::{ArrayShape, Op, Shape};

/// Why there is no map, in words that follow "no map: ".
pub type Reason = Cow<'static, str>;

pub(crate) type Checked<T> = Result<T, Reason>;

/// Ranks beyond this are no tensors of any program; maps of them would only cost.
const MAX_RANK: usize = 256;

/// The array that `shape` is, with all sizes known. `what` names it in the reason.
pub(crate) fn array<'a>(shape: &'a Shape, what: &str) -> Checked<&'a ArrayShape> {
    let Some(array) = shape.as_array() else {
        let kind = match shape {
            Shape::Tuple(_) => "a tuple",
            Shape::Token => "a token",
            _ => "opaque",
        };
        return Err(format!("{what} is {kind}").into());
    };
    if array.rank() > MAX_RANK {
        return Err(format!("{what} has {} dimensions", array.rank()).into());
    }
    match array.dims.iter().position(|&size| size < 0) {
        Some(dim) => Err(format!("dimension {dim} of {what} has no bound").into()),
        None => Ok(array),
    }
}

/// Dimension sizes of operand `i`.
pub(crate) fn operand(op: &Op, i: usize) -> Checked<&[i64]> {
    let shape = op.operand_shapes.get(i).ok_or_else(|| Reason::from(format!("operand {i} is missing")))?;
    Ok(&array(shape, &format!("operand {i}"))?.dims)
}

/// Dimension sizes of an output: of a leaf of the result where that is a tuple.
pub(crate) fn output(op: &Op, id: usize) -> Checked<&[i64]> {
    Ok(&array(output_shape(op, id)?, "the output")?.dims)
}

pub(crate) fn output_shape(op: &Op, id: usize) -> Checked<&Shape> {
    leaf(&op.shape, id).ok_or_else(|| format!("there is no output {id}").into())
}

/// Number of outputs: of the result's leaves, one where it is no tuple.
pub(crate) fn output_count(op: &Op) -> usize {
    leaf_count(&op.shape)
}

/// What is no tuple is its own only leaf; those of a tuple are its elements' in order, however deep.
pub(crate) fn leaf(shape: &Shape, id: usize) -> Option<&Shape> {
    fn find<'a>(shape: &'a Shape, left: &mut usize) -> Option<&'a Shape> {
        match shape.tuple_elements() {
            Some(elements) => elements.iter().find_map(|element| find(element, left)),
            None if *left == 0 => Some(shape),
            None => {
                *left -= 1;
                None
            }
        }
    }
    find(shape, &mut { id })
}

pub(crate) fn leaf_count(shape: &Shape) -> usize {
    shape.tuple_elements().map_or(1, |elements| elements.iter().map(leaf_count).sum())
}

/// The number of the first leaf of element `index` of a tuple, and that element.
pub(crate) fn element(tuple: &Shape, index: usize) -> Option<(usize, &Shape)> {
    let elements = tuple.tuple_elements()?;
    Some((elements.get(..index)?.iter().map(leaf_count).sum(), elements.get(index)?))
}

pub(crate) fn ensure(holds: bool, reason: impl Into<Reason>) -> Checked<()> {
    if holds { Ok(()) } else { Err(reason.into()) }
}

/// `numbers` as dimension numbers of an array of rank `rank`: each below it, none twice.
pub(crate) fn dimensions(numbers: &[i64], rank: usize, what: &str) -> Checked<Vec<usize>> {
    let mut seen = vec![false; rank];
    numbers
        .iter()
        .map(|&number| {
            let dim = usize::try_from(number).ok().filter(|&dim| dim < rank);
            let dim =
                dim.ok_or_else(|| Reason::from(format!("{what} {number} is not a dimension of {rank}")))?;
            ensure(!std::mem::replace(&mut seen[dim], true), format!("{what} {number} is named twice"))?;
            Ok(dim)
        })
        .collect()
}

/// `numbers` as one dimension number.
pub(crate) fn dimension(numbers: &[i64], rank: usize, what: &str) -> Checked<usize> {
    ensure(numbers.len() == 1, format!("{what} must be one dimension"))?;
    Ok(dimensions(numbers, rank, what)?[0])
}

pub(crate) fn variables(sizes: &[i64]) -> Vec<Variable> {
    sizes.iter().map(|&size| Variable::from_size(size)).collect()
}

/// `(d0, …) -> ()`: the one element of a scalar operand.
pub(crate) fn scalar(dims: &[i64]) -> IndexingMap {
    IndexingMap::from_sizes(dims, &[], Vec::new())
}
