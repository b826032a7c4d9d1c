//! Joint simplification of a map's constraints, until a round changes nothing.

use crate::expr::Expr;
use crate::interval::Interval;
use crate::map::{Constraint, IndexingMap, Variable};
use crate::range::RangeContext;
use crate::simplify::constraints::peel;
use crate::simplify::{Simplifier, SimplifyMode, SimplifyOutcome};

/// The largest number of rounds of constraint simplification. Each round tightens a bound or shortens an
/// expression, so few are ever needed.
const MAX_ROUNDS: usize = 64;

impl IndexingMap {
    /// Simplifies, drops, merges and sorts the constraints. A constraint that becomes one on a variable moves
    /// its bounds.
    pub(super) fn simplify_constraints(&mut self, outcome: &mut SimplifyOutcome) {
        for _ in 0..MAX_ROUNDS {
            let mut at = 0;
            let mut changed = false;
            while at < self.constraints.len() {
                let variables = std::mem::take(&mut self.variables);
                let sweep = sweep(&variables, &mut self.constraints, &mut at, outcome);
                self.variables = variables;
                match sweep {
                    Sweep::Done { merged } => changed |= merged,
                    Sweep::Bound(variable, interval) => {
                        changed = true;
                        self.add_constraint(Expr::Var(variable), interval);
                    }
                    Sweep::NeverHolds => self.set_known_empty(),
                }
                if !self.is_mapped() {
                    outcome.changed = true;
                    return;
                }
            }
            if self.merge_mod_constraints(true) {
                outcome.changed = true;
                changed = true;
            }
            if !self.is_mapped() || !changed {
                self.constraints
                    .sort_by(|a, b| a.expr.cmp(&b.expr).then(a.interval.lower.cmp(&b.interval.lower)));
                return;
            }
        }
        outcome.bound_reached = true;
    }
}

enum Sweep {
    /// `merged`: the interval of another constraint shrank, so that earlier constraints may simplify further.
    Done {
        merged: bool,
    },
    /// A variable gets a bound from a constraint, which was removed. The sweep is not finished.
    Bound(u32, Interval),
    NeverHolds,
}

/// Simplifies the constraints from `at` on, up to the first that moves a bound, because the simplifier's
/// facts hold only while the bounds do. Constraints that change move to the end and are visited again. No
/// constraint is used to simplify another or itself.
fn sweep(
    variables: &[Variable],
    constraints: &mut Vec<Constraint>,
    at: &mut usize,
    outcome: &mut SimplifyOutcome,
) -> Sweep {
    let ranges = RangeContext::new(variables, &[]);
    let mut simplifier = Simplifier::new(ranges, SimplifyMode::Replace);
    let sweep = sweep_with(&mut simplifier, ranges, constraints, at, outcome);
    simplifier.report(outcome);
    sweep
}

fn sweep_with(
    simplifier: &mut Simplifier<'_>,
    ranges: RangeContext<'_>,
    constraints: &mut Vec<Constraint>,
    at: &mut usize,
    outcome: &mut SimplifyOutcome,
) -> Sweep {
    let mut merged = false;
    while let Some(constraint) = constraints.get(*at) {
        let interval = constraint.interval;
        let mut range = ranges.range(&constraint.expr);
        // Most constraints of a composition hold everywhere, which needs no simplification to see.
        let mut simple = constraint.expr.clone();
        if !interval.contains_interval(range) && !interval.intersect(range).is_empty() {
            simple = simplifier.simplify(&constraint.expr);
            range = ranges.range(&simple);
        }
        if interval.contains_interval(range) {
            constraints.remove(*at);
            outcome.changed = true;
            continue;
        }
        if interval.intersect(range).is_empty() {
            return Sweep::NeverHolds;
        }
        let simple = peel(Constraint { expr: simple, interval }, &ranges);
        if simple.interval.is_empty() {
            return Sweep::NeverHolds;
        }
        if simple == *constraint {
            *at += 1;
            continue;
        }
        outcome.changed = true;
        constraints.remove(*at);
        match simple.expr {
            Expr::Var(variable) => return Sweep::Bound(variable, simple.interval),
            Expr::Const(c) if simple.interval.contains(c) => merged = true,
            Expr::Const(_) => return Sweep::NeverHolds,
            Expr::Binary(_) => match constraints.iter_mut().find(|c| c.expr == simple.expr) {
                Some(known) => {
                    known.interval = known.interval.intersect(simple.interval);
                    if known.interval.is_empty() {
                        return Sweep::NeverHolds;
                    }
                    merged = true;
                }
                None => constraints.push(simple),
            },
        }
    }
    Sweep::Done { merged }
}
