//! Simplification of whole maps.

use crate::contract::contract;
use crate::map::{Constraint, IndexingMap, Variable};
use crate::range::RangeContext;
use crate::simplify::{Simplifier, SimplifyMode, SimplifyOutcome};

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
        // What becomes of the map with narrower bounds counts only where it is kept.
        let mut changed = outcome.changed;
        while !self.constraints.is_empty() {
            // With the constraints among each other only to see that nothing is left: the bounds stay those of XLA.
            let feasible = self.constraints.len() == 1 || self.narrowed(&self.constraints).is_some();
            let Some(variables) = self.narrowed(&[]).filter(|_| feasible) else {
                self.set_known_empty();
                changed = true;
                break;
            };
            if variables == self.variables {
                break;
            }
            let mut narrow = self.clone();
            narrow.variables = variables;
            narrow.simplify_as_it_stands(mode, &mut outcome);
            if narrow.is_mapped() && narrow.node_count() >= self.node_count() {
                break;
            }
            *self = narrow;
            changed = true;
        }
        SimplifyOutcome { changed, ..outcome }
    }

    /// Moves the bounds of the variables to what the constraints leave of them: `d0 * 4 + s0 in [0, 9]` bounds `d0` by 2.
    /// The domain stays the same. Answers whether anything changed; a domain found empty makes the map known empty.
    pub fn tighten_bounds(&mut self) -> bool {
        if !self.is_mapped() || self.constraints.is_empty() {
            return false;
        }
        match self.narrowed(&self.constraints) {
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

    /// The variables with the bounds that each constraint leaves where `others` hold too; `None` when nothing is left.
    fn narrowed(&self, others: &[Constraint]) -> Option<Vec<Variable>> {
        let mut variables = self.variables.clone();
        for _ in 0..MAX_SWEEPS {
            let mut changed = false;
            for c in &self.constraints {
                changed |= contract(c, others, &mut variables).ok()?;
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
        simplifier.report(outcome);
    }

    /// [`IndexingMap::simplify`] for chaining.
    #[must_use]
    pub fn simplified(mut self, mode: SimplifyMode) -> IndexingMap {
        self.simplify(mode);
        self
    }
}
