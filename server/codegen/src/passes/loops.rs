//! Lowers `xla.loop` to nested loops, with a branch for the constraints of its map. Source:
//! `codegen/emitters/transforms/lower_xla_loops_to_scf.cc`.

use indexing_map::{Constraint, Expr, RangeContext, Simplifier, SimplifyMode, Variable};

use super::copy::like;
use super::ops::{Names, each_body, regions_mut};
use crate::kernel::{Condition, Function, Kernel, Op, OpKind, Region, ValueId};

pub(super) fn run(kernel: &mut Kernel) {
    each_body(kernel, |_, function, body| Lowering { function, names: Names::default() }.region(body));
}

struct Lowering<'f> {
    function: &'f mut Function,
    names: Names,
}

impl Lowering<'_> {
    fn region(&mut self, region: &mut Region) {
        for mut op in std::mem::take(&mut region.ops) {
            self.names.apply(&mut op.kind);
            if !self.names.vars.is_empty() {
                self.simplify(&mut op.kind);
            }
            match op.kind {
                OpKind::Loop { .. } => self.nest(op, &mut region.ops),
                _ => {
                    regions_mut(&mut op.kind).into_iter().for_each(|inner| self.region(inner));
                    region.ops.push(op);
                }
            }
        }
        self.names.apply_yields(region);
    }

    fn nest(&mut self, op: Op, ops: &mut Vec<Op>) {
        let OpKind::Loop { map, dims, vars, results, inits, mut body } = op.kind else { return };
        let origin = op.origin;
        let counts: Option<Vec<i64>> =
            map.ranges().iter().map(|v| i64::try_from(v.bounds.size()).ok()).collect();
        let Some(counts) = counts.filter(|_| map.is_mapped()) else {
            // Zero iterations: the results are the initial values.
            return self.names.give(&op.results, &inits);
        };
        let mut place = dims.clone();
        let mut counters = Vec::new();
        for (range, &count) in map.ranges().iter().zip(&counts) {
            self.function.index_vars.push(Variable::from_size(count));
            let counter = self.function.index_vars.len() - 1;
            counters.push(counter as u32);
            place.push(Expr::var(counter) + range.bounds.lower);
        }
        let here = |expr: &Expr| expr.substitute(&mut |v| place.get(v as usize).cloned());
        for (&var, expr) in vars.iter().zip(&place[dims.len()..]) {
            self.names.vars.insert(var, expr.clone());
        }
        for (&var, expr) in results.iter().zip(map.results()) {
            let expr = self.simplified(&here(expr));
            self.names.vars.insert(var, expr);
        }
        let bounds = dims.iter().zip(map.dims()).map(|(dim, variable)| (dim.clone(), variable.bounds));
        let explicit = map.constraints().iter().map(|c| (here(&c.expr), c.interval));
        let asked: Vec<Constraint> = explicit
            .chain(bounds)
            .map(|(expr, interval)| Constraint { expr: self.simplified(&expr), interval })
            .collect();
        let ranges = RangeContext::new(&self.function.index_vars, &[]);
        let is_open = |c: &Constraint| !c.interval.contains_interval(ranges.range(&c.expr));
        let asked: Vec<Constraint> = asked.into_iter().filter(is_open).collect();
        // The values that each loop carries, outermost first; those of the innermost one are the arguments of
        // the body.
        let carried: Vec<Vec<ValueId>> = (0..counters.len())
            .map(|n| if n + 1 == counters.len() { body.args.clone() } else { like(self.function, &inits) })
            .collect();
        if counters.is_empty() {
            self.names.give(&body.args, &inits);
        }
        self.region(&mut body);
        let innermost = carried.last().unwrap_or(&inits).clone();
        let (mut inner, mut yields) = (body.ops, body.yields);
        if !asked.is_empty() {
            let outcome = like(self.function, &inits);
            let then = Region { args: Vec::new(), ops: inner, yields };
            let otherwise = Region { yields: innermost, ..Region::default() };
            let kind = OpKind::If { condition: Condition::Within(asked), then, otherwise };
            inner = vec![Op { results: outcome.clone(), kind, origin }];
            yields = outcome;
        }
        for n in (0..counters.len()).rev() {
            let inits = if n == 0 { inits.clone() } else { carried[n - 1].clone() };
            let outcome = like(self.function, &inits);
            let body = Region { args: carried[n].clone(), ops: inner, yields };
            let kind = OpKind::For { var: counters[n], count: counts[n], inits, body };
            inner = vec![Op { results: outcome.clone(), kind, origin }];
            yields = outcome;
        }
        self.names.give(&op.results, &yields);
        ops.extend(inner);
    }

    fn simplified(&self, expr: &Expr) -> Expr {
        let ranges = RangeContext::new(&self.function.index_vars, &[]);
        Simplifier::new(ranges, SimplifyMode::Replace).simplify(expr)
    }

    fn simplify(&self, kind: &mut OpKind) {
        super::ops::indices_mut(kind, &mut |expr| *expr = self.simplified(expr));
    }
}
