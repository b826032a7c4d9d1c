//! XLA's estimate of a block-level kernel: the work of a block for its tile, times the number of blocks.

mod distinct;
mod dot;
mod hbm_bandwidth;
mod symbolic;

use std::collections::BTreeMap;

use indexing::Callees;
use ir::{AttributeKey, ElementTypeExt, KernelFlops, Op, OpId, Opcode, op_info};

use super::block_level::{BlockLevel, stated_steps};
use super::instruction_cost::{InstructionCost, called_flops, elements};
use super::kernel_time::KernelTime;
use super::op_profile::flops_per_element;
use super::times;
use crate::coalescing::tiled_efficiency;
use crate::device::Device;
use crate::fusion_analysis::FusionAnalysis;

use distinct::OpTile;
use dot::DotTime;
use symbolic::{ROOT, Symbolic};

/// Why XLA's model gives no estimate.
type Reason = &'static str;

const TOO_LARGE: Reason = "a number in it does not fit 64 bits";

/// The time with the fusion's own tiling, or the reason why XLA's model does not apply.
/// Source: `EstimateRunTimeForTiledFusion`, `service/gpu/model/gpu_indexing_performance_model.cc`.
pub(crate) fn tiled_time(
    analysis: &FusionAnalysis,
    callees: &Callees<'_>,
) -> Result<KernelTime, &'static str> {
    let Some(config) = &analysis.fused.block_level else { return Err("a Triton fusion without a tiling") };
    let kernel = TiledKernel::of(analysis)?;
    let tile = kernel.stated_tile(config)?;
    kernel.time_at(&tile, Some(config), callees)
}

/// A fusion with one result in which every op and operand has a tile for each tile of the result.
pub(crate) struct TiledKernel<'a> {
    analysis: &'a FusionAnalysis,
    symbolic: Symbolic,
}

impl<'a> TiledKernel<'a> {
    /// Derives the tiles, or the reason why an op has none, whatever the sizes.
    pub(crate) fn of(analysis: &'a FusionAnalysis) -> Result<TiledKernel<'a>, &'static str> {
        let fused = &analysis.fused;
        // XLA's tiling refuses them as well.
        let [root] = fused.roots[..] else { return Err("a Triton fusion with several results") };
        Ok(TiledKernel { analysis, symbolic: Symbolic::of(fused, root)? })
    }

    /// The dimensions that a tiling cuts: those of the result, then those that dots contract.
    pub(crate) fn dimensions(&self) -> &[i64] {
        &self.symbolic.dimensions.sizes
    }

    /// The number of tiles that [`TiledKernel::time_at`] looks at.
    pub(crate) fn tile_count(&self) -> usize {
        self.symbolic.nodes.len()
    }

