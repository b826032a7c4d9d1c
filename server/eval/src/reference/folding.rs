//! Many elements to one: sums and other reductions of rows of a column.
//!
//! XLA does not say in which order a reduction goes. What is one addition of floating-point numbers is summed in 64 bits, with
//! the bound n·u·Σ|x| on what any order may answer (u: half a unit in the last place at 1). Everything else is folded in
//! pairs.

use std::rc::Rc;

use ir::Opcode;

use super::called::lanes;
use super::column::{Column, Values};
use super::elementwise;
use super::evaluator::Evaluator;
use super::types::Kind;
use crate::case::Checked;

/// How two sets of values become one.
#[derive(Clone)]
pub(crate) enum Combine {
    /// Of floating-point numbers.
    Sum(Kind),
    Single(Opcode, Kind),
    /// The computation of a name.
    Called(String),
}

/// A sum on its way: value, sum of sizes, error of the terms, terms, whether one is no finite number.
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

    /// The sum as a number of `kind`, added up in numbers of `working`, with its error.
    pub(crate) fn finish(self, kind: Kind, working: Kind) -> (f64, f64) {
        // Where partial sums may leave the format the order decides.
        if self.size + self.error > working.largest().min(kind.largest()) {
            return (kind.round(self.value), f64::INFINITY);
        }
        if self.special {
            return (self.value, if self.error.is_finite() { 0.0 } else { f64::INFINITY });
        }
        // One addition of two terms is rounded once.
        let roundings = (self.terms - 1.0).max(0.0);
        if roundings <= 1.0 && self.error == 0.0 && (working == kind || roundings == 0.0) {
            return (kind.round(self.value), 0.0);
        }
        let spread = roundings * working.unit() * (self.size + self.error) + self.error;
        super::precision::rounded(kind, self.value, spread)
    }
}

pub(crate) fn sums(kind: Kind, sums: &[Sum]) -> Column {
    let (values, errors) = sums.iter().map(|sum| sum.finish(kind, kind)).unzip();
    Column { error: Some(errors), ..Column::real(kind, values) }
}

/// Which it is, of a computation's name.
pub(crate) fn combine_of(evaluator: &Evaluator<'_>, name: &str, kinds: &[Kind]) -> Checked<Combine> {
    let graph = (evaluator.callees)(name).ok_or_else(|| format!("the computation {name} is not at hand"))?;
    Ok(match (super::called::single_op(&graph), kinds) {
        (Some(Opcode::Add), &[kind]) if kind.is_float() => Combine::Sum(kind),
        (Some(opcode), &[kind]) => Combine::Single(opcode, kind),
        _ => Combine::Called(name.to_owned()),
    })
}

/// Two sets of values, element by element.
pub(crate) fn combined(
    evaluator: &mut Evaluator<'_>,
    how: &Combine,
    a: &[Rc<Column>],
    b: &[Rc<Column>],
) -> Checked<Vec<Rc<Column>>> {
    match how {
        Combine::Sum(kind) => {
            let one = elementwise::binary(Opcode::Add, *kind, &a[0], &b[0])?;
            Ok(vec![Rc::new(one)])
        }
        Combine::Single(opcode, kind) => Ok(vec![Rc::new(elementwise::binary(*opcode, *kind, &a[0], &b[0])?)]),
        Combine::Called(name) => {
            let arguments: Vec<Rc<Column>> = a.iter().chain(b).cloned().collect();
            lanes(evaluator, name, &arguments, 0)
        }
    }
}

/// Adds rows of `length` terms to sums, one after the other.
pub(crate) fn add_rows(sums: &mut [Sum], column: &Column, length: usize) {
    if let Values::Real(values) = &column.values {
        for (i, row) in values.chunks_exact(length.max(1)).enumerate() {
            for (k, &term) in row.iter().enumerate() {
                sums[i].add(term, column.error_at(i * length + k));
            }
        }
    }
}

/// Rows of `length` elements, folded in pairs of neighbours, so that the order stays.
pub(crate) fn fold_rows(
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
                    let place = |row: usize, k: usize| if k < half { row * half + k } else { rows * half + row };
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
