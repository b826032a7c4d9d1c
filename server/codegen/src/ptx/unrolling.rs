//! Which loops are written out. Source: `codegen/emitters/transforms/optimize_loops.cc`, and what LLVM does behind it.

use crate::kernel::{Kernel, OpKind, Region};

/// Rounds that together have at most this many ops are written out. Source: `kMaxSize` of `optimize_loops.cc`.
const MAX_SIZE: i64 = 400;
/// Functions within functions beyond this depth are not counted.
const MAX_DEPTH: u32 = 8;

/// Are all rounds of a loop written out, whose body has `size` ops?
pub(super) fn full_unroll(rounds: i64, size: i64) -> bool {
    rounds <= 1 || rounds.saturating_mul(size) <= MAX_SIZE
}

/// How many rounds are written out in each turn of a longer loop: a divisor of their number.
pub(super) fn partial_unroll(rounds: i64, size: i64) -> i64 {
    let most = (MAX_SIZE / size.max(1)).clamp(1, rounds.max(1));
    (1..=most).rev().find(|factor| rounds % factor == 0).unwrap_or(1)
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
