//! The interval of values that an expression can take.

use crate::expr::{BinaryOp, Expr};
use crate::interval::Interval;
use crate::map::{Constraint, IndexingMap, Variable};
use crate::simplify::SimplifyMode;

/// The facts from which ranges of expressions are computed: the bounds of variables and, if given,
/// constraints.
///
/// A constraint helps only where its expression occurs literally as a node; correlations are not tracked (XLA
/// `RangeEvaluator`, `indexing_map.cc`).
#[derive(Clone, Copy)]
pub struct RangeContext<'a> {
    variables: &'a [Variable],
    constraints: &'a [Constraint],
}

impl<'a> RangeContext<'a> {
    pub fn new(variables: &'a [Variable], constraints: &'a [Constraint]) -> Self {
        RangeContext { variables, constraints }
    }

    /// A context without any knowledge of variables.
    pub const UNKNOWN: RangeContext<'static> = RangeContext { variables: &[], constraints: &[] };

    pub fn variables(&self) -> &'a [Variable] {
        self.variables
    }

    pub fn constraints(&self) -> &'a [Constraint] {
        self.constraints
    }

    pub fn variable(&self, id: u32) -> Interval {
        self.variables.get(id as usize).map_or(Interval::ALL, |v| v.bounds)
    }

    /// Returns an interval that contains every value of `e` over the domain, at the points where `e` has one.
    pub fn range(&self, e: &Expr) -> Interval {
        let (op, lhs, rhs) = match e {
            Expr::Const(c) => return Interval::point(*c),
            Expr::Var(v) => return self.variable(*v),
            Expr::Binary(b) => (b.op(), b.lhs(), b.rhs()),
        };
        let l = self.range(lhs);
        let r = match rhs {
            // By far the most frequent case; the range of the right side is not needed.
            Expr::Const(c) if *c != i64::MIN && *c != i64::MAX => range_of_op_const(op, l, *c),
            _ => range_of_op(op, l, self.range(rhs)),
        };
        if self.constraints.is_empty() { r } else { self.constrained(e, r) }
    }

    /// Whether a constraint is about `e` itself, or about a remainder of which `e` is a digit.
    pub(crate) fn is_constrained(&self, e: &Expr) -> bool {
        self.constraints.iter().any(|c| c.expr == *e || digit_of(e, c).is_some())
    }

    /// Intersects `range` with the constraints whose expression is `e`, or a remainder of which `e` is a
    /// digit.
    pub(crate) fn constrained(&self, e: &Expr, range: Interval) -> Interval {
        let cut = |r: Interval, c: &Constraint| {
            let known = if c.expr == *e { Some(c.interval) } else { digit_of(e, c) };
            known.map_or(r, |known| r.intersect(known))
        };
        self.constraints.iter().fold(range, cut)
    }
}

/// The interval of `e`, which is `x mod b` or `(x floordiv a) mod b`, given `x mod m in interval` with
/// `a * b` dividing `m`: the remainder is divided by `a` and reduced modulo `b`. `None` if that does not give
/// an interval.
fn digit_of(e: &Expr, constraint: &Constraint) -> Option<Interval> {
    let (x, b) = e.as_op_const(BinaryOp::Mod)?;
    let (y, m) = constraint.expr.as_op_const(BinaryOp::Mod)?;
    let (x, a) = match x.as_op_const(BinaryOp::FloorDiv) {
        Some((x, a)) if x == y => (x, a),
        _ => (x, 1),
    };
    if x != y || a <= 0 || b <= 0 || m <= 0 || m % a.checked_mul(b)? != 0 {
        return None;
    }
    let quotient = constraint.interval.intersect(Interval::new(0, m - 1)).floor_div(a);
    (!quotient.is_empty() && quotient.lower.div_euclid(b) == quotient.upper.div_euclid(b))
        .then(|| Interval::new(quotient.lower.rem_euclid(b), quotient.upper.rem_euclid(b)))
}

/// The range of `a op c`, for a `c` that is not an infinite bound.
#[inline]
pub(crate) fn range_of_op_const(op: BinaryOp, a: Interval, c: i64) -> Interval {
    match op {
        BinaryOp::Add => a + Interval::point(c),
        BinaryOp::Mul => a * c,
        BinaryOp::Mod => a.modulo(c),
        BinaryOp::FloorDiv => a.floor_div(c),
        BinaryOp::CeilDiv => -(-a).floor_div(c),
        BinaryOp::Max => a.max(Interval::point(c)),
        BinaryOp::Min => a.min(Interval::point(c)),
    }
}

