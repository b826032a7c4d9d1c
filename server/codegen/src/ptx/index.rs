//! Indices: expressions over variables with known ranges.

use indexing_map::{
    BinaryOp, Constraint, Expr, Interval, RangeContext, Simplifier, SimplifyMode, Variable, ceil_div,
    floor_div,
};
use rustc_hash::FxHashMap;

use super::machine::Operand;

/// The known properties of index variables.
#[derive(Default)]
pub(crate) struct Indices {
    /// The variables with their ranges, and the registers that hold them.
    variables: Vec<Variable>,
    pub(super) registers: Vec<Operand>,
    /// The values of the variables of unrolled loops in the current iteration.
    fixed: Vec<Option<i64>>,
    /// The conditions of the enclosing branches.
    facts: Vec<Constraint>,
    simple: FxHashMap<Expr, Expr>,
}

impl Indices {
    /// Adds a variable whose value is in a register.
    pub fn variable(&mut self, bounds: Interval, register: Operand) -> Expr {
        self.variables.push(Variable::from(bounds));
        self.registers.push(register);
        self.fixed.push(None);
        self.simple.clear();
        Expr::var(self.variables.len() - 1)
    }

    /// Sets the value of the variable of an unrolled loop.
    pub fn fix(&mut self, variable: &Expr, value: Option<i64>) {
        if let Some(id) = variable.as_var() {
            self.fixed[id as usize] = value;
        }
    }

    /// Assumes constraints until [`Indices::forget`] is called with the returned number.
    pub fn assume(&mut self, facts: impl IntoIterator<Item = Constraint>) -> usize {
        let before = self.facts.len();
        self.facts.extend(facts);
        before
    }

    pub fn forget(&mut self, before: usize) {
        self.facts.truncate(before);
    }

    pub fn simplify(&mut self, expr: &Expr) -> Expr {
        if expr.as_binary().is_none() {
            return expr.clone();
        }
        if let Some(known) = self.simple.get(expr) {
            return known.clone();
        }
        // By the ranges of the variables alone, as XLA does.
        let ranges = RangeContext::new(&self.variables, &[]);
        let simple = Simplifier::new(ranges, SimplifyMode::Verbatim).simplify(expr);
        self.simple.insert(expr.clone(), simple.clone());
        simple
    }

    /// The expression in the current iteration of the enclosing unrolled loops.
    pub fn here(&mut self, expr: &Expr) -> Expr {
        let simple = self.simplify(expr);
        if !self.uses_fixed(&simple) {
            return simple;
        }
        let fixed = &self.fixed;
        let constant = simple.substitute(&mut |v| fixed.get(v as usize).copied().flatten().map(Expr::Const));
        self.simplify(&constant)
    }

    /// The number of summands of an index that are not constant when the code is written.
    pub fn summands(&mut self, expr: &Expr) -> usize {
        let simple = self.simplify(expr);
        let is_open = |e: &&&Expr| e.as_const().is_none() && !self.uses_fixed(e);
        simple.summands().iter().filter(is_open).count()
    }

    /// Whether the summands of a sum have no common bits, so that the sum is their union.
    pub fn is_disjoint(&self, sum: &Expr) -> bool {
        let mut summands: Vec<(i64, Interval)> =
            sum.summands().into_iter().map(|expr| (alignment(expr), self.range(expr))).collect();
        summands.sort_unstable_by_key(|(unit, _)| *unit);
        let mut below = 0i64;
        summands.into_iter().all(|(unit, range)| {
            let fits = range.lower >= 0 && below < unit;
            below = below.saturating_add(range.upper);
            fits
        })
    }

    pub fn uses_fixed(&self, expr: &Expr) -> bool {
        let mut uses = false;
        expr.for_each_var(&mut |v| uses |= self.fixed.get(v as usize).is_some_and(Option::is_some));
        uses
    }

    pub fn range(&self, expr: &Expr) -> Interval {
        RangeContext::new(&self.variables, &self.facts).range(expr)
    }

    /// The constraint in the current iteration, unless it is known to hold.
    pub fn open(&mut self, constraint: &Constraint) -> Option<Constraint> {
        let expr = self.here(&constraint.expr);
        let Constraint { expr, interval } = bare(expr, constraint.interval);
        let is_known = interval.contains_interval(self.range(&expr));
        (!is_known).then_some(Constraint { expr, interval })
    }
}

/// The constraint without constant summand and factor, so that constraints of loop iterations that differ
/// only in these become equal.
fn bare(expr: Expr, interval: Interval) -> Constraint {
    let (mut expr, constant) = split_constant(&expr);
    let mut interval =
        Interval::new(interval.lower.saturating_sub(constant), interval.upper.saturating_sub(constant));
    while let Some((inner, factor)) = scaled(&expr).filter(|(_, factor)| *factor > 0) {
        let lower = ceil_div(interval.lower, factor).unwrap_or(interval.lower);
        let upper = floor_div(interval.upper, factor).unwrap_or(interval.upper);
        interval = Interval::new(lower, upper);
        expr = inner.clone();
    }
    Constraint { expr, interval }
}

/// The largest power of two that is known to divide all values of the expression, at most 2^40.
pub(crate) fn alignment(expr: &Expr) -> i64 {
    1 << expr.divisor(&|_| 1).trailing_zeros().min(40)
}

/// Splits an expression into the part without its constant summand, and the constant summand.
pub(crate) fn split_constant(expr: &Expr) -> (Expr, i64) {
    match expr {
        Expr::Const(c) => (Expr::ZERO, *c),
        Expr::Var(_) => (expr.clone(), 0),
        Expr::Binary(_) => match expr.as_op_const(BinaryOp::Add) {
            Some((rest, c)) => {
                let (rest, inner) = split_constant(rest);
                (rest, c.saturating_add(inner))
            }
            None => (expr.clone(), 0),
        },
    }
}

pub(super) fn scaled(expr: &Expr) -> Option<(&Expr, i64)> {
    expr.as_op_const(BinaryOp::Mul)
}
