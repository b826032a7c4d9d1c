//! Ops whose outputs depend on many elements of a row, a column or a triangle: fft, cholesky, triangular-solve.

use indexing_map::{Expr, IndexingMap, Interval};
use ir::{AttributeKey, Op};

use crate::checks::{self, Checked, ensure};
use crate::extents::{self, Domain};
use crate::operand_indexing::{OpIndexing, OperandIndexing};

/// Every output element depends on every input element in the transformed dimensions, which are the last ones.
/// `fft_length` gives their extents on the side with real elements.
pub(crate) fn fft(op: &Op) -> Checked<OpIndexing> {
    let (mut output, mut operand) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    ensure(output.len() == operand.len(), "output and operand differ in rank")?;
    let lengths = op.attributes.ints(AttributeKey::FftLength);
    let kept =
        output.len().checked_sub(lengths.len()).ok_or("fft_length has more entries than dimensions")?;
    let same = extents::all_shared(&operand[..kept], &output[..kept]);
    output[..kept].clone_from_slice(&same.ok_or("the output's sizes are not the operand's")?);
    let kind = op.attributes.text(AttributeKey::FftType).unwrap_or_default();
    for (sizes, halved) in [(&mut output, "RFFT"), (&mut operand, "IRFFT")] {
        for (k, (size, &length)) in sizes[kept..].iter_mut().zip(lengths).enumerate() {
            if size.as_const().is_none() {
                let is_halved = kind == halved && k + 1 == lengths.len();
                *size = Expr::Const(if is_halved { length / 2 + 1 } else { length });
            }
        }
    }
    let mut domain = Domain::new(op, 0, &output);
    let transformed = operand[kept..].iter().map(|size| domain.range(size)).collect::<Vec<_>>();
    let results = (0..kept).map(Expr::var).chain(transformed).collect();
    Ok(OpIndexing::of([domain.access(results)]))
}

/// The sizes of an operand with a square matrix per batch index in its last two dimensions.
fn matrix(op: &Op, i: usize) -> Checked<(&[i64], i64)> {
    let sizes = checks::operand(op, i)?;
    match sizes {
        [.., rows, columns] if rows == columns => Ok((sizes, *rows)),
        _ => Err(format!("operand {i} is not square").into()),
    }
}

/// The index `(batch…, row, column)`.
fn in_batch(rank: usize, row: Expr, column: Expr) -> Vec<Expr> {
    (0..rank - 2).map(Expr::var).chain([row, column]).collect()
}

/// Element (i, j) of the lower factor, `j <= i`, is computed from row i up to j and from the triangle above
/// it: (p, q) with `q <= p <= j`. The other triangle is neither read nor mapped. For an upper factor all
/// indices are transposed.
/// Source: XLA operation semantics of Cholesky and the recurrence of the factorisation.
pub(crate) fn cholesky(op: &Op) -> Checked<OpIndexing> {
    let (sizes, n) = matrix(op, 0)?;
    ensure(checks::output(op, 0)? == sizes, "the output's sizes are not the operand's")?;
    let is_lower = op.attributes.bool(AttributeKey::Lower).unwrap_or(false);
    let rank = sizes.len();
    let (row, column) = (Expr::var(rank - 2), Expr::var(rank - 1));
    let (i, j) = if is_lower { (row, column) } else { (column, row) };
    let place = |p: Expr, q: Expr| if is_lower { in_batch(rank, p, q) } else { in_batch(rank, q, p) };
    let size = Interval::from_size(n);
    let (s, t) = (Expr::var(rank), Expr::var(rank + 1));
    let of_row = IndexingMap::from_sizes(sizes, &[n], place(i.clone(), s.clone()))
        .with_constraint(j.clone() - s.clone(), size)
        .with_constraint(i.clone() - j.clone(), size);
    let triangle = IndexingMap::from_sizes(sizes, &[n, n], place(s.clone(), t.clone()))
        .with_constraint(s.clone() - t, size)
        .with_constraint(j.clone() - s, size)
        .with_constraint(i - j, size);
    let note = "the other triangle of the output may hold anything";
    let accesses = [of_row, triangle].map(|map| OperandIndexing::from(map).with_note(note));
    Ok(OpIndexing { operands: vec![accesses.to_vec()] })
}

/// Solves `op(a) x = b`, or `x op(a) = b` from the right. With t the solved dimension and M the effective
/// matrix (transposed if the attribute says so, and once more from the right): if M is lower, `x[t]` is
/// computed from `b[p]` with `p <= t` and `M[p, q]` with `q <= p <= t`, else with `>=`. A unit diagonal is
/// not read. Source: XLA operation semantics of
/// TriangularSolve.
pub(crate) fn triangular_solve(op: &Op) -> Checked<OpIndexing> {
    ensure(op.operand_shapes.len() == 2, "triangular-solve takes two operands")?;
    let ((a, n), output) = (matrix(op, 0)?, checks::output(op, 0)?);
    let rank = a.len();
    ensure(checks::operand(op, 1)? == output, "the output's sizes are not those of b")?;
    let flag = |key| op.attributes.bool(key).unwrap_or(false);
    let is_left = flag(AttributeKey::LeftSide);
    let is_transposed = op.attributes.text(AttributeKey::TransposeA).is_some_and(|t| t != "NO_TRANSPOSE");
    let solved = if is_left { rank - 2 } else { rank - 1 };
    let fits = output.len() == rank && output[..rank - 2] == a[..rank - 2] && output[solved] == n;
    ensure(fits, "a and b do not fit together")?;
    let swaps = is_transposed == is_left;
    let is_lower = flag(AttributeKey::Lower) != swaps;

    let size = Interval::from_size(n);
    // Ascending if M is lower.
    let before = |first: &Expr, then: &Expr| match is_lower {
        true => then.clone() - first.clone(),
        false => first.clone() - then.clone(),
    };
    let (t, p, q) = (Expr::var(solved), Expr::var(rank), Expr::var(rank + 1));
    let mut at: Vec<Expr> = (0..rank).map(Expr::var).collect();
    at[solved] = p.clone();
    let of_b = IndexingMap::from_sizes(output, &[n], at).with_constraint(before(&p, &t), size);
    let at = if swaps { in_batch(rank, q.clone(), p.clone()) } else { in_batch(rank, p.clone(), q.clone()) };
    let diagonal = i64::from(flag(AttributeKey::UnitDiagonal));
    let of_a = IndexingMap::from_sizes(output, &[n, n], at)
        .with_constraint(before(&p, &t), size)
        .with_constraint(before(&q, &p), Interval::new(diagonal, n - 1));
    Ok(OpIndexing::of([of_a.into(), of_b.into()]))
}
