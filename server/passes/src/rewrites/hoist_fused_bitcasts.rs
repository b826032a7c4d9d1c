//! `hoist-fused-bitcasts`: does nothing, since `triton-gemm-rewriter` moves bitcasts out of the fusions that it makes.
//!
//! Source: XLA `backends/gpu/transforms/hoist_fused_bitcasts.cc`, with `xla_gpu_experimental_gemm_fusion_v2`.

use crate::driver::{Run, Stop};

#[allow(clippy::unnecessary_wraps)] // All passes have this type.
pub(super) fn run(_: &mut Run<'_>) -> Result<(), Stop> {
    Ok(())
}
