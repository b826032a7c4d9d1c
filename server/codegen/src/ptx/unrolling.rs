//! Which loops are written out. Source: `codegen/emitters/transforms/optimize_loops.cc`, and what LLVM does behind it.

use ir::Opcode;

use crate::kernel::{Function, Kernel, OpKind, Region, Type};

/// Rounds that together have at most this many ops are written out. Source: `kMaxSize` of `optimize_loops.cc`.
const MAX_SIZE: i64 = 400;
/// Instructions up to which LLVM writes out what is left of a loop: all of it, or a few rounds.
const FULL: i64 = 300;
const PARTIAL: i64 = 60;
/// What a function that is approximated counts for. Source: `optimize_loops.cc`.
const EXPENSIVE: i64 = 20;
/// Functions within functions beyond this depth are not counted.
const MAX_DEPTH: u32 = 8;

/// Loops of at most this many rounds are written out whatever their size: the elements of a thread, of which the emitters of
/// loops and of concatenations have up to eight. Source: `max_unroll_factor` of `optimize_loops.cc`, which the emitters give.
const MAX_UNROLL_FACTOR: i64 = 8;
/// Reductions give none; what is as short as this LLVM writes out.
const MAX_UNROLL_FACTOR_OF_REDUCTIONS: i64 = 4;

/// Are all rounds of a loop written out, whose body has `size` ops?
pub(super) fn full_unroll(rounds: i64, size: i64) -> bool {
    rounds <= MAX_UNROLL_FACTOR || rounds.saturating_mul(size) <= MAX_SIZE
}

/// How many rounds are written out in each turn of a longer loop: a divisor of their number.
pub(crate) fn partial_unroll(rounds: i64, size: i64) -> i64 {
    let most = (MAX_SIZE / size.max(1)).clamp(1, rounds.max(1));
    (1..=most).rev().find(|factor| rounds % factor == 0).unwrap_or(1)
}

/// The body of a loop that reduces, for a thread with so many columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReductionBody {
    /// Ops in XLA's sense, where the columns are written out.
    ops: i64,
    /// Instructions, about.
    instructions: i64,
    /// Nothing happens to what is read before it is reduced: XLA itself reads whole vectors then. Else it is LLVM that joins
    /// reads, and of a loop's rounds those of the first only.
    pub is_direct: bool,
}

impl ReductionBody {
    pub fn of(
        function: &Function,
        body: &Region,
        kernel: &Kernel,
        (columns, is_vector): (i64, bool),
    ) -> ReductionBody {
        let mut counted = Counted::default();
        counted.region(function, body, kernel, 0);
        let Counted { sizes, writes, computes, expensive, reads_in_functions } = counted;
        // What is much smaller than the largest array is the same for many rounds, and read before the loop.
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let reads = sizes.iter().filter(|&&size| size > largest / 4).count() as i64;
        let is_direct = reads_in_functions == 0 && writes == 0;
        let cheap = computes - expensive;
        // An access has its own index arithmetic; vectors of partial results are taken apart and put together.
        let ops = match (is_direct, columns) {
            (true, 1) => 6 * reads.max(1),
            (true, _) if is_vector => 9 + 4 * columns * reads.max(1),
            (true, _) => 7 + 5 * columns * reads.max(1),
            _ => columns * (7 * (reads + writes) + cheap + expensive * EXPENSIVE + 3),
        };
        let instructions = match is_direct {
            true if is_vector || columns == 1 => 2 + 4 * columns * reads.max(1),
            true => 2 + columns * reads.max(1),
            false => columns * (2 * (reads + writes) + cheap + expensive * EXPENSIVE / 2 + 1),
        };
        ReductionBody { ops, instructions, is_direct }
    }

    /// Are all rounds written out, by XLA or by LLVM?
    pub fn is_unrolled(self, rounds: i64) -> bool {
        let left = rounds / partial_unroll(rounds, self.ops);
        // Two turns that are left of XLA's loop become one.
        rounds <= MAX_UNROLL_FACTOR_OF_REDUCTIONS
            || left <= 2
            || rounds.saturating_mul(self.instructions) <= FULL
    }

