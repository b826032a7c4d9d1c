//! Simplification of expressions and maps.
//!
//! An expression is rebuilt bottom-up by one normalising constructor per operator, until a pass changes
//! nothing. The constructors use the ranges of their operands, so the same code canonicalises without context
//! ([`Expr::canonicalize`], XLA `symbolic_expr.cc`) and simplifies with one (XLA `SymbolicExprSimplifier`,
//! `indexing_map.cc`). Each rewrite holds for all integers in the ranges; the property tests check this by
//! enumeration.

mod constraints;
mod division;
mod domain;
mod join;
mod map;
mod sum;

use rustc_hash::FxHashMap;

use crate::expr::{BinaryOp, Expr, mix};
use crate::interval::Interval;
use crate::map::Constraint;
use crate::range::{RangeContext, range_of_op};
pub(crate) use sum::Sum;

/// The treatment of expressions that have a single value, and variants of the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SimplifyMode {
    /// The expression becomes that constant (XLA `kReplace`).
    #[default]
    Replace,
    /// A dimension of size 1 stays a dimension: for reshape and bitcast maps and for tiling (XLA
    /// `kPreserve`).
    Preserve,
    /// Like `Replace`, but splits remainders of sums wherever that is correct, although the expression gets
    /// longer. For proofs: two ways to write one function become equal more often. XLA does not do this.
    Split,
    /// Like `Replace`, but drops the constant of a dividend only where XLA does, although the expression is
    /// longer. For code that must reproduce XLA's output. `(4 * x + 3) floordiv 254` stays as it is.
    Verbatim,
}

/// The effect of a simplification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SimplifyOutcome {
    pub changed: bool,
    /// The work bound was reached: the result is correct, but may not be as simple as it could be.
    pub bound_reached: bool,
    /// The number of rewrite steps: a measure of work that is the same on every machine.
    pub steps: u64,
}

/// The largest number of rewrite steps of one simplification.
const WORK_BOUND: u32 = 200_000;
/// The largest number of passes over one expression.
const MAX_PASSES: usize = 24;

/// Expressions deeper than `DEEP` are simplified with `STACK_OF_DEEP` bytes of stack.
const DEEP: usize = 24;
const STACK_OF_DEEP: usize = 4 << 20;

/// Simplifies expressions within one context.
pub struct Simplifier<'a> {
    ranges: RangeContext<'a>,
    mode: SimplifyMode,
    work_left: u32,
    bound_reached: bool,
    /// The constraints on sums.
    facts: Vec<(Sum, Interval)>,
    /// The results of one pass for the larger expressions seen so far; valid as long as the context is.
    memo: FxHashMap<Expr, Simple>,
    /// Whether the result may change in another pass. A node is certain to stay if it was not rewritten
    /// although all rules were tried on its very operands, which another pass would find unchanged.
    unsettled: bool,
    /// A hash of ranges and mode, never 0.
    context: u64,
    /// Whether another pass is always needed: a constraint may turn any expression into a constant.
    pass_again: bool,
}

#[derive(Clone)]
struct Simple {
    expr: Expr,
    unsettled: bool,
}

/// The smallest expression that is memoised.
const MEMO_NODES: usize = 5;
/// The capacity of the memo: most maps have no more such expressions.
const MEMO_ROOM: usize = 14;

impl<'a> Simplifier<'a> {
    pub fn new(ranges: RangeContext<'a>, mode: SimplifyMode) -> Self {
        Simplifier {
            ranges,
            mode,
            work_left: WORK_BOUND,
            bound_reached: false,
            facts: Self::facts_of(&ranges),
            memo: FxHashMap::default(),
            unsettled: false,
            context: context(&ranges, mode),
            pass_again: ranges.constraints().iter().any(|c| c.interval.as_point().is_some()),
        }
    }

    pub fn bound_reached(&self) -> bool {
        self.bound_reached
    }

    /// Adds the steps of this simplifier, and whether it reached its bound, to the outcome of a larger task.
    fn report(&self, outcome: &mut SimplifyOutcome) {
        outcome.bound_reached |= self.bound_reached;
        outcome.steps += u64::from(WORK_BOUND - self.work_left);
    }

    /// Returns the simplest form that these rules find. It equals `e` at every point of the context's domain
    /// where `e` has a value.
    pub fn simplify(&mut self, e: &Expr) -> Expr {
        match e.depth() > DEEP {
            // Rules for quotients of sums of quotients call each other once per level and take much stack.
            true => recursion::with_stack(STACK_OF_DEEP, || self.simplified(e)),
            false => self.simplified(e),
        }
    }

