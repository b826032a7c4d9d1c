//! Simplification of constraints: moving operators into the interval, merging congruences.

use smallvec::SmallVec;

use crate::expr::{BinaryOp, Expr};
use crate::interval::{Interval, ceil_div, floor_div, gcd};
use crate::map::{Constraint, IndexingMap};
use crate::range::RangeContext;
use crate::simplify::division::divide_bounds;
use crate::simplify::sum::{Sum, Term, range_of};

/// Returns an equivalent constraint with the outer operators moved into the interval, or the constraint
/// itself if there is none. An empty interval means that it never holds. XLA: `SimplifyConstraintRange`.
pub(super) fn peel(constraint: Constraint, ranges: &RangeContext<'_>) -> Constraint {
    let mut current = constraint;
    while !current.interval.is_empty()
        && let Some(next) = peel_once(&current, ranges)
    {
        current = next;
    }
    current
}

fn peel_once(c: &Constraint, ranges: &RangeContext<'_>) -> Option<Constraint> {
    if c.interval.lower == i64::MAX || c.interval.upper == i64::MIN {
        return None;
    }
    match c.expr.as_binary()? {
        (BinaryOp::FloorDiv, x, Expr::Const(d)) if *d != 0 => {
            Some(Constraint { expr: x.clone(), interval: undivide(c.interval, *d)? })
        }
        (BinaryOp::Mul, x, Expr::Const(k)) if *k != 0 => {
            Some(Constraint { expr: x.clone(), interval: divide_bounds(c.interval, *k)? })
        }
        (BinaryOp::Add, ..) => peel_sum(c, ranges),
        _ => None,
    }
}

/// The interval of `x` in `x floordiv d in interval`.
fn undivide(interval: Interval, d: i64) -> Option<Interval> {
    let Interval { lower, upper } = interval;
    let times = |b: i64, shift: i64| match b {
        i64::MIN | i64::MAX => Some(if (b < 0) == (d < 0) { i64::MAX } else { i64::MIN }),
        b => b.checked_add(shift)?.checked_mul(d),
    };
    Some(if d > 0 {
        let upper = times(upper, 1)?;
        Interval::new(times(lower, 0)?, if upper == i64::MAX { upper } else { upper.checked_sub(1)? })
    } else {
        // l <= floor(x / d) <= u  is  u * d >= x > (u + 1) * d, with d negative
        let below = times(upper, 1)?;
        Interval::new(if below == i64::MIN { below } else { below.checked_add(1)? }, times(lower, 0)?)
    })
}

/// Simplifies `Σ in interval`: moves the constant into the interval, divides by a common divisor, and drops
/// small terms that make no difference. `a * g + b in [l, u]` becomes `a in […]` if every value of `b` gives
/// the same bounds for `a`, except for bounds that `a` meets anyway. (XLA drops `b` under a weaker condition,
/// see `oracle_xla_bugs`.)
fn peel_sum(c: &Constraint, ranges: &RangeContext<'_>) -> Option<Constraint> {
    let sum = Sum::of(&c.expr)?;
    if sum.constant != 0 {
        let shift = |b: i64| match b {
            i64::MIN | i64::MAX => Some(b),
            b => b.checked_sub(sum.constant),
        };
        let interval = Interval::new(shift(c.interval.lower)?, shift(c.interval.upper)?);
        return Some(Constraint { expr: Sum { constant: 0, ..sum }.to_expr(), interval });
    }
    let all = i64::try_from(sum.terms.iter().fold(0, |g, t| gcd(g as i64, t.coefficient))).ok()?;
    if all > 1 {
        let expr = Sum::divided(&sum.terms, all, 0).to_expr();
        return Some(Constraint { expr, interval: divide_bounds(c.interval, all)? });
    }
    let mut order: SmallVec<[&Term; 6]> = sum.terms.iter().collect();
    order.sort_by_key(|t| std::cmp::Reverse(t.coefficient.unsigned_abs()));
    let mut g = 0;
    let mut last = 0;
    for t in order {
        g = i64::try_from(gcd(g, t.coefficient)).ok()?;
        if g <= 1 {
            break;
        }
        if g == last {
            continue;
        }
        last = g;
        let part = |multiple: bool| -> SmallVec<[Term; 6]> {
            sum.terms.iter().filter(|t| (t.coefficient % g == 0) == multiple).cloned().collect()
        };
        let rest = range_of(&part(false), 0, ranges);
        let multiple = Sum::divided(&part(true), g, 0);
        let Some(interval) = bounds_without_rest(c.interval, g, rest, range_of(&multiple.terms, 0, ranges))
        else {
            continue;
        };
        return Some(Constraint { expr: multiple.to_expr(), interval });
    }
    None
}

