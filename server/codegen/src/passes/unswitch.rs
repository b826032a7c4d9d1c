//! Moves loop-invariant conditions out of loops. Source:
//! `codegen/emitters/transforms/unswitch_loops.cc`.

use indexing_map::Constraint;
use rustc_hash::FxHashSet;

use super::copy::like;
use super::ops::{defined_mut, each_body, regions_mut};
use crate::kernel::{Condition, Function, Kernel, Op, OpKind, Region};

pub(super) fn run(kernel: &mut Kernel) {
    each_body(kernel, |_, function, body| region(function, body));
}

fn region(function: &mut Function, of: &mut Region) {
    for mut op in std::mem::take(&mut of.ops) {
        regions_mut(&mut op.kind).into_iter().for_each(|inner| region(function, inner));
        of.ops.push(unswitched(function, op));
    }
}

/// Wraps the loop in a branch if its body is only a branch that carries its arguments unchanged if the
/// condition does not hold.
fn unswitched(function: &mut Function, mut op: Op) -> Op {
    let Some(outer) = invariant(&mut op) else { return op };
    let OpKind::For { inits, body, .. } = &mut op.kind else { return op };
    if let [Op { kind: OpKind::If { condition: Condition::Within(rest), then, .. }, .. }] =
        body.ops.as_mut_slice()
        && rest.is_empty()
    {
        let then = std::mem::take(then);
        *body = Region { args: std::mem::take(&mut body.args), ..then };
    }
    let otherwise = Region { yields: inits.clone(), ..Region::default() };
    let results = like(function, &op.results);
    let results = std::mem::replace(&mut op.results, results);
    let origin = op.origin;
    let then = Region { yields: op.results.clone(), ops: vec![op], ..Region::default() };
    Op { results, kind: OpKind::If { condition: Condition::Within(outer), then, otherwise }, origin }
}

/// Removes and returns the loop-invariant constraints of the branch in a loop.
fn invariant(op: &mut Op) -> Option<Vec<Constraint>> {
    let mut vars: FxHashSet<u32> = defined_mut(&mut op.kind).into_iter().map(|var| *var).collect();
    let OpKind::For { body, .. } = &mut op.kind else { return None };
    let Region { args, ops, yields } = body;
    let [Op { results, kind, .. }] = ops.as_mut_slice() else { return None };
    vars.extend(defined_mut(kind).into_iter().map(|var| *var));
    let OpKind::If { condition: Condition::Within(constraints), otherwise, .. } = kind else { return None };
    if results != yields || !otherwise.ops.is_empty() || otherwise.yields != *args {
        return None;
    }
    let is_inner = |c: &Constraint| {
        let mut uses = false;
        c.expr.for_each_var(&mut |var| uses |= vars.contains(&var));
        uses
    };
    let (inner, outer): (Vec<_>, Vec<_>) = constraints.drain(..).partition(is_inner);
    *constraints = inner;
    (!outer.is_empty()).then_some(outer)
}
