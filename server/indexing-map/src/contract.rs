//! Narrowing variable bounds to what a constraint allows, by propagating intervals down the expression.

use crate::expr::{BinaryOp, Expr};
use crate::interval::{Interval, ceil_div, floor_div};
use crate::map::{Constraint, Variable};
use crate::range::{RangeContext, range_of_op};

/// The largest expression whose operands are narrowed; larger ones are only compared as a whole. Ranges of
/// nodes are recomputed at each level.
const MAX_NODES: usize = 512;

/// An error: no point of the box satisfies the constraint.
pub(crate) struct Infeasible;

/// Narrows `variables` to bounds that contain every point of the box that satisfies `constraint`. `others`
/// are further constraints that hold; they help where one is about a part of the expression. Returns whether
/// any bound changed. Variables that are unbounded on a side may get a bound there. Points at which the
/// expression has no value count as outside.
pub(crate) fn contract(
    constraint: &Constraint,
    others: &[Constraint],
    variables: &mut [Variable],
) -> Result<bool, Infeasible> {
    let mut changed = false;
    narrow(&constraint.expr, constraint.interval, others, variables, &mut changed)?;
    Ok(changed)
}

fn narrow(
    e: &Expr,
    target: Interval,
    others: &[Constraint],
    variables: &mut [Variable],
    changed: &mut bool,
) -> Result<(), Infeasible> {
    let b = match e {
        Expr::Const(c) => return if target.contains(*c) { Ok(()) } else { Err(Infeasible) },
        Expr::Var(v) => {
            let Some(variable) = variables.get_mut(*v as usize) else { return Ok(()) };
            let bounds = variable.bounds.intersect(target);
            if bounds.is_empty() {
                return Err(Infeasible);
            }
            if bounds != variable.bounds {
                variable.bounds = bounds;
                *changed = true;
            }
            return Ok(());
        }
        Expr::Binary(b) => b,
    };
    let range = |e: &Expr, variables: &[Variable]| RangeContext::new(variables, others).range(e);
    let (l, r) = (range(b.lhs(), variables), range(b.rhs(), variables));
    let whole = range_of_op(b.op(), l, r);
    let target = target.intersect(whole);
    if target.is_empty() {
        return Err(Infeasible);
    }
    if target == whole || e.node_count() > MAX_NODES {
        return Ok(());
    }
    match b.op() {
        BinaryOp::Add => {
            narrow(b.lhs(), target + -r, others, variables, changed)?;
            let l = range(b.lhs(), variables);
            narrow(b.rhs(), target + -l, others, variables, changed)
        }
        BinaryOp::Mul => {
            for (factor, other, of_other) in [(b.lhs(), b.rhs(), r), (b.rhs(), b.lhs(), l)] {
                if factor.as_const().is_none()
                    && let Some(k) = other.as_const().or(of_other.as_point()).filter(|&k| k != 0)
                {
                    narrow(factor, divided(target, k), others, variables, changed)?;
                }
            }
            Ok(())
        }
        BinaryOp::FloorDiv => match r.as_point().filter(|&d| d > 0) {
            Some(d) => {
                let bounds = Interval::new(times(target.lower, d, 0), times(target.upper, d, d - 1));
                narrow(b.lhs(), bounds, others, variables, changed)
            }
            None => Ok(()),
        },
        BinaryOp::CeilDiv => match r.as_point().filter(|&d| d > 0) {
            Some(d) => {
                let bounds = Interval::new(times(target.lower, d, 1 - d), times(target.upper, d, 0));
                narrow(b.lhs(), bounds, others, variables, changed)
            }
            None => Ok(()),
        },
        BinaryOp::Mod => match r.as_point().and_then(i64::checked_abs).filter(|&m| m > 0) {
            Some(m) => match residues(l, m, target) {
                Some(bounds) if bounds.is_empty() => Err(Infeasible),
                Some(bounds) => narrow(b.lhs(), bounds, others, variables, changed),
                None => Ok(()),
            },
            None => Ok(()),
        },
        BinaryOp::Max => {
            for (side, other) in [(b.lhs(), r), (b.rhs(), l)] {
                let lower = if other.upper < target.lower { target.lower } else { i64::MIN };
                narrow(side, Interval::new(lower, target.upper), others, variables, changed)?;
            }
            Ok(())
        }
        BinaryOp::Min => {
            for (side, other) in [(b.lhs(), r), (b.rhs(), l)] {
                let upper = if other.lower > target.upper { target.upper } else { i64::MAX };
                narrow(side, Interval::new(target.lower, upper), others, variables, changed)?;
            }
            Ok(())
        }
    }
}

