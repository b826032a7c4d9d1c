//! The cost of a kernel: the estimate by which XLA decides fusions, and the lower bound that the hardware
//! sets.
//!
//! * [`estimate`]: both, for the kernel of a fusion.
//! * [`InstructionCost`]: arithmetic and bytes of one instruction as XLA counts them.
//! * [`FusionUse`]: how often a fusion computes each of its ops and reads its operands.
//! * [`times`]: converts counts to microseconds.
//! * [`Roofline`]: bytes over bandwidth and operations over the rate of their units, without heuristics.

mod bandwidth;
mod block_level;
mod fusion_use;
mod instruction_cost;
mod kernel_time;
mod op_profile;
mod roofline;
mod tiled;
pub mod times;

#[cfg(test)]
mod against_xla;

pub use bandwidth::has_coalesced_reads;
pub(crate) use bandwidth::{read_efficiency, transposes_minor};
pub use block_level::BlockLevel;
pub use fusion_use::FusionUse;
pub use instruction_cost::InstructionCost;
pub(crate) use kernel_time::launch;
pub use kernel_time::{Counted, KernelTime, kernel_time};
pub use op_profile::flops_per_element;
pub use roofline::{Roofline, roofline, roofline_of};
pub(crate) use tiled::{TiledKernel, tiled_time};

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
    let has_dot = analysis.fused.ops().any(|(_, op)| roofline::is_contraction(op.opcode));
    let (xla, not_modelled) = match analysis.kind {
        Kind::Triton if has_dot => (None, Some("XLA's model of dots in Triton fusions is not followed")),
        Kind::Triton => match tiled_time(analysis, callees) {
            Ok(time) => (Some(time), None),
            Err(reason) => (None, Some(reason)),
        },
        Kind::CuDnn => (None, Some("a kernel of cuDNN")),
        Kind::Custom => (None, Some("a kernel of a library")),
        _ => (kernel_time(analysis, callees), None),
    };
    let not_modelled = match (&xla, not_modelled) {
        (None, None) => Some("a number in it does not fit 64 bits"),
        _ => not_modelled,
    };
    let mut estimate = Estimate { xla, roofline, bound: Bound::Memory, not_modelled };
    estimate.bound = match estimate.times() {
        (.., exec) if exec < times::LAUNCH_OVERHEAD_US => Bound::Launch,
        (compute, memory, _) if compute > memory => Bound::Compute,
        _ => Bound::Memory,
    };
    estimate
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
