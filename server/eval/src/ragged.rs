//! `ragged-dot`: rows, contracted elements or batches belong to groups with dynamic sizes. Source: the
//! `HandleRaggedDot*` functions of XLA's evaluator.

use ir::AttributeKey::{self, *};

use super::column::Column;
use super::contractions::{in_result_type, products};
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of};
use super::positions::{array, each_index, strides};
use crate::checks::{Checked, dimensions, ensure};

/// The largest number of products in one chunk of output elements.
const CHUNK: usize = 1 << 18;

/// The dimension that is split into groups.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// Rows of the left operand: each group has its own right operand.
    Rows,
    /// Contracted elements: the result has a leading dimension of groups.
    Contracted,
    /// Batches: those after the last group are zero.
    Batches,
}

pub(crate) fn ragged_dot(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    positions: &[i64],
) -> Checked<Vec<Column>> {
    let (left, right) = (array(asked.operand_shape(0)?)?, array(asked.operand_shape(1)?)?);
    let (groups, output) = (array(asked.operand_shape(2)?)?, array(&asked.op.shape)?);
    let of = |key: AttributeKey, rank: usize| dimensions(asked.op.attributes.ints(key), rank);
    let ranks = (left.dims.len(), right.dims.len());
    let (left_batch, right_batch) = (of(LhsBatchDims, ranks.0)?, of(RhsBatchDims, ranks.1)?);
    let (left_inner, right_inner) = (of(LhsContractingDims, ranks.0)?, of(RhsContractingDims, ranks.1)?);
    let ragged = *of(LhsRaggedDims, ranks.0)?.first().ok_or("lhs_ragged_dims is missing")?;
    let group_dim = of(RhsGroupDims, ranks.1)?.first().copied();
    let mode = match (left_inner.contains(&ragged), left_batch.contains(&ragged)) {
        (true, _) => Mode::Contracted,
        (_, true) => Mode::Batches,
        _ => Mode::Rows,
    };
    let left_free: Vec<usize> =
        (0..ranks.0).filter(|d| !left_batch.contains(d) && !left_inner.contains(d)).collect();
    let is_group = |d: usize| mode == Mode::Rows && group_dim == Some(d);
    let right_free: Vec<usize> = (0..ranks.1)
        .filter(|&d| !right_batch.contains(&d) && !right_inner.contains(&d) && !is_group(d))
        .collect();
    let start = usize::from(mode == Mode::Contracted);
    let sizes: Vec<i64> = left_inner.iter().map(|&d| left.dims[d]).collect();
    let dims: Vec<i64> = left_batch.iter().chain(&left_free).map(|&d| left.dims[d]).collect();
    let dims: Vec<i64> = dims.into_iter().chain(right_free.iter().map(|&d| right.dims[d])).collect();
    let group_count = *groups.dims.last().ok_or("group sizes without a dimension")?;
    let fits = output.dims.get(start..) == Some(&dims)
        && left_batch.len() == right_batch.len()
        && left_batch.iter().zip(&right_batch).all(|(&l, &r)| left.dims[l] == right.dims[r])
        && left_inner.len() == right_inner.len()
        && left_inner.iter().zip(&right_inner).all(|(&l, &r)| left.dims[l] == right.dims[r])
        && (mode != Mode::Rows || group_dim.is_some_and(|d| right.dims[d] == group_count))
        && (mode != Mode::Contracted || output.dims[0] == group_count);
    ensure(fits, "the shapes do not fit")?;
    // Dimensions of the left operand that select the group sizes of an element.
    let outer: Vec<usize> = left_batch.iter().chain(&left_free).copied().filter(|&d| d != ragged).collect();
    let outer = outer.get(..groups.dims.len() - 1).ok_or("group sizes of too many dimensions")?;
    let fits = outer.iter().zip(&groups.dims).all(|(&d, &size)| left.dims[d] == size);
    ensure(fits, "the group sizes do not fit the left operand")?;
    let held = evaluator.held(asked.frame, asked.operand(2)?, 0)?;
    ensure(held.error.is_none(), "sizes of groups that are not exact")?;
    let length: i64 = sizes.iter().product();
    ensure(length <= 1 << 22, "too much is contracted")?;
    let turns: Vec<i64> = (0..length).collect();
    let (left_steps, right_steps) = (strides(&left.dims), strides(&right.dims));
    let (kind, length) = (kind_of(&asked.op.shape)?, length as usize);
    let ragged_turn = left_inner.iter().position(|&d| d == ragged);
    let mut result = Column::none(kind);
    for positions in positions.chunks((CHUNK / length.max(1)).max(1)) {
        // Elements of no group count as zero: their products are skipped, by reading element 0 of both sides.
        let (mut from_left, mut from_right, mut counts) = (Vec::new(), Vec::new(), Vec::new());
        each_index(positions, &output.dims, |_, index| {
            let mut at = vec![0; ranks.0];
            let mut base = [0i64; 2];
            for (i, (&l, &r)) in left_batch.iter().zip(&right_batch).enumerate() {
                at[l] = index[start + i];
                base[1] += at[l] * right_steps[r];
            }
            for (i, &d) in left_free.iter().enumerate() {
                at[d] = index[start + left_batch.len() + i];
            }
            for (i, &d) in right_free.iter().enumerate() {
                base[1] += index[start + left_batch.len() + left_free.len() + i] * right_steps[d];
            }
            base[0] = at.iter().zip(&left_steps).map(|(i, step)| i * step).sum();
            let row = outer.iter().zip(&groups.dims).fold(0, |row, (&d, size)| row * size + at[d]);
            let ends = ends(held.ints(), row * group_count, group_count);
            let range = match mode {
                Mode::Contracted => {
                    let group = index[0] as usize;
                    let from = if group == 0 { 0 } else { ends.get(group - 1).copied().unwrap_or(0) };
                    from..ends.get(group).copied().unwrap_or(0)
                }
                Mode::Batches => {
                    let is_inside = ends.last().is_some_and(|&end| at[ragged] < end);
                    0..if is_inside { i64::MAX } else { 0 }
                }
                Mode::Rows => match ends.iter().position(|&end| at[ragged] < end) {
                    Some(group) => {
                        base[1] += group as i64 * group_dim.map_or(0, |d| right_steps[d]);
                        0..i64::MAX
                    }
                    None => 0..0,
                },
            };
            each_index(&turns, &sizes, |_, k| {
                let counted = ragged_turn.filter(|_| mode == Mode::Contracted).map_or(0, |turn| k[turn]);
                let is_inside = range.contains(&counted);
                let place = |inner: &[usize], steps: &[i64], base: i64| {
                    inner.iter().zip(k).fold(base, |place, (&d, k)| place + k * steps[d])
                };
                from_left.push(if is_inside { place(&left_inner, &left_steps, base[0]) } else { 0 });
                from_right.push(if is_inside { place(&right_inner, &right_steps, base[1]) } else { 0 });
                counts.push(is_inside);
            });
        });
        let mut sides = Vec::new();
        for (side, places) in [from_left, from_right].iter().enumerate() {
            let mut column = in_result_type(kind, &super::moves::shared(evaluator, asked, side, places)?)?;
            column.zero_where(|i| !counts[i]);
            sides.push(column);
        }
        evaluator.spend(positions.len() * length)?;
        result.append(&products(kind, &sides[0], &sides[1], length, positions.len())?);
    }
    Ok(vec![result])
}

/// The end of each group.
fn ends(sizes: &[i64], start: i64, count: i64) -> Vec<i64> {
    let own = sizes.iter().skip(start as usize).take(count as usize);
    own.scan(0i64, |end, &size| {
        *end = end.wrapping_add(size);
        Some(*end)
    })
    .collect()
}