    fn simplified(&mut self, e: &Expr) -> Expr {
        if e.as_binary().is_none() || e.is_settled(self.context) {
            return self.pass(e);
        }
        let mut current = e.clone();
        for _ in 0..MAX_PASSES {
            self.unsettled = false;
            let next = self.pass(&current);
            if next.is_too_large() {
                self.bound_reached |= !current.is_too_large();
                return current;
            }
            if next == current {
                return current;
            }
            current = next;
            if !self.unsettled && !self.pass_again {
                return current;
            }
        }
        self.bound_reached = true;
        current
    }

    /// Spends one step; false if the work bound is reached. Every constructor then builds plain nodes.
    fn spend(&mut self) -> bool {
        cancel::tick();
        if self.work_left == 0 {
            self.bound_reached = true;
            return false;
        }
        self.work_left -= 1;
        true
    }

    fn pass(&mut self, e: &Expr) -> Expr {
        let (op, lhs, rhs) = match e {
            Expr::Const(_) => return e.clone(),
            Expr::Var(v) => return self.point(self.ranges.variable(*v)).unwrap_or_else(|| e.clone()),
            Expr::Binary(_) if e.is_settled(self.context) => return e.clone(),
            Expr::Binary(b) => (b.op(), b.lhs(), b.rhs()),
        };
        if !self.spend() {
            return e.clone();
        }
        // Other expressions with a single value are found when they are rebuilt from their parts.
        if self.ranges.is_constrained(e)
            && let Some(point) = self.point(self.ranges.range(e))
        {
            return point;
        }
        let memorable = e.node_count() >= MEMO_NODES;
        if memorable && let Some(known) = self.memo.get(e) {
            self.unsettled |= known.unsettled;
            return known.expr.clone();
        }
        let others = std::mem::take(&mut self.unsettled);
        let expr = self.rebuild(e, op, lhs, rhs);
        if self.bound_reached {
            return expr;
        }
        if expr.same(e) {
            self.unsettled = false;
        }
        if expr.same(e) || !self.unsettled && !self.pass_again {
            expr.settle(self.context);
        }
        if memorable && !expr.same(e) {
            if self.memo.is_empty() {
                self.memo.reserve(MEMO_ROOM);
            }
            self.memo.insert(e.clone(), Simple { expr: expr.clone(), unsettled: self.unsettled });
        }
        self.unsettled |= others;
        expr
    }

    fn rebuild(&mut self, e: &Expr, op: BinaryOp, lhs: &Expr, rhs: &Expr) -> Expr {
        match op {
            BinaryOp::Add | BinaryOp::Mul => {
                let mut sum = Sum::default();
                if self.collect_simplified(e, 1, &mut sum).is_none() {
                    let (l, r) = (self.pass(lhs), self.pass(rhs));
                    return Expr::binary(op, l, r);
                }
                self.finish_sum_of(sum, e)
            }
            BinaryOp::Mod => {
                // Before the inner remainder is rewritten by its range: (x mod a) mod m = x mod m for m | a.
                let mut lhs = lhs;
                if let Expr::Const(m @ 2..) = rhs {
                    while let Some((x, a)) = lhs.as_op_const(BinaryOp::Mod)
                        && a != 0
                        && a % m == 0
                    {
                        lhs = x;
                    }
                }
                let (l, r) = (self.pass(lhs), self.pass(rhs));
                if self.is_digit(op, &l, &r) {
                    return joined_again(e, op, l, r);
                }
                reused(e, self.modulo(l, r))
            }
            BinaryOp::FloorDiv => {
                let (l, r) = (self.pass(lhs), self.pass(rhs));
                if self.is_digit(op, &l, &r) {
                    return joined_again(e, op, l, r);
                }
                reused(e, self.floor_div(l, r))
            }
            BinaryOp::CeilDiv => {
                let (l, r) = (self.pass(lhs), self.pass(rhs));
                self.ceil_div(l, r)
            }
            BinaryOp::Max | BinaryOp::Min => {
                let (l, r) = (self.pass(lhs), self.pass(rhs));
                self.extremum(op, l, r)
            }
        }
    }

    /// Whether this is a quotient or remainder of one plain term to which no rule applies: by far the most
    /// frequent case.
    fn is_digit(&self, op: BinaryOp, x: &Expr, d: &Expr) -> bool {
        let Expr::Const(d @ 2..) = d else { return false };
        let plain = match x {
            Expr::Const(_) => false,
            Expr::Var(_) => true,
            Expr::Binary(b) => match (b.op(), b.rhs()) {
                (BinaryOp::Max | BinaryOp::Min, _) => true,
                (BinaryOp::FloorDiv, _) => op == BinaryOp::Mod,
                (BinaryOp::Mod, Expr::Const(m)) => op == BinaryOp::FloorDiv && m % d != 0,
                _ => false,
            },
        };
        plain && {
            let quotient = self.range(x).floor_div(*d);
            quotient.lower < quotient.upper
        }
    }

