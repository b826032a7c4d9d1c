//! XLA's model of the matrix units: the time of a dot of which each block computes one tile, step by step
//! along the contracted dimension.
//!
//! Source: `service/gpu/model/gpu_dot_fusion_cost_model.cc`. Times are in microseconds, sizes in bytes.

use ir::{AttributeKey, ElementType, ElementTypeExt, OpId, Opcode};

use super::hbm_bandwidth::{effective_bandwidth, l2_bandwidth};
use super::symbolic::free_dims;
use crate::cost::roofline::matrix_flops_per_second;
use crate::device::{Device, Platform};
use crate::fused::Fused;

/// The overhead of a step of the loop whose reads do not overlap with other steps. Source: `kLoopLatencyTax`.
const STEP_LATENCY_US: f64 = 1.3;

/// What a step costs beyond its bytes if the tensor memory accelerator copies its tiles. Source:
/// `CalculateL2Time`.
const TMA_STEP_US: f64 = 0.15;

/// The same if threads copy them.
const PLAIN_STEP_US: f64 = 0.4;

/// How the blocks of a kernel run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Launch {
    pub warps: i64,
    /// The number of steps of a loop that overlap; 1 or less if none do.
    pub stages: i64,
    pub uses_tma: bool,
}

/// The time of all dots of a kernel.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct DotTime {
    /// Computing alone.
    pub compute_us: f64,
    /// With the reads and writes of the longest dot.
    pub exec_us: f64,
}

impl DotTime {
    pub(super) fn and(self, other: DotTime) -> DotTime {
        DotTime { compute_us: self.compute_us + other.compute_us, exec_us: self.exec_us.max(other.exec_us) }
    }
}

/// Sizes of a dot or of a tile of it: batch, rows, columns, contracted.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    batch: f64,
    rows: f64,
    columns: f64,
    contracted: f64,
}

/// The time of a dot with these tile sizes, `step` along the contracted dimension. `None` if XLA has no model
/// of this dot: it then counts like any op.
pub(super) fn time(
    fused: &Fused,
    dot: OpId,
    tile: &[i64],
    step: i64,
    launch: Launch,
    device: &Device,
) -> Option<DotTime> {
    if is_transposed_later(fused, dot) {
        return None;
    }
    let op = fused.op(dot);
    let bits = |shape: Option<&ir::Shape>| Some(f64::from(shape?.element()?.bits()?));
    let [lhs_bits, rhs_bits] = [bits(op.operand_shapes.first())?, bits(op.operand_shapes.get(1))?];
    let out_bits = bits(Some(&op.shape))?;
    let whole = sizes(fused, dot)?;
    let (&[ref batch @ .., rows, columns], true) = (tile, step > 0) else { return None };
    let part = Sizes {
        batch: batch.iter().map(|&size| size as f64).product(),
        rows: rows as f64,
        columns: columns as f64,
        contracted: step as f64,
    };
    let blocks = (whole.batch / part.batch).ceil()
        * (whole.rows / part.rows).ceil()
        * (whole.columns / part.columns).ceil();
    if !blocks.is_finite() || blocks <= 0.0 {
        return None;
    }
    let cores = device.cores as f64;
    let waves = (blocks / cores).ceil();
    let flops = 2.0 * part.batch * part.rows * part.columns * whole.contracted * waves * cores;
    let element = op.operand_shapes.first()?.element()?;
    let compute_us = flops / flops_per_second(rows, element, device) * 1e6;

    let bytes_in = (whole.batch * whole.rows * whole.contracted * lhs_bits / 8.0).ceil()
        + (whole.batch * whole.contracted * whole.columns * rhs_bits / 8.0).ceil();
    let bytes_out = (whole.batch * whole.rows * whole.columns * out_bits / 8.0).ceil();
    let bandwidth = effective_bandwidth(bytes_in + bytes_out, device);
    let per_block = (part.batch * part.rows * whole.contracted * lhs_bits / 8.0).ceil()
        + (part.batch * part.columns * whole.contracted * rhs_bits / 8.0).ceil();
    let steps = (whole.contracted / part.contracted).ceil();
    let step_us = if launch.uses_tma { TMA_STEP_US } else { PLAIN_STEP_US };
    let l2_us = per_block * blocks / l2_bandwidth(device) * 1e6 + steps * step_us;

    let staged = ((part.rows * part.contracted * lhs_bits / 8.0).floor()
        + (part.columns * part.contracted * rhs_bits / 8.0).floor())
        * launch.stages as f64;
    let accumulated = part.rows * part.columns * (out_bits.max(32.0) / 32.0);
    let at_once = blocks_per_core(staged, accumulated, launch.warps, device) * cores;
    let launches = (blocks / at_once).ceil();
    let wave = Loop {
        steps,
        stages: launch.stages as f64,
        compute_us: compute_us / launches,
        read_us: bytes_in / bandwidth * 1e6 / launches,
        write_us: bytes_out / bandwidth * 1e6 / launches,
    };
    Some(DotTime { compute_us, exec_us: (wave.time_us() * launches).max(l2_us) })
}

