//! Ops whose elements depend on whole rows, columns, triangles or features. Semantics: XLA "Operation
//! Semantics"; the dependences of the solvers are those of the textbook recurrences.

use eval::{Checked, ensure};
use ir::{AttributeKey, Opcode};

use crate::case::Case;
use crate::traced::{Read, Traced, for_each_index, position};

/// The new index of an element depends on the whole row, of all operands since the comparator receives them
/// all.
pub(crate) fn sort(case: &Case<'_>) -> Checked<Traced> {
    let dims = case.output()?;
    let dim = case.dimension(AttributeKey::Dimensions, dims.len())?;
    along(case, dims, &[dim])
}

/// The largest elements of the last dimension; as in a sort, each depends on the row.
pub(crate) fn topk(case: &Case<'_>) -> Checked<Traced> {
    let dims = case.operand(0)?;
    ensure(!dims.is_empty(), "topk needs a dimension")?;
    along(case, dims, &[dims.len() - 1])
}

/// Every element along the transformed dimensions, the last ones.
pub(crate) fn fft(case: &Case<'_>) -> Checked<Traced> {
    let dims = case.operand(0)?;
    let count = case.ints(AttributeKey::FftLength).len();
    ensure(count <= dims.len(), "more lengths than dimensions")?;
    along(case, dims, &(dims.len() - count..dims.len()).collect::<Vec<_>>())
}

/// Every element of every operand, all of sizes `dims`, that has the output's index outside the dimensions
/// `whole`.
fn along(case: &Case<'_>, dims: &[i64], whole: &[usize]) -> Checked<Traced> {
    ensure(case.output()?.len() == dims.len(), "output and operand differ in rank")?;
    case.afford(dims.iter().copied())?;
    case.trace(|index, reads| {
        for_each_index(dims, |from| {
            if (0..dims.len()).all(|d| whole.contains(&d) || from[d] == index[d]) {
                (0..case.operand_count()).for_each(|i| reads.at(i, from));
            }
        });
    })
}

/// An index into a batch of matrices: the batch indices, then row and column.
fn matrix_at(batch: &[i64], row: i64, column: i64) -> Vec<i64> {
    [batch, &[row, column]].concat()
}

