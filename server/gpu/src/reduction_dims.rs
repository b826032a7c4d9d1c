//! The layout of a reduction in memory: rows or columns.

use std::sync::Arc;

use ir::{ArrayShape, AttributeKey, Layout, Op, Opcode, Shape};

use crate::device::Device;
use crate::launch::product;

/// Three sizes that summarise all dimensions, in memory order.
/// Source: `ReductionDimensions`, `service/gpu/reduction_utils.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReductionDims {
    /// The most minor dimension is reduced.
    Row { major_reduced: i64, kept: i64, minor_reduced: i64 },
    /// The most minor dimension is kept.
    Column { major_kept: i64, reduced: i64, minor_kept: i64 },
}

/// The longest row that is reduced without atomics: 16 elements for each of 1024 threads.
const RACE_FREE_ROW: i64 = 16 * 1024;
/// The largest major reduced size without atomics: the rows that one thread adds up.
pub const RACE_FREE_MAJOR: i64 = 8;
/// The longest column that is reduced without atomics: 128 elements for each of 32 warps.
const RACE_FREE_COLUMN: i64 = 32 * 128;

impl ReductionDims {
    /// `None` if the op is not a reduction of an array.
    /// Source: `GetReductionKindAndContiguousComponents`, `service/gpu/reduction_utils.cc`.
    pub fn of(reduce: &Op) -> Option<ReductionDims> {
        let (sizes, reduced) = physical(reduce)?;
        let elements = product(&sizes).ok()?;
        let row =
            |major_reduced, kept, minor_reduced| ReductionDims::Row { major_reduced, kept, minor_reduced };
        let column =
            |major_kept, reduced, minor_kept| ReductionDims::Column { major_kept, reduced, minor_kept };
        if reduced.iter().all(|&r| r) {
            return Some(row(1, 1, elements));
        }
        let kept: Vec<bool> = reduced.iter().map(|r| !r).collect();
        if let Some([before, middle, after]) = around(&sizes, &kept) {
            return Some(match (middle, after) {
                (1, _) => row(1, 1, before.checked_mul(after)?),
                (_, 1) => column(1, before, middle),
                _ => row(before, middle, after),
            });
        }
        let [before, middle, after] = around(&sizes, &reduced)?;
        Some(if after == 1 { row(1, before, middle) } else { column(before, middle, after) })
    }
}

/// The result with its dimensions in the operand's memory order. Threads enumerate its elements in this
/// order, whatever the layout of the result. `None` if the op is not a reduction of arrays.
pub(crate) fn result_in_operand_order(reduce: &Op) -> Option<Shape> {
    let operand = reduce.operand_shapes.first()?.as_array()?;
    let reduced = reduce.attributes.ints(AttributeKey::Dimensions);
    let is_reduced = |dim: usize| reduced.iter().any(|&r| usize::try_from(r) == Ok(dim));
    let kept: Vec<usize> = (0..operand.rank()).filter(|&dim| !is_reduced(dim)).collect();
    let dims = kept.iter().map(|&dim| operand.dims.get(dim).copied()).collect::<Option<Vec<i64>>>()?;
    let place = |dim: usize| kept.iter().position(|&k| k == dim).and_then(|n| i64::try_from(n).ok());
    let minor_to_major = operand.minor_to_major().into_iter().filter_map(place).collect();
    let layout = Layout { minor_to_major, ..Layout::row_major(dims.len()) };
    let element = operand.element;
    Some(Shape::Array(Arc::new(ArrayShape { element, dims, dynamic: Vec::new(), layout: Some(layout) })))
}

/// Sizes in memory order, slowest first, and whether each is reduced.
fn physical(reduce: &Op) -> Option<(Vec<i64>, Vec<bool>)> {
    if reduce.opcode != Opcode::Reduce {
        return None;
    }
    let array = reduce.operand_shapes.first()?.as_array()?;
    if array.dims.iter().any(|&size| size < 0) {
        return None;
    }
    let dims = reduce.attributes.ints(AttributeKey::Dimensions);
    let order = array.minor_to_major();
    let is_reduced = |dim: &usize| dims.iter().any(|&d| usize::try_from(d) == Ok(*dim));
    Some(order.iter().rev().map(|dim| (array.dims[*dim], is_reduced(dim))).unzip())
}

