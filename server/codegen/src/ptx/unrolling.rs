//! Which loops are unrolled. Source: `codegen/emitters/transforms/optimize_loops.cc`, and LLVM's unrolling
//! after it.

use ir::Opcode;

use crate::kernel::{Function, Kernel, OpKind, Region, Type};

/// The maximum number of ops of all unrolled iterations together. Source: `kMaxSize` of `optimize_loops.cc`.
const MAX_SIZE: i64 = 400;
/// The maximum number of instructions for LLVM's unrolling of the remaining loop: fully, or partially.
const FULL: i64 = 300;
const PARTIAL: i64 = 60;
/// The number of ops of an approximated function. Source: `optimize_loops.cc`.
const EXPENSIVE: i64 = 20;
/// The maximum depth of nested functions that are counted.
const MAX_DEPTH: u32 = 8;

/// Loops of at most this many iterations are unrolled whatever their size. They are the elements of a thread,
/// of which the emitters of loops and of concatenations have up to eight. Source: `max_unroll_factor` of
/// `optimize_loops.cc`, which the emitters set.
const MAX_UNROLL_FACTOR: i64 = 8;
/// Reductions set no unroll factor; LLVM unrolls loops this short.
const MAX_UNROLL_FACTOR_OF_REDUCTIONS: i64 = 4;

/// Whether a loop whose body has `size` ops is fully unrolled.
pub(super) fn full_unroll(rounds: i64, size: i64) -> bool {
    rounds <= MAX_UNROLL_FACTOR || rounds.saturating_mul(size) <= MAX_SIZE
}

/// The factor of partial unrolling: a divisor of the number of iterations.
pub(crate) fn partial_unroll(rounds: i64, size: i64) -> i64 {
    let most = (MAX_SIZE / size.max(1)).clamp(1, rounds.max(1));
    (1..=most).rev().find(|factor| rounds % factor == 0).unwrap_or(1)
}

/// The body of a loop that reduces, for a thread with several columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReductionBody {
    /// The number of ops as XLA counts them, with the columns unrolled.
    ops: i64,
    /// The approximate number of instructions.
    instructions: i64,
    /// Whether values are reduced as they are read. XLA itself then reads whole vectors; otherwise LLVM joins
    /// the reads, and only those of the first iteration of an unrolled loop.
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
        // Arrays much smaller than the largest one are the same for many iterations, and read before the
        // loop.
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let reads = sizes.iter().filter(|&&size| size > largest / 4).count() as i64;
        let is_direct = reads_in_functions == 0 && writes == 0;
        let cheap = computes - expensive;
        // An access has its own index arithmetic; vectors of partial results are unpacked and packed.
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

    /// Whether XLA or LLVM fully unrolls the loop.
    pub fn is_unrolled(self, rounds: i64) -> bool {
        let left = rounds / partial_unroll(rounds, self.ops);
        // LLVM unrolls the two remaining iterations of XLA's loop.
        rounds <= MAX_UNROLL_FACTOR_OF_REDUCTIONS
            || left <= 2
            || rounds.saturating_mul(self.instructions) <= FULL
    }

    /// XLA's unroll factor for a loop around another one that it has unrolled.
    pub fn factor_of_xla_around(self, rounds: i64, inner: i64) -> i64 {
        match rounds <= MAX_UNROLL_FACTOR_OF_REDUCTIONS {
            true => rounds.max(1),
            false => partial_unroll(rounds, self.ops.saturating_mul(inner)),
        }
    }

    /// The unroll factor: a divisor of the number of iterations if XLA finds one; otherwise LLVM exits the
    /// loop in the middle of the last unrolled iteration.
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
    /// The number of elements of each array that is read.
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

/// Whether the function is approximated. Source: `optimize_loops.cc`.
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

/// The number of ops of a region, including the functions that it calls, up to a limit.
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
