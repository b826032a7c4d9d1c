//! Positions of elements: row-major, and in memory.

use ir::{ArrayShape, Shape};

use crate::checks::{Checked, Reason};

/// Row-major positions of elements that are requested together. Batches with the same id are equal.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) id: u64,
    pub(crate) positions: Vec<i64>,
}

/// The array; fails if a size is negative, or if there are 2^56 or more elements (with sizes of zero counted
/// as one).
pub(crate) fn array(shape: &Shape) -> Checked<&ArrayShape> {
    let array = shape.as_array().ok_or_else(|| Reason::from("not an array"))?;
    let count = array.dims.iter().try_fold(1i64, |n, &d| if d < 0 { None } else { n.checked_mul(d.max(1)) });
    match count.filter(|&n| n < 1 << 56) {
        Some(_) => Ok(array),
        None => Err(format!("{array} has too many elements").into()),
    }
}

pub(crate) fn count(array: &ArrayShape) -> i64 {
    array.dims.iter().product()
}

/// The row-major stride of each dimension.
pub(crate) fn strides(dims: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; dims.len()];
    for d in (1..dims.len()).rev() {
        strides[d - 1] = strides[d] * dims[d].max(1);
    }
    strides
}

/// The memory stride of each dimension, in elements.
pub fn memory_strides(array: &ArrayShape) -> Vec<i64> {
    let mut strides = vec![1; array.dims.len()];
    let mut stride = 1i64;
    for d in array.minor_to_major() {
        strides[d] = stride;
        stride = stride.saturating_mul(array.dims[d].max(1));
    }
    strides
}

/// Calls `f` with the index of each position.
pub(crate) fn each_index(positions: &[i64], dims: &[i64], mut f: impl FnMut(usize, &[i64])) {
    let mut index = vec![0; dims.len()];
    for (i, &position) in positions.iter().enumerate() {
        cancel::tick();
        let mut rest = position;
        for (slot, &size) in index.iter_mut().zip(dims).rev() {
            *slot = rest % size.max(1);
            rest /= size.max(1);
        }
        f(i, &index);
    }
}

/// `base` plus the dot product of index and `steps`, for each position.
pub(crate) fn affine(positions: &[i64], dims: &[i64], base: i64, steps: &[i64]) -> Vec<i64> {
    let mut result = Vec::with_capacity(positions.len());
    each_index(positions, dims, |_, index| {
        result.push(index.iter().zip(steps).fold(base, |sum, (i, step)| sum + i * step));
    });
    result
}

/// The row-major position of the element at each place in memory.
pub(crate) fn from_memory(places: &[i64], array: &ArrayShape) -> Vec<i64> {
    let order = array.minor_to_major();
    let strides = strides(&array.dims);
    let of = |&place: &i64| {
        cancel::tick();
        let mut rest = place;
        let mut position = 0;
        for &d in &order {
            let size = array.dims[d].max(1);
            position += rest % size * strides[d];
            rest /= size;
        }
        position
    };
    places.iter().map(of).collect()
}

/// A sort that can be cancelled.
pub(crate) fn sort<T: Ord>(values: &mut [T]) {
    values.sort_unstable_by(|a, b| {
        cancel::tick();
        a.cmp(b)
    });
}

/// The distinct positions in order, and the index into them of each of `positions`.
pub(crate) fn distinct(positions: &[i64]) -> (Vec<i64>, Vec<u32>) {
    let largest = positions.iter().copied().max().unwrap_or(0);
    let is_dense = usize::try_from(largest).is_ok_and(|largest| largest / 4 <= positions.len());
    if is_dense && positions.iter().all(|&p| p >= 0) {
        return distinct_of_dense(positions, largest as usize);
    }
    let mut sorted: Vec<i64> = positions.to_vec();
    sort(&mut sorted);
    sorted.dedup();
    let number = |p: &i64| {
        cancel::tick();
        sorted.binary_search(p).unwrap_or(0) as u32
    };
    let numbers = positions.iter().map(number).collect();
    (sorted, numbers)
}

/// The same for positions of which most up to the largest one occur.
fn distinct_of_dense(positions: &[i64], largest: usize) -> (Vec<i64>, Vec<u32>) {
    cancel::check();
    let mut numbers = vec![u32::MAX; largest + 1];
    positions.iter().for_each(|&p| numbers[p as usize] = 0);
    let mut distinct = Vec::new();
    for (p, number) in numbers.iter_mut().enumerate().filter(|(_, number)| **number == 0) {
        *number = distinct.len() as u32;
        distinct.push(p as i64);
    }
    (distinct, positions.iter().map(|&p| numbers[p as usize]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distinct_positions_are_in_order() {
        assert_eq!(distinct(&[3, 1, 3, 0]), (vec![0, 1, 3], vec![2, 1, 2, 0]));
        assert_eq!(distinct(&[1 << 40, 1, 1 << 40]), (vec![1, 1 << 40], vec![1, 0, 1]));
        assert_eq!(distinct(&[]), (vec![], vec![]));
    }
}
