//! The cost of a kernel: the estimate by which XLA decides fusions, and the lower bound that the hardware
//! sets.
//!
//! * [`estimate`]: both, for the kernel of a fusion.
//! * [`InstructionCost`]: arithmetic and bytes of one instruction as XLA counts them.
//! * [`FusionUse`]: how often a fusion computes each of its ops and reads its operands.
//! * [`best_tilings`]: the tilings of a block-level fusion by that estimate.
//! * [`times`]: converts counts to microseconds.
//! * [`Roofline`]: bytes over bandwidth and operations over the rate of their units, without heuristics.

mod bandwidth;
mod block_level;
mod fusion_use;
mod instruction_cost;
mod kernel_time;
mod op_profile;
mod roofline;
mod sector_time;
mod tiled;
mod tiling_search;
pub mod times;

#[cfg(test)]
mod against_xla;

pub use bandwidth::has_coalesced_reads;
pub(crate) use bandwidth::{read_efficiency, transposes_minor};
pub use block_level::{BlockLevel, stated_steps};
pub use fusion_use::FusionUse;
pub use instruction_cost::InstructionCost;
pub(crate) use kernel_time::launch;
pub use kernel_time::{Counted, KernelTime, kernel_time};
pub use op_profile::flops_per_element;
pub use roofline::{Roofline, roofline, roofline_of};
pub(crate) use tiled::tiled_time;
pub use tiling_search::{RankedTiling, best_tilings};

use indexing::Callees;

use crate::fusion_analysis::FusionAnalysis;
use crate::heroes::Kind;

/// The factor that limits a kernel's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Memory traffic.
    Memory,
    /// Arithmetic.
    Compute,
    /// The launch: the kernel ends before the next one can be launched.
    Launch,
    /// The latency of the steps of a dot's loop: it takes more than twice as long as arithmetic or traffic.
    Latency,
}

/// The cost of one execution of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// XLA's estimate, if its model applies and is implemented here.
    pub xla: Option<KernelTime>,
    /// The lower bound that the device sets.
    pub roofline: Roofline,
    /// The limit of [`Estimate::exec_us`].
    pub bound: Bound,
    /// The reason why XLA's model gives no estimate, as text.
    pub not_modelled: Option<&'static str>,
}

impl Estimate {
    /// XLA's estimate, or the reason why there is none, beside the lower bound.
    pub fn new(xla: Result<KernelTime, &'static str>, roofline: Roofline) -> Estimate {
        let not_modelled = xla.err();
        let mut estimate = Estimate { xla: xla.ok(), roofline, bound: Bound::Memory, not_modelled };
        estimate.bound = match estimate.times() {
            (.., exec) if exec < times::LAUNCH_OVERHEAD_US => Bound::Launch,
            (compute, memory, exec) if exec > 2.0 * compute.max(memory) => Bound::Latency,
            (compute, memory, _) if compute > memory => Bound::Compute,
            _ => Bound::Memory,
        };
        estimate
    }

    /// Whether the time is only a lower bound, the roofline, and not an estimate.
    pub fn is_at_least(&self) -> bool {
        self.xla.is_none()
    }

    /// The kernel's time in microseconds without its launch: XLA's figure, or the roofline if XLA's model
    /// does not apply.
    pub fn exec_us(&self) -> f64 {
        self.times().2
    }

    /// Computing, memory traffic, and both together, in microseconds.
    fn times(&self) -> (f64, f64, f64) {
        match &self.xla {
            Some(time) => (time.compute_us, time.read_us + time.write_us, time.exec_us),
            None => (self.roofline.compute_us, self.roofline.memory_us, self.roofline.exec_us()),
        }
    }
}

