//! Simplification of whole maps.

use crate::expr::Expr;
use crate::map::{Constraint, IndexingMap};
use crate::range::RangeContext;
use crate::simplify::constraints::peel;
use crate::simplify::{Simplifier, SimplifyMode, SimplifyOutcome};

/// Rounds of constraint simplification. Each tightens a bound or shortens an expression, so few are ever needed.
const MAX_ROUNDS: usize = 64;

impl IndexingMap {
    /// Simplifies constraints and results in place: the same function on the same domain, with the same variables.
    /// Doing it twice is doing it once. An empty domain that is recognised makes the map known empty; not every one is
    /// (see [`IndexingMap::prove_empty`]). Rule: XLA `IndexingMap::Simplify`.
    pub fn simplify(&mut self, mode: SimplifyMode) -> SimplifyOutcome {
        let mut outcome = SimplifyOutcome::default();
        if !self.is_mapped() {
            return outcome;
        }
        if !self.constraints.is_empty() {
            self.simplify_constraints(&mut outcome);
            if !self.is_mapped() {
                return outcome;
            }
        }
        let ranges = RangeContext::new(&self.variables, &self.constraints);
        let mut simplifier = Simplifier::new(ranges, mode);
        for r in &mut self.results {
            let simple = simplifier.simplify(r);
            if !simple.same(r) {
                outcome.changed |= simple != *r;
                *r = simple;
            }
        }
        outcome.bound_reached |= simplifier.bound_reached();
        outcome
    }

    /// [`IndexingMap::simplify`] for chaining.
    #[must_use]
    pub fn simplified(mut self, mode: SimplifyMode) -> IndexingMap {
        self.simplify(mode);
        self
    }

    fn simplify_constraints(&mut self, outcome: &mut SimplifyOutcome) {
        for _ in 0..MAX_ROUNDS {
            let mut changed = false;
            let mut i = 0;
            while i < self.constraints.len() {
                match self.simplify_constraint(i, outcome) {
                    Step::Same => i += 1,
                    Step::Dropped => outcome.changed = true,
                    Step::Changed(constraint) => {
                        changed = true;
                        self.constraints.remove(i);
                        self.add_constraint(constraint.expr, constraint.interval);
                    }
                    Step::NeverHolds => {
                        self.set_known_empty();
                        outcome.changed = true;
                        return;
                    }
                }
                if !self.is_mapped() {
                    outcome.changed = true;
                    return;
                }
            }
            changed |= self.merge_mod_constraints(true);
            outcome.changed |= changed;
            if !self.is_mapped() || !changed {
                self.constraints
                    .sort_by(|a, b| a.expr.cmp(&b.expr).then(a.interval.lower.cmp(&b.interval.lower)));
                return;
            }
        }
        outcome.bound_reached = true;
    }

    fn simplify_constraint(&mut self, i: usize, outcome: &mut SimplifyOutcome) -> Step {
        let constraint = &self.constraints[i];
        // Without the constraints themselves: one must not be used to drop itself.
        let ranges = RangeContext::new(&self.variables, &[]);
        let mut simplifier = Simplifier::new(ranges, SimplifyMode::Replace);
        let expr: Expr = simplifier.simplify(&constraint.expr);
        outcome.bound_reached |= simplifier.bound_reached();
        let range = ranges.range(&expr);
        if constraint.interval.contains_interval(range) {
            self.constraints.remove(i);
            return Step::Dropped;
        }
        if constraint.interval.intersect(range).is_empty() {
            return Step::NeverHolds;
        }
        let simple = peel(&Constraint { expr, interval: constraint.interval }, &ranges);
        if simple.interval.is_empty() {
            return Step::NeverHolds;
        }
        if simple == *constraint { Step::Same } else { Step::Changed(simple) }
    }
}

enum Step {
    Same,
    Dropped,
    Changed(Constraint),
    NeverHolds,
}
