//! `multi_output_fusion`: one kernel with several results for users of one operand, and for a producer with its
//! consumer.
//!
//! The decisions are in `gpu`, see [`gpu::fuse_results`].
//! Source: XLA `backends/gpu/transforms/multi_output_fusion.cc`.

use super::fusing::fuse_all;
use crate::driver::{Run, Stop};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let (device, estimates) = (run.options.device, &run.options.estimates);
    fuse_all(run, |computation, callees| gpu::fuse_results(computation, device, callees, estimates))
}
