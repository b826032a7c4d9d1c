//! How long a round of a loop within an element is, and how many rounds become one: first XLA's, then LLVM's.

use indexing_map::Expr;
use rustc_hash::FxHashSet;

use super::unrolling::{full_unroll, is_expensive, partial_unroll};
use crate::kernel::{Condition, Function, Kernel, Op, OpKind, Region, Type, ValueId};

/// What a function that is approximated counts for in XLA's pass. Source: `optimize_loops.cc`.
const EXPENSIVE: i64 = 20;
/// About so many instructions it has in LLVM: those of `exp`.
const EXPENSIVE_IN_LLVM: i64 = 13;
/// The index, the address, the load.
const READ_IN_LLVM: i64 = 3;
/// Instructions up to which LLVM writes out all rounds. Source: `NVPTXTTIImpl::getUnrollingPreferences` on LLVM's default.
const FULL: i64 = 300;
/// Instructions up to which it writes out some of them: a quarter of that.
const PARTIAL: i64 = 75;
/// Branch and comparison, which a turn has once.
const TURN: i64 = 2;
/// The most rounds of a turn where their number has no divisor. Source: `DefaultUnrollRuntimeCount` of `LoopUnrollPass.cpp`.
const MAX_UNEVEN: i64 = 8;
/// Functions within functions beyond this depth are not counted.
const MAX_DEPTH: u32 = 8;

/// Loops around others have all rounds written out where they are this few. Source: `MaxUnrollFactor` of `gpu_fusible.cc`.
const MAX_OUTER: i64 = 4;

/// A round: what is the same in all rounds is computed before them, and does not count.
pub(super) struct LoopBody {
    /// Ops when XLA looks at it; nothing where it holds a loop that is not written out, around which XLA writes out nothing.
    ops: Option<i64>,
    /// Whether it held one.
    is_outer: bool,
    /// Instructions when LLVM looks at it, about.
    instructions: i64,
}

impl LoopBody {
    /// `var` counts the rounds.
    pub fn of(function: &Function, body: &Region, var: u32, kernel: &Kernel) -> LoopBody {
        let mut counted = Counted { kernel, ops: 0, instructions: 0, is_outer: false, holds_loop: false };
        counted.round(function, body, var, &mut Varying::default(), 0);
        LoopBody {
            ops: (!counted.holds_loop).then_some(counted.ops),
            is_outer: counted.is_outer,
            instructions: counted.instructions,
        }
    }

    /// How many of `count` rounds XLA makes one.
    fn factor_of_xla(&self, count: i64) -> i64 {
        match self.ops {
            None => 1,
            Some(_) if self.is_outer && count <= MAX_OUTER => count,
            Some(ops) if !self.is_outer && full_unroll(count, ops) => count,
            Some(ops) => partial_unroll(count, ops),
        }
    }

    /// How many of `count` rounds a turn has: all, or a divisor of their number where there is one, else LLVM leaves the loop
    /// in the middle of the last turn.
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

/// What has another value in each round.
#[derive(Default)]
struct Varying {
    values: FxHashSet<ValueId>,
    vars: FxHashSet<u32>,
    /// Places that were counted: a tensor's sizes, and the index.
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
    /// Whether it holds a loop that XLA does not write out.
    holds_loop: bool,
}

impl Counted<'_> {
    /// A round of a loop: its ops, what it yields, and the step to the next one.
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
                // Behind the last round it yields nothing to another one.
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
                    // The branch, what its arms yield, the comparisons.
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
                // The sum that is the place in memory, unless the index is that already, or was made before.
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
