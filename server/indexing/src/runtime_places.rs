//! Slices and pads whose numbers are operands: StableHLO has them, and HLO where the numbers are constants.

use indexing_map::{Expr, Interval};
use ir::Op;

use crate::checks::{Checked, ensure};
use crate::extents::{self, Domain};
use crate::operand_indexing::{OpIndexing, OperandIndexing, RuntimeSource};
use crate::slices::Outside;

/// `d * stride + start`. Operands: the array, a start per dimension, a stride per dimension.
pub(crate) fn slice(op: &Op) -> Checked<OpIndexing> {
    let (output, operand) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    ensure(output.len() == operand.len(), "output and operand differ in rank")?;
    let mut domain = Domain::new(op, 0, &output);
    let lists = [list(op, &domain, 1)?, list(op, &domain, 2)?];
    let mut results = Vec::with_capacity(output.len());
    for (k, extent) in operand.iter().enumerate() {
        let starts = Interval::new(0, extent.as_const().unwrap_or(i64::MAX));
        let start = number(&mut domain, 1, k, starts);
        let stride = number(&mut domain, 2, k, Interval::new(1, i64::MAX));
        results.push(Expr::var(k) * stride + start);
    }
    Ok(OpIndexing::of([domain.access(results)].into_iter().chain(lists)))
}

/// `(d - low) floordiv (interior + 1)` where that is an element of the operand, and the padding value elsewhere.
/// Operands: the array, the padding value, low and interior padding of each dimension.
pub(crate) fn pad(op: &Op) -> Checked<OpIndexing> {
    let (output, operand) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    ensure(output.len() == operand.len(), "output and operand differ in rank")?;
    let mut domain = Domain::new(op, 0, &output);
    let lists = [list(op, &domain, 2)?, list(op, &domain, 3)?];
    let distances: Vec<(Expr, Expr)> = (0..output.len())
        .map(|k| {
            let low = number(&mut domain, 2, k, Interval::ALL);
            let interior = number(&mut domain, 3, k, Interval::new(0, i64::MAX));
            (Expr::var(k) - low, interior + 1)
        })
        .collect();
    let mut around = domain.clone();
    let mut outside = Outside::default();
    let mut results = Vec::with_capacity(output.len());
    for ((distance, step), extent) in distances.into_iter().zip(&operand) {
        let hole = distance.clone().modulo(step.clone());
        let place = distance.clone().floor_div(step.clone());
        outside.add(-distance.clone(), i64::MAX);
        outside.add(distance - (extent.clone() - 1) * step, i64::MAX);
        outside.add(hole.clone(), i64::MAX);
        domain.constrain(hole, Interval::point(0));
        domain.within(place.clone(), extent);
        results.push(place);
    }
    let value = match outside.constraint() {
        None => OperandIndexing::unread(output.len(), 0, "there is no padding"),
        Some((expr, interval)) => {
            around.constrain(expr, interval);
            around.access(Vec::new())
        }
    };
    Ok(OpIndexing::of([domain.access(results), value].into_iter().chain(lists)))
}

/// Number `k` of an operand that is a list.
fn number(domain: &mut Domain<'_>, operand: usize, k: usize, values: Interval) -> Expr {
    domain.runtime(RuntimeSource::Operand(operand), vec![Expr::Const(k as i64)], values, values)
}

/// The access to all numbers of an operand that is a list. To call before `domain` has runtime variables.
fn list(op: &Op, domain: &Domain<'_>, operand: usize) -> Checked<OperandIndexing> {
    let sizes = extents::operand(op, operand)?;
    let mut domain = domain.clone();
    let all = sizes.iter().map(|size| domain.range(size)).collect();
    Ok(domain.access(all))
}
