//! Indices: constants, variables, and maps applied to variables.

use indexing_map::{Constraint, Expr, IndexingMap};
use ir::OpId;

use super::Printer;
use super::names::Names;
use crate::kernel::Condition;

impl<'k> Printer<'k> {
    pub(super) fn constant(&mut self, names: &mut Names<'k>, value: i64, origin: Option<OpId>) -> String {
        let expr = Expr::Const(value);
        if let Some(name) = names.indices.iter().rev().find_map(|known| known.get(&expr)) {
            return name.clone();
        }
        let name = names.fresh();
        self.line(origin, format!("{name} = arith.constant {value} : index"));
        if let Some(known) = names.indices.last_mut() {
            known.insert(expr, name.clone());
        }
        name
    }

    pub(super) fn indices(&mut self, names: &mut Names<'k>, at: &[Expr], origin: Option<OpId>) -> String {
        let all: Vec<String> = at.iter().map(|e| self.index(names, e, origin)).collect();
        all.join(", ")
    }

    /// An index as a value: a variable, a constant, or a map over the variables in it.
    pub(super) fn index(&mut self, names: &mut Names<'k>, expr: &Expr, origin: Option<OpId>) -> String {
        match expr {
            Expr::Const(value) => return self.constant(names, *value, origin),
            Expr::Var(var) => {
                let name = names.vars.get(*var as usize).cloned().flatten();
                return name.unwrap_or_else(|| "%undefined".to_owned());
            }
            Expr::Binary(_) => {}
        }
        if let Some(name) = names.indices.iter().rev().find_map(|known| known.get(expr)) {
            return name.clone();
        }
        let mut used: Vec<u32> = Vec::new();
        expr.for_each_var(&mut |v| {
            if !used.contains(&v) {
                used.push(v);
            }
        });
        used.sort_unstable();
        let of = |v: u32| used.iter().position(|&known| known == v).map(Expr::var);
        let result = expr.substitute(&mut |v| of(v));
        let vars = &names.function.index_vars;
        let dims = used.iter().map(|&v| indexing_map::Variable::from(vars[v as usize].bounds)).collect();
        let map = IndexingMap::new(dims, Vec::new(), Vec::new(), vec![result]);
        let map = self.map(&map);
        let args: Vec<String> =
            used.iter().map(|&v| names.vars[v as usize].clone().unwrap_or_default()).collect();
        let name = names.fresh();
        self.line(origin, format!("{name} = xla.apply_indexing {map}({})", args.join(", ")));
        if let Some(known) = names.indices.last_mut() {
            known.insert(expr.clone(), name.clone());
        }
        name
    }

    pub(super) fn condition(
        &mut self,
        names: &mut Names<'k>,
        condition: &Condition,
        origin: Option<OpId>,
    ) -> String {
        let constraints = match condition {
            Condition::Value(value) => return names.value(*value),
            Condition::Within(constraints) => constraints,
        };
        self.constraints(names, constraints, origin)
    }

    /// An `i1` that is true if all constraints hold.
    pub(super) fn constraints(
        &mut self,
        names: &mut Names<'k>,
        constraints: &[Constraint],
        origin: Option<OpId>,
    ) -> String {
        let mut all: Option<String> = None;
        for Constraint { expr, interval } in constraints {
            let index = self.index(names, expr, origin);
            for (predicate, bound) in [("sge", interval.lower), ("sle", interval.upper)] {
                if bound == i64::MIN || bound == i64::MAX {
                    continue;
                }
                let bound = self.constant(names, bound, origin);
                let test = names.fresh();
                self.line(origin, format!("{test} = arith.cmpi {predicate}, {index}, {bound} : index"));
                all = Some(match all {
                    None => test,
                    Some(before) => {
                        let both = names.fresh();
                        self.line(origin, format!("{both} = arith.andi {before}, {test} : i1"));
                        both
                    }
                });
            }
        }
        all.unwrap_or_else(|| {
            let name = names.fresh();
            self.line(origin, format!("{name} = arith.constant true"));
            name
        })
    }
}
