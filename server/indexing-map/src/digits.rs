//! Variables in mixed radix: `v = Σ digit * stride`, with the strides that occur in divisions and remainders.
//!
//! Over digits, most quotients and remainders of reshapes are sums, so that two ways to write one function
//! become equal.

use smallvec::SmallVec;

use crate::expr::{BinaryOp, Expr};
use crate::interval::{Interval, gcd};
use crate::map::{Constraint, Variable};
use crate::simplify::Sum;

/// The largest number of digits of one variable, and of variables after the split: beyond, the longer
/// expressions do not pay off.
const MAX_DIGITS: usize = 10;
const MAX_VARIABLES: usize = 60;
/// The largest number of sums that are searched for divisors.
const MAX_VISITS: u32 = 10_000;

pub(crate) struct Digits {
    /// The digits as variables.
    pub variables: Vec<Variable>,
    /// The constraints on the digits that follow from the bounds of the original variables.
    pub constraints: Vec<Constraint>,
    /// Each original variable as a sum of digits.
    sums: Vec<Expr>,
}

impl Digits {
    /// Returns `None` if no division or remainder applies to a variable.
    pub(crate) fn new<'a>(variables: &[Variable], exprs: impl Iterator<Item = &'a Expr>) -> Option<Digits> {
        let mut strides: Vec<SmallVec<[i64; 4]>> = vec![SmallVec::new(); variables.len()];
        let mut visits = MAX_VISITS;
        for e in exprs {
            collect(e, None, &mut strides, &mut visits);
        }
        let mut digits = Digits { variables: Vec::new(), constraints: Vec::new(), sums: Vec::new() };
        for (v, strides) in variables.iter().zip(&mut strides) {
            digits.push(v.bounds, chain(strides, v.bounds));
        }
        let split = digits.variables.len() > variables.len() && digits.variables.len() <= MAX_VARIABLES;
        split.then_some(digits)
    }

    fn push(&mut self, bounds: Interval, chain: SmallVec<[i64; 4]>) {
        let Some(&last) = chain.last() else {
            self.sums.push(Expr::var(self.variables.len()));
            self.variables.push(Variable::from(bounds));
            return;
        };
        let mut sum = Expr::ZERO;
        let mut stride = 1;
        for next in chain {
            sum = sum + Expr::var(self.variables.len()) * stride;
            self.variables.push(Variable::from_size(next / stride));
            stride = next;
        }
        sum = sum + Expr::var(self.variables.len()) * last;
        self.variables.push(Variable::from(bounds.floor_div(last)));
        if bounds.lower.rem_euclid(last) != 0 || bounds.upper.rem_euclid(last) != last - 1 {
            self.constraints.push(Constraint { expr: sum.clone(), interval: bounds });
        }
        self.sums.push(sum);
    }

    /// Rewrites an expression over the original variables into one over digits.
    pub(crate) fn rewrite(&self, e: &Expr) -> Expr {
        e.substitute(&mut |v| self.sums.get(v as usize).cloned())
    }

    /// Converts a point over digits into a point over the original variables.
    pub(crate) fn point(&self, digits: &[i64]) -> Option<Vec<i64>> {
        self.sums.iter().map(|s| s.evaluate(digits)).collect()
    }
}

/// Returns the divisibility chain `1 < s1 | s2 | …` of strides, smallest first, all below the size of the
/// variable.
fn chain(strides: &mut SmallVec<[i64; 4]>, bounds: Interval) -> SmallVec<[i64; 4]> {
    let mut chain = SmallVec::new();
    if bounds.lower == i64::MIN || bounds.upper == i64::MAX {
        return chain;
    }
    strides.sort_unstable();
    let mut last = 1;
    for &s in strides.iter() {
        let useful = s > last && s % last == 0 && bounds.floor_div(s).size() > 1;
        if useful && chain.len() + 1 < MAX_DIGITS {
            chain.push(s);
            last = s;
        }
    }
    chain
}

