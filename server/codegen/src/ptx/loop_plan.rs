//! The plan of a loop: which of its iterations are unrolled. It follows from the kernel alone, before any
//! instruction is selected.

use indexing_map::IndexingMap;

use super::loop_length::LoopLength;
use super::map_loop::MapLoop;
use crate::kernel::{Function, Kernel};

/// The state of a range variable of a loop nest.
#[derive(Debug, Clone, Copy)]
pub(super) enum Axis {
    /// Fixed to one iteration.
    At(i64),
    /// Fully unrolled, with this number of iterations.
    Unrolled(i64),
    /// A loop over this number of iterations, unrolled by `factor`. The last unrolled iteration may be
    /// incomplete.
    Counted { rounds: i64, factor: i64 },
}

/// How the iterations of a loop over the range variables of a map are written.
#[derive(Debug, Clone)]
pub(super) struct LoopPlan {
    pub length: LoopLength,
    /// Per range variable, outermost first.
    pub axes: Vec<Axis>,
    /// Whether 16-bit numbers are added in pairs.
    pub is_paired: bool,
    /// Whether the elements of a thread span several rows.
    pub wraps: bool,
}

impl LoopPlan {
    pub fn of(kernel: &Kernel, function: &Function, map_loop: MapLoop<'_>) -> LoopPlan {
        let map = map_loop.map;
        let rounds: Vec<i64> =
            map.ranges().iter().map(|v| i64::try_from(v.bounds.size()).unwrap_or(i64::MAX)).collect();
        let length = LoopLength::of(kernel, function, map_loop, rounds.last().copied().unwrap_or(1));
        let mut axes: Vec<Axis> = Vec::new();
        let (mut below, mut is_whole, mut is_paired) = (1i64, true, true);
        for (n, &rounds) in rounds.iter().enumerate().rev() {
            is_paired &= length.is_paired(rounds, below);
            axes.push(match is_whole && length.is_unrolled(rounds, below, n + 1 == map.num_ranges()) {
                true => Axis::Unrolled(rounds),
                false if is_whole => Axis::Counted { rounds, factor: length.factor(rounds, below) },
                false => Axis::Counted { rounds, factor: 1 },
            });
            is_whole &= matches!(axes.last(), Some(Axis::Unrolled(_)));
            below = below.saturating_mul(rounds);
        }
        axes.reverse();
        LoopPlan { length, axes, is_paired, wraps: wraps(map) }
    }

    /// Whether all iterations are unrolled.
    pub fn is_written_out(&self) -> bool {
        self.axes.iter().all(|axis| matches!(axis, Axis::Unrolled(_)))
    }
}

/// Whether the elements of a thread span several rows of an array that the threads do not fill evenly. XLA
/// then keeps a remainder in the slowest index, and joins no accesses after it.
fn wraps(map: &IndexingMap) -> bool {
    let mut moving = map.results().iter().filter(|e| e.as_const().is_none());
    let (Some(slowest), Some(_)) = (moving.next(), moving.next()) else { return false };
    let Some(innermost) = map.num_ranges().checked_sub(1) else { return false };
    !map.constraints().is_empty() && slowest.uses_var((map.num_dims() + innermost) as u32)
}
