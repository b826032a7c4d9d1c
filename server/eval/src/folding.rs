//! Reductions: sums, products and others of rows of a column.
//!
//! XLA does not specify the order of a reduction, nor how often the init value takes part. A single
//! floating-point addition is summed in 64 bits, with the bound n·u·Σ|x| on the result of any order (u: half
//! an ulp of 1). Everything else is folded in pairs; where `f(a, b)` and `f(b, a)` differ the result is open.

use std::rc::Rc;

use ir::Opcode;

use super::called::{lanes, parts};
use super::column::{Column, Values};
use super::elementwise;
use super::evaluator::Evaluator;
use super::types::Kind;
use crate::checks::Checked;

/// How two sets of values are combined.
#[derive(Clone, PartialEq)]
pub(crate) enum Combine {
    /// A sum of floating-point or complex numbers.
    Sum(Kind),
    Single(Opcode, Kind),
    /// Each value separately.
    Parts(Vec<Combine>),
    /// The computation with this name.
    Called(String),
}

/// An accumulator: the sum, the sum of magnitudes, the terms' errors, the number of terms, whether one is not
/// finite.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sum {
    pub(crate) value: f64,
    pub(crate) size: f64,
    pub(crate) error: f64,
    pub(crate) terms: f64,
    pub(crate) special: bool,
}

impl Sum {
    #[inline]
    pub(crate) fn add(&mut self, term: f64, error: f64) {
        self.value += term;
        self.error += error;
        self.terms += 1.0;
        if term.is_finite() {
            self.size += term.abs();
        } else {
            self.special = true;
        }
    }

    /// The sum as a number of `kind`, accumulated in `working`, with its error.
    pub(crate) fn finish(self, kind: Kind, working: Kind) -> (f64, f64) {
        // If partial sums may overflow the order decides.
        if self.size + self.error > working.largest().min(kind.largest()) {
            return (kind.round(self.value), f64::INFINITY);
        }
        if self.special {
            return (self.value, if self.error.is_finite() { 0.0 } else { f64::INFINITY });
        }
        // A single addition of two terms is rounded once.
        let roundings = (self.terms - 1.0).max(0.0);
        if roundings <= 1.0 && self.error == 0.0 && (working == kind || roundings == 0.0) {
            return (kind.round(self.value), 0.0);
        }
        let spread = roundings * working.unit() * (self.size + self.error) + self.error;
        super::precision::rounded(kind, self.value, spread)
    }
}

/// Sums of rows, for complex numbers of both parts.
pub(crate) struct Sums {
    kind: Kind,
    parts: [Vec<Sum>; 2],
}

impl Sums {
    pub(crate) fn new(kind: Kind, rows: usize) -> Sums {
        let imaginary = if matches!(kind, Kind::Complex { .. }) { rows } else { 0 };
        Sums { kind, parts: [vec![Sum::default(); rows], vec![Sum::default(); imaginary]] }
    }

    /// Adds element `i` of a column to sum `row`.
    pub(crate) fn add(&mut self, row: usize, column: &Column, i: usize) {
        let error = column.error_at(i);
        match &column.values {
            Values::Real(v) => self.parts[0][row].add(v[i], error),
            Values::Complex(v) => {
                self.parts[0][row].add(v[i][0], error);
                self.parts[1][row].add(v[i][1], error);
            }
            Values::Int(_) => (),
        }
    }

    /// Adds rows of `length` terms.
    pub(crate) fn add_rows(&mut self, column: &Column, length: usize) {
        for row in 0..self.parts[0].len() {
            (row * length..(row + 1) * length).for_each(|i| self.add(row, column, i));
        }
    }

