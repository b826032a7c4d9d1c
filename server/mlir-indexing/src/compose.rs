//! Composition of two accesses: from an op's elements to the operands of its operand.

use indexing_map::{Expr, SimplifyMode};

use crate::access::{Access, Role, Symbol, SymbolSource};

/// The largest number of operators in a map. A larger map is unreadable.
const MAX_NODES: usize = 2000;

impl Access {
    /// The access of `inner`'s operand for the space of `self`, where `inner` is an access of the op that
    /// computes the operand of `self`. `None` if there is none, or if its map is too large.
    pub fn compose(&self, inner: &Access) -> Option<Access> {
        if self.role != Role::Read || inner.role != Role::Read {
            return None;
        }
        let (first, second) = (&self.map, &inner.map);
        if first.is_undefined() || second.is_undefined() || first.results().len() != second.num_dims() {
            return None;
        }
        // Two symbols may have the same source.
        let may_unify = self.symbols.len() + inner.symbols.len() > 1;
        let moved = if may_unify { None } else { first.compose_moves(second) };
        let (mut map, is_simplified) = match moved {
            Some(map) => (map, true),
            None => (first.compose(second), false),
        };
        if map.is_undefined() || map.node_count() > MAX_NODES {
            return None;
        }
        let mut symbols = Vec::new();
        for symbol in &inner.symbols {
            let index = match symbol.index.is_empty() {
                true => Vec::new(),
                false => first.compose(&second.with_results(symbol.index.clone())).results().to_vec(),
            };
            symbols.push(Symbol { index, ..symbol.clone() });
        }
        let (dims, ranges) = (first.num_dims() as u32, first.num_ranges() as u32);
        let (by_ranges, by_runtime) = (second.num_ranges() as u32, second.num_runtime() as u32);
        let moved = |e: &Expr| {
            e.substitute(&mut |v| match v {
                _ if v < dims => None,
                _ if v < dims + ranges => Some(Expr::Var(v + by_ranges)),
                _ => Some(Expr::Var(v + by_ranges + by_runtime)),
            })
        };
        for symbol in &self.symbols {
            symbols.push(Symbol { index: symbol.index.iter().map(moved).collect(), ..symbol.clone() });
        }
        if map.is_known_empty() {
            symbols.clear();
        } else if !is_simplified {
            unify(&mut map, &mut symbols);
            map = map.simplified(SimplifyMode::Replace);
        }
        let notes: Vec<&str> = self.note.iter().chain(&inner.note).map(String::as_str).collect();
        let mut composed = Access {
            operand: inner.operand.clone(),
            value: inner.value,
            role: Role::Read,
            map,
            symbols,
            address: None,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        };
        composed.remove_unused(&[]);
        Some(composed)
    }
}

/// Merges symbols with the same source.
pub(crate) fn unify(map: &mut indexing_map::IndexingMap, symbols: &mut [Symbol]) {
    let first = map.num_dims() + map.num_ranges();
    for later in 1..symbols.len() {
        let same = |a: &Symbol, b: &Symbol| {
            a.source == b.source && (a.index == b.index || !matches!(a.source, SymbolSource::Element { .. }))
        };
        let Some(earlier) = (0..later).find(|&e| same(&symbols[e], &symbols[later])) else { continue };
        // The later symbol is now unused and is removed with the other unused ones.
        let variable = Expr::var(first + earlier);
        map.replace_variable(first + later, &variable);
        map.add_constraint(variable, symbols[later].bounds);
        if !map.is_mapped() {
            return;
        }
    }
}
