//! `mod`, `floordiv` and `ceildiv` of simple operands.

use smallvec::SmallVec;

use crate::expr::{BinaryOp, Expr};
use crate::interval::{Interval, floor_div, gcd};
use crate::simplify::Simplifier;
use crate::simplify::sum::{Sum, Term};

/// A sum as `g * multiple + rest`, where the range of the rest lies in one block `[q * g, q * g + g - 1]`.
struct Split {
    g: i64,
    /// The terms of `multiple`, still scaled by `g`.
    multiple: SmallVec<[Term; 6]>,
    rest: SmallVec<[Term; 6]>,
    /// The block of the rest (with the sum's constant).
    block: i64,
}

/// From here on, multiplying a dividend needs a look at its range: a rewrite must not make a kernel overflow.
const LARGE_DIVISOR: i64 = 1 << 31;

impl Simplifier<'_> {
    /// Finds a divisor `g > 1` of `d` such that the terms that are not multiples of `g` stay, with the constant, within
    /// one block of `g`. The larger terms are tried first, so that as much as possible is left out.
    fn split(&self, sum: &Sum, d: i64) -> Option<Split> {
        let mut order: SmallVec<[&Term; 6]> = sum.terms.iter().collect();
        order.sort_by_key(|t| std::cmp::Reverse(t.coefficient.unsigned_abs()));
        let mut g = d;
        let mut last = 0;
        for t in &order {
            g = i64::try_from(gcd(g, t.coefficient)).ok()?;
            if g <= 1 {
                return None;
            }
            if g == last {
                continue;
            }
            last = g;
            let rest: SmallVec<[Term; 6]> =
                sum.terms.iter().filter(|t| t.coefficient % g != 0).cloned().collect();
            let range = self.range_of(&rest, sum.constant);
            if range.lower == i64::MIN || range.upper == i64::MAX {
                continue;
            }
            let block = floor_div(range.lower, g)?;
            if floor_div(range.upper, g)? == block {
                let multiple = sum.terms.iter().filter(|t| t.coefficient % g == 0).cloned().collect();
                return Some(Split { g, multiple, rest, block });
            }
        }
        None
    }

    /// `x mod m`. XLA: `CanonicalizeMod` and `SymbolicExprSimplifier::RewriteMod`.
    pub(super) fn modulo(&mut self, x: Expr, m: Expr) -> Expr {
        if x.is_too_large() || m.is_too_large() {
            return Expr::TOO_LARGE;
        }
        let Some(m) = self.point_value(&m).and_then(i64::checked_abs).filter(|&m| m > 0) else {
            return Expr::binary(BinaryOp::Mod, x, m);
        };
        if m == 1 {
            return Expr::ZERO;
        }
        if let Some((y, a)) = x.as_op_const(BinaryOp::Mod)
            && a % m == 0
            && a != 0
        {
            return self.modulo(y.clone(), Expr::Const(m));
        }
        let plain = |x: Expr| Expr::binary(BinaryOp::Mod, x, Expr::Const(m));
        if !self.spend() {
            return plain(x);
        }
        let Some(mut sum) = Sum::of(&x) else { return plain(x) };
        // A range within one period: only an offset is taken away.
        let range = self.range_of(&sum.terms, sum.constant);
        if range.lower != i64::MIN
            && range.upper != i64::MAX
            && let (Some(lower), Some(upper)) = (floor_div(range.lower, m), floor_div(range.upper, m))
            && lower == upper
            && let Some(constant) = lower.checked_mul(m).and_then(|offset| sum.constant.checked_sub(offset))
        {
            sum.constant = constant;
            return sum.to_expr();
        }
        if sum.drop_multiples(m) {
            let x = sum.to_expr();
            return self.modulo(x, Expr::Const(m));
        }
        if let Some(split) = self.split(&sum, m) {
            // (g * a + r) mod (g * n) = g * ((a + q) mod n) + (r - g * q) for r in block q
            let g = split.g;
            let offset = split.block.checked_mul(g).and_then(|o| sum.constant.checked_sub(o));
            if let Some(constant) = offset
                && (split.block == 0 || sum.terms.len() == split.multiple.len())
            {
                let multiple = Sum::divided(&split.multiple, g, split.block).to_expr();
                let high = self.modulo(multiple, Expr::Const(m / g));
                let mut whole = Sum { terms: split.rest, constant };
                let product = whole.terms.is_empty() && sum.constant == 0;
                if whole.add(&high, g).is_some() {
                    let split = self.finish_sum(whole);
                    // XLA splits products always, and sums only where that takes no further operator.
                    if product || split.node_count() <= x.node_count() + 1 {
                        return split;
                    }
                }
            }
        }
        plain(x)
    }

    /// `x floordiv d`. XLA: `CanonicalizeFloorDiv` and `SymbolicExprSimplifier::RewriteFloorDiv`, `RewriteSumDiv`.
    pub(super) fn floor_div(&mut self, x: Expr, d: Expr) -> Expr {
        if x.is_too_large() || d.is_too_large() {
            return Expr::TOO_LARGE;
        }
        let Some(d) = self.point_value(&d).filter(|&d| d != 0) else {
            return Expr::binary(BinaryOp::FloorDiv, x, d);
        };
        if let Some(point) = self.point(self.range(&x).floor_div(d)) {
            return point;
        }
        let plain = |x: Expr| Expr::binary(BinaryOp::FloorDiv, x, Expr::Const(d));
        if d == 1 {
            return x;
        }
        if !self.spend() {
            return plain(x);
        }
        if d == -1 {
            return self.negate(&x).unwrap_or_else(|| plain(x));
        }
        if d < 0 {
            return self.negative_divisor(x, d);
        }
        if let Some((y, m)) = x.as_op_const(BinaryOp::Mod)
            && m > 0
            && m % d == 0
        {
            // (y mod (b * d)) / d = (y / d) mod b
            let quotient = self.floor_div(y.clone(), Expr::Const(d));
            return self.modulo(quotient, Expr::Const(m / d));
        }
        if let Some((y, b)) = x.as_op_const(BinaryOp::FloorDiv)
            && let Some(product) = b.checked_mul(d).filter(|_| b > 0)
        {
            return self.floor_div(y.clone(), Expr::Const(product));
        }
        let Some(sum) = Sum::of(&x) else { return plain(x) };
        let (mut whole, mut rest) = (Sum::default(), Sum::default());
        for t in sum.terms {
            if t.coefficient % d == 0 {
                whole.terms.push(Term { base: t.base, coefficient: t.coefficient / d });
            } else {
                rest.terms.push(t);
            }
        }
        whole.constant = sum.constant.div_euclid(d);
        rest.constant = sum.constant.rem_euclid(d);
        if !whole.terms.is_empty() || whole.constant != 0 {
            let rest = rest.to_expr();
            let quotient = self.floor_div(rest, Expr::Const(d));
            return match whole.add(&quotient, 1) {
                Some(()) => self.finish_sum(whole),
                None => plain(x),
            };
        }
        if let Some(Split { g, multiple, block, .. }) = self.split(&rest, d) {
            // (g * a + r) / (g * n) = (a + q) / n for r in block q
            let dividend = Sum::divided(&multiple, g, block).to_expr();
            return self.floor_div(dividend, Expr::Const(d / g));
        }
        if let Some((joined, d)) = join_inner_division(&rest, d)
            && (d < LARGE_DIVISOR || self.fits_64_bits(&joined))
        {
            let joined = joined.to_expr();
            return self.floor_div(joined, Expr::Const(d));
        }
        plain(x)
    }

    /// `x ceildiv d`, written with a floor division where `d` has one value.
    pub(super) fn ceil_div(&mut self, x: Expr, d: Expr) -> Expr {
        if x.is_too_large() || d.is_too_large() {
            return Expr::TOO_LARGE;
        }
        let plain = |x: Expr, d: Expr| Expr::binary(BinaryOp::CeilDiv, x, d);
        let Some(k) = self.point_value(&d).filter(|&k| k != 0 && k != i64::MIN) else { return plain(x, d) };
        if k > 0 {
            let Some(mut sum) = Sum::of(&x) else { return plain(x, d) };
            let Some(constant) = sum.constant.checked_add(k - 1) else { return plain(x, d) };
            sum.constant = constant;
            return self.floor_div(sum.to_expr(), Expr::Const(k));
        }
        let quotient = self.floor_div(x.clone(), Expr::Const(-k));
        self.negate(&quotient).unwrap_or_else(|| plain(x, d))
    }

    /// True when no term and no partial sum can leave 64 bits; false where a variable has no bounds.
    fn fits_64_bits(&self, sum: &Sum) -> bool {
        let mut total = Interval::point(sum.constant);
        sum.terms.iter().all(|t| {
            total = total + self.range(&t.base) * t.coefficient;
            total.lower > i64::MIN + 1 && total.upper < i64::MAX - 1
        })
    }

    fn negative_divisor(&mut self, x: Expr, d: i64) -> Expr {
        let plain = Expr::binary(BinaryOp::FloorDiv, x.clone(), Expr::Const(d));
        let Some(sum) = Sum::of(&x) else { return plain };
        let g = sum.terms.iter().fold(gcd(sum.constant, d), |g, t| gcd(g as i64, t.coefficient));
        match i64::try_from(g) {
            Ok(g) if g > 1 => {
                let x = Sum::divided(&sum.terms, g, sum.constant / g).to_expr();
                self.floor_div(x, Expr::Const(d / g))
            }
            _ => plain,
        }
    }

    fn negate(&mut self, x: &Expr) -> Option<Expr> {
        let mut sum = Sum::default();
        sum.add(x, -1)?;
        Some(self.finish_sum(sum))
    }
}