    /// Adds an init value as a term, unless it is zero. A non-zero one beside other terms leaves the sum
    /// open, because it is not specified how often it takes part.
    pub(crate) fn add_init(&mut self, init: &Column) {
        for row in 0..self.parts[0].len() {
            let is_zero = match &init.values {
                Values::Real(v) => v[row] == 0.0,
                Values::Complex(v) => v[row] == [0.0; 2],
                Values::Int(_) => true,
            };
            let is_empty = self.parts[0][row].terms == 0.0;
            if !is_zero || is_empty {
                self.add(row, init, row);
            }
            if !is_zero && !is_empty {
                self.parts.iter_mut().filter_map(|p| p.get_mut(row)).for_each(|p| p.error = f64::INFINITY);
            }
        }
    }

    pub(crate) fn finish(self) -> Column {
        let kind = self.kind;
        let (re, mut errors): (Vec<f64>, Vec<f64>) =
            self.parts[0].iter().map(|s| s.finish(kind, kind)).unzip();
        if !matches!(kind, Kind::Complex { .. }) {
            return Column { error: Some(errors), ..Column::real(kind, re) };
        }
        let (im, others): (Vec<f64>, Vec<f64>) = self.parts[1].iter().map(|s| s.finish(kind, kind)).unzip();
        errors.iter_mut().zip(others).for_each(|(error, other)| *error = error.max(other));
        Column {
            error: Some(errors),
            ..Column::complex(kind, re.into_iter().zip(im).map(|(a, b)| [a, b]).collect())
        }
    }
}

/// The kind of combination that the computation with this name performs.
pub(crate) fn combine_of(evaluator: &Evaluator<'_>, name: &str, kinds: &[Kind]) -> Checked<Combine> {
    let graph = evaluator.callee(name)?;
    let single = |opcode, kind: Kind| match opcode {
        Opcode::Add if !kind.is_integral() => Combine::Sum(kind),
        _ => Combine::Single(opcode, kind),
    };
    Ok(match parts(&graph, kinds.len()) {
        Some(opcodes) if opcodes.len() == 1 => single(opcodes[0], kinds[0]),
        Some(opcodes) => {
            Combine::Parts(opcodes.into_iter().zip(kinds).map(|(o, &kind)| single(o, kind)).collect())
        }
        None => Combine::Called(name.to_owned()),
    })
}

/// Combines two sets of values, element by element.
pub(crate) fn combined(
    evaluator: &mut Evaluator<'_>,
    how: &Combine,
    a: &[Rc<Column>],
    b: &[Rc<Column>],
) -> Checked<Vec<Rc<Column>>> {
    match how {
        Combine::Sum(kind) => Ok(vec![Rc::new(elementwise::binary(Opcode::Add, *kind, &a[0], &b[0])?)]),
        Combine::Single(opcode, kind) => {
            Ok(vec![Rc::new(elementwise::binary(*opcode, *kind, &a[0], &b[0])?)])
        }
        Combine::Parts(parts) => {
            let mut all = Vec::new();
            for (i, part) in parts.iter().enumerate() {
                all.extend(combined(evaluator, part, &a[i..=i], &b[i..=i])?);
            }
            Ok(all)
        }
        Combine::Called(name) => {
            let of = |first: &[Rc<Column>], second: &[Rc<Column>]| {
                first.iter().chain(second).cloned().collect::<Vec<_>>()
            };
            let mut one = lanes(evaluator, name, &of(a, b), 0)?;
            let is_like = |result: &Rc<Column>, operand: &Rc<Column>| {
                let of = |column: &Column| std::mem::discriminant(&column.values);
                result.len() == operand.len() && of(result) == of(operand)
            };
            if one.len() != a.len() || !one.iter().zip(a).all(|(result, operand)| is_like(result, operand)) {
                return Err("the reducer's results do not have the types of its operands".into());
            }
            let other = lanes(evaluator, name, &of(b, a), 0)?;
            for (one, other) in one.iter_mut().zip(&other) {
                open_where_different(Rc::make_mut(one), other);
            }
            Ok(one)
        }
    }
}

