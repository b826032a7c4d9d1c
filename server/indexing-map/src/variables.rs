//! Changing the variables of a map: removing, rescaling, replacing, turning symbols into dimensions.

use smallvec::SmallVec;

use crate::expr::{BinaryOp, Expr};
use crate::interval::{Interval, ceil_div, floor_div};
use crate::map::{IndexingMap, Variable, VariableKind};

impl IndexingMap {
    /// Removes range and runtime variables that the results do not use, and the constraints in which only
    /// such variables occur. A variable that shares a constraint with a remaining one stays. Returns by old
    /// flat id what was removed, so that a list parallel to the runtime variables can be compacted
    /// ([`IndexingMap::removed_runtime`]). Rule: XLA `IndexingMap::RemoveUnusedSymbols`.
    pub fn remove_unused_symbols(&mut self) -> Vec<bool> {
        self.remove_unused(self.num_dims())
    }

    /// Like [`IndexingMap::remove_unused_symbols`], for dimensions too (XLA `RemoveUnusedVars`).
    pub fn remove_unused_vars(&mut self) -> Vec<bool> {
        self.remove_unused(0)
    }

    /// Returns the part of a removal's result that is about runtime variables. `before` is the number of
    /// dimensions and range variables before the removal.
    pub fn removed_runtime(removed: &[bool], before: usize) -> &[bool] {
        removed.get(before..).unwrap_or(&[])
    }

    fn remove_unused(&mut self, first: usize) -> Vec<bool> {
        let n = self.variables.len();
        let mut removed = vec![false; n];
        if !self.is_mapped() || first >= n {
            return removed;
        }
        let mut used = vec![false; n];
        used[..first].fill(true);
        let mark = |e: &Expr, used: &mut [bool]| e.for_each_var(&mut |v| used[v as usize] = true);
        for r in &self.results {
            mark(r, &mut used);
        }
        // A constraint on a remaining variable keeps its other variables, which may reach further
        // constraints. (XLA follows only one such step and may drop half of a chain.)
        loop {
            let before = used.iter().filter(|u| **u).count();
            for c in &self.constraints {
                let mut touches = false;
                c.expr.for_each_var(&mut |v| touches |= used[v as usize]);
                if touches {
                    mark(&c.expr, &mut used);
                }
            }
            if used.iter().filter(|u| **u).count() == before {
                break;
            }
        }
        for (r, u) in removed.iter_mut().zip(&used) {
            *r = !u;
        }
        if removed.iter().any(|&r| r) {
            self.constraints.retain(|c| {
                let mut keep = false;
                c.expr.for_each_var(&mut |v| keep |= used[v as usize]);
                keep
            });
            self.remove_variables(&removed);
        }
        removed
    }

    /// Returns the map without the variables from flat id `first` on that have a single value and occur
    /// nowhere, for display. The others keep their printed names.
    #[must_use]
    pub fn without_unit_variables(&self, first: usize) -> IndexingMap {
        let mut occurs = vec![false; self.variables.len()];
        let constrained = self.constraints.iter().map(|constraint| &constraint.expr);
        for expr in self.results.iter().chain(constrained) {
            expr.for_each_var(&mut |id| occurs[id as usize] = true);
        }
        let bounds = self.variables.iter().map(|variable| variable.bounds);
        let removed: Vec<bool> = bounds
            .enumerate()
            .map(|(id, bounds)| id >= first && !occurs[id] && bounds.lower == bounds.upper)
            .collect();
        let mut map = self.clone();
        for id in (0..removed.len()).filter(|&id| !removed[id] && self.variables[id].name.is_none()) {
            let name = match self.kind(id) {
                (VariableKind::Dimension, i) => format!("d{i}"),
                (VariableKind::Range, i) => format!("s{i}"),
                (VariableKind::Runtime, i) => format!("rt{i}"),
            };
            map.rename(id, Some(&name));
        }
        map.remove_variables(&removed);
        map
    }

