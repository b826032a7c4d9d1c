//! Properties of the variables of a map under construction: their loops, steps and names.

use indexing_map::{BinaryOp, Expr, Variable};

use crate::access::SymbolSource;
use crate::linalg_index::place_of_loop;
use crate::map_builder::{MapBuilder, RANGES, SYMBOLS};

impl MapBuilder<'_> {
    /// The variables of enclosing loops, outermost first.
    pub(crate) fn loops_by_place(&self) -> Vec<Expr> {
        let mut loops: Vec<((u32, usize), Expr)> = Vec::new();
        for (at, symbol) in self.symbols.iter().enumerate() {
            if let SymbolSource::Loop { value, .. } = symbol.source {
                let place = place_of_loop(self.source, value.0);
                loops.push((place, Expr::Var(SYMBOLS + at as u32)));
            }
        }
        loops.sort_by_key(|(place, _)| *place);
        loops.into_iter().map(|(_, variable)| variable).collect()
    }

    /// Whether the variable has a single value.
    pub(crate) fn is_single(&self, variable: &Expr) -> bool {
        let Some(v) = variable.as_var() else { return true };
        let bounds = match v {
            _ if v >= SYMBOLS => self.symbols.get((v - SYMBOLS) as usize).map(|s| s.bounds),
            _ if v >= RANGES => self.ranges.get((v - RANGES) as usize).map(|v| v.bounds),
            _ => self.dims.get(v as usize).map(|v| v.bounds),
        };
        bounds.is_none_or(|b| b.as_point().is_some())
    }

    /// The step of a loop variable.
    pub(crate) fn step_of(&self, variable: &Expr) -> i64 {
        let of = |e: &Expr| {
            let (distance, step) = e.as_op_const(BinaryOp::Mod)?;
            let uses = variable.as_var().is_some_and(|v| distance.uses_var(v));
            (uses && distance.node_count() <= 1).then_some(step)
        };
        self.constraints.iter().find_map(|(e, _)| of(e)).unwrap_or(1)
    }

    /// The name of a variable in the map.
    pub(crate) fn variable_name(&self, variable: &Expr) -> String {
        let Some(v) = variable.as_var() else { return String::new() };
        let named = |variable: Option<&Variable>, letter: char, at: u32| {
            variable.and_then(|v| v.name.as_deref()).map_or_else(|| format!("{letter}{at}"), str::to_owned)
        };
        match v {
            _ if v >= SYMBOLS => {
                self.symbols.get((v - SYMBOLS) as usize).map_or_else(String::new, |s| s.name.to_string())
            }
            _ if v >= RANGES => named(self.ranges.get((v - RANGES) as usize), 's', v - RANGES),
            _ => named(self.dims.get(v as usize), 'd', v),
        }
    }
}
