//! Unrolls loops. Source:
//! `codegen/emitters/transforms/optimize_loops.cc`.

use indexing_map::{Expr, Variable};
use rustc_hash::FxHashMap;

use super::copy::Copier;
use super::ops::{Names, count, each_body, indices, regions, regions_mut};
use crate::kernel::{Function, Kernel, Op, OpKind, Region, ValueId};
use crate::ptx::{is_expensive, partial_unroll};

/// The maximum size of an unrolled iteration. Source: `kMaxSize`.
const MAX_SIZE: i64 = 400;
/// The size of an approximated function.
const EXPENSIVE: i64 = 20;
/// The maximum number of ops of a function in which loops are unrolled.
const MAX_OPS: usize = 50_000;

pub(super) fn run(kernel: &mut Kernel) {
    each_body(kernel, |_, function, body| {
        let size = count(body);
        Unrolling { function, names: Names::default(), size }.region(body);
    });
}

struct Unrolling<'f> {
    function: &'f mut Function,
    names: Names,
    size: usize,
}

impl Unrolling<'_> {
    fn region(&mut self, region: &mut Region) {
        for mut op in std::mem::take(&mut region.ops) {
            self.names.apply(&mut op.kind);
            // Outer loops contain a loop, so they are not unrolled, even if the inner one is.
            let rounds = rounds_at_once(&op);
            regions_mut(&mut op.kind).into_iter().for_each(|inner| self.region(inner));
            let OpKind::For { var, count: rounds_in_all, inits, body } = &mut op.kind else {
                region.ops.push(op);
                continue;
            };
            let grown = self
                .size
                .saturating_add(count(body).saturating_mul(usize::try_from(rounds).unwrap_or(usize::MAX)));
            if rounds < 2 || grown > MAX_OPS {
                region.ops.push(op);
                continue;
            }
            self.size = grown;
            if rounds == *rounds_in_all {
                let carried = self.rounds(body, *var, None, rounds, inits.clone(), &mut region.ops);
                self.names.give(&op.results, &carried);
                continue;
            }
            self.function.index_vars.push(Variable::from_size(*rounds_in_all / rounds));
            let turn = self.function.index_vars.len() - 1;
            let mut ops = Vec::new();
            let start = Expr::var(turn) * rounds;
            let yields = self.rounds(body, *var, Some(start), rounds, body.args.clone(), &mut ops);
            let args = std::mem::take(&mut body.args);
            *body = Region { args, ops, yields };
            (*var, *rounds_in_all) = (turn as u32, *rounds_in_all / rounds);
            region.ops.push(op);
        }
        self.names.apply_yields(region);
    }

    /// Appends iterations of a loop; returns the values that the last one yields.
    fn rounds(
        &mut self,
        body: &Region,
        var: u32,
        start: Option<Expr>,
        rounds: i64,
        mut carried: Vec<ValueId>,
        ops: &mut Vec<Op>,
    ) -> Vec<ValueId> {
        for round in 0..rounds {
            let mut copier = Copier::within(self.function);
            let at = match &start {
                Some(start) => start.clone() + round,
                None => Expr::Const(round),
            };
            copier.names.values = body.args.iter().copied().zip(carried.iter().copied()).collect();
            copier.names.vars = FxHashMap::from_iter([(var, at)]);
            ops.extend(copier.ops(&body.ops));
            carried = copier.values(&body.yields);
        }
        carried
    }
}

/// The number of iterations that become one; 1 if the loop is not unrolled.
fn rounds_at_once(op: &Op) -> i64 {
    let OpKind::For { count, body, .. } = &op.kind else { return 1 };
    match size(body) {
        Some(size) if size <= MAX_SIZE => partial_unroll(*count, size),
        _ => 1,
    }
}

/// The size of a loop body in ops; `None` if it contains an op that prevents unrolling.
fn size(body: &Region) -> Option<i64> {
    // Counts the yield.
    let mut sum = 1i64;
    for op in &body.ops {
        let mut own = match op.kind {
            OpKind::For { .. } | OpKind::Loop { .. } | OpKind::Sync { .. } => return None,
            OpKind::Compute { opcode, .. } if is_expensive(opcode) => EXPENSIVE,
            _ => 1,
        };
        indices(&op.kind, &mut |expr| own += i64::from(expr.as_binary().is_some()));
        for region in regions(&op.kind) {
            own = own.checked_add(size(region)?)?;
        }
        sum = sum.checked_add(own)?;
    }
    Some(sum)
}