    /// How many rounds XLA itself writes out in each turn of a loop around another one that it has written out.
    pub fn factor_of_xla_around(self, rounds: i64, inner: i64) -> i64 {
        match rounds <= MAX_UNROLL_FACTOR_OF_REDUCTIONS {
            true => rounds.max(1),
            false => partial_unroll(rounds, self.ops.saturating_mul(inner)),
        }
    }

    /// How many rounds each turn of the loop has: a divisor of their number where XLA finds one, else LLVM leaves the loop
    /// in the middle of the last turn.
    pub fn factor(self, rounds: i64) -> i64 {
        match partial_unroll(rounds, self.ops) {
            1 => {
                let most = (PARTIAL / self.instructions.max(1)).clamp(1, rounds.max(1));
                1 << most.ilog2()
            }
            factor => factor,
        }
    }
}

#[derive(Default)]
struct Counted {
    /// Of each array that is read: elements.
    sizes: Vec<i64>,
    writes: i64,
    computes: i64,
    expensive: i64,
    reads_in_functions: i64,
}

impl Counted {
    fn region(&mut self, function: &Function, region: &Region, kernel: &Kernel, depth: u32) {
        for op in &region.ops {
            match &op.kind {
                OpKind::Read { tensor, .. } => {
                    self.sizes.push(match function.ty(*tensor) {
                        Type::Tensor(shape) => shape.elements().unwrap_or(i64::MAX),
                        _ => 0,
                    });
                    self.reads_in_functions += i64::from(depth > 0);
                }
                OpKind::Write { .. } => self.writes += 1,
                OpKind::Compute { opcode, .. } => {
                    self.computes += 1;
                    self.expensive += i64::from(is_expensive(*opcode));
                }
                OpKind::Call { function, .. } if depth < MAX_DEPTH => {
                    if let Some(called) = kernel.functions.get(*function) {
                        self.region(called, &called.body, kernel, depth + 1);
                    }
                }
                OpKind::If { then, otherwise, .. } => {
                    self.region(function, then, kernel, depth + 1);
                    self.region(function, otherwise, kernel, depth + 1);
                }
                OpKind::For { body, .. } | OpKind::Loop { body, .. } => {
                    self.region(function, body, kernel, depth + 1)
                }
                _ => {}
            }
        }
    }
}

/// A function that is approximated. Source: `optimize_loops.cc`.
pub(crate) fn is_expensive(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        Acos | Acosh
            | Asin
            | Asinh
            | Atan2
            | Atanh
            | Cbrt
            | Cosine
            | Cosh
            | Erf
            | Exponential
            | ExponentialMinusOne
            | Log
            | LogPlusOne
            | Logistic
            | Power
            | Sine
            | Sinh
            | Tan
            | Tanh
    )
}

/// Ops of a region, those of the functions that it calls included, up to a limit.
pub(super) fn size(region: &Region, kernel: &Kernel) -> i64 {
    count(region, kernel, 0).max(1)
}

fn count(region: &Region, kernel: &Kernel, depth: u32) -> i64 {
    let mut sum = 0i64;
    for op in &region.ops {
        let own = match &op.kind {
            OpKind::Constant(_) => 0,
            OpKind::Update { body, .. } => count(body, kernel, depth).saturating_add(1),
            OpKind::If { then, otherwise, .. } => {
                count(then, kernel, depth).saturating_add(count(otherwise, kernel, depth)).saturating_add(1)
            }
            OpKind::Switch { cases, .. } => {
                cases.iter().map(|case| count(case, kernel, depth)).fold(1, i64::saturating_add)
            }
            OpKind::For { body, count: rounds, .. } => {
                count(body, kernel, depth).saturating_mul((*rounds).max(1))
            }
            OpKind::Loop { body, .. } => count(body, kernel, depth),
            OpKind::Call { function, .. } if depth < MAX_DEPTH => {
                kernel.functions.get(*function).map_or(1, |called| count(&called.body, kernel, depth + 1))
            }
            _ => 1,
        };
        sum = sum.saturating_add(own);
        if sum > 1 << 20 {
            break;
        }
    }
    sum
}
