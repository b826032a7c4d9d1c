//! `reduce`.

use std::rc::Rc;

use ir::AttributeKey;

use super::column::Column;
use super::evaluator::{Asked, Evaluator, kind_of};
use super::folding::{Combine, Sum, add_rows, combine_of, combined, fold_rows, sums};
use super::positions::{affine, array, each_index, strides};
use super::types::Kind;
use crate::case::{Checked, dimensions, ensure};

/// Elements of the operands that are held at a time.
const CHUNK: usize = 1 << 18;

/// Kinds and number of the inputs: the first half of the operands.
pub(crate) fn inputs(asked: &Asked<'_>) -> Checked<Vec<Kind>> {
    let shapes = &asked.op.operand_shapes;
    ensure(shapes.len() >= 2 && shapes.len().is_multiple_of(2), "inputs and init values do not come in pairs")?;
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

/// The init values, for `len` elements.
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

/// All elements with the output's index in the kept dimensions, and the init value once.
pub(crate) fn reduce(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    positions: &[i64],
) -> Checked<Vec<Column>> {
    let kinds = inputs(asked)?;
    let operand = array(asked.operand_shape(0)?)?;
    let reduced = dimensions(asked.op.attributes.ints(AttributeKey::Dimensions), operand.dims.len())?;
    let kept: Vec<usize> = (0..operand.dims.len()).filter(|d| !reduced.contains(d)).collect();
    let own = strides(&operand.dims);
    let out_dims: Vec<i64> = kept.iter().map(|&d| operand.dims[d]).collect();
    let out_steps: Vec<i64> = kept.iter().map(|&d| own[d]).collect();
    let in_dims: Vec<i64> = reduced.iter().map(|&d| operand.dims[d]).collect();
    let in_steps: Vec<i64> = reduced.iter().map(|&d| own[d]).collect();
    let length: i64 = in_dims.iter().product();
    let how = combine_of(evaluator, &name(asked)?, &kinds)?;
    let bases = affine(positions, &out_dims, 0, &out_steps);

    let mut results: Vec<Column> = kinds.iter().map(|&kind| Column::none(kind)).collect();
    let rows = (CHUNK / usize::try_from(length.max(1)).unwrap_or(usize::MAX)).max(1);
    for bases in bases.chunks(rows) {
        let init = init_values(evaluator, asked, bases.len())?;
        let mut partial: Option<Vec<Rc<Column>>> = None;
        let mut totals = vec![Sum::default(); bases.len()];
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
            for i in 0..kinds.len() {
                columns.push(evaluator.eval(asked.frame, asked.operand(i)?, 0, &batch)?);
            }
            evaluator.spend(batch.positions.len())?;
            if let Combine::Sum(_) = how {
                add_rows(&mut totals, &columns[0], turns.len());
            } else {
                let folded = fold_rows(evaluator, &how, &columns, turns.len())?;
                partial = Some(match partial {
                    Some(before) => combined(evaluator, &how, &before, &folded)?,
                    None => folded,
                });
            }
            from = to;
        }
        let finished = match (&how, partial) {
            (Combine::Sum(kind), _) => {
                // An init value of zero is no term.
                let is_zero = |i: usize| init[0].reals()[i] == 0.0 && init[0].error_at(i) == 0.0;
                for (i, total) in totals.iter_mut().enumerate() {
                    if !is_zero(i) || total.terms == 0.0 {
                        total.add(init[0].reals()[i], init[0].error_at(i));
                    }
                }
                vec![Rc::new(sums(*kind, &totals))]
            }
            (_, Some(partial)) => combined(evaluator, &how, &init, &partial)?,
            (_, None) => init,
        };
        ensure(finished.len() == results.len(), "the computation does not answer as many values as there are inputs")?;
        results.iter_mut().zip(&finished).for_each(|(all, part)| all.append(part));
    }
    Ok(results)
}
