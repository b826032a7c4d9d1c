//! XLA's estimate of a block-level kernel: the work of a block for its tile, times the number of blocks.

mod distinct;
mod dot;
mod hbm_bandwidth;
mod symbolic;

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

use distinct::Extent;
pub(crate) use distinct::Tiles;
use dot::DotTime;
use symbolic::{Node, NodeId, ROOT, Symbolic};

/// Why XLA's model gives no estimate.
type Reason = &'static str;

const TOO_LARGE: Reason = "a number in it does not fit 64 bits";

const TOO_MANY_REGISTERS: Reason = "a tile that does not fit the registers";

/// The time with the fusion's own tiling, or the reason why XLA's model does not apply.
/// Source: `EstimateRunTimeForTiledFusion`, `service/gpu/model/gpu_indexing_performance_model.cc`.
pub(crate) fn tiled_time(
    analysis: &FusionAnalysis,
    callees: &Callees<'_>,
) -> Result<KernelTime, &'static str> {
    let Some(config) = &analysis.fused.block_level else { return Err("a Triton fusion without a tiling") };
    let kernel = TiledKernel::of(analysis, callees)?;
    let tile = kernel.stated_tile(config)?;
    kernel.time_at(&tile, Some(config), &mut Tiles::default())
}

/// A fusion with one result in which every op and operand has a tile for each tile of the result.
pub(crate) struct TiledKernel<'a> {
    analysis: &'a FusionAnalysis,
    symbolic: Symbolic,
    works: Vec<Work>,
    /// The fusion's operands, in order.
    reads: Vec<Buffer>,
    result: Buffer,
}

/// What a block does for a node.
enum Work {
    /// Reads an operand, by its number in [`TiledKernel::reads`].
    Read(usize),
    /// Flops per element, if their number is known.
    Compute(Option<f64>),
    /// The same of an iota, whose elements are held in registers.
    Iota(Option<f64>),
    Dot(Option<f64>),
}

impl<'a> TiledKernel<'a> {
    /// Derives the tiles, or the reason why an op has none, whatever the sizes.
    pub(crate) fn of(
        analysis: &'a FusionAnalysis,
        callees: &Callees<'_>,
    ) -> Result<TiledKernel<'a>, &'static str> {
        let fused = &analysis.fused;
        // XLA's tiling refuses them as well.
        let [root] = fused.roots[..] else { return Err("a Triton fusion with several results") };
        let symbolic = Symbolic::of(fused, root)?;
        let mut operands: Vec<OpId> = symbolic.nodes.iter().map(|node| node.op).collect();
        operands.sort_unstable();
        operands.dedup();
        operands.retain(|&op| !fused.is_inside(op));
        let buffer = |op: OpId| Buffer::of(fused.op(op)).ok_or("a tuple in a Triton fusion");
        let reads = operands.iter().map(|&op| buffer(op)).collect::<Result<Vec<_>, _>>()?;
        let work = |node: &Node| {
            if let Ok(number) = operands.binary_search(&node.op) {
                return Work::Read(number);
            }
            let op = fused.op(node.op);
            let flops = tile_flops(op, analysis.device, callees);
            match op.opcode {
                Opcode::Dot => Work::Dot(flops),
                Opcode::Iota => Work::Iota(flops),
                _ => Work::Compute(flops),
            }
        };
        let works = symbolic.nodes.iter().map(work).collect();
        Ok(TiledKernel { analysis, works, reads, result: buffer(root)?, symbolic })
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
    /// `config`; by default with as many warps as XLA would take, and without pipelining. `tiles` is memory that is reused.
    /// Source: `EstimateRunTimeForTiledHloComputation`, as above.
    pub(crate) fn time_at(
        &self,
        tile: &[i64],
        config: Option<&BlockLevel>,
        tiles: &mut Tiles,
    ) -> Result<KernelTime, &'static str> {
        let (fused, device, symbolic) = (&self.analysis.fused, self.analysis.device, &self.symbolic);
        if tile.len() != self.dimensions().len() {
            return Err("a tiling of another rank than the result");
        }
        let tile = padded(tile)?;
        let limit = device.registers_per_block.map_or(f64::INFINITY, |registers| registers as f64 * 0.4);
        let of_result = &tile[..symbolic.dimensions.of_result];
        if of_result.iter().map(|&size| size as f64).product::<f64>() > limit {
            return Err(TOO_MANY_REGISTERS);
        }
        symbolic.extents(&tile, tiles)?;
        let is_held = |(work, node): (&Work, &Node)| {
            matches!(work, Work::Read(_) | Work::Iota(_)) && tiles.extents[node.tile].elements > limit
        };
        if self.works.iter().zip(&symbolic.nodes).any(is_held) {
            return Err(TOO_MANY_REGISTERS);
        }
        symbolic.count(fused, &tile, tiles)?;
        let blocks = symbolic.blocks(&tile)?;
        let warps = config.map_or_else(|| warps_for(self.largest(tiles)), |config| config.warps);
        let (mut flops, mut dot_flops) = (0.0, 0.0);
        let mut dots = DotTime::default();
        let mut read: Vec<(f64, f64)> = vec![(0.0, 1.0); self.reads.len()];
        for node in tiles.nodes() {
            let (extent, times) = (tiles.extent(symbolic, node), tiles.times[node as usize] as f64);
            match self.works[node as usize] {
                Work::Read(number) => {
                    let (bytes, efficiency) = self.reads[number].traffic(extent, device);
                    let (total, least) = &mut read[number];
                    *total += bytes * times;
                    *least = efficiency.min(*least);
                }
                Work::Compute(each) | Work::Iota(each) => {
                    flops += each.ok_or(TOO_LARGE)? * extent.elements * times;
                }
                Work::Dot(each) => {
                    let computed = each.ok_or(TOO_LARGE)? * extent.elements * times;
                    match self.dot_time(node, tiles, warps, config) {
                        Some(time) => {
                            dots = dots.and(time);
                            dot_flops += computed;
                        }
                        None => flops += computed,
                    }
                }
            }
        }
        let threads = warps.saturating_mul(device.threads_per_warp);
        let compute_us = times::compute_us(flops, blocks, threads, device) + dots.compute_us;
        let (mut read_us, mut bytes_read) = (0.0, 0.0);
        for (buffer, (total, efficiency)) in self.reads.iter().zip(read) {
            read_us += times::read_us(buffer.bytes.min(total), total, blocks, efficiency, device);
            bytes_read += total;
        }
        let (_, efficiency) = self.result.traffic(tiles.extent(symbolic, ROOT), device);
        let bytes_written = self.result.bytes;
        let write_us = times::write_us(bytes_written, efficiency, device);
        let exec_us = times::combined_us(compute_us, read_us + write_us).max(dots.exec_us);
        let flops = flops + dot_flops;
        Ok(KernelTime { flops, bytes_read, bytes_written, compute_us, read_us, write_us, exec_us })
    }

