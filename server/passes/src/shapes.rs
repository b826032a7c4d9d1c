//! Arithmetic of shapes and permutations that several passes need.

use std::sync::Arc;

use ir::{ArrayShape, Layout, Shape};

/// The array of the same element type with other dimensions, row-major; `None` for what is no array.
pub(crate) fn of_element(shape: &Shape, dims: &[i64]) -> Option<Shape> {
    let element = shape.element()?;
    Some(Shape::Array(Arc::new(ArrayShape {
        element,
        dims: dims.to_vec(),
        dynamic: Vec::new(),
        layout: None,
    })))
}

/// The shape of a transpose that moves no element in memory. `None` for what is no array, and for tiled layouts and dynamic sizes.
/// Source: XLA `ShapeUtil::PermuteDimensions`.
pub(crate) fn transposed(shape: &Shape, dimensions: &[i64]) -> Option<Shape> {
    let array = shape.as_array()?;
    let dims: Vec<i64> =
        dimensions.iter().map(|&dim| array.dims.get(dim as usize).copied()).collect::<Option<_>>()?;
    let back = inverse(dimensions);
    let mut layout = array.layout.clone().unwrap_or_else(|| Layout::row_major(array.rank()));
    if !layout.tiles.is_empty() || layout.split.is_some() || !array.dynamic.is_empty() {
        return None;
    }
    for dim in &mut layout.minor_to_major {
        *dim = *back.get(*dim as usize)?;
    }
    let array = ArrayShape { dims, layout: Some(layout), ..ArrayShape::clone(array) };
    Some(Shape::Array(Arc::new(array)).without_default_layouts())
}

/// The permutation that takes `dims` back. An invalid one gives anything, of the same length.
pub(crate) fn inverse(dims: &[i64]) -> Vec<i64> {
    let mut inverse = vec![0; dims.len()];
    for (at, &dim) in dims.iter().enumerate() {
        if let Some(slot) = usize::try_from(dim).ok().and_then(|dim| inverse.get_mut(dim)) {
            *slot = at as i64;
        }
    }
    inverse
}

pub(crate) fn is_identity(dims: &[i64]) -> bool {
    dims.iter().zip(0..).all(|(&dim, at)| dim == at)
}

/// How many dimensions have a size other than 1.
pub(crate) fn true_rank(dims: &[i64]) -> usize {
    dims.iter().filter(|&&size| size != 1).count()
}

/// Where the dimensions `of` of an array with dimensions `from` are after a reshape to `to`; `None` where the reshape splits or joins
/// one of them. Source: XLA `ShapeUtil::ReshapeLeavesDimensionsUnmodified`.
pub(crate) fn unmodified_dims(from: &[i64], to: &[i64], of: &[i64]) -> Option<Vec<i64>> {
    let factors = common_factors(from, to);
    let pairs = factors.windows(2).filter(|pair| pair[1].0 - pair[0].0 == 1 && pair[1].1 - pair[0].1 == 1);
    let pairs: Vec<(i64, i64)> = pairs.map(|pair| (pair[0].0 as i64, pair[0].1 as i64)).collect();
    of.iter().map(|&dim| Some(pairs.iter().find(|(own, _)| *own == dim)?.1)).collect()
}

/// Where both lists of dimensions have prefixes of equal products, from `(0, 0)` to their ends, as many as possible.
/// Source: XLA `CommonFactors`.
pub(crate) fn common_factors(a: &[i64], b: &[i64]) -> Vec<(usize, usize)> {
    if a.contains(&0) || b.contains(&0) {
        return vec![(0, 0), (a.len(), b.len())];
    }
    let (mut i, mut j) = (0, 0);
    let (mut left, mut right) = (1i128, 1i128);
    let mut bounds = vec![(0, 0)];
    while i < a.len() || j < b.len() {
        let next =
            (a.get(i).map(|&size| left * i128::from(size)), b.get(j).map(|&size| right * i128::from(size)));
        match next {
            (Some(x), Some(y)) if x == y => (i, j, left, right) = (i + 1, j + 1, x, y),
            (Some(x), Some(y)) if x < y => (i, left) = (i + 1, x),
            (Some(x), None) => (i, left) = (i + 1, x),
            (_, Some(y)) => (j, right) = (j + 1, y),
            (None, None) => break,
        }
        if left == right {
            bounds.push((i, j));
        }
        if left > i128::from(i64::MAX) || right > i128::from(i64::MAX) {
            // Not of arrays that exist.
            return vec![(0, 0), (a.len(), b.len())];
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_equal_products_are_found() {
        assert_eq!(common_factors(&[2, 6], &[4, 3]), [(0, 0), (2, 2)]);
        assert_eq!(common_factors(&[8, 1, 3], &[8, 3]), [(0, 0), (1, 1), (2, 1), (3, 2)]);
        assert_eq!(common_factors(&[2, 0], &[0]), [(0, 0), (2, 1)]);
        assert_eq!(unmodified_dims(&[8, 1024, 1], &[8, 1024], &[0, 1]), Some(vec![0, 1]));
        assert_eq!(unmodified_dims(&[8, 4], &[32], &[1]), None);
        assert_eq!(inverse(&[1, 2, 0]), [2, 0, 1]);
    }
}