/// Collects for each variable the strides at which it is divided. `at`: the modulus or divisor that is
/// applied to `e`.
fn collect(e: &Expr, at: Option<i64>, strides: &mut [SmallVec<[i64; 4]>], visits: &mut u32) {
    if *visits == 0 {
        return;
    }
    *visits -= 1;
    let Some(sum) = Sum::of(e) else { return };
    for t in &sum.terms {
        let at =
            at.and_then(|m| i64::try_from(m.unsigned_abs() / gcd(m, t.coefficient)).ok()).filter(|&m| m > 1);
        match &t.base {
            Expr::Const(_) => {}
            Expr::Var(v) => {
                if let (Some(m), Some(s)) = (at, strides.get_mut(*v as usize))
                    && !s.contains(&m)
                {
                    s.push(m);
                }
            }
            Expr::Binary(b) => match (b.op(), b.rhs()) {
                (BinaryOp::FloorDiv, Expr::Const(c @ 2..)) => {
                    collect(b.lhs(), Some(*c), strides, visits);
                    if let Some(m) = at.and_then(|m| m.checked_mul(*c)) {
                        collect(b.lhs(), Some(m), strides, visits);
                    }
                }
                (BinaryOp::Mod, Expr::Const(c @ 2..)) => {
                    collect(b.lhs(), Some(*c), strides, visits);
                    if let Some(m) = at.filter(|&m| m < *c) {
                        collect(b.lhs(), Some(m), strides, visits);
                    }
                }
                _ => {
                    collect(b.lhs(), None, strides, visits);
                    collect(b.rhs(), None, strides, visits);
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each value of the variable has one point of digits, and the other points break a constraint.
    #[test]
    fn digits_are_another_way_to_count() {
        let mut random = random::Rng::new(3);
        for _ in 0..400 {
            let lower = random.range(-40, 40);
            let bounds = Interval::new(lower, lower + random.range(0, 90));
            let mut scaled = || Expr::var(0) * random.range(1, 3);
            let (a, b) = (scaled(), scaled());
            let exprs = [
                a.floor_div(random.range(2, 9)),
                b.floor_div(random.range(2, 40)),
                Expr::var(0).modulo(random.range(2, 30)),
            ];
            let Some(digits) = Digits::new(&[Variable::from(bounds)], exprs.iter()) else { continue };
            assert_eq!(digits.rewrite(&Expr::var(0)), digits.sums[0]);
            let map = crate::IndexingMap::new(digits.variables.clone(), vec![], vec![], vec![]);
            let holds = |point: &[i64]| {
                let value = |c: &Constraint| c.expr.evaluate(point).expect("it is a sum");
                digits.constraints.iter().all(|c| c.interval.contains(value(c)))
            };
            let points = map.points(100_000).expect("there are few").map(|(point, _)| point);
            let mut values: Vec<i64> = points
                .filter(|point| holds(point))
                .map(|point| digits.point(&point).expect("it has")[0])
                .collect();
            values.sort_unstable();
            assert_eq!(values, (bounds.lower..=bounds.upper).collect::<Vec<_>>(), "{exprs:?}");
        }
    }

    /// The strides at which a variable of an expression is cut, in `[0, 99]`.
    #[track_caller]
    fn check(expr: &str, sizes: Option<&[u64]>) {
        let expr = crate::text::parse_expr(expr).expect("it is an expression");
        let digits = Digits::new(&[Variable::new(0, 99)], [expr].iter());
        let found = digits.map(|digits| digits.variables.iter().map(|v| v.bounds.size()).collect::<Vec<_>>());
        assert_eq!(found.as_deref(), sizes);
    }

    #[test]
    fn variables_are_cut_where_they_are_divided() {
        check("v0 + 3", None);
        check("v0 floordiv 10", Some(&[10, 10]));
        check("v0 mod 10", Some(&[10, 10]));
        check("(v0 floordiv 5) mod 4", Some(&[5, 4, 5]));
        check("(v0 floordiv 5) floordiv 4", Some(&[5, 4, 5]));
        check("(v0 mod 20) floordiv 5", Some(&[5, 4, 5]));
        check("(v0 mod 20) mod 5", Some(&[5, 4, 5]));
        check("v0 * 5 floordiv 20", Some(&[4, 25]));
        check("max(v0 floordiv 10, v0 mod 2)", Some(&[2, 5, 10]));
        // Neither divides the other: the smaller one is taken. No cut is beyond the variable.
        check("v0 floordiv 6 + v0 floordiv 10", Some(&[6, 17]));
        check("v0 floordiv 50", Some(&[50, 2]));
        let cuts = (1..=12).fold(Expr::ZERO, |sum, n| sum + Expr::var(0).floor_div(1 << n));
        let most = Digits::new(&[Variable::new(0, 1 << 20)], [cuts].iter()).expect("it is cut");
        assert_eq!(most.variables.len(), MAX_DIGITS);
        check("v0 floordiv 100", None);
        check("v0 floordiv 1 + v0 * 3 mod 3", None);
    }
}