    /// The number of warps that XLA takes for these tile sizes.
    pub(crate) fn warps_at(&self, tile: &[i64]) -> Result<i64, Reason> {
        let (tile, mut tiles) = (padded(tile)?, Tiles::default());
        self.symbolic.extents(&tile, &mut tiles)?;
        self.symbolic.count(&self.analysis.fused, &tile, &mut tiles)?;
        Ok(warps_for(self.largest(&tiles)))
    }

    /// The number of elements of the largest tile.
    fn largest(&self, tiles: &Tiles) -> f64 {
        tiles.nodes().map(|node| tiles.extent(&self.symbolic, node).elements).fold(1.0, f64::max)
    }

    /// The time of the matrix units, if XLA has a model of the dot.
    fn dot_time(
        &self,
        node: NodeId,
        tiles: &Tiles,
        warps: i64,
        config: Option<&BlockLevel>,
    ) -> Option<DotTime> {
        let fused = &self.analysis.fused;
        let Node { op: dot, operands, .. } = &self.symbolic.nodes[node as usize];
        let contracted = fused.op(*dot).attributes.ints(AttributeKey::LhsContractingDims).first()?;
        let operand = tiles.extent(&self.symbolic, *operands.first()?);
        let step = *operand.sizes.get(usize::try_from(*contracted).ok()?)?;
        let launch = dot::Launch {
            warps,
            stages: config.map_or(1, |config| config.stages),
            uses_tma: config.is_some_and(|config| config.is_tma_allowed),
        };
        let sizes = &tiles.extent(&self.symbolic, node).sizes;
        dot::time(fused, *dot, sizes, step, launch, self.analysis.device)
    }
}

/// An operand or the result in memory.
struct Buffer {
    dims: Vec<i64>,
    minor_to_major: Vec<usize>,
    element_bytes: i64,
    bytes: f64,
}

impl Buffer {
    fn of(op: &Op) -> Option<Buffer> {
        let array = op.shape.as_array()?;
        Some(Buffer {
            dims: array.dims.clone(),
            minor_to_major: array.minor_to_major(),
            element_bytes: i64::from(array.element.bits().unwrap_or(8).div_ceil(8)),
            bytes: array.bytes()? as f64,
        })
    }

    /// Bytes of a tile, and the useful part of the bandwidth. Elements outside of the array are not read.
    fn traffic(&self, tile: &Extent, device: &Device) -> (f64, f64) {
        let efficiency = tiled_efficiency(
            &self.dims,
            &self.minor_to_major,
            &tile.sizes,
            &tile.strides,
            self.element_bytes,
            device.dram_transaction_bytes(),
        );
        let inside = tile.sizes.iter().zip(&self.dims).map(|(&tile, &size)| tile.min(size).max(0) as f64);
        (inside.product::<f64>() * self.element_bytes as f64, efficiency)
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
        TiledKernel::of(&analysis, &fixture::callees())?.time_at(tile, None, &mut Tiles::default())
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