/// Products of the sizes before, in and after the marked dimensions; `None` if these are not consecutive.
fn around(sizes: &[i64], marked: &[bool]) -> Option<[i64; 3]> {
    let first = marked.iter().position(|&m| m)?;
    let behind = marked.iter().rposition(|&m| m)? + 1;
    if marked[first..behind].contains(&false) {
        return None;
    }
    Some([
        product(&sizes[..first]).ok()?,
        product(&sizes[first..behind]).ok()?,
        product(&sizes[behind..]).ok()?,
    ])
}

/// Whether the op reduces over, or to, neighbouring dimensions, and is large enough for threads to share the
/// work.
/// Source: `IsReductionFromOrToContiguousDimensions`, `IsUnnestedReductionFasterThanElemental`, as above.
pub fn is_reduction_hero(op: &Op, device: &Device) -> bool {
    let warp = device.threads_per_warp;
    match ReductionDims::of(op) {
        Some(ReductionDims::Row { minor_reduced, .. }) => {
            minor_reduced >= warp || (minor_reduced > 0 && warp % minor_reduced == 0)
        }
        Some(ReductionDims::Column { reduced, minor_kept, .. }) => {
            let is_short = reduced < warp
                || (reduced < 2 * warp && minor_kept < warp)
                || (reduced < 4 * warp && minor_kept < 8)
                || (reduced < 8 * warp && minor_kept < 3);
            !is_short
        }
        None => false,
    }
}

/// Whether one block sees all elements that are reduced into one result.
/// Source: `ReductionIsRaceFree`, as above.
pub fn is_race_free(dims: &ReductionDims) -> bool {
    match *dims {
        ReductionDims::Row { major_reduced, minor_reduced, .. } => {
            minor_reduced <= race_free_bound(dims) && major_reduced <= RACE_FREE_MAJOR
        }
        ReductionDims::Column { reduced, .. } => reduced <= race_free_bound(dims),
    }
}

/// How many elements of the last reduced dimension one block can reduce.
/// Source: `ReductionDimensionRaceFreeBound`, as above.
pub fn race_free_bound(dims: &ReductionDims) -> i64 {
    match dims {
        ReductionDims::Row { .. } => RACE_FREE_ROW,
        ReductionDims::Column { .. } => RACE_FREE_COLUMN,
    }
}

#[cfg(test)]
mod tests {
    use ReductionDims::{Column, Row};

    use super::*;

    #[track_caller]
    fn check(sizes: &[i64], reduced: &[usize], expect: Option<[i64; 3]>, expect_row: bool) {
        let module = format!(
            "\
HloModule m
add {{
 a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b)
}}
ENTRY e {{
 p = f32[{}] parameter(0)
 z = f32[] constant(0)
 ROOT r = f32[{}] reduce(p, z), dimensions={{{}}}, to_apply=add
}}
",
            list(sizes.iter()),
            list(sizes.iter().enumerate().filter(|(i, _)| !reduced.contains(i)).map(|(_, size)| size)),
            list(reduced.iter()),
        );
        let fused = crate::fixture::fused(&module, "r").unwrap();
        let got = ReductionDims::of(fused.op(fused.roots[0]));
        let expect = expect.map(|[a, b, c]| match expect_row {
            true => Row { major_reduced: a, kept: b, minor_reduced: c },
            false => Column { major_kept: a, reduced: b, minor_kept: c },
        });
        assert_eq!(got, expect, "{module}");
    }

    fn list<T: ToString>(items: impl Iterator<Item = T>) -> String {
        items.map(|i| i.to_string()).collect::<Vec<_>>().join(",")
    }

    #[test]
    fn rows_and_columns() {
        check(&[8, 2048], &[1], Some([1, 8, 2048]), true);
        check(&[8, 2048], &[0], Some([1, 8, 2048]), false);
        check(&[8, 2048], &[0, 1], Some([1, 1, 8 * 2048]), true);
        check(&[4, 8, 16], &[0, 2], Some([4, 8, 16]), true);
        check(&[4, 8, 16], &[1], Some([4, 8, 16]), false);
        check(&[4, 8, 16], &[0], Some([1, 4, 128]), false);
        check(&[4, 1, 16], &[0, 2], Some([1, 1, 64]), true);
        check(&[4, 8, 16, 2], &[0, 2], None, true);
    }
}
