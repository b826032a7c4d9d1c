//! What a kernel costs: the estimate that XLA decides fusions by, and the least that the hardware allows.
//!
//! * [`estimate`]: both, of the kernel of a fusion.
//! * [`InstructionCost`]: arithmetic and bytes of one instruction as XLA counts them.
//! * [`FusionUse`]: how often a fusion computes each of its ops and reads its operands.
//! * [`times`]: from counts to microseconds.
//! * [`Roofline`]: bytes over bandwidth and operations over the rate of their units, with nothing guessed.

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
pub(crate) use bandwidth::read_efficiency;
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

/// What decides how long a kernel takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bound {
    /// Reading and writing.
    Memory,
    /// Arithmetic.
    Compute,
    /// It is over before the next one could be launched.
    Launch,
}

/// The cost of one execution of a kernel.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// XLA's estimate, where its model reaches and is followed here.
    pub xla: Option<KernelTime>,
    /// What the device needs at least.
    pub roofline: Roofline,
    /// Of [`Estimate::exec_us`].
    pub bound: Bound,
    /// Why there is no estimate of XLA, in words.
    pub not_modelled: Option<&'static str>,
}

impl Estimate {
    /// Microseconds that the kernel takes, without its launch: XLA's figure; the roofline where XLA's model does not reach.
    pub fn exec_us(&self) -> f64 {
        self.times().2
    }

    /// Computing, memory traffic, both together, in microseconds.
    fn times(&self) -> (f64, f64, f64) {
        match &self.xla {
            Some(time) => (time.compute_us, time.read_us + time.write_us, time.exec_us),
            None => (self.roofline.compute_us, self.roofline.memory_us, self.roofline.exec_us()),
        }
    }
}

/// The estimate for a fusion on the device that it was analysed for. `callees` finds what reductions and scatters apply.
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
