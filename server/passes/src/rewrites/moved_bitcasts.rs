//! Bitcasts that change places with broadcasts and transposes.
//!
//! Source: XLA `backends/gpu/transforms/bitcast_utils.cc`.

use std::sync::Arc;

use ir::{ArrayShape, Layout, Shape};

use crate::shapes::{common_factors, inverse};

/// A broadcast or a transpose after it changed places with a bitcast.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Moved {
    /// What its operand becomes if it follows the bitcast, and its result if it precedes it.
    pub(super) shape: Shape,
    /// Its `dimensions=`.
    pub(super) dims: Vec<i64>,
}

/// `bitcast(broadcast(x))` as `broadcast(bitcast(x))`. `None` if the bitcast joins dimensions of `x` with others.
pub(super) fn bitcast_of_broadcast(broadcast: &Shape, dims: &[i64], result: &Shape) -> Option<Moved> {
    let (from, to) = (broadcast.as_array()?, result.as_array()?);
    let (of_from, of_to) = (from.minor_to_major(), to.minor_to_major());
    let sizes = physical(from);
    let mut new_dims = Vec::new();
    for pair in common_factors(&physical(to), &sizes).windows(2) {
        let mut long = (pair[0].1..pair[1].1).filter(|&at| sizes[at] != 1);
        let is_of_operand = |at: usize| dims.contains(&(of_from[at] as i64));
        let Some(first) = long.next() else { continue };
        if long.any(|at| is_of_operand(at) != is_of_operand(first)) {
            return None;
        }
        if is_of_operand(first) {
            new_dims.extend(of_to[pair[0].0..pair[1].0].iter().map(|&dim| dim as i64));
        }
    }
    new_dims.sort_unstable();
    let kept = |dim: &usize| new_dims.binary_search(&(*dim as i64)).ok().map(|at| at as i64);
    let order = of_to.iter().filter_map(kept).collect();
    let sizes = new_dims.iter().map(|&dim| to.dims[dim as usize]).collect();
    Some(Moved { shape: array(to, sizes, order), dims: new_dims })
}

/// `broadcast(bitcast(x))` as `bitcast(broadcast(x))`, where `x` has the shape `operand` and `bitcast` is the bitcast's. `None` if
/// dimensions that the bitcast joins are apart in the result.
pub(super) fn broadcast_of_bitcast(
    bitcast: &Shape,
    dims: &[i64],
    result: &Shape,
    operand: &Shape,
) -> Option<Moved> {
    let (middle, to, from) = (bitcast.as_array()?, result.as_array()?, operand.as_array()?);
    let place = inverse_order(to);
    let of_middle = middle.minor_to_major();
    let mut ranges: Vec<Option<(usize, usize)>> = vec![None; to.rank()];
    for pair in common_factors(&physical(middle), &physical(from)).windows(2) {
        let (mut start, end) = (pair[0].1, pair[1].1);
        let mut places = Vec::new();
        for &dim in &of_middle[pair[0].0..pair[1].0] {
            let of_result = usize::try_from(*dims.get(dim)?).ok()?;
            *ranges.get_mut(of_result)? = Some((start, end));
            start = end;
            places.push(*place.get(of_result)?);
        }
        if let (Some(first), Some(last)) = (places.first(), places.last())
            && (last.wrapping_sub(*first) >= places.len() || !places.is_sorted())
        {
            return None;
        }
    }
    let rank = (from.rank() + to.rank()).checked_sub(middle.rank())?;
    let of_from = from.minor_to_major();
    let (mut sizes, mut order, mut next) = (vec![1; rank], Vec::new(), from.rank());
    for dim in to.minor_to_major() {
        match ranges[dim] {
            Some((start, end)) => {
                for &dim in of_from.get(start..end)? {
                    *sizes.get_mut(dim)? = from.dims[dim];
                    order.push(dim as i64);
                }
            }
            None => {
                *sizes.get_mut(next)? = to.dims[dim];
                order.push(next as i64);
                next += 1;
            }
        }
    }
    Some(Moved { shape: array(from, sizes, order), dims: (0..from.rank() as i64).collect() })
}

/// `bitcast(transpose(x))` as `transpose(bitcast(x))`. `None` if the bitcast joins dimensions that are apart in `x`.
pub(super) fn bitcast_of_transpose(
    operand: &Shape,
    transpose: &Shape,
    dims: &[i64],
    result: &Shape,
) -> Option<Moved> {
    let moved = through_transpose(result, transpose, operand, dims)?;
    Some(Moved { dims: inverse(&moved.dims), ..moved })
}

/// `transpose(bitcast(x))` as `bitcast(transpose(x))`, where `x` has the shape `operand` and `bitcast` is the bitcast's. `None` if
/// dimensions that the bitcast splits are apart in the result.
pub(super) fn transpose_of_bitcast(
    bitcast: &Shape,
    transpose: &Shape,
    dims: &[i64],
    operand: &Shape,
) -> Option<Moved> {
    through_transpose(operand, bitcast, transpose, &inverse(dims))
}

