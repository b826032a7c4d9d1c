//! Sums in flattened form: `Σ base * coefficient + constant`.

use std::cmp::Ordering;

use smallvec::SmallVec;

use crate::expr::{BinaryOp, Expr};
use crate::interval::{Interval, is_multiple};
use crate::range::RangeContext;
use crate::simplify::Simplifier;

/// One summand, `base * coefficient`. The base is not a sum, a constant or a product with a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    pub base: Expr,
    pub coefficient: i64,
}

impl Term {
    /// Orders summands as the expressions that they print as: a product if the coefficient is not 1.
    pub fn cmp(&self, other: &Term) -> Ordering {
        match (self.coefficient == 1, other.coefficient == 1) {
            (true, true) => self.base.cmp(&other.base),
            (false, false) => {
                self.base.cmp(&other.base).then_with(|| self.coefficient.cmp(&other.coefficient))
            }
            (false, true) => match other.base.as_binary() {
                Some((BinaryOp::Add, ..)) => Ordering::Greater,
                Some((BinaryOp::Mul, l, _)) => self.base.cmp(l).then(Ordering::Greater),
                _ => Ordering::Less,
            },
            (true, false) => other.cmp(self).reverse(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    pub terms: SmallVec<[Term; 6]>,
    pub constant: i64,
}

impl Sum {
    /// Returns the flattened form of an expression that is already simple; `None` on overflow.
    pub fn of(e: &Expr) -> Option<Sum> {
        let mut sum = Sum::default();
        sum.add(e, 1)?;
        Some(sum)
    }

    /// Adds `e * scale`; `None` on overflow, and for an expression that is too large.
    pub fn add(&mut self, e: &Expr, scale: i64) -> Option<()> {
        match e {
            Expr::Const(c) => self.constant = self.constant.checked_add(c.checked_mul(scale)?)?,
            Expr::Binary(b) if b.op() == BinaryOp::Add => {
                self.add(b.lhs(), scale)?;
                self.add(b.rhs(), scale)?;
            }
            _ if e.is_too_large() => return None,
            e => match e.as_scaled() {
                Some((x, c)) => self.add(x, scale.checked_mul(c)?)?,
                None => self.add_term(e, scale)?,
            },
        }
        Some(())
    }

    pub fn add_term(&mut self, base: &Expr, coefficient: i64) -> Option<()> {
        let hash = base.structural_hash();
        match self.terms.iter_mut().find(|t| t.base.structural_hash() == hash && t.base == *base) {
            Some(t) => t.coefficient = t.coefficient.checked_add(coefficient)?,
            None => self.terms.push(Term { base: base.clone(), coefficient }),
        }
        Some(())
    }

    /// Drops summands that cancel out and sorts the others.
    pub fn merge(&mut self) {
        self.terms.retain(|t| t.coefficient != 0);
        if !self.terms.is_sorted_by(|a, b| a.cmp(b) != Ordering::Greater) {
            self.terms.sort_by(Term::cmp);
        }
    }

    /// Replaces the sum by one that is congruent modulo `m > 0`: drops terms that are multiples of `m`, turns
    /// `(y mod a) * k` with `m` dividing `a * k` into `y * k`, and reduces the constant. Returns whether
    /// anything changed.
    pub fn drop_multiples(&mut self, m: i64) -> bool {
        let mut changed = !(0..m).contains(&self.constant);
        self.constant = self.constant.rem_euclid(m);
        // Each round removes a remainder or ends.
        loop {
            let before = self.terms.len();
            self.terms.retain(|t| !is_multiple(t.coefficient, m));
            changed |= before != self.terms.len();
            let inner = self.terms.iter().enumerate().find_map(|(i, t)| {
                let (y, a) = t.base.as_op_const(BinaryOp::Mod)?;
                (i128::from(a) * i128::from(t.coefficient) % i128::from(m) == 0).then(|| (i, y.clone()))
            });
            let Some((i, y)) = inner else { break };
            let mut replaced = self.clone();
            let coefficient = replaced.terms.remove(i).coefficient;
            if replaced.add(&y, coefficient).is_none() {
                break;
            }
            replaced.constant = replaced.constant.rem_euclid(m);
            *self = replaced;
            changed = true;
        }
        self.merge();
        changed
    }

    /// Builds the left-nested expression, with the terms in their order.
    pub fn to_expr(&self) -> Expr {
        let mut terms =
            self.terms.iter().map(|t| Expr::binary(BinaryOp::Mul, t.base.clone(), t.coefficient.into()));
        match terms.next() {
            None => Expr::Const(self.constant),
            Some(first) => terms.fold(first, |sum, t| sum + t) + self.constant,
        }
    }

    /// The number of operators of [`Sum::to_expr`].
    pub fn node_count(&self) -> usize {
        let scaled = |t: &Term| t.base.node_count() + usize::from(t.coefficient != 1);
        let operands = self.terms.len() + usize::from(self.constant != 0);
        self.terms.iter().map(scaled).sum::<usize>() + operands.saturating_sub(1)
    }

    /// Returns the base if the sum consists only of it.
    pub fn as_base(&self) -> Option<&Expr> {
        match &self.terms[..] {
            [Term { base, coefficient: 1 }] if self.constant == 0 => Some(base),
            _ => None,
        }
    }

    /// Drops the terms that are not multiples of `g`, divides the others by it, and sets the constant.
    pub fn keep_multiples(&mut self, g: i64, constant: i64) {
        self.terms.retain(|t| is_multiple(t.coefficient, g));
        for t in &mut self.terms {
            t.coefficient /= g;
        }
        self.constant = constant;
    }

    /// Whether [`Sum::to_expr`] would build `e`.
    pub fn is_expr(&self, e: &Expr) -> bool {
        let mut rest = e;
        if self.constant != 0 || self.terms.is_empty() {
            if self.terms.is_empty() {
                return *e == Expr::Const(self.constant);
            }
            match rest.as_op_const(BinaryOp::Add) {
                Some((l, c)) if c == self.constant => rest = l,
                _ => return false,
            }
        }
        for (i, t) in self.terms.iter().enumerate().rev() {
            let term = match rest.as_binary() {
                Some((BinaryOp::Add, l, r)) if i > 0 => {
                    rest = l;
                    r
                }
                _ if i == 0 => rest,
                _ => return false,
            };
            let same = match term.as_scaled() {
                Some((base, k)) => k == t.coefficient && *base == t.base,
                None => t.coefficient == 1 && *term == t.base,
            };
            if !same {
                return false;
            }
        }
        true
    }

    /// Builds the sum of the terms, divided by a common divisor of their coefficients, plus a constant.
    pub fn divided(terms: &[Term], divisor: i64, constant: i64) -> Sum {
        Sum {
            terms: terms
                .iter()
                .map(|t| Term { base: t.base.clone(), coefficient: t.coefficient / divisor })
                .collect(),
            constant,
        }
    }
}

/// The range of a part of a sum, without the constraints on the sum as a whole.
pub(super) fn range_of(terms: &[Term], constant: i64, ranges: &RangeContext<'_>) -> Interval {
    terms.iter().fold(Interval::point(constant), |sum, t| sum + ranges.range(&t.base) * t.coefficient)
}

/// Returns the factor `k` such that every term of `fact`, times `k`, is among the terms.
fn multiple_of_fact<'t>(terms: impl Iterator<Item = &'t Term> + Clone, fact: &Sum) -> Option<i64> {
    let coefficient = |base: &Expr| terms.clone().find(|t| t.base == *base).map(|t| t.coefficient);
    let (first, others) = fact.terms.split_first()?;
    let k = coefficient(&first.base)?;
    if k % first.coefficient != 0 {
        return None;
    }
    let k = k / first.coefficient;
    others
        .iter()
        .all(|f| coefficient(&f.base).is_some_and(|c| f.coefficient.checked_mul(k) == Some(c)))
        .then_some(k)
}

/// The ranges of the terms of a sum, in their order.
pub(super) type TermRanges = SmallVec<[Interval; 8]>;

impl Simplifier<'_> {
    /// Returns the constraints on sums, in flattened form.
    pub(super) fn facts_of(ranges: &RangeContext<'_>) -> Vec<(Sum, Interval)> {
        ranges
            .constraints()
            .iter()
            .filter(|c| matches!(c.expr.as_binary(), Some((BinaryOp::Add, ..))))
            .filter_map(|c| {
                let sum = Sum::of(&c.expr)?;
                (sum.constant == 0 && sum.terms.iter().all(|t| t.coefficient != 0))
                    .then_some((sum, c.interval))
            })
            .collect()
    }

    pub(super) fn term_ranges(&self, terms: &[Term]) -> TermRanges {
        terms.iter().map(|t| self.range(&t.base) * t.coefficient).collect()
    }

    /// The range of a sum. A constraint on a sum applies wherever a multiple of that sum is contained.
    pub(super) fn range_of(&self, terms: &[Term], constant: i64) -> Interval {
        if self.facts.is_empty() {
            let range_of = |t: &Term| self.range(&t.base) * t.coefficient;
            return terms.iter().fold(Interval::point(constant), |sum, t| sum + range_of(t));
        }
        self.range_of_part(terms, &self.term_ranges(terms), constant, |_| true)
    }

    /// Like [`Simplifier::range_of`], for the terms that `keep` keeps.
    pub(super) fn range_of_part(
        &self,
        terms: &[Term],
        ranges: &TermRanges,
        constant: i64,
        keep: impl Fn(&Term) -> bool,
    ) -> Interval {
        let part = || terms.iter().zip(ranges).filter(|(t, _)| keep(t));
        let mut range = part().fold(Interval::point(constant), |sum, (_, r)| sum + *r);
        for (fact, interval) in &self.facts {
            let Some(k) = multiple_of_fact(part().map(|(t, _)| t), fact) else { continue };
            let others = part()
                .filter(|(t, _)| !fact.terms.iter().any(|f| f.base == t.base))
                .fold(Interval::point(constant), |sum, (_, r)| sum + *r);
            range = range.intersect(*interval * k + others);
        }
        range
    }

    /// The range of a sum in which quotients and remainders of other terms are first made independent:
    /// `x - x mod 8` is a multiple of `x floordiv 8`, and `x - x floordiv 4` is never negative for a
    /// non-negative `x`.
    pub(super) fn correlated_range(&self, mut sum: Sum) -> Interval {
        const MAX_STEPS: usize = 8;
        for _ in 0..MAX_STEPS {
            let Some(step) = tell_apart(&sum) else { break };
            sum = step;
            sum.merge();
        }
        self.range_of(&sum.terms, sum.constant)
    }
}

/// For two terms of opposite sign where one is a quotient or remainder of the other, rewrites one of them so
/// that the two become independent.
fn tell_apart(sum: &Sum) -> Option<Sum> {
    let of = |op, e: &Expr| e.as_op_const(op).filter(|&(_, d)| d > 1).map(|(x, d)| (x.clone(), d));
    for (i, part) in sum.terms.iter().enumerate() {
        for (j, whole) in sum.terms.iter().enumerate() {
            if i == j || (part.coefficient < 0) == (whole.coefficient < 0) {
                continue;
            }
            let mut apart = sum.clone();
            if let Some((x, m)) = of(BinaryOp::Mod, &part.base)
                && x == whole.base
            {
                // x mod m = x - (x / m) * m
                let quotient = x.clone().floor_div(m);
                apart.terms[i].coefficient = 0;
                apart.add_term(&x, part.coefficient)?;
                apart.add_term(&quotient, part.coefficient.checked_mul(m)?.checked_neg()?)?;
                return Some(apart);
            }
            let Some((x, d)) = of(BinaryOp::FloorDiv, &part.base) else { continue };
            let step = match of(BinaryOp::FloorDiv, &whole.base) {
                Some((y, a)) if y == x && d > a && d % a == 0 => d / a,
                _ if x == whole.base => d,
                _ => continue,
            };
            // y = (y / step) * step + y mod step, where y / step is the other term
            let remainder = whole.base.clone().modulo(step);
            apart.terms[j].coefficient = 0;
            apart.add_term(&part.base, whole.coefficient.checked_mul(step)?)?;
            apart.add_term(&remainder, whole.coefficient)?;
            return Some(apart);
        }
    }
    None
}