fn union<'a>(sets: impl IntoIterator<Item = &'a Vec<Read>>) -> Vec<Read> {
    let mut all: Vec<Read> = sets.into_iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// `l[i][j] = (a[i][j] - Σ_{k<j} l[i][k] l[j][k]) / l[j][j]`, for the requested triangle (an upper one is the
/// transpose). The other triangle is undefined and reads nothing here.
pub(crate) fn cholesky(case: &Case<'_>) -> Checked<Traced> {
    let dims = case.operand(0)?;
    ensure(dims.len() >= 2 && case.output()? == dims, "cholesky needs matrices")?;
    let n = dims[dims.len() - 1];
    ensure(n == dims[dims.len() - 2], "cholesky needs square matrices")?;
    case.afford([n, n, n])?;
    let is_lower = case.op.attributes.bool(AttributeKey::Lower).unwrap_or(false);
    let replica = case.setting.replica;
    case.trace(|index, reads| {
        let (batch, at) = index.split_at(index.len() - 2);
        let (row, column) = if is_lower { (at[0], at[1]) } else { (at[1], at[0]) };
        if row < column {
            return;
        }
        let mut l: Vec<Vec<Vec<Read>>> = Vec::new();
        for i in 0..=row {
            l.push(Vec::new());
            for j in 0..=i {
                let element = if is_lower { matrix_at(batch, i, j) } else { matrix_at(batch, j, i) };
                let position = position(dims, &element).unwrap_or_default() as u32;
                let own = vec![Read { operand: 0, leaf: 0, replica, position }];
                let (before, others) = (&l[i as usize], &l[j as usize]);
                let j = j as usize;
                let sets = before[..j].iter().chain(others.iter().take(j + 1)).chain([&own]);
                let all = union(sets);
                l[i as usize].push(all);
            }
        }
        reads.add(&l[row as usize][column as usize]);
    })
}

/// `a x = b` (or `x a = b`) by substitution: an unknown depends on its own right side, on the coefficients of
/// its row in the triangle, and on the unknowns before it. `transpose_a` and the side determine which end
/// comes first.
pub(crate) fn triangular_solve(case: &Case<'_>) -> Checked<Traced> {
    let (a, b) = (case.operand(0)?, case.operand(1)?);
    let rank = b.len();
    let has = |key| case.op.attributes.bool(key).unwrap_or(false);
    let is_left = has(AttributeKey::LeftSide);
    let n = if is_left { rank.checked_sub(2).map(|d| b[d]) } else { b.last().copied() };
    let fits = rank >= 2 && a.len() == rank && n.is_some_and(|n| a[rank - 2..] == [n, n]);
    ensure(fits && case.output()? == b, "the shapes do not fit together")?;
    let n = n.unwrap_or_default();
    case.afford([n, n, n])?;
    let is_transposed =
        !matches!(case.op.attributes.text(AttributeKey::TransposeA), None | Some("NO_TRANSPOSE"));
    let (is_lower, is_unit) = (has(AttributeKey::Lower), has(AttributeKey::UnitDiagonal));
    // x a = b is aᵀ xᵀ = bᵀ. `flips` is whether coefficient (i, j) of the system is at a[j][i].
    let flips = is_transposed == is_left;
    let is_forward = is_lower != flips;
    let replica = case.setting.replica;
    case.trace(|index, reads| {
        let (batch, at) = index.split_at(rank - 2);
        let (unknown, beside) = if is_left { (at[0], at[1]) } else { (at[1], at[0]) };
        let mut solved: Vec<(i64, Vec<Read>)> = Vec::new();
        let order: Vec<i64> = if is_forward { (0..n).collect() } else { (0..n).rev().collect() };
        for i in order {
            let read = |operand: u32, dims: &[i64], row, column| {
                let position = position(dims, &matrix_at(batch, row, column)).unwrap_or_default() as u32;
                Read { operand, leaf: 0, replica, position }
            };
            let coefficient = |j| if flips { read(0, a, j, i) } else { read(0, a, i, j) };
            let (row, column) = if is_left { (i, beside) } else { (beside, i) };
            let mut own = vec![read(1, b, row, column)];
            own.extend(solved.iter().map(|(j, _)| coefficient(*j)));
            if !is_unit {
                own.push(coefficient(i));
            }
            let all = union(solved.iter().map(|(_, reads)| reads).chain([&own]));
            if i == unknown {
                return reads.add(&all);
            }
            solved.push((i, all));
        }
    })
}

/// Statistics cover all elements with the same index in the feature dimension; the gradients are functions of
/// them.
pub(crate) fn batch_norm(case: &Case<'_>) -> Checked<Traced> {
    let dims = case.operand(0)?;
    let feature = case.op.attributes.int(AttributeKey::FeatureIndex).and_then(|f| usize::try_from(f).ok());
    let feature = feature.filter(|&f| f < dims.len()).ok_or("feature_index is no dimension")?;
    ensure(case.operand_count() >= 3, "a batch norm needs more operands")?;
    let is_array = case.output == 0;
    let fits = if is_array { case.output()? == dims } else { case.output()?.len() == 1 };
    ensure(fits, "the output does not fit")?;
    case.afford(dims.iter().copied())?;
    case.trace(|index, reads| {
        let f = if is_array { index[feature] } else { index[0] };
        let of_feature = |reads: &mut crate::case::Reads<'_>, operand: usize| {
            for_each_index(dims, |from| {
                if from[feature] == f {
                    reads.at(operand, from);
                }
            });
        };
        match (case.op.opcode, case.output) {
            // x, scale, offset -> normalised, mean, variance
            (Opcode::BatchNormTraining, 0) => {
                of_feature(reads, 0);
                (1..3).for_each(|i| reads.at(i, &[f]));
            }
            (Opcode::BatchNormTraining, _) => of_feature(reads, 0),
            // x, scale, offset, mean, variance -> normalised
            (Opcode::BatchNormInference, _) => {
                reads.at(0, index);
                (1..case.operand_count()).for_each(|i| reads.at(i, &[f]));
            }
            // x, scale, mean, variance, gradient -> gradients of x, scale, offset
            (_, 0) => {
                of_feature(reads, 0);
                of_feature(reads, 4);
                (1..4).for_each(|i| reads.at(i, &[f]));
            }
            (_, 1) => {
                of_feature(reads, 0);
                of_feature(reads, 4);
                (2..4).for_each(|i| reads.at(i, &[f]));
            }
            _ => of_feature(reads, 4),
        }
    })
}
