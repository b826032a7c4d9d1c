//! Building sums and products: remainders and quotients of one dividend are joined, products are distributed.

use std::cmp::Ordering;

use smallvec::SmallVec;

use crate::expr::{BinaryOp, Expr};
use crate::simplify::Simplifier;
use crate::simplify::sum::{Sum, Term};

impl Simplifier<'_> {
    /// Builds the expression of a sum whose bases are simple: joins divisions and remainders of the same
    /// dividend and sorts the terms. XLA: `Canonicalize` of sums and `SymbolicExprSimplifier::RewriteSum`.
    pub(super) fn finish_sum(&mut self, sum: Sum) -> Expr {
        self.unsettled |= !self.ranges.constraints().is_empty();
        self.joined(sum).to_expr()
    }

    /// Like [`Simplifier::finish_sum`], for a sum that came from `e`; returns `e` if nothing changes.
    pub(super) fn finish_sum_of(&mut self, sum: Sum, e: &Expr) -> Expr {
        let sum = self.joined(sum);
        if !self.facts.is_empty()
            && let Some(point) = self.point(self.range_of(&sum.terms, sum.constant))
        {
            return point;
        }
        if sum.is_expr(e) { e.clone() } else { sum.to_expr() }
    }

    /// Builds the expression of a sum without joining its terms.
    pub(super) fn unjoined(&mut self, sum: &Sum) -> Expr {
        let sorted = || sum.terms.is_sorted_by(|a, b| a.cmp(b) != Ordering::Greater);
        // Joining is not tried here. It needs a remainder, or a quotient that is subtracted.
        let joins = |t: &Term| t.coefficient < 0 || t.base.as_op_const(BinaryOp::Mod).is_some();
        self.unsettled |= match &sum.terms[..] {
            // A constraint may be about this very sum.
            _ if !self.ranges.constraints().is_empty() => true,
            [] => false,
            [t] if t.coefficient > 0 => false,
            terms => terms.iter().any(joins) || !sorted(),
        };
        sum.to_expr()
    }

    fn joined(&mut self, mut sum: Sum) -> Sum {
        sum.merge();
        while sum.terms.len() > 1 || sum.terms.iter().any(|t| t.coefficient < 0) {
            if !self.spend() {
                break;
            }
            let better = self
                .join_remainder(&sum)
                .or_else(|| self.negative_division(&sum))
                .or_else(|| self.without_remainder(&sum));
            let Some(mut better) = better else { break };
            better.merge();
            sum = better;
        }
        sum
    }

    /// Rewrites `(x mod c) * k + (x floordiv c) * (c * k)` as `x * k`. The quotient is compared in its
    /// simplified form, which may be a sum: all its terms must be present with the right coefficients.
    fn join_remainder(&mut self, sum: &Sum) -> Option<Sum> {
        if sum.terms.len() < 2 {
            return None;
        }
        for (i, term) in sum.terms.iter().enumerate() {
            let Some((x, c)) = term.base.as_op_const(BinaryOp::Mod) else { continue };
            let Some(scale) = c.checked_mul(term.coefficient).filter(|_| c > 0) else { continue };
            let others = || sum.terms.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, t)| t);
            if others().any(|t| t.coefficient == scale && t.base.as_op_const(BinaryOp::FloorDiv).is_some())
                && let Some(joined) = join_congruent_division(sum, i, (x, c), scale)
            {
                return Some(joined);
            }
            // A term can be part of the quotient only if its variables are among those of `x`. If the
            // quotient is a plain digit, the term is a division of the same variable.
            let digit = match x.as_op_const(BinaryOp::FloorDiv) {
                Some((y, a)) if a > 0 => y.as_var().zip(a.checked_mul(c)),
                _ => x.as_var().map(|y| (y, c)),
            };
            let foreign = !x.variable_mask();
            let candidate = |t: &Term| {
                t.base.variable_mask() & foreign == 0
                    && match digit {
                        Some(digit) => t.coefficient == scale && is_quotient(&t.base, digit),
                        None => t.coefficient % scale == 0,
                    }
            };
            if !others().any(candidate) {
                continue;
            }
            let quotient = self.floor_div(x.clone(), Expr::Const(c));
            if let Some(joined) = self.join_two_remainders(sum, i, (x, c), &quotient) {
                return Some(joined);
            }
            let Some(quotient) = Sum::of(&quotient) else { continue };
            let present = |q: &Term| {
                q.coefficient
                    .checked_mul(scale)
                    .is_some_and(|k| sum.terms.iter().any(|t| t.coefficient == k && t.base == q.base))
            };
            if quotient.terms.is_empty() || !quotient.terms.iter().all(present) {
                continue;
            }
            let joined = (|| {
                let mut joined = sum.clone();
                joined.terms[i].coefficient = 0;
                for q in &quotient.terms {
                    joined.add_term(&q.base, q.coefficient.checked_mul(scale)?.checked_neg()?)?;
                }
                joined.constant = joined.constant.checked_sub(quotient.constant.checked_mul(scale)?)?;
                joined.add(x, term.coefficient)?;
                Some(joined)
            })();
            if joined.is_some() {
                return joined;
            }
        }
        None
    }

    /// Rewrites `(x mod c) * k + ((x floordiv c) mod b) * (c * k)` as `(x mod (c * b)) * k`; term `i` is the
    /// first.
    fn join_two_remainders(
        &mut self,
        sum: &Sum,
        i: usize,
        (x, c): (&Expr, i64),
        quotient: &Expr,
    ) -> Option<Sum> {
        let k = sum.terms[i].coefficient;
        let scale = c.checked_mul(k)?;
        let (j, b) = sum.terms.iter().enumerate().find_map(|(j, t)| {
            let (q, b) = t.base.as_op_const(BinaryOp::Mod)?;
            (j != i && t.coefficient == scale && b > 0 && q == quotient).then_some((j, b))
        })?;
        let modulus = c.checked_mul(b)?;
        let remainder = self.modulo(x.clone(), Expr::Const(modulus));
        let mut joined = sum.clone();
        joined.terms[i].coefficient = 0;
        joined.terms[j].coefficient = 0;
        joined.add(&remainder, k)?;
        Some(joined)
    }

    /// Rewrites `(x floordiv c) * (-c * b)` as `(x mod c) * b - x * b`, for a positive `b`.
    fn negative_division(&mut self, sum: &Sum) -> Option<Sum> {
        for (i, term) in sum.terms.iter().enumerate() {
            let Some((x, c)) = term.base.as_op_const(BinaryOp::FloorDiv) else { continue };
            if c <= 1 || term.coefficient >= 0 || term.coefficient % c != 0 {
                continue;
            }
            let b = term.coefficient / c;
            let remainder = self.modulo(x.clone(), Expr::Const(c));
            let rewritten = (|| {
                let mut rewritten = sum.clone();
                rewritten.terms[i].coefficient = 0;
                rewritten.add(x, b)?;
                rewritten.add(&remainder, b.checked_neg()?)?;
                Some(rewritten)
            })();
            if rewritten.is_some() {
                return rewritten;
            }
        }
        None
    }

    /// Rewrites `y * k - (x mod c) * k` as `(y floordiv c) * (c * k)`, for a positive `k` and a `y` that is
    /// `x` or a remainder of it. Only for sums of exactly these two terms: longer ones keep XLA's text,
    /// because XLA has no such rule.
    fn without_remainder(&mut self, sum: &Sum) -> Option<Sum> {
        if sum.terms.len() != 2 {
            return None;
        }
        for (i, term) in sum.terms.iter().enumerate() {
            let Some((x, c)) = term.base.as_op_const(BinaryOp::Mod) else { continue };
            if c <= 1 || term.coefficient >= 0 {
                continue;
            }
            let Some(k) = term.coefficient.checked_neg() else { continue };
            let is_congruent = |y: &Expr| {
                y == x || y.as_op_const(BinaryOp::Mod).is_some_and(|(z, a)| z == x && a > 0 && a % c == 0)
            };
            let Some(j) = sum.terms.iter().position(|t| t.coefficient == k && is_congruent(&t.base)) else {
                continue;
            };
            let quotient = self.floor_div(sum.terms[j].base.clone(), Expr::Const(c));
            let rewritten = (|| {
                let mut rewritten = sum.clone();
                rewritten.terms[i].coefficient = 0;
                rewritten.terms[j].coefficient = 0;
                rewritten.add(&quotient, c.checked_mul(k)?)?;
                Some(rewritten)
            })();
            if rewritten.is_some() {
                return rewritten;
            }
        }
        None
    }

    /// Builds `l * r` for simple operands: distributed over sums, factors sorted, constants on the right.
    pub(super) fn product(&mut self, l: Expr, r: Expr) -> Expr {
        const MAX_TERMS: usize = 64;
        self.unsettled = true;
        let plain = |l: Expr, r: Expr| {
            if r < l { Expr::binary(BinaryOp::Mul, r, l) } else { Expr::binary(BinaryOp::Mul, l, r) }
        };
        let (Some(a), Some(b)) = (Sum::of(&l), Sum::of(&r)) else { return plain(l, r) };
        if (a.terms.len() + 1) * (b.terms.len() + 1) > MAX_TERMS {
            return plain(l, r);
        }
        let product = (|| {
            let mut product = Sum { constant: a.constant.checked_mul(b.constant)?, ..Sum::default() };
            for s in &a.terms {
                product.add(&s.base, s.coefficient.checked_mul(b.constant)?)?;
                for t in &b.terms {
                    let base = product_of_bases(&s.base, &t.base);
                    product.add(&base, s.coefficient.checked_mul(t.coefficient)?)?;
                }
            }
            for t in &b.terms {
                product.add(&t.base, t.coefficient.checked_mul(a.constant)?)?;
            }
            Some(product)
        })();
        match product {
            Some(mut product) => {
                product.merge();
                product.to_expr()
            }
            None => plain(l, r),
        }
    }
}