/// Estimates a fusion on the device that it was analysed for. `callees` finds the computations that
/// reductions and scatters apply.
pub fn estimate(analysis: &FusionAnalysis, callees: &Callees<'_>) -> Estimate {
    let roofline = roofline(analysis, callees);
    let xla = match analysis.kind {
        Kind::Triton => tiled_time(analysis, callees),
        Kind::CuDnn => Err("a kernel of cuDNN"),
        Kind::Custom => Err("a kernel of a library"),
        _ => kernel_time(analysis, callees).ok_or("a number in it does not fit 64 bits"),
    };
    Estimate::new(xla, roofline)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[track_caller]
    fn check(lines: &str, expect: Bound) {
        let analysis = fixture::analysis(lines, "h100-sxm").unwrap();
        let estimate = estimate(&analysis, &fixture::callees());
        assert_eq!(estimate.bound, expect, "{estimate:?}");
        assert!(estimate.exec_us() >= 0.0);
    }

    #[test]
    fn what_decides() {
        check("p = f32[4096,4096] parameter(0)\n ROOT n = f32[4096,4096] negate(p)", Bound::Memory);
        check("p = f32[4096,4096] parameter(0)\n ROOT n = f32[4096,4096] cosine(p)", Bound::Compute);
        check("p = f32[64] parameter(0)\n ROOT n = f32[64] negate(p)", Bound::Launch);
    }

    /// A dot in small tiles waits for its steps; the bound follows from the time.
    #[test]
    fn steps_take_longer_than_their_work() {
        let small = KernelTime {
            compute_us: 20.0,
            read_us: 100.0,
            write_us: 50.0,
            exec_us: 1100.0,
            ..KernelTime::default()
        };
        assert_eq!(Estimate::new(Ok(small), Roofline::default()).bound, Bound::Latency);
        let large = KernelTime { exec_us: 160.0, ..small };
        assert_eq!(Estimate::new(Ok(large), Roofline::default()).bound, Bound::Memory);
        let none = Estimate::new(Err("a kernel of a library"), Roofline::default());
        assert_eq!((none.bound, none.is_at_least()), (Bound::Launch, true));
    }

    /// Times are non-negative numbers for all sizes.
    #[test]
    fn no_size_panics() {
        let bodies = [
            "p = f32[A,B] parameter(0)\n ROOT r = f32[A,B] negate(p)",
            "p = f32[A,B] parameter(0)\n t = f32[B,A] transpose(p), dimensions={1,0}\n ROOT r = f32[B,A] reverse(t), dimensions={0}",
            "p = f32[A,B] parameter(0)\n z = f32[] constant(0)\n ROOT r = f32[A] reduce(p, z), dimensions={1}, to_apply=add",
            "p = f32[A,B] parameter(0)\n ROOT r = f32[A,B,B] broadcast(p), dimensions={0,1}",
            "p = f32[A,B] parameter(0)\n i = s32[] parameter(1)\n ROOT r = f32[1,B] dynamic-slice(p, i, i), dynamic_slice_sizes={1,B}",
            "p = f32[A,B] parameter(0)\n u = f32[1,B] parameter(1)\n i = s32[] parameter(2)\n ROOT r = f32[A,B] dynamic-update-slice(p, u, i, i)",
            "\
p = f32[A,B] parameter(0)
 q = f32[B,A] parameter(1)
 ROOT r = f32[A,A] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
        ];
        let sizes = ["0", "1", "64", "4000", "<=7", "4611686018427387905", "9223372036854775807"];
        for body in bodies {
            for (a, b) in sizes.iter().flat_map(|a| sizes.iter().map(move |b| (a, b))) {
                for device in ["h100-sxm", "p100", "mi350", "pvc"] {
                    let text = body.replace('A', a).replace('B', b);
                    let Ok(analysis) = fixture::analysis(&text, device) else { continue };
                    let estimate = estimate(&analysis, &fixture::callees());
                    assert!(estimate.exec_us() >= 0.0, "{text}: {estimate:?}");
                    assert!(estimate.roofline.exec_us() >= 0.0, "{text}: {estimate:?}");
                    assert_eq!(estimate.xla.is_none(), estimate.not_modelled.is_some());
                }
            }
        }
    }
}
