//! Turns a gathered domain into a map over flat variable ids.

use indexing_map::{Expr, IndexingMap, Interval, SimplifyMode, Variable};
use mlir_ops::Operand;

use crate::access::{Access, Role, Symbol, SymbolSource};
use crate::map_builder::{MapBuilder, RANGES, SYMBOLS};

impl MapBuilder<'_> {
    /// The access of `operand` at `results`, in the gathered domain restricted by `more`.
    pub(crate) fn access(
        &self,
        operand: &Operand,
        role: Role,
        results: Vec<Expr>,
        more: Vec<(Expr, Interval)>,
    ) -> Access {
        // Symbols that decide whether the access happens at all.
        let mut decisive: Vec<u32> = Vec::new();
        self.guards
            .iter()
            .chain(&more)
            .for_each(|(e, _)| e.for_each_var(&mut |v| decisive.extend(v.checked_sub(SYMBOLS))));
        let mut finished = self.finish(results, more);
        let first = finished.map.num_dims() + finished.map.num_ranges();
        let is_decisive = |s: &Symbol| {
            decisive.iter().any(|&at| self.symbols.get(at as usize).is_some_and(|d| d.source == s.source))
        };
        let kept: Vec<usize> = (0..finished.symbols.len())
            .filter(|&at| is_decisive(&finished.symbols[at]))
            .map(|at| first + at)
            .collect();
        let mut map = std::mem::replace(&mut finished.map, IndexingMap::undefined());
        if !map.is_identity() {
            map = map.simplified(SimplifyMode::Replace);
        }
        let mut access = Access {
            operand: operand.name.clone(),
            value: operand.key(),
            role,
            map,
            symbols: finished.symbols,
            address: None,
            note: None,
        };
        access.remove_unused(&kept);
        access
    }

    /// The map as built, not simplified.
    pub(crate) fn finish(&self, results: Vec<Expr>, more: Vec<(Expr, Interval)>) -> Finished {
        let is_loop = |s: &Symbol| self.around && matches!(s.source, SymbolSource::Loop { .. });
        let loops: Vec<usize> = self
            .loops_by_place()
            .iter()
            .filter_map(|e| Some((e.as_var()? - SYMBOLS) as usize))
            .filter(|&at| is_loop(&self.symbols[at]))
            .collect();
        let rest: Vec<usize> = (0..self.symbols.len()).filter(|at| !loops.contains(at)).collect();
        let variable = |at: &usize| {
            let symbol = &self.symbols[*at];
            Variable { bounds: symbol.bounds, name: Some(symbol.name.clone()) }
        };
        let mut dims: Vec<Variable> = loops.iter().map(variable).collect();
        dims.extend(self.dims.iter().cloned());
        let runtime: Vec<Variable> = rest.iter().map(variable).collect();
        let (first_range, first_symbol) = (dims.len(), dims.len() + self.ranges.len());
        let renumber = |e: &Expr| {
            e.substitute(&mut |v| {
                if v == u32::MAX {
                    return None;
                }
                Some(Expr::var(if v >= SYMBOLS {
                    let at = (v - SYMBOLS) as usize;
                    match loops.iter().position(|&l| l == at) {
                        Some(nth) => nth,
                        None => first_symbol + rest.iter().position(|&r| r == at).unwrap_or(0),
                    }
                } else if v >= RANGES {
                    first_range + (v - RANGES) as usize
                } else {
                    loops.len() + v as usize
                }))
            })
        };
        let results = results.iter().map(renumber).collect();
        let mut map = IndexingMap::new(dims, self.ranges.clone(), runtime, results);
        for (expr, allowed) in self.constraints.iter().chain(&self.guards).chain(&more) {
            map.add_constraint(renumber(expr), *allowed);
        }
        let symbols = rest
            .iter()
            .map(|&at| {
                let symbol = &self.symbols[at];
                Symbol { index: symbol.index.iter().map(renumber).collect(), ..symbol.clone() }
            })
            .collect();
        Finished { map, symbols }
    }
}

/// A map with the sources of its runtime variables.
pub(crate) struct Finished {
    pub(crate) map: IndexingMap,
    pub(crate) symbols: Vec<Symbol>,
}
