//! Simplification of whole maps.

use crate::contract::contract;
use crate::expr::Expr;
use crate::map::{Constraint, IndexingMap, Variable};
use crate::range::RangeContext;
use crate::simplify::constraints::peel;
use crate::simplify::{Simplifier, SimplifyMode, SimplifyOutcome};

/// Rounds of constraint simplification. Each tightens a bound or shortens an expression, so few are ever needed.
const MAX_ROUNDS: usize = 64;
/// Sweeps over all constraints when bounds are narrowed; a slow convergence ends here, with bounds that are right.
const MAX_SWEEPS: usize = 16;

impl IndexingMap {
    /// Simplifies constraints and results in place: the same function on the same domain, with the same variables.
    /// Doing it twice is doing it once. An empty domain that is recognised makes the map known empty; not every one is
    /// (see [`IndexingMap::is_empty`]). Rule: XLA `IndexingMap::Simplify`; beyond it, bounds are narrowed to what the
    /// constraints leave ([`IndexingMap::tighten_bounds`]) where that makes an expression or constraint simpler.
    pub fn simplify(&mut self, mode: SimplifyMode) -> SimplifyOutcome {
        let mut outcome = SimplifyOutcome::default();
        if !self.is_mapped() {
            return outcome;
        }
        self.simplify_as_it_stands(mode, &mut outcome);
        while !self.constraints.is_empty() {
            let Some(variables) = self.narrowed() else {
                self.set_known_empty();
                outcome.changed = true;
                break;
            };
            if variables == self.variables {
                break;
            }
            let mut narrow = self.clone();
            narrow.variables = variables;
            narrow.simplify_as_it_stands(mode, &mut SimplifyOutcome::default());
            if narrow.is_mapped() && narrow.node_count() >= self.node_count() {
                break;
            }
            *self = narrow;
            outcome.changed = true;
        }
        outcome
    }

    /// Moves the bounds of the variables to what the constraints leave of them: `d0 * 4 + s0 in [0, 9]` bounds `d0` by 2.
    /// The domain stays the same. Answers whether anything changed; a domain found empty makes the map known empty.
    pub fn tighten_bounds(&mut self) -> bool {
        if !self.is_mapped() || self.constraints.is_empty() {
            return false;
        }
        match self.narrowed() {
            Some(variables) => {
                let changed = variables != self.variables;
                self.variables = variables;
                changed
            }
            None => {
                self.set_known_empty();
                true
            }
        }
    }

    /// The variables with the bounds that the constraints leave; `None` when nothing is left.
    fn narrowed(&self) -> Option<Vec<Variable>> {
        let mut variables = self.variables.clone();
        for _ in 0..MAX_SWEEPS {
            let mut changed = false;
            for c in &self.constraints {
                changed |= contract(c, &mut variables).ok()?;
            }
            if !changed {
                break;
            }
        }
        Some(variables)
    }

    fn simplify_as_it_stands(&mut self, mode: SimplifyMode, outcome: &mut SimplifyOutcome) {
        if !self.constraints.is_empty() {
            self.simplify_constraints(outcome);
            if !self.is_mapped() {
                return;
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
    }

    /// [`IndexingMap::simplify`] for chaining.
    #[must_use]
    pub fn simplified(mut self, mode: SimplifyMode) -> IndexingMap {
        self.simplify(mode);
        self
    }

    fn simplify_constraints(&mut self, outcome: &mut SimplifyOutcome) {
        for _ in 0..MAX_ROUNDS {
            let mut i = 0;
            let mut changed = false;
            while i < self.constraints.len() {
                match self.simplify_constraint(i, outcome) {
                    Step::Same => i += 1,
                    Step::Dropped => outcome.changed = true,
                    Step::Changed(constraint) => {
                        outcome.changed = true;
                        self.constraints.remove(i);
                        let others = self.constraints.len();
                        self.add_constraint(constraint.expr, constraint.interval);
                        // It moved a bound or the interval of another one, so that those done may have more to give.
                        changed |= self.constraints.len() == others;
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