/// The loop of the blocks that run at the same time.
struct Loop {
    steps: f64,
    stages: f64,
    /// All steps together, and so below.
    compute_us: f64,
    read_us: f64,
    /// After the last step.
    write_us: f64,
}

impl Loop {
    /// Source: `CalculatePipelinedLoopTime`.
    fn time_us(&self) -> f64 {
        if self.stages <= 1.0 || self.steps <= 1.0 {
            return self.read_us + self.write_us + self.compute_us + self.steps * STEP_LATENCY_US;
        }
        let (compute, read) = (self.compute_us / self.steps, self.read_us / self.steps);
        let with_latency = read + STEP_LATENCY_US;
        let overlapped = read.max(compute).max(with_latency.max(compute) / (self.stages - 1.0));
        let ahead = (self.stages - 1.0).min(self.steps);
        ahead * (with_latency + compute) + (self.steps - ahead) * overlapped + self.write_us
    }
}

/// The blocks that one core runs at the same time, with these bytes of shared memory and registers for the
/// result each. Source: `CalculateSmOccupancy`; the part about registers is observed in XLA's figures.
fn blocks_per_core(shared_bytes: f64, accumulated: f64, warps: i64, device: &Device) -> f64 {
    /// Registers of a thread beside those for the result.
    const OTHER_REGISTERS: f64 = 24.0;
    let threads = (warps.max(1) as f64) * device.threads_per_warp as f64;
    let by_threads = (device.threads_per_core_limit as f64 / threads).floor();
    let by_memory = match shared_bytes > 0.0 {
        true => (device.shared_memory_per_core as f64 / shared_bytes).floor(),
        false => f64::INFINITY,
    };
    let registers = (accumulated / threads + OTHER_REGISTERS).floor() * threads;
    let by_registers =
        device.registers_per_core.map_or(f64::INFINITY, |all| (all as f64 / registers).floor());
    let limit = device.blocks_per_core_limit.map_or(f64::INFINITY, |limit| limit as f64);
    by_threads.min(by_memory).min(by_registers).max(1.0).min(limit.max(1.0))
}

/// The rate of the matrix units for tiles of so many rows; few rows do not fill them.
/// Source: `GetEffectiveFlopsPerNsForTileSize`; for Blackwell observed in XLA's figures.
fn flops_per_second(rows: i64, element: ElementType, device: &Device) -> f64 {
    let used = match device.platform {
        Platform::Cuda { major: 9 | 10, .. } if rows < 64 => 0.63,
        Platform::Cuda { major: 8, .. } if rows < 32 => 0.5,
        _ => 1.0,
    };
    matrix_flops_per_second(element, device) * used
}