/// Whether `e` is `y floordiv d` or a remainder of it.
fn is_quotient(e: &Expr, (y, d): (u32, i64)) -> bool {
    let quotient = e.as_op_const(BinaryOp::Mod).map_or(e, |(x, _)| x);
    quotient.as_op_const(BinaryOp::FloorDiv).is_some_and(|(x, c)| c == d && x.as_var() == Some(y))
}

/// Rewrites `(x mod c) * k + (y floordiv c) * (c * k)` as `y * k` if `x` and `y` are congruent modulo `c`;
/// term `i` is the first.
fn join_congruent_division(sum: &Sum, i: usize, (x, c): (&Expr, i64), scale: i64) -> Option<Sum> {
    let residue = residue_form(x, c)?;
    for (j, t) in sum.terms.iter().enumerate() {
        if j == i || t.coefficient != scale {
            continue;
        }
        let Some((y, d)) = t.base.as_op_const(BinaryOp::FloorDiv) else { continue };
        if d == c && (y == x || residue_form(y, c).is_some_and(|r| r == residue)) {
            let mut joined = sum.clone();
            joined.terms[i].coefficient = 0;
            joined.terms[j].coefficient = 0;
            joined.add(y, sum.terms[i].coefficient)?;
            return Some(joined);
        }
    }
    None
}

/// Returns a sum that is congruent to `e` modulo `c`, and the same for many congruent expressions: multiples
/// of `c` are dropped, and `(y mod (a * c)) * k` becomes `y * k`.
fn residue_form(e: &Expr, c: i64) -> Option<Sum> {
    let mut residue = Sum::of(e)?;
    residue.drop_multiples(c);
    Some(residue)
}

/// The left-nested product of the sorted factors of two products without constants.
fn product_of_bases(a: &Expr, b: &Expr) -> Expr {
    fn factors(e: &Expr, out: &mut SmallVec<[Expr; 4]>) {
        match e.as_binary() {
            Some((BinaryOp::Mul, l, r)) => {
                factors(l, out);
                factors(r, out);
            }
            _ => out.push(e.clone()),
        }
    }
    let mut all = SmallVec::new();
    factors(a, &mut all);
    factors(b, &mut all);
    all.sort();
    all.into_iter().reduce(|p, f| p * f).unwrap_or(Expr::Const(1))
}
