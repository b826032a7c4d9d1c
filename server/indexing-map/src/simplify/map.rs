//! Simplification of whole maps.

use crate::contract::contract;
use crate::map::{Constraint, IndexingMap, Variable};
use crate::range::RangeContext;
use crate::simplify::{Simplifier, SimplifyMode, SimplifyOutcome};

/// The largest number of sweeps over all constraints when bounds are narrowed. Slow convergence ends here,
/// with correct bounds.
const MAX_SWEEPS: usize = 16;

impl IndexingMap {
    /// Simplifies constraints and results in place: the same function on the same domain, with the same
    /// variables. The operation is idempotent. An empty domain that is recognised makes the map known empty;
    /// not every one is (see [`IndexingMap::is_empty`]). Rule: XLA `IndexingMap::Simplify`. Beyond XLA's
    /// rule, bounds are narrowed to what the constraints allow ([`IndexingMap::tighten_bounds`]) where that
    /// makes an expression or constraint simpler.
    pub fn simplify(&mut self, mode: SimplifyMode) -> SimplifyOutcome {
        let mut outcome = SimplifyOutcome::default();
        if !self.is_mapped() {
            return outcome;
        }
        self.simplify_as_it_stands(mode, &mut outcome);
        // Changes under narrower bounds count only if the narrowed map is kept.
        let mut changed = outcome.changed;
        while !self.constraints.is_empty() {
            // The constraints are combined only to detect an empty domain, so that the bounds stay those of
            // XLA.
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

    /// Narrows the bounds of the variables to what the constraints allow: `d0 * 4 + s0 in [0, 9]` bounds `d0`
    /// by 2. The domain stays the same. Returns whether anything changed. A domain found empty makes the map
    /// known empty.
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

    /// Returns the variables with the bounds that each constraint allows, given that `others` hold too;
    /// `None` if no point is left.
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