    /// Removes the marked variables (by flat id) and renumbers the others. A marked variable that still
    /// occurs makes the map undefined.
    pub fn remove_variables(&mut self, removed: &[bool]) {
        let gone = |id: usize| removed.get(id).copied().unwrap_or(false);
        let mut new_ids: SmallVec<[u32; 16]> = SmallVec::with_capacity(self.variables.len());
        let mut next = 0;
        for id in 0..self.variables.len() {
            new_ids.push(if gone(id) { u32::MAX } else { next });
            next += u32::from(!gone(id));
        }
        if next as usize == self.variables.len() {
            return;
        }
        let (dims, symbols) = (self.num_dims(), self.num_dims() + self.num_ranges());
        self.num_dims -= (0..dims).filter(|&id| gone(id)).count() as u32;
        self.num_ranges -= (dims..symbols).filter(|&id| gone(id)).count() as u32;
        let mut id = 0;
        self.variables.retain(|_| {
            id += 1;
            !gone(id - 1)
        });
        self.renumber(|v| new_ids[v as usize]);
    }

    /// Applies a renumbering to results and constraints; `u32::MAX` marks a variable that must not occur.
    fn renumber(&mut self, new_id: impl Fn(u32) -> u32) {
        let mut f = |v| Some(Expr::Var(new_id(v))).filter(|e| *e != Expr::Var(v));
        for e in self.results.iter_mut().chain(self.constraints.iter_mut().map(|c| &mut c.expr)) {
            *e = e.substitute(&mut f);
        }
        if self.results.iter().chain(self.constraints.iter().map(|c| &c.expr)).any(Expr::is_too_large) {
            self.set_undefined();
        }
    }

    /// Replaces a variable (by flat id) with an expression over the same variables, in results and
    /// constraints. The variable stays declared; the expression is *not* constrained to its bounds. Used to
    /// fold a runtime variable whose source is known (XLA `OptimizeRTVar`); call
    /// [`IndexingMap::remove_unused_symbols`] afterwards.
    pub fn replace_variable(&mut self, id: usize, replacement: &Expr) {
        if !self.is_mapped() {
            return;
        }
        let mut f = |v| (v as usize == id).then(|| replacement.clone());
        let results = self.results.iter().map(|r| r.substitute(&mut f)).collect();
        let constraints = std::mem::take(&mut self.constraints);
        let mut map = self.with_results(results);
        for c in constraints {
            map.add_constraint(c.expr.substitute(&mut f), c.interval);
        }
        *self = map;
    }

    /// Like [`IndexingMap::replace_variable`], for runtime variable `i`.
    pub fn replace_runtime(&mut self, i: usize, replacement: &Expr) {
        self.replace_variable(self.num_dims() + self.num_ranges() + i, replacement);
    }

    /// For each range variable with a constraint `s mod c in [r, r]`, replaces `s` by `s * c + r`, divides
    /// the bounds and drops the constraint. Constraints with equal residue on one variable are merged first;
    /// if two cannot be merged, the first is used. Returns whether anything changed; simplify afterwards.
    /// Rule: XLA `IndexingMap::RescaleSymbols`.
    pub fn rescale_symbols(&mut self) -> bool {
        if !self.is_mapped() {
            return false;
        }
        self.merge_mod_constraints(false);
        let mut changed = false;
        let symbols = self.num_dims()..self.num_dims() + self.num_ranges();
        for id in symbols {
            let found = self.constraints.iter().position(|c| {
                c.interval.as_point().is_some_and(|r| r >= 0)
                    && c.expr
                        .as_op_const(BinaryOp::Mod)
                        .is_some_and(|(x, m)| m > 0 && *x == Expr::var(id) && c.interval.lower < m)
            });
            let Some(at) = found else { continue };
            let (c, r) = match (
                self.constraints[at].expr.as_op_const(BinaryOp::Mod),
                self.constraints[at].interval.as_point(),
            ) {
                (Some((_, c)), Some(r)) => (c, r),
                _ => continue,
            };
            let bounds = self.variables[id].bounds;
            let (Some(lower), Some(upper)) = (
                bounds.lower.checked_sub(r).and_then(|l| ceil_div(l, c)),
                bounds.upper.checked_sub(r).and_then(|u| floor_div(u, c)),
            ) else {
                continue;
            };
            changed = true;
            self.constraints.remove(at);
            self.replace_variable(id, &(Expr::var(id) * c + r));
            if !self.is_mapped() {
                break;
            }
            self.variables[id].bounds = Interval::new(lower, upper);
            if lower > upper {
                self.set_known_empty();
                break;
            }
        }
        changed
    }

