//! Conversion from counts to microseconds by XLA's analytical model.
//!
//! Source: `service/gpu/model/gpu_performance_model_base.cc`. Times are in microseconds, rounded to a quarter
//! of a nanosecond, the resolution of XLA's durations.

use crate::device::Device;

/// The time between two kernels. Source: `kKernelLaunchOverhead`.
pub const LAUNCH_OVERHEAD_US: f64 = 1.0;

/// The speedup of repeated reads that hit the L2 cache. Source: `kL2CacheSpeedup`.
const L2_SPEEDUP: f32 = 2.5;

/// The additional speedup in the L1 cache. Source: `kL1CacheSpeedup`.
const L1_SPEEDUP: f32 = 8.0;

/// The part of the shorter of computing and memory traffic that overlaps with the longer.
/// Source: `kMemoryComputeParallelism`.
const OVERLAP: f64 = 0.95;

/// Microseconds, rounded as XLA's durations are.
fn microseconds(seconds: f64) -> f64 {
    if seconds.is_nan() {
        return 0.0;
    }
    (seconds * 4e9).round() / 4e3
}

/// The product of a duration and a number, rounded in the steps of `absl::Duration`, which decide ties.
/// `ticks` are quarters of a nanosecond.
fn scaled_us(ticks: f64, factor: f64) -> f64 {
    microseconds(ticks * factor / 4e9)
}

/// The time of `flops` on the units that `blocks` of `threads` keep busy. XLA counts the `f32` units.
/// Source: `ComputeTime`.
pub fn compute_us(flops: f64, blocks: i64, threads: i64, device: &Device) -> f64 {
    let units = threads.min(device.fpus_per_core).saturating_mul(blocks.min(device.cores));
    // XLA keeps this in an integer.
    let per_nanosecond = (units as f64 * f64::from(device.clock_ghz as f32 * 2.0)).trunc();
    let nanoseconds = f64::from(flops.trunc() as f32 / per_nanosecond as f32);
    if per_nanosecond < 1.0 { 0.0 } else { scaled_us(4.0, nanoseconds) }
}

/// The time to read `total` bytes, `net` of them distinct. The distinct bytes come from memory at the part
/// `efficiency` of its bandwidth; the rest come from a cache if `net` bytes fit into it. Numbers are `f32` as
/// in XLA, because a quarter of a nanosecond may decide what is fused first. Source:
/// `ReadTimeWithDRAMHeuristic`.
pub fn read_us(net: f64, total: f64, blocks: i64, efficiency: f64, device: &Device) -> f64 {
    let full = device.memory_bandwidth as f32;
    let memory = (device.memory_bandwidth as f64 * efficiency) as f32;
    let again = match net {
        net if net < device.l1_cache_per_core() as f64 * device.cores as f64 => {
            full * L2_SPEEDUP * L1_SPEEDUP
        }
        net if net < device.l2_cache_size as f64 => full * L2_SPEEDUP,
        _ => full * efficiency as f32,
    };
    let limit = block_bandwidth(blocks, device);
    let first = net.min(total);
    let seconds = |bytes: f64, bandwidth: f32| {
        let seconds = if bytes > 0.0 { bytes as f32 / bandwidth } else { 0.0 };
        f64::from(seconds)
    };
    microseconds(seconds(first, memory.min(limit))) + microseconds(seconds(total - first, again.min(limit)))
}

/// Bytes per second that this many blocks can request. Source: `AdjustBandwidth`.
fn block_bandwidth(blocks: i64, device: &Device) -> f32 {
    let each = device.clock_ghz as f32 * 1e9 * device.memory_transactions_per_clock() as f32;
    blocks.max(1) as f32 * each
}

/// The time to write `bytes`; a tiled kernel uses a part of the bandwidth. Source: `WriteTime`.
pub fn write_us(bytes: f64, efficiency: f64, device: &Device) -> f64 {
    match efficiency {
        1.0 => microseconds(f64::from(bytes as f32 / device.memory_bandwidth as f32)),
        _ => microseconds(bytes / (device.memory_bandwidth as f64 * efficiency).trunc()),
    }
}

/// The combined time, with partial overlap. Source: `CombineComputeAndMemoryAccessTime`.
pub fn combined_us(compute: f64, memory: f64) -> f64 {
    let ticks = (compute.min(memory) * 4e3).round();
    // Exact sums: equal times are equal numbers, whatever they are sums of.
    microseconds((compute + memory - scaled_us(ticks, OVERLAP)) / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-6, "{a} is not {b}");
    }

    #[test]
    fn an_elementwise_op_of_sixteen_million() {
        // XLA's figures for `multiply` of f32[16777216] on an H100: three operations per element.
        let h100 = Device::find("h100-sxm").unwrap();
        close(compute_us(3.0 * 16_777_216.0, 32_768, 128, h100), 0.75225);
        close(write_us(67_108_864.0, 1.0, h100), 20.01875);
        close(combined_us(1.0, 10.0), 10.05);
    }

    #[test]
    fn what_is_read_again_comes_from_a_cache() {
        let h100 = Device::find("h100-sxm").unwrap();
        let bandwidth = h100.memory_bandwidth as f64;
        let again = |net: f64| read_us(net, 2.0 * net, 1 << 20, 1.0, h100) - net / bandwidth * 1e6;
        let speedup = |net: f64| net / bandwidth * 1e6 / again(net);
        assert!((speedup(2.6e5) - 20.0).abs() < 1.0, "{}", speedup(2.6e5));
        assert!((speedup(1e7) - 2.5).abs() < 0.01);
        assert!((speedup(1e8) - 1.0).abs() < 0.01);
        // One block cannot request the full bandwidth.
        close(read_us(1e6, 1e6, 1, 1.0, h100), 15.78275);
    }

    #[test]
    fn nothing_takes_no_time() {
        let h100 = Device::find("h100-sxm").unwrap();
        close(compute_us(0.0, 0, 0, h100), 0.0);
        close(read_us(0.0, 0.0, 0, 1.0, h100), 0.0);
        close(write_us(0.0, 1.0, h100), 0.0);
    }
}