/// The sizes of the dot; `None` if XLA has no model of it: one contracted dimension, and one free dimension of
/// each operand. Source: `IsSupported`, `DotProblemInfo`.
fn sizes(fused: &Fused, dot: OpId) -> Option<Sizes> {
    let op = fused.op(dot);
    let size = |side: usize, dim: i64| {
        op.operand_shapes.get(side)?.dims().get(usize::try_from(dim).ok()?).map(|&size| size as f64)
    };
    let ([rows], [columns]) = (&free_dims(op, 0)[..], &free_dims(op, 1)[..]) else { return None };
    let [contracted] = op.attributes.ints(AttributeKey::LhsContractingDims) else { return None };
    let batch = op.attributes.ints(AttributeKey::LhsBatchDims).iter().map(|&dim| size(0, dim));
    Some(Sizes {
        batch: batch.product::<Option<f64>>()?,
        rows: size(0, *rows)?,
        columns: size(1, *columns)?,
        contracted: size(0, *contracted).filter(|&size| size > 0.0)?,
    })
}

/// Whether the result of the dot is transposed before it is written.
fn is_transposed_later(fused: &Fused, dot: OpId) -> bool {
    let mut is_later = vec![false; fused.graph.ops.len()];
    is_later[dot as usize] = true;
    // Users come after their operands.
    (dot..fused.graph.ops.len() as OpId).any(|id| {
        if !is_later[id as usize] {
            return false;
        }
        for &user in &fused.users[id as usize] {
            is_later[user as usize] = true;
        }
        id != dot && fused.op(id).opcode == Opcode::Transpose
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn time_of(lines: &str, tile: &[i64], stages: i64) -> Option<DotTime> {
        let analysis = fixture::analysis(lines, "h100-sxm").unwrap();
        let fused = &analysis.fused;
        let (dot, _) = fused.ops().find(|(_, op)| op.opcode == Opcode::Dot).unwrap();
        let (&step, tile) = tile.split_last().unwrap();
        time(fused, dot, tile, step, Launch { warps: 4, stages, uses_tma: false }, analysis.device)
    }

    const SQUARE: &str = "\
p = bf16[4096,4096] parameter(0)
 q = bf16[4096,4096] parameter(1)
 ROOT d = bf16[4096,4096] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}";

    /// Large tiles compute at nearly the full rate; small ones, and loops without overlap, take longer.
    #[test]
    fn tiles_and_stages() {
        let plain = time_of(SQUARE, &[128, 256, 128], 1).unwrap();
        let overlapped = time_of(SQUARE, &[128, 256, 128], 2).unwrap();
        let small = time_of(SQUARE, &[16, 16, 16], 3).unwrap();
        assert!((plain.compute_us - 143.3).abs() < 1.0, "{plain:?}");
        assert_eq!(plain.compute_us, overlapped.compute_us);
        assert!(overlapped.exec_us < plain.exec_us, "{overlapped:?} {plain:?}");
        assert!(plain.exec_us < small.exec_us, "{plain:?} {small:?}");
        assert!(overlapped.exec_us > overlapped.compute_us);
    }

    #[test]
    fn what_has_no_model() {
        let transposed = "\
p = bf16[64,64] parameter(0)
 d = bf16[64,64] dot(p, p), lhs_contracting_dims={1}, rhs_contracting_dims={0}
 ROOT t = bf16[64,64] transpose(d), dimensions={1,0}";
        assert_eq!(time_of(transposed, &[16, 16, 16], 1), None);
        let two_rows = "\
p = bf16[4,64,64] parameter(0)
 q = bf16[64,64] parameter(1)
 ROOT d = bf16[4,64,64] dot(p, q), lhs_contracting_dims={2}, rhs_contracting_dims={0}";
        assert_eq!(time_of(two_rows, &[1, 16, 16, 16], 1), None);
        assert_eq!(time_of(SQUARE, &[16, 16, 0], 1), None);
    }
}
