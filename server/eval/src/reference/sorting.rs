//! `sort`: whole rows along a dimension, by any comparator.

use std::rc::Rc;

use ir::AttributeKey;

use super::called::lanes;
use super::column::Column;
use super::evaluator::{Asked, Evaluator};
use super::positions::{affine, array, each_index, strides};
use super::reductions::name;
use crate::case::{Checked, dimensions, ensure};

/// The longest row.
const MAX_ROW: i64 = 1 << 20;

/// The rows that `positions` lie in, sorted; equal elements keep their order.
pub(crate) fn sort(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>, positions: &[i64]) -> Checked<Vec<Column>> {
    let operand = array(asked.operand_shape(0)?)?;
    for shape in &asked.op.operand_shapes {
        ensure(array(shape)?.dims == operand.dims, "the operands differ in size")?;
    }
    let dim = *dimensions(asked.op.attributes.ints(AttributeKey::Dimensions), operand.dims.len())?
        .first()
        .ok_or("dimensions is missing")?;
    let (length, own) = (operand.dims[dim], strides(&operand.dims));
    ensure(length <= MAX_ROW, "a row is too long to sort")?;
    // Where each row starts, and which of its elements is asked for.
    let mut asked_for = Vec::with_capacity(positions.len());
    each_index(positions, &operand.dims, |i, index| {
        asked_for.push((positions[i] - index[dim] * own[dim], index[dim]));
    });
    let mut rows: Vec<i64> = asked_for.iter().map(|&(row, _)| row).collect();
    rows.sort_unstable();
    rows.dedup();
    let comparator = name(asked)?;
    let mut sorted: Vec<Vec<Rc<Column>>> = Vec::new();
    for &row in &rows {
        let turns: Vec<i64> = (0..length).collect();
        let places = affine(&turns, &[length], row, &[own[dim]]);
        let batch = evaluator.batch(places);
        let mut columns = Vec::new();
        for &operand in asked.operands() {
            columns.push(evaluator.eval(asked.frame, operand, 0, &batch)?);
        }
        ensure(columns.iter().all(|c| c.error.is_none()), "an order that depends on inexact numbers")?;
        let order = order(evaluator, &comparator, &columns)?;
        sorted.push(columns.iter().map(|c| Rc::new(c.pick(&order))).collect());
    }
    let mut results: Vec<Column> = Vec::new();
    for i in 0..asked.operands().len() {
        let mut all: Option<Column> = None;
        for row in &sorted {
            match &mut all {
                Some(all) => all.append(&row[i]),
                None => all = Some(Column::clone(&row[i])),
            }
        }
        let all = all.ok_or("nothing is sorted")?;
        let place = |&(row, at): &(i64, i64)| (rows.binary_search(&row).unwrap_or(0) as i64 * length + at) as u32;
        results.push(all.pick(&asked_for.iter().map(place).collect::<Vec<_>>()));
    }
    Ok(results)
}

/// The numbers of a row's elements in their new order: a merge sort whose comparisons of one level are made together, one
/// comparison of each pair of runs at a time.
fn order(evaluator: &mut Evaluator<'_>, comparator: &str, columns: &[Rc<Column>]) -> Checked<Vec<u32>> {
    let len = columns.first().map_or(0, |c| c.len());
    let mut order: Vec<u32> = (0..len as u32).collect();
    let mut width = 1;
    while width < len {
        // Each element's place is its own in its run, and that of the first not less (or greater) one in the other run: found by
        // bisection, all elements at once.
        let starts = |i: usize| i / (2 * width) * 2 * width;
        let mut low: Vec<usize> = Vec::with_capacity(len);
        let mut high: Vec<usize> = Vec::with_capacity(len);
        let mut is_left = Vec::with_capacity(len);
        for i in 0..len {
            let start = starts(i);
            let middle = (start + width).min(len);
            let end = (start + 2 * width).min(len);
            is_left.push(i < middle);
            low.push(if i < middle { middle } else { start });
            high.push(if i < middle { end } else { middle });
        }
        let mut open: Vec<usize> = (0..len).filter(|&i| low[i] < high[i]).collect();
        while !open.is_empty() {
            let probe = |i: usize| (low[i] + high[i]) / 2;
            // Of equal elements the left run's come first: a left one goes before the first right one that is not less than
            // it, a right one behind all left ones that it is not less than.
            let first: Vec<u32> =
                open.iter().map(|&i| order[if is_left[i] { probe(i) } else { i }]).collect();
            let second: Vec<u32> =
                open.iter().map(|&i| order[if is_left[i] { i } else { probe(i) }]).collect();
            let mut arguments = Vec::new();
            for column in columns {
                arguments.push(Rc::new(column.pick(&first)));
                arguments.push(Rc::new(column.pick(&second)));
            }
            let less = lanes(evaluator, comparator, &arguments, 0)?;
            ensure(less.len() == 1 && less[0].ints().len() == open.len(), "the comparator answers no pred")?;
            for (&i, &less) in open.iter().zip(less[0].ints()) {
                let at = (low[i] + high[i]) / 2;
                // `less`: the right element is less than the left one.
                match is_left[i] == (less != 0) {
                    true => low[i] = at + 1,
                    false => high[i] = at,
                }
            }
            open.retain(|&i| low[i] < high[i]);
        }
        let mut merged = vec![0; len];
        for i in 0..len {
            let start = starts(i);
            let middle = (start + width).min(len);
            let place = if is_left[i] { i + low[i] - middle } else { i - middle + low[i] };
            // A comparator that is no order may send two to one place.
            if let Some(slot) = merged.get_mut(place) {
                *slot = order[i];
            }
        }
        order = merged;
        width *= 2;
    }
    Ok(order)
}
