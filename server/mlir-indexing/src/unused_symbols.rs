//! Variables that a map does not need, and names that tell the others apart.

use std::sync::Arc;

use indexing_map::{Expr, IndexingMap};

use crate::access::Access;

impl Access {
    /// Drops variables that the map does not use, and makes the names of the others unlike each other.
    pub(crate) fn remove_unused(&mut self) {
        let before = self.map.num_dims() + self.map.num_ranges();
        let removed = self.map.remove_unused_symbols();
        if removed.iter().any(|&r| r) {
            let gone = |v: u32| removed.get(v as usize).copied().unwrap_or(false);
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
                    e.for_each_var(&mut |v| lost |= gone(v));
                    lost
                });
                match is_lost {
                    true => symbol.index.clear(),
                    false => {
                        for e in &mut symbol.index {
                            *e = e.substitute(&mut |v| Some(Expr::Var(new_id(v))));
                        }
                    }
                }
            }
        }
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