/// Returns bounds of `a` that hold exactly when `a * g + b in interval`, whatever `b in rest` is; `None` if
/// there are none.
fn bounds_without_rest(interval: Interval, g: i64, rest: Interval, a: Interval) -> Option<Interval> {
    if rest.lower == i64::MIN || rest.upper == i64::MAX {
        return None;
    }
    let lower = if interval.lower == i64::MIN {
        i64::MIN
    } else {
        let strictest = ceil_div(interval.lower.checked_sub(rest.lower)?, g)?;
        let loosest = ceil_div(interval.lower.checked_sub(rest.upper)?, g)?;
        if a.lower < strictest && strictest != loosest {
            return None;
        }
        strictest
    };
    let upper = if interval.upper == i64::MAX {
        i64::MAX
    } else {
        let strictest = floor_div(interval.upper.checked_sub(rest.upper)?, g)?;
        let loosest = floor_div(interval.upper.checked_sub(rest.lower)?, g)?;
        if a.upper > strictest && strictest != loosest {
            return None;
        }
        strictest
    };
    Some(Interval::new(lower, upper))
}

/// Returns `(X, c, r)` if the constraint is `X mod c in [r, r]`.
fn congruence(c: &Constraint) -> Option<(&Expr, i64, i64)> {
    let (x, m) = c.expr.as_op_const(BinaryOp::Mod)?;
    let m = m.checked_abs().filter(|&m| m > 0)?;
    let r = c.interval.as_point()?;
    (0..m).contains(&r).then_some((x, m, r))
}

impl IndexingMap {
    /// Merges congruences of one expression, and moves the bounds of a variable to the nearest members of its
    /// residue class. With `any_residue`, congruences of different residues are merged too (Chinese
    /// remainders) or found contradictory. Returns whether anything changed. XLA: `MergeModConstraints`.
    pub(crate) fn merge_mod_constraints(&mut self, any_residue: bool) -> bool {
        let mut changed = false;
        let mut i = 0;
        while i < self.constraints.len() {
            let Some((x, mut m, mut r)) = congruence(&self.constraints[i]) else {
                i += 1;
                continue;
            };
            let x = x.clone();
            let mut merged = false;
            let mut j = i + 1;
            while j < self.constraints.len() {
                let other =
                    congruence(&self.constraints[j]).filter(|(y, _, s)| **y == x && (any_residue || *s == r));
                let Some((_, n, s)) = other else {
                    j += 1;
                    continue;
                };
                match chinese_remainder((m, r), (n, s)) {
                    Remainder::Merged(m2, r2) => {
                        (m, r) = (m2, r2);
                        self.constraints.remove(j);
                        merged = true;
                    }
                    Remainder::Contradiction => {
                        self.set_known_empty();
                        return true;
                    }
                    Remainder::TooLarge => j += 1,
                }
            }
            if merged {
                changed = true;
                self.constraints[i] = Constraint {
                    expr: Expr::binary(BinaryOp::Mod, x.clone(), m.into()),
                    interval: Interval::point(r),
                };
            }
            if let Some(v) = x.as_var() {
                changed |= self.tighten_to_congruence(v, m, r);
                if self.is_known_empty() {
                    return true;
                }
            }
            i += 1;
        }
        changed
    }

