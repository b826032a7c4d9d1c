//! `mod`, `floordiv` and `ceildiv` of simple operands.

use smallvec::SmallVec;

use crate::expr::{BinaryOp, Expr};
use crate::interval::{Interval, floor_div, gcd, is_multiple};
use crate::simplify::sum::{Sum, Term, TermRanges};
use crate::simplify::{Simplifier, SimplifyMode};

/// A decomposition of a sum into `g * multiple + rest`. The rest consists of the terms that are not multiples
/// of `g`, and the constant. Its range lies in one block `[block * g, block * g + g - 1]`.
struct Split {
    g: i64,
    block: i64,
}

/// From this divisor on, a rewrite that multiplies a dividend first checks its range: it must not make a
/// kernel overflow.
const LARGE_DIVISOR: i64 = 1 << 31;

impl Simplifier<'_> {
    /// Finds a divisor `g > 1` of `d` such that the terms that are not multiples of `g`, together with the
    /// constant, stay within one block of `g`. Terms with larger coefficients are tried first, so that the
    /// rest is as large as possible.
    fn split(&self, sum: &Sum, ranges: &TermRanges, d: i64) -> Option<Split> {
        let mut order: SmallVec<[i64; 8]> = sum.terms.iter().map(|t| t.coefficient).collect();
        // Terms of equal magnitude have the same divisors, so their order does not matter.
        order.sort_unstable_by_key(|c| std::cmp::Reverse(c.unsigned_abs()));
        let mut g = d;
        let mut last = 0;
        for coefficient in order {
            if !is_multiple(coefficient, g) {
                g = i64::try_from(gcd(g, coefficient)).ok()?;
            }
            if g <= 1 {
                return None;
            }
            if g == last {
                continue;
            }
            last = g;
            let range =
                self.range_of_part(&sum.terms, ranges, sum.constant, |t| !is_multiple(t.coefficient, g));
            if range.lower == i64::MIN || range.upper == i64::MAX {
                continue;
            }
            let block = floor_div(range.lower, g)?;
            if floor_div(range.upper, g)? == block {
                return Some(Split { g, block });
            }
        }
        None
    }

    /// Restricts a split of a dividend to those that XLA makes: the rest is below the divisor, or the
    /// constant is a multiple of it. XLA: `SimplifySumDiv`.
    fn as_xla(&self, sum: &Sum, split: Split) -> Option<Split> {
        let Split { g, block } = split;
        if self.mode != SimplifyMode::Verbatim || block == 0 {
            return Some(split);
        }
        let g = i64::try_from(gcd(g, sum.constant)).ok()?;
        let is_constant_alone = sum.terms.iter().all(|t| is_multiple(t.coefficient, g));
        (g > 1 && is_constant_alone).then(|| Split { g, block: sum.constant / g })
    }

    /// `x mod m`. XLA: `CanonicalizeMod` and `SymbolicExprSimplifier::RewriteMod`.
    pub(super) fn modulo(&mut self, x: Expr, m: Expr) -> Expr {
        if x.is_too_large() || m.is_too_large() {
            return Expr::TOO_LARGE;
        }
        let Some(m) = self.point_value(&m).and_then(i64::checked_abs).filter(|&m| m > 0) else {
            return Expr::binary(BinaryOp::Mod, x, m);
        };
        match Sum::of(&x) {
            Some(sum) => self.remainder(sum, m, Some(x)),
            None if m == 1 => Expr::ZERO,
            None => Expr::binary(BinaryOp::Mod, x, Expr::Const(m)),
        }
    }

    /// Builds `sum mod m` for a positive `m`; `x` is the expression of the sum if it is known.
    pub(super) fn remainder(&mut self, mut sum: Sum, m: i64, mut x: Option<Expr>) -> Expr {
        if m == 1 {
            return Expr::ZERO;
        }
        while let Some((y, a)) = sum.as_base().and_then(|base| base.as_op_const(BinaryOp::Mod))
            && a != 0
            && a % m == 0
            && let Some(inner) = Sum::of(y)
        {
            (x, sum) = (Some(y.clone()), inner);
        }
        let plain = |this: &mut Self, sum: &Sum, x: Option<Expr>| {
            let x = x.unwrap_or_else(|| this.unjoined(sum));
            Expr::binary(BinaryOp::Mod, x, Expr::Const(m))
        };
        if !self.spend() {
            return plain(self, &sum, x);
        }
        // The range lies within one period: only subtract an offset.
        let ranges = self.term_ranges(&sum.terms);
        let range = self.range_of_part(&sum.terms, &ranges, sum.constant, |_| true);
        if range.lower != i64::MIN
            && range.upper != i64::MAX
            && let (Some(lower), Some(upper)) = (floor_div(range.lower, m), floor_div(range.upper, m))
            && lower == upper
            && let Some(constant) = lower.checked_mul(m).and_then(|offset| sum.constant.checked_sub(offset))
        {
            return match x {
                Some(x) if constant == sum.constant => x,
                _ => {
                    sum.constant = constant;
                    self.unjoined(&sum)
                }
            };
        }
        if sum.drop_multiples(m) {
            return self.remainder(sum, m, None);
        }
        let is_verbatim = self.mode == SimplifyMode::Verbatim;
        let split = self.split(&sum, &ranges, m).filter(|split| split.block == 0 || !is_verbatim);
        if let Some(Split { g, block }) = split {
            // (g * a + r) mod (g * n) = g * ((a + q) mod n) + (r - g * q) for r in block q
            let offset = block.checked_mul(g).and_then(|o| sum.constant.checked_sub(o));
            let is_always = self.mode == SimplifyMode::Split;
            if let Some(constant) = offset
                && (is_always || block == 0 || sum.terms.iter().all(|t| is_multiple(t.coefficient, g)))
            {
                let mut multiple = sum.clone();
                multiple.keep_multiples(g, block);
                let high = self.remainder(multiple, m / g, None);
                let rest = sum.terms.iter().filter(|t| !is_multiple(t.coefficient, g)).cloned().collect();
                let mut whole = Sum { terms: rest, constant };
                let product = whole.terms.is_empty() && sum.constant == 0;
                if whole.add(&high, g).is_some() {
                    let split = self.finish_sum(whole);
                    // XLA always splits products, but sums only if that takes no further operator.
                    if is_always || product || split.node_count() <= sum.node_count() + 1 {
                        return split;
                    }
                }
            }
        }
        plain(self, &sum, x)
    }

    /// Builds `x floordiv d`. XLA: `CanonicalizeFloorDiv` and `SymbolicExprSimplifier::RewriteFloorDiv`,
    /// `RewriteSumDiv`.
    pub(super) fn floor_div(&mut self, x: Expr, d: Expr) -> Expr {
        if x.is_too_large() || d.is_too_large() {
            return Expr::TOO_LARGE;
        }
        let Some(d) = self.point_value(&d).filter(|&d| d != 0) else {
            return Expr::binary(BinaryOp::FloorDiv, x, d);
        };
        let plain = |x: Expr| Expr::binary(BinaryOp::FloorDiv, x, Expr::Const(d));
        if d < 0 {
            if let Some(point) = self.point(self.range(&x).floor_div(d)) {
                return point;
            }
            if !self.spend() {
                return plain(x);
            }
            self.unsettled = true;
            return match d {
                -1 => self.negate(&x).unwrap_or_else(|| plain(x)),
                d => self.negative_divisor(x, d),
            };
        }
        match Sum::of(&x) {
            Some(sum) => self.quotient(sum, d, Some(x)),
            None => plain(x),
        }
    }

    /// Builds `sum floordiv d` for a positive `d`; `x` is the expression of the sum if it is known.
    pub(super) fn quotient(&mut self, mut sum: Sum, d: i64, x: Option<Expr>) -> Expr {
        let plain = |this: &mut Self, sum: &Sum, x: Option<Expr>| {
            let x = x.unwrap_or_else(|| this.unjoined(sum));
            Expr::binary(BinaryOp::FloorDiv, x, Expr::Const(d))
        };
        let ranges = self.term_ranges(&sum.terms);
        let mut range = self.range_of_part(&sum.terms, &ranges, sum.constant, |_| true);
        if let Some(x) = &x {
            range = self.ranges.constrained(x, range);
        }
        if let Some(point) = self.point(range.floor_div(d)) {
            return point;
        }
        if d == 1 {
            return x.unwrap_or_else(|| self.unjoined(&sum));
        }
        if !self.spend() {
            return plain(self, &sum, x);
        }
        if let Some((op, y, Expr::Const(c @ 1..))) = sum.as_base().and_then(Expr::as_binary)
            && let Some(inner) = Sum::of(y)
        {
            match op {
                // (y mod (b * d)) / d = (y / d) mod b
                BinaryOp::Mod if c % d == 0 => {
                    let quotient = self.quotient(inner, d, Some(y.clone()));
                    return self.modulo(quotient, Expr::Const(c / d));
                }
                BinaryOp::FloorDiv if let Some(product) = c.checked_mul(d) => {
                    return self.quotient(inner, product, Some(y.clone()));
                }
                _ => {}
            }
        }
        let is_whole = |t: &Term| is_multiple(t.coefficient, d);
        if !(0..d).contains(&sum.constant) || sum.terms.iter().any(is_whole) {
            let mut whole = Sum { terms: SmallVec::new(), constant: sum.constant.div_euclid(d) };
            let mut rest = Sum { terms: SmallVec::new(), constant: sum.constant.rem_euclid(d) };
            for t in &sum.terms {
                if is_whole(t) {
                    whole.terms.push(Term { base: t.base.clone(), coefficient: t.coefficient / d });
                } else {
                    rest.terms.push(t.clone());
                }
            }
            let quotient = self.quotient(rest, d, None);
            return match whole.add(&quotient, 1) {
                Some(()) => self.finish_sum(whole),
                None => plain(self, &sum, x),
            };
        }
        if let Some(split) = self.split(&sum, &ranges, d)
            && let Some(Split { g, block }) = self.as_xla(&sum, split)
        {
            // (g * a + r) / (g * n) = (a + q) / n for r in block q
            sum.keep_multiples(g, block);
            return self.quotient(sum, d / g, None);
        }
        if let Some((joined, d)) = join_inner_division(&sum, d)
            && (d < LARGE_DIVISOR || self.fits_64_bits(&joined))
        {
            return self.quotient(joined, d, None);
        }
        plain(self, &sum, x)
    }

    /// Builds `x ceildiv d`, as a floor division if `d` has a single value.
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
            return self.quotient(sum, k, None);
        }
        let quotient = self.floor_div(x.clone(), Expr::Const(-k));
        self.negate(&quotient).unwrap_or_else(|| plain(x, d))
    }

    /// Whether every term and partial sum fits in 64 bits; false if a variable has no bounds.
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

/// Rewrites `(y / c + z) / d` as `(y + z * c) / (c * d)` if exactly one summand is a division without a
/// multiplier.
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

/// The interval of `a` in `a * k in interval`, `k != 0`; `None` on overflow.
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