/// The range of `a op b` for operands in these ranges.
pub(crate) fn range_of_op(op: BinaryOp, a: Interval, b: Interval) -> Interval {
    match op {
        BinaryOp::Add => a + b,
        BinaryOp::Mul => a * b,
        BinaryOp::Mod => modulo(a, b),
        BinaryOp::FloorDiv => floor_div(a, b),
        BinaryOp::CeilDiv => -floor_div(-a, b),
        BinaryOp::Max => a.max(b),
        BinaryOp::Min => a.min(b),
    }
}

impl IndexingMap {
    /// Returns for each result an interval that contains its values over the domain: the intersection of the
    /// ranges of the result and of its simplified form. The intervals of a known empty map are empty; an
    /// undefined map has none.
    pub fn result_ranges(&self) -> Vec<Interval> {
        if !self.is_mapped() {
            return vec![Interval::EMPTY; self.results.len()];
        }
        let simple = self.clone().simplified(SimplifyMode::Replace);
        if !simple.is_mapped() {
            return vec![Interval::EMPTY; self.results.len()];
        }
        let ranges = |m: &IndexingMap| -> Vec<Interval> {
            let context = RangeContext::new(&m.variables, &m.constraints);
            m.results.iter().map(|r| context.range(r)).collect()
        };
        ranges(self).into_iter().zip(ranges(&simple)).map(|(a, b)| a.intersect(b)).collect()
    }
}

fn modulo(a: Interval, b: Interval) -> Interval {
    if let Some(m) = b.as_point() {
        return a.modulo(m);
    }
    let largest = b.lower.unsigned_abs().max(b.upper.unsigned_abs());
    Interval::new(0, i64::try_from(largest.saturating_sub(1)).unwrap_or(i64::MAX))
}

fn floor_div(a: Interval, b: Interval) -> Interval {
    if let Some(d) = b.as_point() {
        return a.floor_div(d);
    }
    if b.lower > 0 {
        return a.floor_div(b.lower).union(if b.upper == i64::MAX {
            // Any dividend over an ever larger divisor tends to 0 or -1.
            Interval::new(-1, 0)
        } else {
            a.floor_div(b.upper)
        });
    }
    Interval::ALL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: (i64, i64)) {
        let map = crate::text::parse_map(&format!(
            "(d0, d1, d2) -> ({text}), domain: d0 in [0, 9], d1 in [-10, -1], d2 in [2, 5], d0 + d2 in [3, 6]"
        ))
        .unwrap();
        let r = RangeContext::new(map.variables(), map.constraints()).range(&map.results()[0]);
        assert_eq!((r.lower, r.upper), expect);
    }

    #[test]
    fn follows_the_operators() {
        check("d0 * 2 + d1", (-10, 17));
        check("min(d0, d1)", (-10, -1));
        check("max(d0, d1)", (0, 9));
        check("d1 mod 4", (0, 3));
        check("d0 / 4", (0, 2));
        check("d1 ceildiv 3", (-3, 0));
        check("d0 / d2", (0, 4));
        check("d0 mod d2", (0, 4));
    }

    /// What `v0 mod m in [l, u]` says about digits of that remainder is exact where it is an interval.
    #[test]
    fn constraints_on_remainders_bound_their_digits() {
        let mut random = random::Rng::new(9);
        let mut bounded = 0;
        for _ in 0..5000 {
            let m = *random.pick(&[6, 8, 12, 24, 30]);
            let lower = random.range(-2, m - 1);
            let interval = Interval::new(lower, lower + random.range(0, m));
            let (a, b) = (random.range(1, 6), random.range(2, 12));
            let digit = Expr::var(0).floor_div(a).modulo(b);
            let variables = [Variable::new(0, 2 * m - 1)];
            let constraints = [Constraint { expr: Expr::var(0).modulo(m), interval }];
            let got = RangeContext::new(&variables, &constraints).range(&digit);
            let inside = (0..2 * m).filter(|x| interval.contains(x % m));
            let values: Vec<i64> = inside.filter_map(|x| digit.evaluate(&[x])).collect();
            let (Some(&least), Some(&most)) = (values.iter().min(), values.iter().max()) else { continue };
            assert!(got.contains(least) && got.contains(most), "{digit} {interval} {got}");
            // The quotients of one round of `b` are an interval of digits.
            let rest = interval.intersect(Interval::new(0, m - 1));
            if m % (a * b) == 0 && (rest.lower / a) / b == (rest.upper / a) / b {
                assert_eq!((got.lower, got.upper), (least, most), "{digit} for v0 mod {m} in {interval}");
                bounded += 1;
            }
        }
        assert!(bounded > 300, "{bounded}");
    }

    #[test]
    fn uses_constraints_on_whole_nodes() {
        check("d0 + d2", (3, 6));
        check("(d0 + d2) * 2", (6, 12));
    }
}