fn open_where_different(one: &mut Column, other: &Column) {
    let differ = |i: usize| match (&one.values, &other.values) {
        (Values::Real(a), Values::Real(b)) => a[i] != b[i] && !(a[i].is_nan() && b[i].is_nan()),
        _ => one.bits(i) != other.bits(i),
    };
    let different: Vec<usize> = (0..one.len().min(other.len())).filter(|&i| differ(i)).collect();
    if !different.is_empty() {
        let len = one.len();
        let errors = one.error.get_or_insert_with(|| vec![0.0; len]);
        different.into_iter().for_each(|i| errors[i] = f64::INFINITY);
    }
}

/// Errors for products of floats in any order: n·u of the value, open if a partial product may overflow or
/// underflow.
fn order_of_products(kind: Kind, column: &Column, length: usize, product: &mut Column) {
    if !kind.is_float() || length < 2 {
        return;
    }
    let limit = kind.largest().log2().min(-kind.smallest_normal().log2());
    let errors: Vec<f64> = (0..product.len())
        .map(|row| {
            let terms = &column.reals()[row * length..(row + 1) * length];
            let (mut up, mut down) = (0.0, 0.0);
            for &term in terms {
                let size = term.abs().log2();
                if size > 0.0 { up += size } else { down -= size }
            }
            let value = product.reals()[row];
            let is_fine = up < limit && down < limit;
            if is_fine {
                value.abs() * length as f64 * 2.0 * kind.unit() + product.error_at(row)
            } else {
                f64::INFINITY
            }
        })
        .collect();
    product.error = Some(errors);
}

/// Folds rows of `length` elements in pairs of neighbours.
pub(crate) fn fold_rows(
    evaluator: &mut Evaluator<'_>,
    how: &Combine,
    columns: &[Rc<Column>],
    length: usize,
) -> Checked<Vec<Rc<Column>>> {
    if let Combine::Parts(parts) = how {
        let mut all = Vec::new();
        for (part, column) in parts.iter().zip(columns) {
            all.extend(fold_rows(evaluator, part, std::slice::from_ref(column), length)?);
        }
        return Ok(all);
    }
    if let Combine::Sum(kind) = how {
        let mut sums = Sums::new(*kind, columns[0].len() / length.max(1));
        sums.add_rows(&columns[0], length);
        return Ok(vec![Rc::new(sums.finish())]);
    }
    let mut folded = in_pairs(evaluator, how, columns, length)?;
    if let Combine::Single(Opcode::Multiply, kind) = how {
        order_of_products(*kind, &columns[0], length, Rc::make_mut(&mut folded[0]));
    }
    Ok(folded)
}

fn in_pairs(
    evaluator: &mut Evaluator<'_>,
    how: &Combine,
    columns: &[Rc<Column>],
    mut length: usize,
) -> Checked<Vec<Rc<Column>>> {
    let rows = columns.first().map_or(0, |c| c.len()) / length.max(1);
    let mut columns = columns.to_vec();
    while length > 1 {
        let half = length / 2;
        let pick = |offset: usize| -> Vec<u32> {
            (0..rows).flat_map(|row| (0..half).map(move |k| (row * length + 2 * k + offset) as u32)).collect()
        };
        let of = |indices: &[u32]| columns.iter().map(|c| Rc::new(c.pick(indices))).collect::<Vec<_>>();
        let (left, right) = (of(&pick(0)), of(&pick(1)));
        let folded = combined(evaluator, how, &left, &right)?;
        let is_odd = length % 2 == 1;
        let kept = half + usize::from(is_odd);
        columns = match is_odd {
            false => folded,
            true => {
                let rest: Vec<u32> = (0..rows).map(|row| ((row + 1) * length - 1) as u32).collect();
                let last = of(&rest);
                let weave = |(folded, last): (&Rc<Column>, &Rc<Column>)| {
                    let mut all = Column::clone(folded);
                    all.append(last);
                    let place =
                        |row: usize, k: usize| if k < half { row * half + k } else { rows * half + row };
                    let indices: Vec<u32> =
                        (0..rows).flat_map(|row| (0..kept).map(move |k| place(row, k) as u32)).collect();
                    Rc::new(all.pick(&indices))
                };
                folded.iter().zip(&last).map(weave).collect()
            }
        };
        length = kept;
    }
    Ok(columns)
}
