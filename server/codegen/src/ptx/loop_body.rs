//! The size of an iteration of a loop within an element, and the unroll factors that follow: first XLA's,
//! then LLVM's.

use indexing_map::Expr;
use rustc_hash::FxHashSet;

use super::unrolling::{full_unroll, is_expensive, partial_unroll};
use crate::kernel::{Condition, Function, Kernel, Op, OpKind, Region, Type, ValueId};

/// The size of an approximated function in XLA's pass. Source: `optimize_loops.cc`.
const EXPENSIVE: i64 = 20;
/// The approximate number of its instructions in LLVM: those of `exp`.
const EXPENSIVE_IN_LLVM: i64 = 13;
/// The instructions of a read: the index, the address, the load.
const READ_IN_LLVM: i64 = 3;
/// The maximum number of instructions for full unrolling by LLVM. Source:
/// `NVPTXTTIImpl::getUnrollingPreferences` on LLVM's default.
const FULL: i64 = 300;
/// The maximum number of instructions for partial unrolling by LLVM: a quarter of that.
const PARTIAL: i64 = 75;
/// Branch and comparison, once per iteration of the unrolled loop.
const TURN: i64 = 2;
/// LLVM's maximum unroll factor if it does not divide the number of iterations. Source:
/// `DefaultUnrollRuntimeCount` of `LoopUnrollPass.cpp`.
const MAX_UNEVEN: i64 = 8;
/// The maximum depth of nested functions that are counted.
const MAX_DEPTH: u32 = 8;

/// The maximum number of iterations of outer loops for full unrolling. Source: `MaxUnrollFactor` of
/// `gpu_fusible.cc`.
const MAX_OUTER: i64 = 4;

/// The size of an iteration. Loop-invariant ops are hoisted and do not count.
pub(super) struct LoopBody {
    /// The number of ops when XLA's pass runs; `None` if the body contains a loop that is not unrolled,
    /// because XLA does not unroll loops around such a loop.
    ops: Option<i64>,
    /// Whether it contained a loop.
    is_outer: bool,
    /// The approximate number of instructions when LLVM's pass runs.
    instructions: i64,
}

impl LoopBody {
    /// Counts the body of a loop with the counter `var`.
    pub fn of(function: &Function, body: &Region, var: u32, kernel: &Kernel) -> LoopBody {
        let mut counted = Counted { kernel, ops: 0, instructions: 0, is_outer: false, holds_loop: false };
        counted.round(function, body, var, &mut Varying::default(), 0);
        LoopBody {
            ops: (!counted.holds_loop).then_some(counted.ops),
            is_outer: counted.is_outer,
            instructions: counted.instructions,
        }
    }

    /// XLA's unroll factor for a loop of `count` iterations.
    fn factor_of_xla(&self, count: i64) -> i64 {
        match self.ops {
            None => 1,
            Some(_) if self.is_outer && count <= MAX_OUTER => count,
            Some(ops) if !self.is_outer && full_unroll(count, ops) => count,
            Some(ops) => partial_unroll(count, ops),
        }
    }

    /// The final unroll factor for a loop of `count` iterations: all, or a divisor of `count` if there is
    /// one; otherwise LLVM exits the loop in the middle of the last unrolled iteration.
    pub fn factor(&self, count: i64) -> i64 {
        let own = self.factor_of_xla(count);
        if own == count {
            return count;
        }
        let turn = self.instructions.saturating_mul(own).max(1);
        let turns = count / own;
        if turns.saturating_mul(turn) <= FULL {
            return count;
        }
        let most = ((PARTIAL - TURN) / turn).clamp(1, turns);
        let even = (1..=most).rev().find(|factor| turns % factor == 0).unwrap_or(1);
        let uneven = 1i64 << most.min(MAX_UNEVEN).ilog2();
        own * if even > 1 { even } else { uneven }
    }
}

/// The values that change from iteration to iteration.
#[derive(Default)]
struct Varying {
    values: FxHashSet<ValueId>,
    vars: FxHashSet<u32>,
    /// Counted element positions: a tensor's sizes, and the index.
    places: FxHashSet<(Vec<i64>, Vec<Expr>)>,
}

impl Varying {
    fn has_index(&self, expr: &Expr) -> bool {
        let mut varies = false;
        expr.for_each_var(&mut |var| varies |= self.vars.contains(&var));
        varies
    }

    fn has(&self, op: &Op) -> bool {
        let mut varies = false;
        crate::passes::operands(&op.kind, &mut |value| varies |= self.values.contains(value));
        crate::passes::indices(&op.kind, &mut |expr| varies |= self.has_index(expr));
        varies
    }
}

struct Counted<'k> {
    kernel: &'k Kernel,
    ops: i64,
    instructions: i64,
    is_outer: bool,
    /// Whether it contains a loop that XLA does not unroll.
    holds_loop: bool,
}

