//! `priority-fusion`: fuses producers into their consumers, those first whose fusion saves most time.
//!
//! The decisions and their order are in `gpu`, see [`gpu::fuse_by_priority`].
//! Source: XLA `backends/gpu/transforms/priority_fusion.cc`.

use super::fusing::fuse_all;
use crate::driver::{Run, Stop};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let (device, estimates) = (run.options.device, &run.options.estimates);
    fuse_all(run, |computation, callees| gpu::fuse_by_priority(computation, device, callees, estimates))
}