    fn tighten_to_congruence(&mut self, v: u32, m: i64, r: i64) -> bool {
        let bounds = &mut self.variables[v as usize].bounds;
        let before = *bounds;
        if bounds.lower != i64::MIN {
            // The smallest member at or above the lower bound, and below, the largest at or below the upper
            // bound.
            let up = (i128::from(r) - i128::from(bounds.lower)).rem_euclid(i128::from(m));
            bounds.lower = i64::try_from(i128::from(bounds.lower) + up).unwrap_or(i64::MAX);
        }
        if bounds.upper != i64::MAX {
            let down = (i128::from(bounds.upper) - i128::from(r)).rem_euclid(i128::from(m));
            bounds.upper = i64::try_from(i128::from(bounds.upper) - down).unwrap_or(i64::MIN);
        }
        let (changed, empty) = (*bounds != before, bounds.is_empty());
        if empty {
            self.set_known_empty();
        }
        changed
    }
}

enum Remainder {
    /// The modulus and residue of the conjunction.
    Merged(i64, i64),
    Contradiction,
    TooLarge,
}

fn chinese_remainder((m, r): (i64, i64), (n, s): (i64, i64)) -> Remainder {
    let (m, r, n, s) = (i128::from(m), i128::from(r), i128::from(n), i128::from(s));
    let (mut a, mut b, mut x, mut y) = (m, n, 1i128, 0i128);
    while b != 0 {
        let q = a / b;
        (a, b) = (b, a - q * b);
        (x, y) = (y, x - q * y);
    }
    // a = gcd = m * x (mod n)
    if (s - r) % a != 0 {
        return Remainder::Contradiction;
    }
    let lcm = m / a * n;
    let step = ((s - r) / a % (n / a) * (x % (n / a))).rem_euclid(n / a);
    match (i64::try_from(lcm), i64::try_from((r + m * step).rem_euclid(lcm))) {
        (Ok(lcm), Ok(r)) => Remainder::Merged(lcm, r),
        _ => Remainder::TooLarge,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_congruences_become_the_one_of_both() {
        for (m, n) in (1..=12).flat_map(|m| (1..=12).map(move |n| (m, n))) {
            for (r, s) in (0..m).flat_map(|r| (0..n).map(move |s| (r, s))) {
                let mut both = (0..m * n).filter(|x| x % m == r && x % n == s);
                match chinese_remainder((m, r), (n, s)) {
                    Remainder::Merged(lcm, rest) => {
                        assert_eq!((lcm as u64, Some(rest)), (m as u64 * n as u64 / gcd(m, n), both.next()));
                    }
                    Remainder::Contradiction => assert_eq!(both.next(), None),
                    Remainder::TooLarge => panic!("{m} and {n} are small"),
                }
            }
        }
        let large = i64::MAX - 24;
        assert!(matches!(chinese_remainder((large, 1), (large - 1, 1)), Remainder::TooLarge));
    }

    #[test]
    fn the_dividend_of_a_quotient_has_exact_bounds() {
        for d in [-5, -2, -1, 1, 3, 4] {
            for (lower, upper) in (-6..=6).flat_map(|l| (l..=6).map(move |u| (l, u))) {
                let Interval { lower: first, upper: last } =
                    undivide(Interval::new(lower, upper), d).expect("the numbers are small");
                for x in -50..=50 {
                    let quotient = floor_div(x, d).expect("the divisor is not 0");
                    assert_eq!((first..=last).contains(&x), (lower..=upper).contains(&quotient), "{x} / {d}");
                }
            }
        }
        let from = Interval::new(2, i64::MAX);
        assert_eq!(undivide(from, 3), Some(Interval::new(6, i64::MAX)));
        assert_eq!(undivide(from, -3), Some(Interval::new(i64::MIN, -6)));
        let to = Interval::new(i64::MIN, 2);
        assert_eq!(undivide(to, 3), Some(Interval::new(i64::MIN, 8)));
        assert_eq!(undivide(to, -3), Some(Interval::new(-8, i64::MAX)));
    }
}
