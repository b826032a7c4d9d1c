//! `sort`: whole rows along a dimension, by any comparator.

use std::rc::Rc;

use ir::AttributeKey;

use super::called::lanes;
use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::Evaluator;
use super::positions::{self, affine, array, each_index, strides};
use super::reductions::name;
use super::types::Kind;
use crate::checks::{Checked, dimensions, ensure};

/// The longest row that is sorted.
const MAX_ROW: i64 = 1 << 20;

/// The sorted rows that contain `positions`; equal elements keep their order.
pub(crate) fn sort(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    positions: &[i64],
) -> Checked<Vec<Column>> {
    let operand = array(asked.operand_shape(0)?)?;
    for shape in &asked.op.operand_shapes {
        ensure(array(shape)?.dims == operand.dims, "the operands differ in size")?;
    }
    let dim = *dimensions(asked.op.attributes.ints(AttributeKey::Dimensions), operand.dims.len())?
        .first()
        .ok_or("dimensions is missing")?;
    let (length, own) = (operand.dims[dim], strides(&operand.dims));
    ensure(length <= MAX_ROW, "a row is too long to sort")?;
    // The start of each row, and the requested element in it.
    let mut asked_for = Vec::with_capacity(positions.len());
    each_index(positions, &operand.dims, |i, index| {
        asked_for.push((positions[i] - index[dim] * own[dim], index[dim]));
    });
    let mut rows: Vec<i64> = asked_for.iter().map(|&(row, _)| row).collect();
    positions::sort(&mut rows);
    rows.dedup();
    let comparator = name(asked)?;
    let is_stable = asked.op.attributes.bool(AttributeKey::IsStable).unwrap_or(false);
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
        let mut row: Vec<Column> = columns.iter().map(|c| c.pick(&order)).collect();
        let has_nan = columns.iter().any(|c| c.reals().iter().any(|x| x.is_nan()));
        let is_disorder = has_nan && is_total(evaluator, &comparator) == Some(false);
        if !is_stable || is_disorder {
            open_ties(evaluator, &comparator, &mut row, (is_stable, is_disorder))?;
        }
        sorted.push(row.into_iter().map(Rc::new).collect());
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
        let place =
            |&(row, at): &(i64, i64)| (rows.binary_search(&row).unwrap_or(0) as i64 * length + at) as u32;
        results.push(all.pick(&asked_for.iter().map(place).collect::<Vec<_>>()));
    }
    Ok(results)
}

/// The permutation that sorts a row: a merge sort that batches the comparisons of a level, one bisection step
/// for all elements at a time.
fn order(evaluator: &mut Evaluator<'_>, comparator: &str, columns: &[Rc<Column>]) -> Checked<Vec<u32>> {
    let len = columns.first().map_or(0, |c| c.len());
    let mut order: Vec<u32> = (0..len as u32).collect();
    let mut width = 1;
    while width < len {
        // An element's new index is its index in its run plus that of the first element not less (or greater)
        // in the other run, found by bisection for all elements at once.
        let starts = |i: usize| i / (2 * width) * 2 * width;
        let mut low: Vec<usize> = Vec::with_capacity(len);
        let mut high: Vec<usize> = Vec::with_capacity(len);
        let mut is_left = Vec::with_capacity(len);
        for i in 0..len {
            cancel::tick();
            let start = starts(i);
            let middle = (start + width).min(len);
            let end = (start + 2 * width).min(len);
            is_left.push(i < middle);
            low.push(if i < middle { middle } else { start });
            high.push(if i < middle { end } else { middle });
        }
        let mut open: Vec<usize> = (0..len).filter(|&i| low[i] < high[i]).collect();
        while !open.is_empty() {
            cancel::check();
            let probe = |i: usize| (low[i] + high[i]) / 2;
            // Equal elements of the left run come first: a left one goes before the first right one that is
            // not less than it, a right one after all left ones that it is not less than.
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
                cancel::tick();
                let at = (low[i] + high[i]) / 2;
                // `less`: the right element is less than the left one.
                match is_left[i] == (less != 0) {
                    true => low[i] = at + 1,
                    false => high[i] = at,
                }
            }
            cancel::check();
            open.retain(|&i| low[i] < high[i]);
        }
        let mut merged = vec![0; len];
        for i in 0..len {
            cancel::tick();
            let start = starts(i);
            let middle = (start + width).min(len);
            let place = if is_left[i] { i + low[i] - middle } else { i - middle + low[i] };
            // A comparator that is not an order may map two elements to one index.
            if let Some(slot) = merged.get_mut(place) {
                *slot = order[i];
            }
        }
        order = merged;
        width *= 2;
    }
    Ok(order)
}

/// Whether all float comparisons in a comparator order NaN too.
fn is_total(evaluator: &Evaluator<'_>, comparator: &str) -> Option<bool> {
    let graph = evaluator.callee(comparator).ok()?;
    let partial = graph.ops.iter().any(|op| {
        let is_float = op.operand_shapes.first().and_then(ir::Shape::element).and_then(Kind::of);
        op.opcode == ir::Opcode::Compare
            && is_float.is_some_and(Kind::is_float)
            && !op.attributes.is_total_order()
    });
    Some(!partial)
}

/// Marks results as open where neighbours compare equal but differ and the sort is not stable, and in rows
/// with a NaN that the comparator does not order (`is_disorder`).
fn open_ties(
    evaluator: &mut Evaluator<'_>,
    comparator: &str,
    row: &mut [Column],
    (is_stable, is_disorder): (bool, bool),
) -> Checked<()> {
    let len = row.first().map_or(0, Column::len);
    let mut open = vec![is_disorder; len];
    if !is_stable && len > 1 {
        let first: Vec<u32> = (0..len as u32 - 1).collect();
        let second: Vec<u32> = (1..len as u32).collect();
        let mut less = Vec::new();
        for [a, b] in [[&first, &second], [&second, &first]] {
            let arguments: Vec<Rc<Column>> =
                row.iter().flat_map(|c| [Rc::new(c.pick(a)), Rc::new(c.pick(b))]).collect();
            less.push(lanes(evaluator, comparator, &arguments, 0)?);
        }
        for i in 0..len - 1 {
            let is_tie = less.iter().all(|less| less[0].ints().get(i) == Some(&0));
            if is_tie && row.iter().any(|c| c.bits(i) != c.bits(i + 1)) {
                open[i] = true;
                open[i + 1] = true;
            }
        }
        // All elements of a run of equal ones may swap.
        for i in 1..len {
            let is_tie = less.iter().all(|less| less[0].ints().get(i - 1) == Some(&0));
            open[i] |= is_tie && open[i - 1];
        }
        for i in (0..len - 1).rev() {
            let is_tie = less.iter().all(|less| less[0].ints().get(i) == Some(&0));
            open[i] |= is_tie && open[i + 1];
        }
    }
    if open.contains(&true) {
        for column in row {
            column.error = Some(open.iter().map(|&open| if open { f64::INFINITY } else { 0.0 }).collect());
        }
    }
    Ok(())
}