    /// Turns the range variables at these positions (ascending) into dimensions after the existing ones, with
    /// their names (XLA `ConvertRangeVariablesToDimensions`).
    #[must_use]
    pub fn ranges_to_dims(&self, positions: &[usize]) -> IndexingMap {
        if self.is_undefined() {
            return self.clone();
        }
        let (dims, ranges) = (self.num_dims(), self.num_ranges());
        let moved = |id: usize| id >= dims && id < dims + ranges && positions.contains(&(id - dims));
        let mut order: Vec<usize> = (0..dims).collect();
        order.extend((0..self.variables.len()).filter(|&id| moved(id)));
        let num_dims = order.len() as u32;
        order.extend((dims..self.variables.len()).filter(|&id| !moved(id)));
        self.reordered(&order, num_dims, self.num_dims + self.num_ranges - num_dims)
    }

    /// Turns every range and runtime variable into a dimension (XLA `ConvertSymbolsToDimensions`).
    #[must_use]
    pub fn symbols_to_dims(&self) -> IndexingMap {
        let order: Vec<usize> = (0..self.variables.len()).collect();
        self.reordered(&order, order.len() as u32, 0)
    }

    fn reordered(&self, order: &[usize], num_dims: u32, num_ranges: u32) -> IndexingMap {
        let mut map = self.clone();
        let mut new_ids = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            new_ids[old] = new as u32;
        }
        map.variables = order.iter().map(|&old| self.variables[old].clone()).collect();
        map.num_dims = num_dims;
        map.num_ranges = num_ranges;
        map.renumber(|v| new_ids[v as usize]);
        map
    }

    /// Appends a range variable and returns its expression.
    pub fn add_range(&mut self, variable: Variable) -> Expr {
        let id = self.num_dims + self.num_ranges;
        self.num_ranges += 1;
        let empty = variable.bounds.is_empty();
        self.renumber(|v| if v >= id { v + 1 } else { v });
        self.variables.insert(id as usize, variable);
        if empty {
            self.set_known_empty();
        }
        Expr::Var(id)
    }
}

#[cfg(test)]
mod tests {
    use crate::text::parse_map;

    #[track_caller]
    fn check(map: &str, op: impl Fn(&mut crate::IndexingMap), expect: &str) {
        let mut m = parse_map(map).unwrap();
        op(&mut m);
        assert_eq!(m.to_string(), expect);
    }

    #[test]
    fn unused_symbols_go_with_their_constraints() {
        check(
            "(d0, d1)[s0, s1] -> (d0, d1, s1), domain: d0 in [0, 49], d1 in [0, 59], s0 in [0, 69], s1 in [0, 19], s0 mod 3 in [0, 0]",
            |m| assert_eq!(m.remove_unused_symbols(), [false, false, true, false]),
            "(d0, d1)[s0] -> (d0, d1, s0), domain: d0 in [0, 49], d1 in [0, 59], s0 in [0, 19]",
        );
    }

    #[test]
    fn variables_of_one_value_are_not_shown() {
        check(
            "(d0, d1, d2)[s0, s1]{rt0, rt1} -> (d2, s1 + rt1), domain: d0 in [0, 0], d1 in [4, 4], d2 in [0, 9], s0 in [1, 1], s1 in [0, 0], \
             rt0 in [0, 5], rt1 in [0, 3]",
            |m| *m = m.without_unit_variables(1),
            "(d0, d2)[s1]{rt0, rt1} -> (d2, s1 + rt1), domain: d0 in [0, 0], d2 in [0, 9], s1 in [0, 0], rt0 in [0, 5], rt1 in [0, 3]",
        );
    }

