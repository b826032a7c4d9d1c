//! Search for points of a domain, by branch and bound over boxes.

use crate::contract::contract;
use crate::interval::Interval;
use crate::map::{Constraint, Variable};
use crate::range::RangeContext;

pub(crate) enum Found {
    Point(Vec<i64>),
    /// The domain contains no point.
    Nothing,
    /// The budget ran out.
    Undecided,
}

/// Rounds of narrowing for a box before it is split.
const NARROWINGS: usize = 4;

/// Searches the box for a point that satisfies the constraints and that `accept` accepts. Each box costs one
/// unit of the budget. The answer `Nothing` is a proof for every point at which the constraints have values.
pub(crate) fn find(
    variables: &[Variable],
    constraints: &[Constraint],
    budget: &mut usize,
    mut accept: impl FnMut(&[i64]) -> bool,
) -> Found {
    let mut boxes: Vec<Vec<Variable>> = vec![variables.iter().map(|v| Variable::from(v.bounds)).collect()];
    while let Some(mut variables) = boxes.pop() {
        cancel::check();
        if *budget == 0 {
            return Found::Undecided;
        }
        *budget -= 1;
        if !narrow(constraints, &mut variables) {
            continue;
        }
        let context = RangeContext::new(&variables, &[]);
        let open = constraints
            .iter()
            .filter(|c| !c.interval.contains_interval(context.range(&c.expr)))
            .fold(None, |mask, c| Some(mask.unwrap_or(0) | c.expr.variable_mask()));
        let corner: Vec<i64> = variables.iter().map(|v| v.bounds.lower).collect();
        if accept(&corner) {
            return Found::Point(corner);
        }
        let near: Vec<i64> = variables.iter().map(|v| 0.clamp(v.bounds.lower, v.bounds.upper)).collect();
        if near != corner && accept(&near) {
            return Found::Point(near);
        }
        // If no constraint is open, or the variables of the open ones are single values, `accept` rejected
        // the corner because some expression has no value there: split along any variable.
        let widest = |mask: u64| {
            (0..variables.len())
                .filter(|&i| mask & (1 << i.min(63)) != 0)
                .filter(|&i| variables[i].bounds.lower < variables[i].bounds.upper)
                .max_by_key(|&i| variables[i].bounds.size())
        };
        let Some(i) = open.and_then(widest).or_else(|| widest(u64::MAX)) else {
            continue;
        };
        let Interval { lower, upper } = variables[i].bounds;
        let middle = ((i128::from(lower) + i128::from(upper)) >> 1) as i64;
        let mut high = variables.clone();
        high[i].bounds.lower = middle + 1;
        boxes.push(high);
        variables[i].bounds.upper = middle;
        boxes.push(variables);
    }
    Found::Nothing
}

/// Narrows the variables; false if no point of the box satisfies the constraints.
fn narrow(constraints: &[Constraint], variables: &mut [Variable]) -> bool {
    for _ in 0..NARROWINGS {
        let mut changed = false;
        for c in constraints {
            match contract(c, &[], variables) {
                Ok(moved) => changed |= moved,
                Err(_) => return false,
            }
        }
        if !changed {
            break;
        }
    }
    true
}