/// `(y / c + z) / d` is `(y + z * c) / (c * d)`; done when exactly one summand is a division without a multiplier.
fn join_inner_division(sum: &Sum, d: i64) -> Option<(Sum, i64)> {
    let mut divisions =
        sum.terms.iter().enumerate().filter(|(_, t)| t.coefficient == 1).filter_map(|(i, t)| {
            let (y, c) = t.base.as_op_const(BinaryOp::FloorDiv)?;
            Some((i, y, c))
        });
    let (at, y, c) = divisions.next()?;
    if divisions.next().is_some() || c <= 0 {
        return None;
    }
    let mut joined = Sum { constant: sum.constant.checked_mul(c)?, ..Sum::default() };
    for (_, t) in sum.terms.iter().enumerate().filter(|(i, _)| *i != at) {
        joined.add(&t.base, t.coefficient.checked_mul(c)?)?;
    }
    joined.add(y, 1)?;
    joined.merge();
    Some((joined, c.checked_mul(d)?))
}

/// The interval of `a` for `a * k in interval`, `k != 0`; `None` on overflow.
pub(super) fn divide_bounds(interval: Interval, k: i64) -> Option<Interval> {
    use crate::interval::ceil_div;
    let (lower, upper) =
        if k > 0 { (interval.lower, interval.upper) } else { (interval.upper, interval.lower) };
    let bound = |b: i64, exact: Option<i64>| match b {
        i64::MIN | i64::MAX => Some(if (b < 0) == (k < 0) { i64::MAX } else { i64::MIN }),
        _ => exact,
    };
    Some(Interval::new(bound(lower, ceil_div(lower, k))?, bound(upper, floor_div(upper, k))?))
}