    #[test]
    fn removed_variables_leave_the_others_in_order() {
        let text = "(d0, d1, d2)[s0, s1, s2]{rt0, rt1} -> (d0, d2, s1, rt1), domain: d0 in [0, 1], d1 in [0, 2], d2 in [0, 3], s0 in [0, 4], \
                    s1 in [0, 5], s2 in [0, 6], rt0 in [0, 7], rt1 in [0, 8], d2 + s1 in [0, 6]";
        check(
            text,
            |m| m.remove_variables(&[false, true, false, true, false, true, true]),
            "(d0, d1)[s0]{rt0} -> (d0, d1, s0, rt0), domain: d0 in [0, 1], d1 in [0, 3], s0 in [0, 5], rt0 in [0, 8], d1 + s0 in [0, 6]",
        );
        check(text, |m| m.remove_variables(&[true]), "unknown indexing");
        check(text, |m| m.remove_variables(&[false; 8]), text);
        check(
            text,
            |m| *m = m.symbols_to_dims(),
            "(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d2, d4, d7), domain: d0 in [0, 1], d1 in [0, 2], d2 in [0, 3], d3 in [0, 4], \
             d4 in [0, 5], d5 in [0, 6], d6 in [0, 7], d7 in [0, 8], d2 + d4 in [0, 6]",
        );
    }

    #[test]
    fn an_added_range_comes_before_the_runtime_variables() {
        check(
            "(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 1], s0 in [0, 2], rt0 in [0, 3], d0 + rt0 in [0, 3]",
            |m| assert_eq!(m.add_range(crate::Variable::new(0, 5)), crate::Expr::var(2)),
            "(d0)[s0, s1]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 1], s0 in [0, 2], s1 in [0, 5], rt0 in [0, 3], d0 + rt0 in [0, 3]",
        );
    }

    #[test]
    fn constrained_symbols_stay() {
        let text = "(d0, d1)[s0, s1] -> (d1, s1), domain: d0 in [0, 49], d1 in [0, 59], s0 in [0, 69], s1 in [0, 19], d1 + s0 in [1, 100]";
        check(text, |m| _ = m.remove_unused_symbols(), text);
    }

    #[test]
    fn symbols_are_rescaled() {
        check(
            "(d0)[s0, s1] -> (d0, s0), domain: d0 in [0, 3], s0 in [0, 9], s1 in [0, 5], s0 * s1 in [0, 28], s0 mod 6 in [3, 3]",
            |m| assert!(m.rescale_symbols()),
            "(d0)[s0, s1] -> (d0, s0 * 6 + 3), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 5], (s0 * 6 + 3) * s1 in [0, 28]",
        );
    }

    #[test]
    fn ranges_become_dimensions() {
        check(
            "(d0)[a, b, c]{rt0} -> (d0, b + c + rt0, a), domain: d0 in [0, 3], a in [0, 2], b in [0, 1], c in [0, 3], rt0 in [0, 0]",
            |m| *m = m.ranges_to_dims(&[0, 2]),
            "(d0, a, c)[b]{rt0} -> (d0, b + c + rt0, a), domain: d0 in [0, 3], a in [0, 2], c in [0, 3], b in [0, 1], rt0 in [0, 0]",
        );
    }

    #[test]
    fn runtime_variables_are_replaced() {
        check(
            "(d0){rt0, rt1} -> (d0 + rt0, rt1), domain: d0 in [0, 3], rt0 in [0, 9], rt1 in [0, 1], d0 + rt0 in [0, 7]",
            |m| {
                m.replace_runtime(0, &crate::Expr::Const(2));
                m.remove_unused_symbols();
            },
            "(d0){rt0} -> (d0 + 2, rt0), domain: d0 in [0, 3], rt0 in [0, 1], d0 + 2 in [0, 7]",
        );
    }
}