/// The interval of `x` in `x * k in target`.
fn divided(target: Interval, k: i64) -> Interval {
    let (lower, upper) = if k > 0 { (target.lower, target.upper) } else { (target.upper, target.lower) };
    let bound = |b: i64, exact: Option<i64>, none: i64| match b {
        i64::MIN | i64::MAX => none,
        _ => exact.unwrap_or(none),
    };
    Interval::new(bound(lower, ceil_div(lower, k), i64::MIN), bound(upper, floor_div(upper, k), i64::MAX))
}

/// `bound * d + shift` for a positive `d`; unbounded if that overflows 64 bits.
fn times(bound: i64, d: i64, shift: i64) -> i64 {
    match bound {
        i64::MIN | i64::MAX => bound,
        b => {
            let exact = i128::from(b) * i128::from(d) + i128::from(shift);
            exact.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
        }
    }
}

/// The smallest interval that contains every `x in bounds` with `x mod m in target`; `None` if `bounds` is
/// unbounded.
fn residues(bounds: Interval, m: i64, target: Interval) -> Option<Interval> {
    let Interval { lower, upper } = bounds;
    if lower == i64::MIN || upper == i64::MAX {
        return None;
    }
    let (m, first, last) = (i128::from(m), i128::from(target.lower), i128::from(target.upper));
    let (lower, upper) = (i128::from(lower), i128::from(upper));
    let up = match lower.rem_euclid(m) {
        r if r < first => lower + first - r,
        r if r <= last => lower,
        r => lower + m - r + first,
    };
    let down = match upper.rem_euclid(m) {
        r if r > last => upper - (r - last),
        r if r >= first => upper,
        r => upper - r - m + last,
    };
    if up > down {
        return Some(Interval::EMPTY);
    }
    Some(Interval::new(i64::try_from(up).ok()?, i64::try_from(down).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_expr;

    #[track_caller]
    fn check(expr: &str, interval: (i64, i64), expect: Option<[(i64, i64); 2]>) {
        let mut variables = [Variable::new(0, 99), Variable::new(0, 9)];
        let expr = parse_expr(expr).unwrap();
        let constraint = Constraint { expr, interval: Interval::new(interval.0, interval.1) };
        let got = contract(&constraint, &[], &mut variables).ok().map(|_| variables.map(|v| v.bounds));
        assert_eq!(got, expect.map(|e| e.map(|(l, u)| Interval::new(l, u))));
    }

    #[test]
    fn narrows_every_operator() {
        check("v0 * 3 + v1 * 20", (100, 150), Some([(0, 50), (0, 7)]));
        check("v0 - v1 * 12", (0, 3), Some([(0, 99), (0, 8)]));
        check("v0 floordiv 8", (2, 3), Some([(16, 31), (0, 9)]));
        check("v0 ceildiv 8", (2, 3), Some([(9, 24), (0, 9)]));
        check("v0 mod 40", (35, 38), Some([(35, 78), (0, 9)]));
        check("v0 mod 8", (45, 49), None);
        check("max(v0, v1)", (20, 30), Some([(20, 30), (0, 9)]));
        check("min(v0, v1 + 50)", (60, 99), None);
        check("v0 * -2", (-21, -7), Some([(4, 10), (0, 9)]));
    }

    /// The bounds are the smallest ones that contain every point that satisfies a constraint of one operator.
    #[test]
    fn bounds_of_one_operator_are_exact() {
        let values = |expr: &Expr, bounds: Interval, target: Interval| {
            let holds = |&x: &i64| expr.evaluate(&[x]).is_some_and(|value| target.contains(value));
            let mut found = (bounds.lower..=bounds.upper).filter(holds);
            let first = found.next()?;
            Some(Interval::new(first, found.next_back().unwrap_or(first)))
        };
        let mut random = random::Rng::new(5);
        for _ in 0..20_000 {
            let op = *random.pick(&BinaryOp::ALL);
            let constant = match op {
                BinaryOp::Mul => *random.pick(&[-7, -3, -2, -1, 2, 3, 5, 8]),
                BinaryOp::Mod | BinaryOp::FloorDiv | BinaryOp::CeilDiv => random.range(2, 9),
                BinaryOp::Add | BinaryOp::Min | BinaryOp::Max => random.range(-9, 9),
            };
            let expr = Expr::binary(op, Expr::var(0), Expr::Const(constant));
            let lower = random.range(-20, 20);
            let bounds = Interval::new(lower, lower + random.range(0, 30));
            let lower = random.range(-12, 12);
            let target = Interval::new(lower, lower + random.range(0, 8));
            let expect = values(&expr, bounds, target);
            let mut variables = [Variable::from(bounds)];
            let constraint = Constraint { expr: expr.clone(), interval: target };
            let got = contract(&constraint, &[], &mut variables).ok().map(|_| variables[0].bounds);
            // A product or remainder may prove infeasible only when it is narrowed once more.
            let got = got.filter(|_| contract(&constraint, &[], &mut variables).is_ok());
            assert_eq!(got, expect, "{expr} in {target} for x in {bounds}");
        }
    }
}