    /// The range of a simple expression.
    fn range(&self, e: &Expr) -> Interval {
        if self.facts.is_empty() {
            return self.ranges.range(e);
        }
        let range = match e.as_binary() {
            None => return self.ranges.range(e),
            Some((BinaryOp::Add, l, r)) => match Sum::of(e) {
                Some(sum) => self.range_of(&sum.terms, sum.constant),
                None => self.range(l) + self.range(r),
            },
            Some((op, l, r)) => range_of_op(op, self.range(l), self.range(r)),
        };
        self.ranges.constrained(e, range)
    }

    /// The constant for a range with a single value, if the mode allows it.
    fn point(&self, range: Interval) -> Option<Expr> {
        if self.mode == SimplifyMode::Preserve { None } else { range.as_point().map(Expr::Const) }
    }

    /// The single value of an expression, in any mode.
    fn point_value(&self, e: &Expr) -> Option<i64> {
        match e {
            Expr::Const(c) => Some(*c),
            e => self.range(e).as_point(),
        }
    }

    /// Adds `e * scale` to the sum, with the parts below sums and products simplified. `None` on overflow.
    fn collect_simplified(&mut self, e: &Expr, scale: i64, sum: &mut Sum) -> Option<()> {
        match e.as_binary() {
            Some(_) if e.is_settled(self.context) => sum.add(e, scale),
            Some((BinaryOp::Add, l, r)) => {
                self.collect_simplified(l, scale, sum)?;
                self.collect_simplified(r, scale, sum)
            }
            Some((BinaryOp::Mul, l, Expr::Const(c))) => {
                self.collect_simplified(l, scale.checked_mul(*c)?, sum)
            }
            Some((BinaryOp::Mul, l, r)) => {
                let (l, r) = (self.pass(l), self.pass(r));
                let product = self.product(l, r);
                sum.add(&product, scale)
            }
            _ => {
                let simple = self.pass(e);
                sum.add(&simple, scale)
            }
        }
    }

    fn extremum(&mut self, op: BinaryOp, l: Expr, r: Expr) -> Expr {
        if l == r {
            return l;
        }
        let (a, b) = (self.range(&l), self.range(&r));
        let difference = match Sum::of(&l).and_then(|mut sum| sum.add(&r, -1).map(|()| sum)) {
            Some(mut sum) => {
                sum.merge();
                let apart = self.range_of(&sum.terms, sum.constant);
                apart.intersect(self.correlated_range(sum))
            }
            None => Interval::ALL,
        };
        let left_below = a.upper <= b.lower || difference.upper <= 0;
        let right_below = b.upper <= a.lower || difference.lower >= 0;
        match (op, left_below, right_below) {
            (BinaryOp::Min, true, _) | (BinaryOp::Max, false, true) => l,
            (BinaryOp::Max, true, _) | (BinaryOp::Min, false, true) => r,
            _ if r < l => Expr::binary(op, r, l),
            _ => Expr::binary(op, l, r),
        }
    }
}

/// A hash of everything that simplification depends on.
fn context(ranges: &RangeContext<'_>, mode: SimplifyMode) -> u64 {
    let interval = |hash, i: Interval| mix(mix(hash, i.lower as u64), i.upper as u64);
    let bounds = ranges.variables().iter().fold(mode as u64 + 1, |hash, v| interval(hash, v.bounds));
    let constraint = |hash, c: &Constraint| interval(mix(hash, c.expr.structural_hash()), c.interval);
    ranges.constraints().iter().fold(mix(bounds, 17), constraint).max(1)
}

/// Returns `l op r`, reusing `e` if these are its operands.
fn joined_again(e: &Expr, op: BinaryOp, l: Expr, r: Expr) -> Expr {
    let same = e.as_binary().is_some_and(|(_, a, b)| l.same(a) && r.same(b));
    if same { e.clone() } else { Expr::binary(op, l, r) }
}

/// Returns `old` if it equals `new`, so that unchanged expressions stay shared.
fn reused(old: &Expr, new: Expr) -> Expr {
    if new == *old { old.clone() } else { new }
}

impl Expr {
    /// The canonical form without context. It has the same value as `self` at every integer point where
    /// `self` has one.
    pub fn canonicalize(&self) -> Expr {
        Simplifier::new(RangeContext::UNKNOWN, SimplifyMode::Replace).simplify(self)
    }
}

#[cfg(test)]
mod tests;