/// Moves a transpose from `operand` to `transpose` past a bitcast to `result`. The dimensions are those of the operand in the
/// result. Transposes that change the layout do not move.
fn through_transpose(result: &Shape, transpose: &Shape, operand: &Shape, dims: &[i64]) -> Option<Moved> {
    let (to, middle, from) = (result.as_array()?, transpose.as_array()?, operand.as_array()?);
    if middle.minor_to_major() != from.minor_to_major() {
        return None;
    }
    let place = inverse_order(from);
    let (of_middle, of_to) = (middle.minor_to_major(), to.minor_to_major());
    let mut ranges = vec![(0, 0); from.rank()];
    for pair in merged_factors(&physical(to), &physical(middle)).windows(2) {
        let (mut start, end) = (pair[0].0, pair[1].0);
        let elements = of_to[start..end].iter().try_fold(1i64, |n, &dim| n.checked_mul(to.dims[dim]))?;
        let mut places = Vec::new();
        for &dim in &of_middle[pair[0].1..pair[1].1] {
            let at = *place.get(usize::try_from(*dims.get(dim)?).ok()?)?;
            // A dimension of size 1 joins the others of its group.
            if middle.dims[dim] == 1 && elements > 1 {
                ranges[at] = (start, start);
                continue;
            }
            ranges[at] = (start, end);
            start = end;
            places.push(at);
        }
        if let (Some(first), Some(last)) = (places.first(), places.last())
            && (last.wrapping_sub(*first) >= places.len() || !places.is_sorted())
        {
            return None;
        }
    }
    let (mut sizes, mut new_dims, mut next) = (vec![1; to.rank()], vec![0; to.rank()], 0);
    for (start, end) in ranges {
        for &of_result in of_to.get(start..end)? {
            let new = *of_to.get(next)?;
            next += 1;
            sizes[new] = to.dims[of_result];
            new_dims[new] = of_result as i64;
        }
    }
    let order = of_to.iter().map(|&dim| dim as i64).collect();
    Some(Moved { shape: array(to, sizes, order), dims: new_dims })
}

/// As [`common_factors`], but groups of no dimension on one side belong to a neighbour.
fn merged_factors(a: &[i64], b: &[i64]) -> Vec<(usize, usize)> {
    let mut bounds = common_factors(a, b);
    let mut at = 0;
    while at + 1 < bounds.len() && bounds.len() > 2 {
        let ((a_start, b_start), (a_end, b_end)) = (bounds[at], bounds[at + 1]);
        if a_start != a_end && b_start != b_end {
            at += 1;
        } else if at + 2 == bounds.len() {
            bounds.remove(at);
        } else {
            bounds.remove(at + 1);
        }
    }
    bounds
}

/// The sizes in the order in which the dimensions lie in memory, the fastest first.
fn physical(array: &ArrayShape) -> Vec<i64> {
    array.minor_to_major().into_iter().map(|dim| array.dims[dim]).collect()
}

/// Per dimension, its place in memory.
fn inverse_order(array: &ArrayShape) -> Vec<usize> {
    let mut place = vec![0; array.rank()];
    for (at, dim) in array.minor_to_major().into_iter().enumerate() {
        place[dim] = at;
    }
    place
}

fn array(like: &ArrayShape, dims: Vec<i64>, minor_to_major: Vec<i64>) -> Shape {
    let layout = like.layout.clone().unwrap_or_else(|| Layout::row_major(0));
    let layout = Some(Layout { minor_to_major, ..layout });
    let array = ArrayShape { element: like.element, dims, dynamic: Vec::new(), layout };
    Shape::Array(Arc::new(array)).without_default_layouts()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        Shape::from_text(text).expect("a shape").without_default_layouts()
    }

    #[track_caller]
    fn check(moved: Option<Moved>, expect: Option<(&str, &[i64])>) {
        let expect = expect.map(|(text, dims)| Moved { shape: shape(text), dims: dims.to_vec() });
        assert_eq!(moved, expect);
    }

    #[test]
    fn bitcasts_move_past_broadcasts() {
        check(
            bitcast_of_broadcast(&shape("f32[4,6]"), &[1], &shape("f32[4,2,3]")),
            Some(("f32[2,3]", &[1, 2])),
        );
        check(bitcast_of_broadcast(&shape("f32[4,6]"), &[1], &shape("f32[24]")), None);
        check(
            broadcast_of_bitcast(&shape("f32[6]"), &[1], &shape("f32[4,6]"), &shape("f32[2,3]")),
            Some(("f32[2,3,4]{1,0,2}", &[0, 1])),
        );
        check(
            broadcast_of_bitcast(&shape("f32[2,3]"), &[0, 2], &shape("f32[2,4,3]"), &shape("f32[6]")),
            None,
        );
    }

    #[test]
    fn bitcasts_move_past_transposes() {
        check(
            bitcast_of_transpose(&shape("f32[4,6]"), &shape("f32[6,4]"), &[1, 0], &shape("f32[2,3,4]")),
            Some(("f32[4,2,3]", &[1, 2, 0])),
        );
        check(bitcast_of_transpose(&shape("f32[4,6]"), &shape("f32[6,4]"), &[1, 0], &shape("f32[24]")), None);
        check(
            transpose_of_bitcast(&shape("f32[4,6]"), &shape("f32[6,4]"), &[1, 0], &shape("f32[4,2,3]")),
            Some(("f32[2,3,4]", &[1, 2, 0])),
        );
    }
}