    /// The tile sizes that the text states.
    /// Source: `TilingFromAnnotatedFusion`, `codegen/xtile/tiling_from_block_parameters.cc`.
    fn stated_tile(&self, config: &BlockLevel) -> Result<Vec<i64>, &'static str> {
        let fused = &self.analysis.fused;
        let [tile] = &config.output_tiles[..] else { return Err("a Triton fusion with several tilings") };
        if tile.len() != self.symbolic.dimensions.of_result {
            return Err("a tiling of another rank than the result");
        }
        let mut tile = tile.clone();
        for &(dot, _) in &self.symbolic.dimensions.of_dot {
            let op = fused.op(dot);
            let steps = stated_steps(&op.attributes).ok_or("a dot without a tile size")?;
            let contracted = op.attributes.ints(AttributeKey::LhsContractingDims).len();
            tile.extend(steps.get(..contracted).ok_or("a dot without a tile size")?);
        }
        Ok(tile)
    }

    /// The time with these tile sizes, one per [dimension](TiledKernel::dimensions), and the launch of
    /// `config`; by default with as many warps as XLA would take, and without pipelining.
    /// Source: `EstimateRunTimeForTiledHloComputation`, as above.
    pub(crate) fn time_at(
        &self,
        tile: &[i64],
        config: Option<&BlockLevel>,
        callees: &Callees<'_>,
    ) -> Result<KernelTime, &'static str> {
        let (fused, device) = (&self.analysis.fused, self.analysis.device);
        if tile.len() != self.dimensions().len() {
            return Err("a tiling of another rank than the result");
        }
        let tile = padded(tile)?;
        let tiles = self.symbolic.tiles(fused, &tile)?;
        let blocks = self.symbolic.blocks(&tile)?;
        let result = tiles.iter().find(|at| at.node == ROOT).ok_or("a fusion without a result")?;
        let is_held = |at: &OpTile| {
            at.node == ROOT || !fused.is_inside(at.op) || fused.op(at.op).opcode == Opcode::Iota
        };
        let held = tiles.iter().filter(|at| is_held(at));
        let limit = device.registers_per_block.map_or(f64::INFINITY, |registers| registers as f64 * 0.4);
        if held.map(elements_of).any(|size| size > limit) {
            return Err("a tile that does not fit the registers");
        }
        let largest = tiles.iter().map(elements_of).fold(1.0, f64::max);
        let warps = config.map_or_else(|| warps_for(largest), |config| config.warps);
        let (mut flops, mut dot_flops) = (0.0, 0.0);
        let mut dots = DotTime::default();
        let mut read: BTreeMap<OpId, (f64, f64)> = BTreeMap::new();
        for at in &tiles {
            let op = fused.op(at.op);
            if !fused.is_inside(at.op) {
                let (bytes, efficiency) = traffic(at, op, device)?;
                let (total, least) = read.entry(at.op).or_insert((0.0, 1.0));
                *total += bytes * at.times as f64;
                *least = efficiency.min(*least);
                continue;
            }
            let computed =
                tile_flops(op, device, callees).ok_or(TOO_LARGE)? * elements_of(at) * at.times as f64;
            match self.dot_time(at, &tiles, warps, config) {
                Some(time) => {
                    dots = dots.and(time);
                    dot_flops += computed;
                }
                None => flops += computed,
            }
        }
        let threads = warps.saturating_mul(device.threads_per_warp);
        let compute_us = times::compute_us(flops, blocks, threads, device) + dots.compute_us;
        let (mut read_us, mut bytes_read) = (0.0, 0.0);
        for (op, (total, efficiency)) in read {
            let size = fused.op(op).shape.bytes().ok_or(TOO_LARGE)? as f64;
            read_us += times::read_us(size.min(total), total, blocks, efficiency, device);
            bytes_read += total;
        }
        let (_, efficiency) = traffic(result, fused.op(result.op), device)?;
        let bytes_written = fused.op(result.op).shape.bytes().ok_or(TOO_LARGE)? as f64;
        let write_us = times::write_us(bytes_written, efficiency, device);
        let exec_us = times::combined_us(compute_us, read_us + write_us).max(dots.exec_us);
        let flops = flops + dot_flops;
        Ok(KernelTime { flops, bytes_read, bytes_written, compute_us, read_us, write_us, exec_us })
    }

    /// The number of warps that XLA takes for these tile sizes.
    pub(crate) fn warps_at(&self, tile: &[i64]) -> Result<i64, Reason> {
        let tiles = self.symbolic.tiles(&self.analysis.fused, &padded(tile)?)?;
        Ok(warps_for(tiles.iter().map(elements_of).fold(1.0, f64::max)))
    }

    /// The time of the matrix units, if the op is a dot of which XLA has a model.
    fn dot_time(
        &self,
        at: &OpTile,
        tiles: &[OpTile],
        warps: i64,
        config: Option<&BlockLevel>,
    ) -> Option<DotTime> {
        let fused = &self.analysis.fused;
        if fused.op(at.op).opcode != Opcode::Dot {
            return None;
        }
        let lhs = self.symbolic.nodes[at.node as usize].operands.first()?;
        let contracted = fused.op(at.op).attributes.ints(AttributeKey::LhsContractingDims).first()?;
        let operand = tiles.iter().find(|tile| tile.node == *lhs)?;
        let step = *operand.sizes.get(usize::try_from(*contracted).ok()?)?;
        let launch = dot::Launch {
            warps,
            stages: config.map_or(1, |config| config.stages),
            uses_tma: config.is_some_and(|config| config.is_tma_allowed),
        };
        dot::time(fused, at.op, &at.sizes, step, launch, self.analysis.device)
    }
}

/// The number of warps of a block whose largest tile has this many elements. Source: `GetNumWarps`, as above.
fn warps_for(elements: f64) -> i64 {
    match elements {
        n if n <= 256.0 => 1,
        n if n <= 1024.0 => 2,
        n if n <= 4096.0 => 4,
        _ => 8,
    }
}

/// Bytes of an operand's or a result's tile, and the useful part of the bandwidth. Elements outside of the
/// array are not read.
fn traffic(tile: &OpTile, op: &Op, device: &Device) -> Result<(f64, f64), &'static str> {
    let Some(array) = op.shape.as_array() else { return Err("a tuple in a Triton fusion") };
    let bytes = i64::from(array.element.bits().unwrap_or(8).div_ceil(8));
    let efficiency = tiled_efficiency(
        &array.dims,
        &array.minor_to_major(),
        &tile.sizes,
        &tile.strides,
        bytes,
        device.dram_transaction_bytes(),
    );
    let inside = tile.sizes.iter().zip(&array.dims).map(|(&tile, &size)| tile.min(size).max(0) as f64);
    Ok((inside.product::<f64>() * bytes as f64, efficiency))
}

