//! A bitcast as reshapes and transposes that move no byte.
//! Source: `ShapeUtil::DecomposeBitcast`.

use ir::{ArrayShape, ElementTypeExt, Shape};

use crate::Reason;

/// A bitcast. A permutation has, for each dimension of the result, the dimension of the operand.
pub(crate) enum Bitcast {
    Transpose(Vec<usize>),
    Reshape { from: Vec<i64>, to: Vec<i64> },
    TransposeReshapeTranspose { first: Vec<usize>, from: Vec<i64>, to: Vec<i64>, second: Vec<usize> },
}

impl Bitcast {
    /// The bitcast of an array of one shape to another.
    pub(crate) fn of(from: &Shape, to: &Shape) -> Result<Bitcast, Reason> {
        let (Some(a), Some(b)) = (from.as_array(), to.as_array()) else {
            return Err("a bitcast of something that is no array".into());
        };
        if a.element.bits() != b.element.bits() || a.elements() != b.elements() {
            return Err("Bitcast is not decomposable.".into());
        }
        if let Some(permutation) = transpose(a, b).filter(|_| !a.dims.is_empty()) {
            return Ok(Bitcast::Transpose(permutation));
        }
        if gpu::reshape_is_bitcast(from, to) {
            return Ok(Bitcast::Reshape { from: a.dims.clone(), to: b.dims.clone() });
        }
        let first: Vec<usize> = a.minor_to_major().into_iter().rev().collect();
        let order: Vec<usize> = b.minor_to_major().into_iter().rev().collect();
        let mut second = vec![0; order.len()];
        for (position, &dim) in order.iter().enumerate() {
            second[dim] = position;
        }
        let sizes = |array: &ArrayShape, order: &[usize]| order.iter().map(|&dim| array.dims[dim]).collect();
        Ok(Bitcast::TransposeReshapeTranspose { from: sizes(a, &first), to: sizes(b, &order), first, second })
    }
}

/// The permutation if the bitcast is a transpose.
fn transpose(from: &ArrayShape, to: &ArrayShape) -> Option<Vec<usize>> {
    if from.dims.len() != to.dims.len() {
        return None;
    }
    let mut permutation = vec![0; to.dims.len()];
    for (&of_from, &of_to) in from.minor_to_major().iter().zip(&to.minor_to_major()) {
        permutation[of_to] = of_from;
    }
    let is_same = permutation.iter().zip(&to.dims).all(|(&dim, &size)| from.dims[dim] == size);
    is_same.then_some(permutation)
}

/// A list of dimensions as a permutation of `rank` dimensions.
pub(crate) fn permutation_of(dims: &[i64], rank: usize) -> Result<Vec<usize>, Reason> {
    let mut seen = vec![false; rank];
    let mut permutation = Vec::with_capacity(rank);
    for &dim in dims {
        let dim = usize::try_from(dim).ok().filter(|&dim| dim < rank && !seen[dim]);
        let dim = dim.ok_or("dimensions that are no permutation")?;
        seen[dim] = true;
        permutation.push(dim);
    }
    match permutation.len() == rank {
        true => Ok(permutation),
        false => Err("dimensions that are no permutation".into()),
    }
}
