//! Places of elements: row-major positions, and the same in memory.

use ir::{ArrayShape, Shape};

use crate::case::{Checked, Reason};

/// Row-major positions of elements, asked for together. Batches of one id are the same.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) id: u64,
    pub(crate) positions: Vec<i64>,
}

/// The array, its sizes being numbers whose product 64 bits hold.
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

/// How far neighbours in each dimension are apart, row-major.
pub(crate) fn strides(dims: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; dims.len()];
    for d in (1..dims.len()).rev() {
        strides[d - 1] = strides[d] * dims[d].max(1);
    }
    strides
}

/// How far neighbours in each dimension are apart in memory, in elements.
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

/// `base` plus the index weighed with `steps`, for each position.
pub(crate) fn affine(positions: &[i64], dims: &[i64], base: i64, steps: &[i64]) -> Vec<i64> {
    let mut result = Vec::with_capacity(positions.len());
    each_index(positions, dims, |_, index| {
        result.push(index.iter().zip(steps).fold(base, |sum, (i, step)| sum + i * step));
    });
    result
}

/// Row-major position of what lies at each place in memory.
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

/// Sorts in a way that can be cancelled.
pub(crate) fn sort<T: Ord>(values: &mut [T]) {
    values.sort_unstable_by(|a, b| {
        cancel::tick();
        a.cmp(b)
    });
}

/// The different ones in order, and for each of `positions` its number among them.
pub(crate) fn distinct(positions: &[i64]) -> (Vec<i64>, Vec<u32>) {
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