/// Flops per element of the op's tile. Ops that only move elements are free. Source: `FlopsPerElement`, as
/// above.
fn tile_flops(op: &Op, device: &Device, callees: &Callees<'_>) -> Option<f64> {
    Some(match op_info(op.opcode).kernel_flops {
        KernelFlops::Reduction => {
            let dims = op.operand_shapes.first().map_or(&[][..], |shape| shape.dims());
            let reduced = op.attributes.ints(AttributeKey::Dimensions).iter();
            let size = |&dim: &i64| usize::try_from(dim).ok().and_then(|dim| dims.get(dim).copied());
            let steps: f64 =
                reduced.filter_map(size).filter_map(power_of_two).map(|size| size as f64).product();
            let name = op.attributes.computation(AttributeKey::ToApply);
            let each = name.map_or(7.0, |name| called_flops(name, device, callees));
            (steps - 1.0).max(0.0) * each
        }
        KernelFlops::PerElement | KernelFlops::Copy => flops_per_element(op, device),
        KernelFlops::Fusion => 0.0,
        KernelFlops::Concatenation | KernelFlops::AsOutside => {
            let (all, elements) = (InstructionCost::of(op, device, callees)?.flops, elements(&op.shape)?);
            if elements > 0.0 { (all / elements).trunc() } else { 0.0 }
        }
    })
}

/// Triton's tiles have sizes that are powers of two.
fn padded(tile: &[i64]) -> Result<Vec<i64>, Reason> {
    tile.iter().map(|&size| power_of_two(size)).collect::<Option<_>>().ok_or(TOO_LARGE)
}

fn elements_of(tile: &OpTile) -> f64 {
    tile.sizes.iter().map(|&size| size as f64).product()
}

/// The smallest power of two that is at least `size`; 1 for an empty dimension.
fn power_of_two(size: i64) -> Option<i64> {
    let size = u64::try_from(size).ok()?.max(1).checked_next_power_of_two()?;
    i64::try_from(size).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn time(lines: &str, tile: &[i64]) -> Result<KernelTime, &'static str> {
        let analysis = fixture::analysis(lines, "h100-sxm").unwrap();
        TiledKernel::of(&analysis)?.time_at(tile, None, &fixture::callees())
    }

    #[test]
    fn rows_are_read_once() {
        let text = "\
p = f32[8192,1024] parameter(0)
 z = f32[] constant(0)
            r = f32[8192] reduce(p, z), dimensions={1}, to_apply=add
            b = f32[8192,1024] broadcast(r), dimensions={0}
 ROOT d = f32[8192,1024] divide(p, b)";
        let time = time(text, &[2, 1024]).unwrap();
        let bytes = 8192.0 * 1024.0 * 4.0;
        // The operand is needed as the row that is summed and as the dividend, with the same tile.
        assert_eq!((time.bytes_read, time.bytes_written), (bytes, bytes));
        assert_eq!(time.flops, 8192.0 * (1023.0 * 7.0 + 1024.0 * 19.0));
    }

    /// Each block reads rows of one operand and columns of the other, as often as there are blocks of them.
    #[test]
    fn a_dot_reads_its_operands_in_steps() {
        let text = "\
p = bf16[512,256] parameter(0)
 q = bf16[256,1024] parameter(1)
 n = bf16[512,256] negate(p)
 ROOT d = bf16[512,1024] dot(n, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}";
        let time = time(text, &[64, 128, 32]).unwrap();
        let (rows, columns) = (512.0 * 256.0 * 8.0, 256.0 * 1024.0 * 8.0);
        assert_eq!(time.bytes_read, 2.0 * (rows + columns));
        assert_eq!(time.bytes_written, 2.0 * 512.0 * 1024.0);
        let negate = flops_per_element(&Op::leaf(ir::Shape::Token), Device::find("h100-sxm").unwrap());
        assert_eq!(time.flops % (2.0 * 256.0 * 512.0 * 1024.0), rows * negate);
    }

    /// Blocks compute the part of a concatenation in which they are.
    #[test]
    fn parts_of_a_concatenation() {
        let text = "\
p = f32[64,256] parameter(0)
 q = f32[192,256] parameter(1)
 ROOT c = f32[256,256] concatenate(p, q), dimensions={0}";
        let time = time(text, &[32, 256]).unwrap();
        assert_eq!((time.bytes_read, time.bytes_written), (262_144.0, 262_144.0));
        assert_eq!(time.flops, 6.0 * 65_536.0);
    }

    #[test]
    fn what_is_not_modelled() {
        let text = "p = f32[64,64] parameter(0)\n ROOT n = f32[64,64] negate(p)";
        assert_eq!(time(text, &[64]), Err("a tiling of another rank than the result"));
        let text = "p = f32[1024,1024] parameter(0)\n ROOT n = f32[1024,1024] negate(p)";
        assert_eq!(time(text, &[1024, 1024]), Err("a tile that does not fit the registers"));
        let text = "\
p = f32[36] parameter(0)
 n = f32[36] negate(p)
 e = f32[36] exponential(n)
 ROOT t = (f32[36], f32[36]) tuple(n, e)";
        assert_eq!(time(text, &[4]), Err("a Triton fusion with several results"));
    }
}
