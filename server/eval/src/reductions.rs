//! `reduce`.

use std::ops::Range;
use std::rc::Rc;

use ir::AttributeKey;

use super::column::{Column, Values};
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of};
use super::folding::{Combine, Sums, combine_of, combined, fold_rows};
use super::positions::{affine, array, each_index, strides};
use super::types::Kind;
use crate::checks::{Checked, dimensions, ensure};

/// The largest number of operand elements held at a time.
const CHUNK: usize = 1 << 18;

/// The kinds of the inputs, which are the first half of the operands.
pub(crate) fn inputs(asked: &Asked<'_>) -> Checked<Vec<Kind>> {
    let shapes = &asked.op.operand_shapes;
    ensure(
        shapes.len() >= 2 && shapes.len().is_multiple_of(2),
        "inputs and init values do not come in pairs",
    )?;
    let half = shapes.len() / 2;
    let first = array(&shapes[0])?;
    for shape in &shapes[..half] {
        ensure(array(shape)?.dims == first.dims, "the inputs differ in size")?;
    }
    shapes[..half].iter().map(kind_of).collect()
}

pub(crate) fn name(asked: &Asked<'_>) -> Checked<String> {
    let name = asked.op.attributes.computation(AttributeKey::ToApply);
    Ok(name.ok_or("the computation is not named")?.to_owned())
}

/// The init values, repeated for `len` elements.
pub(crate) fn init_values(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    len: usize,
) -> Checked<Vec<Rc<Column>>> {
    let count = asked.operands().len() / 2;
    let mut columns = Vec::new();
    for i in count..2 * count {
        let one = evaluator.scalar(asked.frame, asked.operand(i)?)?;
        columns.push(Rc::new(one.pick(&vec![0; len])));
    }
    Ok(columns)
}

/// Reduces all elements with the output's index in the kept dimensions, and the init value once.
pub(crate) fn reduce(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    positions: &[i64],
) -> Checked<Vec<Column>> {
    let kinds = inputs(asked)?;
    let how = combine_of(evaluator, &name(asked)?, &kinds)?;
    if let Combine::Parts(parts) = &how {
        let mut results = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            results.extend(reduce_as(evaluator, asked, positions, part, i..i + 1)?);
        }
        return Ok(results);
    }
    reduce_as(evaluator, asked, positions, &how, 0..kinds.len())
}

/// Reduces a range of the inputs.
fn reduce_as(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    positions: &[i64],
    how: &Combine,
    which: Range<usize>,
) -> Checked<Vec<Column>> {
    let kinds = &inputs(asked)?[which.clone()];
    let operand = array(asked.operand_shape(0)?)?;
    let reduced = dimensions(asked.op.attributes.ints(AttributeKey::Dimensions), operand.dims.len())?;
    let kept: Vec<usize> = (0..operand.dims.len()).filter(|d| !reduced.contains(d)).collect();
    let own = strides(&operand.dims);
    let out_dims: Vec<i64> = kept.iter().map(|&d| operand.dims[d]).collect();
    let out_steps: Vec<i64> = kept.iter().map(|&d| own[d]).collect();
    let in_dims: Vec<i64> = reduced.iter().map(|&d| operand.dims[d]).collect();
    let in_steps: Vec<i64> = reduced.iter().map(|&d| own[d]).collect();
    let length: i64 = in_dims.iter().product();
    let bases = affine(positions, &out_dims, 0, &out_steps);

    let mut results: Vec<Column> = kinds.iter().map(|&kind| Column::none(kind)).collect();
    let rows = (CHUNK / usize::try_from(length.max(1)).unwrap_or(usize::MAX)).max(1);
    for bases in bases.chunks(rows) {
        let init = init_values(evaluator, asked, bases.len())?[which.clone()].to_vec();
        let mut partial: Option<Vec<Rc<Column>>> = None;
        let mut totals = Sums::new(kinds[0], bases.len());
        let step = (CHUNK / bases.len()).max(1) as i64;
        let mut from = 0;
        while from < length {
            let to = (from + step).min(length);
            let turns: Vec<i64> = (from..to).collect();
            let mut offsets = Vec::with_capacity(turns.len());
            each_index(&turns, &in_dims, |_, index| {
                offsets.push(index.iter().zip(&in_steps).map(|(i, step)| i * step).sum::<i64>());
            });
            let all: Vec<i64> = bases.iter().flat_map(|base| offsets.iter().map(move |o| base + o)).collect();
            let batch = evaluator.batch(all);
            let mut columns = Vec::new();
            for i in which.clone() {
                columns.push(evaluator.eval(asked.frame, asked.operand(i)?, 0, &batch)?);
            }
            evaluator.spend(batch.positions.len())?;
            if let Combine::Sum(_) = how {
                totals.add_rows(&columns[0], turns.len());
            } else {
                let folded = fold_rows(evaluator, how, &columns, turns.len())?;
                partial = Some(match partial {
                    Some(before) => combined(evaluator, how, &before, &folded)?,
                    None => folded,
                });
            }
            from = to;
        }
        let finished = match (how, partial) {
            (Combine::Sum(_), _) => {
                totals.add_init(&init[0]);
                vec![Rc::new(totals.finish())]
            }
            (_, Some(partial)) => with_init(evaluator, how, &init, &partial)?,
            (_, None) => init,
        };
        append(&mut results, &finished)?;
    }
    Ok(results)
}

/// Appends the values of a part of a reduction to those of the parts before.
pub(crate) fn append(results: &mut [Column], finished: &[Rc<Column>]) -> Checked<()> {
    ensure(
        finished.len() == results.len(),
        "the computation does not answer as many values as there are inputs",
    )?;
    results.iter_mut().zip(finished).for_each(|(all, part)| all.append(part));
    Ok(())
}

/// Combines a reduction with its init value, which may take part once or more: open if that makes a
/// difference.
pub(crate) fn with_init(
    evaluator: &mut Evaluator<'_>,
    how: &Combine,
    init: &[Rc<Column>],
    folded: &[Rc<Column>],
) -> Checked<Vec<Rc<Column>>> {
    let once = combined(evaluator, how, init, folded)?;
    let mut twice = combined(evaluator, how, init, &once)?;
    for (twice, once) in twice.iter_mut().zip(&once) {
        let errors = match &once.values {
            Values::Real(v) => {
                v.iter().zip(twice.reals()).map(|(a, b)| a != b && !(a.is_nan() && b.is_nan())).collect()
            }
            _ => (0..once.len()).map(|i| once.bits(i) != twice.bits(i)).collect::<Vec<bool>>(),
        };
        let mut result = Column::clone(once);
        if errors.contains(&true) {
            let len = result.len();
            let own = result.error.get_or_insert_with(|| vec![0.0; len]);
            own.iter_mut().zip(errors).filter(|(_, is_open)| *is_open).for_each(|(e, _)| *e = f64::INFINITY);
        }
        *twice = Rc::new(result);
    }
    Ok(twice)
}
