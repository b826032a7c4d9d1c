//! XLA's time estimate for kernels of its own emitters.

use indexing::Callees;
use indexing_map::ceil_div;

use super::bandwidth::{has_coalesced_reads, read_efficiency};
use super::fusion_use::FusionUse;
use super::times;
use crate::fusion_analysis::FusionAnalysis;

/// The reads of one operand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Counted {
    /// Bytes of the operand.
    pub size: f64,
    /// Bytes read, counted once per read.
    pub total: f64,
    /// The useful part of the bandwidth.
    pub efficiency: f64,
}

/// Counts and times of one execution of a kernel, by XLA's model. Times are in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KernelTime {
    /// In units of XLA's tables, see [`super::flops_per_element`].
    pub flops: f64,
    pub bytes_read: f64,
    pub bytes_written: f64,
    pub compute_us: f64,
    pub read_us: f64,
    pub write_us: f64,
    /// Computing and memory traffic, which overlap, without the launch.
    pub exec_us: f64,
}

impl KernelTime {
    /// Computes the times from counts and a launch of `blocks` of `threads`.
    pub fn new(
        flops: f64,
        reads: &[Counted],
        bytes_written: f64,
        (blocks, threads): (i64, i64),
        device: &crate::Device,
    ) -> KernelTime {
        let compute_us = times::compute_us(flops, blocks, threads, device);
        let read = |read: &Counted| {
            times::read_us(read.size.min(read.total), read.total, blocks, read.efficiency, device)
        };
        let read_us = reads.iter().map(read).sum();
        let write_us = times::write_us(bytes_written, 1.0, device);
        KernelTime {
            flops,
            bytes_read: reads.iter().map(|read| read.total).sum(),
            bytes_written,
            compute_us,
            read_us,
            write_us,
            exec_us: times::combined_us(compute_us, read_us + write_us),
        }
    }
}

/// Estimates a kernel. `None` if a number does not fit.
/// Source: `EstimateRunTimeForInstruction`, `service/gpu/model/gpu_performance_model.cc`.
pub fn kernel_time(analysis: &FusionAnalysis, callees: &Callees<'_>) -> Option<KernelTime> {
    let fused = &analysis.fused;
    let all = FusionUse::of(fused, analysis.device, callees)?;
    let is_coalesced = has_coalesced_reads(fused, analysis.kind);
    let mut reads = Vec::new();
    for (op, often) in fused.graph.ops.iter().zip(&all.utilisation) {
        if op.parameter.is_some() {
            let size = op.shape.bytes()? as f64;
            let efficiency = read_efficiency(&op.shape, is_coalesced, analysis.device);
            reads.push(Counted { size, total: (size * often).round(), efficiency });
        }
    }
    let launch = launch(analysis)?;
    Some(KernelTime::new(all.flops, &reads, all.bytes_written, launch, analysis.device))
}

/// Blocks, and threads of each: from the emitter, else from a block-level fusion's tiling, else a thread for
/// every element.
/// Source: `EstimateFusionLaunchDimensions`, `service/gpu/model/gpu_performance_model_base.cc`.
pub(crate) fn launch(analysis: &FusionAnalysis) -> Option<(i64, i64)> {
    if let Some(launch) = analysis.launch() {
        return Some((launch.blocks().ok()?, launch.threads_per_block()));
    }
    if let (Some(config), [root]) = (&analysis.fused.block_level, &analysis.fused.roots[..]) {
        let tile = config.output_tiles.first()?;
        let dims = analysis.fused.op(*root).shape.dims();
        let blocks = dims.iter().zip(tile).map(|(&size, &tile)| ceil_div(size, tile));
        let blocks = blocks.into_iter().try_fold(1i64, |n, blocks| n.checked_mul(blocks?))?;
        return Some((blocks, config.warps * analysis.device.threads_per_warp));
    }
    let elements = analysis.fused.root_shape(0).as_array()?.elements()?;
    Some((ceil_div(elements, 128)?, 128))
}
