//! Removes unused variables of a map, and makes the names of the others unique.

use std::sync::Arc;

use indexing_map::{Expr, IndexingMap, Interval};

use crate::access::Access;

impl Access {
    /// Drops variables that the map does not use, and makes the names of the others unique. Variables in
    /// `kept` (flat ids) stay if a constraint uses them.
    pub(crate) fn remove_unused(&mut self, kept: &[usize]) {
        let before = self.map.num_dims() + self.map.num_ranges();
        let is_used = |v: usize| self.map.results().iter().any(|result| result.uses_var(v as u32));
        if (self.map.num_dims()..self.map.variables().len()).all(is_used) {
            return self.name_symbols();
        }
        let results = self.map.results().to_vec();
        // A constraint on a single variable has been folded into its bounds.
        let is_narrowed = |v: usize| {
            let symbol = v.checked_sub(before).and_then(|at| self.symbols.get(at));
            let bounds = self.map.variables().get(v).map(|v| v.bounds);
            symbol.map(|s| s.bounds) != bounds
        };
        let is_spoken_of = |&v: &usize| {
            self.map.is_mapped()
                && (is_narrowed(v) || self.map.constraints().iter().any(|c| c.expr.uses_var(v as u32)))
        };
        // Kept variables are added as results, so they count as used.
        let more = kept.iter().copied().filter(is_spoken_of).map(Expr::var);
        let mut map = self.map.with_results(results.iter().cloned().chain(more).collect());
        let bounds: Vec<Interval> = map.variables().iter().map(|v| v.bounds).collect();
        let removed = map.remove_unused_symbols();
        self.map = map.select_results(&(0..results.len()).collect::<Vec<_>>());
        if removed.iter().any(|&r| r) {
            let gone = |v: u32| removed.get(v as usize).copied().unwrap_or(false);
            // A removed variable with a single value is replaced by that value.
            let only = |v: u32| bounds.get(v as usize).filter(|b| b.lower == b.upper).map(|b| b.lower);
            let new_id = |v: u32| v - (0..v).filter(|&w| gone(w)).count() as u32;
            let runtime = IndexingMap::removed_runtime(&removed, before);
            let mut at = 0;
            self.symbols.retain(|_| {
                at += 1;
                !runtime.get(at - 1).copied().unwrap_or(false)
            });
            for symbol in &mut self.symbols {
                let is_lost = symbol.index.iter().any(|e| {
                    let mut lost = false;
                    e.for_each_var(&mut |v| lost |= gone(v) && only(v).is_none());
                    lost
                });
                match is_lost {
                    true => symbol.index.clear(),
                    false => {
                        for e in &mut symbol.index {
                            *e = e.substitute(&mut |v| {
                                Some(match only(v).filter(|_| gone(v)) {
                                    Some(value) => Expr::Const(value),
                                    None => Expr::Var(new_id(v)),
                                })
                            });
                        }
                    }
                }
            }
        }
        self.name_symbols();
    }

    /// Names the map's runtime variables after the symbols, and makes these names unique.
    pub fn name_symbols(&mut self) {
        if !self.map.is_mapped() {
            return;
        }
        let first = self.map.num_dims() + self.map.num_ranges();
        for nth in 0..self.symbols.len() {
            let id = first + nth;
            let taken =
                |name: &str| self.map.variables()[..id].iter().any(|v| v.name.as_deref() == Some(name));
            let mut name = self.symbols[nth].name.to_string();
            let mut more = 2;
            while taken(&name) {
                name = format!("{}_{more}", self.symbols[nth].name);
                more += 1;
            }
            self.map.rename(id, Some(&name));
            self.symbols[nth].name = Arc::from(name);
        }
    }
}
