//! `cholesky` and `triangular-solve`, matrix by matrix. Their accuracy depends on the matrix's condition,
//! which is not estimated: the error is open.

use ir::AttributeKey;

use super::column::{Column, Values};
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of};
use super::positions::{array, count};
use super::types::Kind;
use crate::checks::{Checked, ensure};

type Number = [f64; 2];

/// A square or rectangular matrix, row-major.
struct Matrix {
    columns: usize,
    numbers: Vec<Number>,
}

impl Matrix {
    fn at(&self, row: usize, column: usize) -> Number {
        self.numbers[row * self.columns + column]
    }

    fn set(&mut self, row: usize, column: usize, value: Number) {
        self.numbers[row * self.columns + column] = value;
    }
}

fn product([a, b]: Number, [c, d]: Number) -> Number {
    // Avoids NaN from 0 * inf in real matrices.
    if b == 0.0 && d == 0.0 { [a * c, 0.0] } else { [a * c - b * d, a * d + b * c] }
}

fn quotient([a, b]: Number, [c, d]: Number) -> Number {
    if d == 0.0 {
        return [a / c, if b == 0.0 { 0.0 } else { b / c }];
    }
    let size = c.hypot(d);
    let (c, d) = (c / size, d / size);
    [(a * c + b * d) / size, (b * c - a * d) / size]
}

fn minus(a: Number, b: Number) -> Number {
    [a[0] - b[0], a[1] - b[1]]
}

fn conjugate([re, im]: Number) -> Number {
    [re, -im]
}

/// The matrices of an operand.
fn matrices(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    operand: usize,
) -> Checked<(usize, Vec<Matrix>)> {
    let shape = array(asked.operand_shape(operand)?)?;
    let [.., rows, columns] = shape.dims[..] else { return Err("the operand has no matrices".into()) };
    let column = evaluator.held(asked.frame, asked.operand(operand)?, 0)?;
    let numbers: Vec<Number> = match &column.values {
        Values::Real(v) => v.iter().map(|&re| [re, 0.0]).collect(),
        Values::Complex(v) => v.clone(),
        Values::Int(_) => return Err("matrices of whole numbers".into()),
    };
    let size = (rows * columns) as usize;
    let split = numbers.chunks(size.max(1));
    Ok((
        rows as usize,
        split.map(|part| Matrix { columns: columns as usize, numbers: part.to_vec() }).collect(),
    ))
}

/// Concatenates the matrices to one array; the error is open.
fn together(kind: Kind, matrices: Vec<Matrix>) -> Column {
    let numbers = matrices.into_iter().flat_map(|matrix| matrix.numbers);
    let mut result = match kind {
        Kind::Complex { .. } => {
            Column::complex(kind, numbers.map(|[re, im]| [kind.round(re), kind.round(im)]).collect())
        }
        _ => Column::real(kind, numbers.map(|[re, _]| kind.round(re)).collect()),
    };
    result.error = Some(vec![f64::INFINITY; result.len()]);
    result
}

/// The other triangle is zero. If a matrix is not positive definite, all of it becomes NaN. Source: XLA
/// `CholeskyExpander`.
pub(crate) fn cholesky(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let kind = kind_of(&asked.op.shape)?;
    let is_lower = asked.op.attributes.bool(AttributeKey::Lower).unwrap_or(false);
    let (size, mut all) = matrices(evaluator, asked, 0)?;
    ensure(all.first().is_none_or(|matrix| matrix.columns == size), "the matrices are not square")?;
    let work = all.len().saturating_mul(size).saturating_mul(size).saturating_mul(size);
    evaluator.spend(work)?;
    for matrix in &mut all {
        *matrix = factor(matrix, size, is_lower);
    }
    Ok(together(kind, all))
}

fn factor(matrix: &Matrix, size: usize, is_lower: bool) -> Matrix {
    let mut result = Matrix { columns: size, numbers: vec![[0.0; 2]; size * size] };
    // The lower factor, from either triangle.
    let given = |i: usize, j: usize| if is_lower { matrix.at(i, j) } else { conjugate(matrix.at(j, i)) };
    for j in 0..size {
        let known = (0..j).fold(given(j, j)[0], |left, k| {
            let [re, im] = result.at(j, k);
            left - (re * re + im * im)
        });
        let pivot = known.sqrt();
        if !(pivot > 0.0 && pivot.is_finite()) {
            let nan =
                if matrix.numbers.iter().any(|n| n[1] != 0.0) { [f64::NAN; 2] } else { [f64::NAN, f64::NAN] };
            result.numbers.fill(nan);
            return result;
        }
        result.set(j, j, [pivot, 0.0]);
        for i in j + 1..size {
            let sum = (0..j).fold(given(i, j), |left, k| {
                minus(left, product(result.at(i, k), conjugate(result.at(j, k))))
            });
            result.set(i, j, [sum[0] / pivot, sum[1] / pivot]);
        }
    }
    if !is_lower {
        let lower = result.numbers.clone();
        for i in 0..size {
            (0..size).for_each(|j| result.set(i, j, conjugate(lower[j * size + i])));
        }
    }
    result
}

/// `op(a) x = b`, or `x op(a) = b`.
pub(crate) fn triangular_solve(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let attributes = &asked.op.attributes;
    let is = |key| attributes.bool(key).unwrap_or(false);
    let is_left = is(AttributeKey::LeftSide);
    let transpose = attributes.text(AttributeKey::TransposeA).unwrap_or("NO_TRANSPOSE");
    let kind = kind_of(&asked.op.shape)?;
    let (size, of) = matrices(evaluator, asked, 0)?;
    let (rows, mut all) = matrices(evaluator, asked, 1)?;
    let fits = of.len() == all.len()
        && of.iter().all(|a| a.columns == size)
        && all.iter().all(|b| size == if is_left { rows } else { b.columns });
    ensure(fits || count(array(&asked.op.shape)?) == 0, "the matrices do not fit each other")?;
    if !fits {
        return Ok(Column::none(kind));
    }
    let others = all.first().map_or(0, |b| if is_left { b.columns } else { rows });
    evaluator.spend(all.len().saturating_mul(size).saturating_mul(size).saturating_mul(others))?;
    let is_unit = is(AttributeKey::UnitDiagonal);
    let is_lower = is(AttributeKey::Lower);
    let is_transposed = transpose != "NO_TRANSPOSE";
    for (a, b) in of.iter().zip(&mut all) {
        let entry = |i: usize, j: usize| match (i == j && is_unit, is_transposed) {
            (true, _) => [1.0, 0.0],
            (_, false) => a.at(i, j),
            (_, true) if transpose == "ADJOINT" => conjugate(a.at(j, i)),
            (_, true) => a.at(j, i),
        };
        // From the right it is the transposed system, column by column of the transposed right-hand side.
        let entry = |i: usize, j: usize| if is_left { entry(i, j) } else { entry(j, i) };
        let goes_down = (is_lower != is_transposed) == is_left;
        for other in 0..others {
            let place = |i: usize| if is_left { (i, other) } else { (other, i) };
            for turn in 0..size {
                let i = if goes_down { turn } else { size - 1 - turn };
                let solved = if goes_down { 0..i } else { i + 1..size };
                let (row, column) = place(i);
                let sum = solved.fold(b.at(row, column), |left, k| {
                    let (row, column) = place(k);
                    minus(left, product(entry(i, k), b.at(row, column)))
                });
                b.set(row, column, if is_unit { sum } else { quotient(sum, entry(i, i)) });
            }
        }
    }
    Ok(together(kind, all))
}
