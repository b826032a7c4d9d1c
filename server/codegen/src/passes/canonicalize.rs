//! Canonicalize: removes known conditions, loops of one iteration, and unused results.

use indexing_map::{Constraint, Expr, RangeContext};
use rustc_hash::FxHashSet;

use super::ops::{Names, each_body, indices, is_removable, operands, regions, regions_mut};
use crate::kernel::{Condition, Function, Kernel, Op, OpKind, Region, ValueId};

pub(super) fn run(kernel: &mut Kernel) {
    each_body(kernel, |_, function, body| {
        Folding { function, names: Names::default(), facts: Vec::new() }.region(body);
        Used::default().region(body);
    });
}

struct Folding<'f> {
    function: &'f Function,
    names: Names,
    /// The conditions of the enclosing branches.
    facts: Vec<Constraint>,
}

enum Known {
    Holds,
    Fails,
    Open,
}

impl Folding<'_> {
    fn region(&mut self, region: &mut Region) {
        for op in std::mem::take(&mut region.ops) {
            self.op(op, &mut region.ops);
        }
        self.names.apply_yields(region);
    }

    fn op(&mut self, mut op: Op, ops: &mut Vec<Op>) {
        self.names.apply(&mut op.kind);
        match &mut op.kind {
            OpKind::For { var, count, inits, body } if *count <= 1 => {
                if *count < 1 {
                    return self.names.give(&op.results, inits);
                }
                self.names.give(&body.args, inits);
                self.names.vars.insert(*var, Expr::ZERO);
                self.splice(body, &op.results, ops);
            }
            OpKind::If { condition: Condition::Within(constraints), then, otherwise } => {
                match self.decide(constraints) {
                    Known::Holds => self.splice(then, &op.results, ops),
                    Known::Fails => self.splice(otherwise, &op.results, ops),
                    Known::Open => {
                        let before = self.facts.len();
                        self.facts.extend(constraints.iter().cloned());
                        self.region(then);
                        self.facts.truncate(before);
                        self.region(otherwise);
                        ops.push(op);
                    }
                }
            }
            OpKind::ReadIf { tensor, at, constraints, otherwise } => match self.decide(constraints) {
                Known::Holds => {
                    op.kind = OpKind::Read { tensor: *tensor, at: std::mem::take(at) };
                    ops.push(op);
                }
                Known::Fails => self.names.give(&op.results, &[*otherwise]),
                Known::Open => ops.push(op),
            },
            OpKind::WriteIf { value, tensor, at, constraints } => match self.decide(constraints) {
                Known::Holds => {
                    op.kind = OpKind::Write { value: *value, tensor: *tensor, at: std::mem::take(at) };
                    ops.push(op);
                }
                Known::Fails => self.names.give(&op.results, &[*tensor]),
                Known::Open => ops.push(op),
            },
            kind => {
                regions_mut(kind).into_iter().for_each(|inner| self.region(inner));
                ops.push(op);
            }
        }
    }

    /// Replaces an op by the ops of its region.
    fn splice(&mut self, region: &mut Region, results: &[ValueId], ops: &mut Vec<Op>) {
        for op in std::mem::take(&mut region.ops) {
            self.op(op, ops);
        }
        self.names.give(results, &region.yields);
    }

    /// Drops constraints that are known to hold.
    fn decide(&self, constraints: &mut Vec<Constraint>) -> Known {
        let ranges = RangeContext::new(&self.function.index_vars, &self.facts);
        if constraints.iter().any(|c| ranges.range(&c.expr).intersect(c.interval).is_empty()) {
            return Known::Fails;
        }
        constraints.retain(|c| !c.interval.contains_interval(ranges.range(&c.expr)));
        if constraints.is_empty() { Known::Holds } else { Known::Open }
    }
}

/// Values and variables used after the current op; the pass runs backwards.
#[derive(Default)]
struct Used {
    values: FxHashSet<ValueId>,
    vars: FxHashSet<u32>,
}

impl Used {
    fn region(&mut self, region: &mut Region) {
        self.values.extend(&region.yields);
        let mut kept = Vec::with_capacity(region.ops.len());
        for mut op in std::mem::take(&mut region.ops).into_iter().rev() {
            let is_index = match op.kind {
                OpKind::ToIndex { var, .. } | OpKind::AsIndex { var, .. } => self.vars.contains(&var),
                _ => false,
            };
            let is_used = is_index || op.results.iter().any(|result| self.values.contains(result));
            if !is_used && is_removable(&op) {
                continue;
            }
            regions_mut(&mut op.kind).into_iter().for_each(|inner| self.region(inner));
            self.uses(&op);
            kept.push(op);
        }
        kept.reverse();
        region.ops = kept;
    }

    fn uses(&mut self, op: &Op) {
        operands(&op.kind, &mut |value| {
            self.values.insert(*value);
        });
        indices(&op.kind, &mut |expr| {
            expr.for_each_var(&mut |var| {
                self.vars.insert(var);
            });
        });
        debug_assert!(regions(&op.kind).iter().all(|r| r.yields.iter().all(|y| self.values.contains(y))));
    }
}