impl Counted<'_> {
    /// Counts an iteration of a loop: its ops, its yield, and the increment of the counter.
    fn round(&mut self, function: &Function, body: &Region, var: u32, varying: &mut Varying, depth: u32) {
        varying.vars.insert(var);
        varying.values.extend(&body.args);
        self.region(function, body, varying, depth);
        self.ops = self.ops.saturating_add(1);
        self.instructions = self.instructions.saturating_add(1);
    }

    fn region(&mut self, function: &Function, region: &Region, varying: &mut Varying, depth: u32) {
        for op in &region.ops {
            self.op(function, op, varying, depth);
        }
    }

    fn op(&mut self, function: &Function, op: &Op, varying: &mut Varying, depth: u32) {
        let mut varies = varying.has(op);
        match &op.kind {
            OpKind::Constant(_) | OpKind::Table(_) => return,
            OpKind::Call { function: number, args, at } => {
                let Some(called) = self.kernel.functions.get(*number).filter(|_| depth < MAX_DEPTH) else {
                    return;
                };
                let mut inner = Varying::default();
                inner.values.extend(
                    called
                        .args
                        .iter()
                        .zip(args)
                        .filter(|(_, arg)| varying.values.contains(*arg))
                        .map(|(&own, _)| own),
                );
                inner
                    .vars
                    .extend((0u32..).zip(at).filter(|(_, expr)| varying.has_index(expr)).map(|(var, _)| var));
                self.region(called, &called.body, &mut inner, depth + 1);
                let yielded = op.results.iter().zip(&called.body.yields);
                varying.values.extend(
                    yielded.filter(|(_, value)| inner.values.contains(*value)).map(|(&result, _)| result),
                );
                return;
            }
            OpKind::For { var, count, body, .. } => {
                let before = (self.ops, self.instructions, self.holds_loop);
                (self.ops, self.instructions, self.holds_loop, self.is_outer) = (0, 0, false, false);
                self.round(function, body, *var, varying, depth + 1);
                let inner = LoopBody {
                    ops: (!self.holds_loop).then_some(self.ops),
                    is_outer: self.is_outer,
                    instructions: self.instructions,
                };
                let count = (*count).max(1);
                self.holds_loop = before.2 || inner.factor_of_xla(count) < count;
                self.is_outer = true;
                // The last iteration yields nothing to another one.
                self.ops = (self.ops - 1).saturating_mul(count).saturating_add(before.0);
                let rounds = inner.factor(count);
                self.instructions = inner.instructions.saturating_mul(rounds).saturating_add(before.1);
                varies = true;
            }
            OpKind::Loop { vars, results, body, .. } => {
                self.holds_loop = true;
                varying.vars.extend(vars.iter().chain(results));
                varying.values.extend(&body.args);
                self.region(function, body, varying, depth + 1);
                varies = true;
            }
            OpKind::If { condition, then, otherwise } => {
                let tests = match condition {
                    Condition::Within(constraints) if varies => constraints.len() as i64,
                    _ => 0,
                };
                for region in [then, otherwise] {
                    self.region(function, region, varying, depth);
                    varies |= region.yields.iter().any(|value| varying.values.contains(value));
                }
                if varies {
                    // The branch, the yields of its arms, the comparisons.
                    self.count(3 + tests, 2 + tests);
                }
            }
            OpKind::Switch { cases, .. } => {
                for region in cases {
                    self.region(function, region, varying, depth);
                    varies |= region.yields.iter().any(|value| varying.values.contains(value));
                }
                self.count(i64::from(varies), i64::from(varies));
            }
            OpKind::ToIndex { var, .. } | OpKind::AsIndex { var, .. } if varies => {
                varying.vars.insert(*var);
                self.count(3, 2);
            }
            OpKind::Read { tensor, at } if varies => {
                // The sum for the position in memory, unless the index is the position, or the sum was
                // counted before.
                let sizes = match function.ty(*tensor) {
                    Type::Tensor(shape) => shape.dims.to_vec(),
                    _ => Vec::new(),
                };
                let is_place = sizes.iter().filter(|&&size| size > 1).count() <= 1
                    && at.iter().all(|expr| expr.as_binary().is_none());
                let is_new = varying.places.insert((sizes, at.clone()));
                self.count(1 + i64::from(!is_place && is_new), READ_IN_LLVM);
            }
            OpKind::Compute { opcode, .. } if varies => match is_expensive(*opcode) {
                true => self.count(EXPENSIVE, EXPENSIVE_IN_LLVM),
                false => self.count(1, 1),
            },
            _ if varies => self.count(1, 1),
            _ => {}
        }
        if varies {
            varying.values.extend(&op.results);
        }
    }

    fn count(&mut self, ops: i64, instructions: i64) {
        self.ops = self.ops.saturating_add(ops);
        self.instructions = self.instructions.saturating_add(instructions);
    }
}
