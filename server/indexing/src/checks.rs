//! Preconditions of maps on shapes and attributes; a violation is the reason why there is no map.

use std::borrow::Cow;
use std::fmt;

use indexing_map::{IndexingMap, Variable};
use ir::{ArrayShape, Op, Shape};

/// The reason why there is no map: text that follows "no map: ".
pub type Reason = Cow<'static, str>;

pub(crate) type Checked<T> = Result<T, Reason>;

/// The maximum rank. No program has larger tensors, and their maps would only cost time.
pub(crate) const MAX_RANK: usize = 256;

/// The array of `shape`, if all its sizes are known. `what` names it in the reason.
pub(crate) fn array(shape: &Shape, what: impl fmt::Display) -> Checked<&ArrayShape> {
    let array = array_of_any_extents(shape, &what)?;
    match array.dims.iter().position(|&size| size < 0) {
        Some(dim) => Err(format!("dimension {dim} of {what} is not known").into()),
        None => Ok(array),
    }
}

/// The array of `shape`, whose extents may be unknown.
pub(crate) fn array_of_any_extents(shape: &Shape, what: impl fmt::Display) -> Checked<&ArrayShape> {
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
    Ok(array)
}

/// Checks that all extents of the operands and of the output are known: XLA has no maps of others.
pub(crate) fn known_extents(op: &Op) -> Checked<()> {
    let known = |shape: &Shape, what: fmt::Arguments<'_>| match shape.as_array() {
        Some(_) => array(shape, what).map(|_| ()),
        None => Ok(()),
    };
    known(&op.shape, format_args!("the output"))?;
    op.operand_shapes.iter().enumerate().try_for_each(|(i, shape)| known(shape, format_args!("operand {i}")))
}

/// Dimension sizes of operand `i`.
pub(crate) fn operand(op: &Op, i: usize) -> Checked<&[i64]> {
    let shape = op.operand_shapes.get(i).ok_or_else(|| Reason::from(format!("operand {i} is missing")))?;
    Ok(&array(shape, format_args!("operand {i}"))?.dims)
}

/// Dimension sizes of an output: of a leaf of the result if that is a tuple.
pub(crate) fn output(op: &Op, id: usize) -> Checked<&[i64]> {
    Ok(&array(output_shape(op, id)?, "the output")?.dims)
}

pub(crate) fn output_shape(op: &Op, id: usize) -> Checked<&Shape> {
    leaf(&op.shape, id).ok_or_else(|| format!("there is no output {id}").into())
}

/// The number of outputs: the leaves of a tuple, or one.
pub(crate) fn output_count(op: &Op) -> usize {
    leaf_count(&op.shape)
}

/// Leaf number `id` of a shape. A shape that is not a tuple is its only leaf; the leaves of a tuple are those
/// of its elements in order, at any depth.
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

/// Element `index` of a tuple, with the number of its first leaf.
pub(crate) fn element(tuple: &Shape, index: usize) -> Option<(usize, &Shape)> {
    let elements = tuple.tuple_elements()?;
    Some((elements.get(..index)?.iter().map(leaf_count).sum(), elements.get(index)?))
}

pub(crate) fn ensure(holds: bool, reason: impl Into<Reason>) -> Checked<()> {
    if holds { Ok(()) } else { Err(reason.into()) }
}

/// Checks that `numbers` are distinct dimension numbers of an array of rank `rank`.
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

/// `(d0, …) -> ()`: reads the only element of a scalar operand.
pub(crate) fn scalar(dims: &[i64]) -> IndexingMap {
    IndexingMap::from_sizes(dims, &[], Vec::new())
}
