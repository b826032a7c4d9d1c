//! XLA's estimate of a block-level kernel: the work of a block for its tile, times the number of blocks.

use indexing::{Callees, Rules, SymbolicTile, grouped};
use indexing_map::{Expr, IndexingMap, ceil_div};
use ir::{AttributeKey, ElementTypeExt, KernelFlops, Op, OpId, op_info};
use rustc_hash::FxHashMap;

use super::instruction_cost::called_flops;
use super::kernel_time::KernelTime;
use super::op_profile::flops_per_element;
use super::times;
use crate::coalescing::tiled_efficiency;
use crate::device::Device;
use crate::fusion_analysis::FusionAnalysis;

/// The maximum number of ops of a fusion that is tiled.
const MAX_OPS: usize = 2048;

/// The tile of an op that corresponds to the root's tile of one block.
#[derive(PartialEq)]
struct OpTile {
    op: OpId,
    /// Its offsets, in terms of the block's tile.
    starts: Vec<Expr>,
    sizes: Vec<i64>,
    strides: Vec<i64>,
}

/// The time with the fusion's own tiling, or the reason why XLA's model does not apply.
/// Source: `EstimateRunTimeForTiledHloComputation`, `service/gpu/model/gpu_indexing_performance_model.cc`.
pub(crate) fn tiled_time(
    analysis: &FusionAnalysis,
    callees: &Callees<'_>,
) -> Result<KernelTime, &'static str> {
    let fused = &analysis.fused;
    let Some(config) = &fused.block_level else { return Err("a Triton fusion without a tiling") };
    let [root] = fused.roots[..] else { return Err("a Triton fusion with several results") };
    let [tile] = &config.output_tiles[..] else { return Err("a Triton fusion with several tilings") };
    TiledKernel::of(analysis, root)?.time_at(tile, Some(config.warps), callees)
}

/// A fusion with one result in which every op and operand has a tile for each tile of the result.
pub(crate) struct TiledKernel<'a> {
    analysis: &'a FusionAnalysis,
    root: OpId,
    /// Per op, the ways in which it is needed.
    needed: Vec<(OpId, Vec<(IndexingMap, SymbolicTile)>)>,
}

impl<'a> TiledKernel<'a> {
    /// Derives the tiles, or the reason why an op has none, whatever the sizes.
    pub(crate) fn of(analysis: &'a FusionAnalysis, root: OpId) -> Result<TiledKernel<'a>, &'static str> {
        let fused = &analysis.fused;
        if fused.graph.ops.len() > MAX_OPS {
            return Err("more ops than are tiled");
        }
        let set: Vec<OpId> = fused.ops().map(|(id, _)| id).collect();
        let all = grouped(&fused.graph, root, 0, &set, Rules::Xla, &|_| None);
        let mut needed = Vec::with_capacity(all.ops.len());
        for op in all.ops {
            let accesses = op.indexing.into_iter().map(|access| {
                let tile = SymbolicTile::from_map(&access.map)?;
                Some((access.map, tile))
            });
            let accesses: Option<Vec<_>> = accesses.collect();
            needed.push((op.place.op, accesses.ok_or("an op whose operand is no tile")?));
        }
        Ok(TiledKernel { analysis, root, needed })
    }

    /// The time with these tile sizes of the result and this many warps; by default as many as XLA would
    /// take.
    pub(crate) fn time_at(
        &self,
        tile: &[i64],
        warps: Option<i64>,
        callees: &Callees<'_>,
    ) -> Result<KernelTime, &'static str> {
        const TOO_LARGE: &str = "a number in it does not fit 64 bits";
        let (fused, device) = (&self.analysis.fused, self.analysis.device);
        let result = fused.op(self.root);
        let dims = result.shape.dims();
        if dims.len() != tile.len() {
            return Err("a tiling of another rank than the result");
        }
        let per_dim = dims.iter().zip(tile).map(|(&size, &tile)| ceil_div(size, tile.max(1)));
        let blocks =
            per_dim.into_iter().try_fold(1i64, |n, blocks| n.checked_mul(blocks?)).ok_or(TOO_LARGE)?;
        // A tile is a power of two; its part outside the result is neither read nor written.
        let tile: Vec<i64> = dims.iter().zip(tile).map(|(&size, &tile)| tile.min(size)).collect();
        let limit = device.registers_per_block.map(|registers| registers as f64 * 0.4);
        let (mut flops, mut largest, mut read) = (0.0, 1.0f64, FxHashMap::default());
        for at in &self.tiles(&tile)? {
            let padded: f64 = at.sizes.iter().map(|&size| power_of_two(size)).product();
            if limit.is_some_and(|limit| padded > limit) {
                return Err("a tile that does not fit the registers");
            }
            let op = fused.op(at.op);
            largest = largest.max(padded);
            if fused.is_inside(at.op) {
                if op_info(op.opcode).kernel_flops == KernelFlops::Concatenation {
                    return Err("a concatenation in a Triton fusion");
                }
                flops += tile_flops(op, device, callees) * padded * blocks as f64;
                continue;
            }
            let (bytes, efficiency) = traffic(at, op, device)?;
            let (total, least) = read.entry(at.op).or_insert((0.0, f64::INFINITY));
            *total += bytes * blocks as f64;
            *least = efficiency.min(*least);
        }
        let threads = warps.unwrap_or_else(|| warps_for(largest)) * device.threads_per_warp;
        let compute_us = times::compute_us(flops, blocks, threads, device);
        let (mut read_us, mut bytes_read) = (0.0, 0.0);
        for (op, (total, efficiency)) in read {
            let size = fused.op(op).shape.bytes().ok_or(TOO_LARGE)? as f64;
            read_us += times::read_us(size.min(total), total, blocks, efficiency, device);
            bytes_read += total;
        }
        let strides = vec![1; tile.len()];
        let whole = OpTile { op: self.root, starts: Vec::new(), strides, sizes: tile };
        let (_, efficiency) = traffic(&whole, result, device)?;
        let bytes_written = result.shape.bytes().ok_or(TOO_LARGE)? as f64;
        let write_us = times::write_us(bytes_written, efficiency, device);
        let exec_us = times::combined_us(compute_us, read_us + write_us);
        Ok(KernelTime { flops, bytes_read, bytes_written, compute_us, read_us, write_us, exec_us })
    }

    /// The distinct tiles of all ops and operands that a tile of the root needs.
    fn tiles(&self, tile: &[i64]) -> Result<Vec<OpTile>, &'static str> {
        let dims = self.analysis.fused.op(self.root).shape.dims();
        let has_one_tile: Vec<bool> = dims.iter().zip(tile).map(|(&size, &tile)| tile >= size).collect();
        let mut tiles: Vec<OpTile> = Vec::new();
        for (op, accesses) in &self.needed {
            let first = tiles.len();
            for (map, symbolic) in accesses {
                let Some(values) = symbolic.at(tile).filter(|values| values.is_tile) else {
                    return Err("an op whose operand is no tile");
                };
                let whole = |values: &[Option<i64>]| values.iter().copied().collect::<Option<Vec<i64>>>();
                let (Some(sizes), Some(strides)) = (whole(&values.sizes), whole(&values.strides)) else {
                    return Err("a tile beyond 64 bits");
                };
                // Two accesses of the same elements in every block are one tile.
                let next = OpTile { op: *op, starts: starts(map, &has_one_tile), sizes, strides };
                if !tiles[first..].contains(&next) {
                    tiles.push(next);
                }
            }
        }
        Ok(tiles)
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

/// The offsets of the op's tile, over the root's dimensions that have several tiles.
fn starts(map: &IndexingMap, has_one_tile: &[bool]) -> Vec<Expr> {
    let (dims, ranges) = (map.num_dims(), map.num_ranges());
    let start = |v: u32| {
        let v = v as usize;
        let is_dim = v < dims && !has_one_tile.get(v).copied().unwrap_or(false);
        (!is_dim && v < dims + ranges).then_some(Expr::ZERO)
    };
    map.results().iter().map(|result| result.substitute(&mut |v| start(v))).collect()
}

/// Bytes of an operand's or a result's tile, and the useful part of the bandwidth.
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
    let size: f64 = tile.sizes.iter().map(|&size| size.max(0) as f64).product();
    Ok((size * bytes as f64, efficiency))
}

/// Flops per element of the op's tile. Ops that only move elements are free. Source: `FlopsPerElement`, as
/// above.
fn tile_flops(op: &Op, device: &Device, callees: &Callees<'_>) -> f64 {
    match op_info(op.opcode).kernel_flops {
        KernelFlops::Reduction => {
            let dims = op.operand_shapes.first().map_or(&[][..], |shape| shape.dims());
            let reduced = op.attributes.ints(AttributeKey::Dimensions).iter();
            let size = |&dim: &i64| usize::try_from(dim).ok().and_then(|dim| dims.get(dim).copied());
            let steps: f64 = reduced.filter_map(size).map(power_of_two).product();
            let name = op.attributes.computation(AttributeKey::ToApply);
            let each = name.map_or(7.0, |name| called_flops(name, device, callees));
            (steps - 1.0).max(0.0) * each
        }
        KernelFlops::PerElement | KernelFlops::Copy => flops_per_element(op, device),
        KernelFlops::Concatenation | KernelFlops::Fusion | KernelFlops::AsOutside => 0.0,
    }
}

fn power_of_two(size: i64) -> f64 {
    u64::try_from(size).ok().and_then(u64::checked_next_power_of_two).map_or(f64::INFINITY, |n| n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn time(lines: &str, tile: &[i64]) -> Result<KernelTime, &'static str> {
        let analysis = fixture::analysis(lines, "h100-sxm").unwrap();
        TiledKernel::of(&analysis, analysis.fused.roots[0])?.time_at(tile, Some(4), &fixture::callees())
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

    #[test]
    fn what_is_not_modelled() {
        let text = "p = f32[64,64] parameter(0)\n ROOT n = f32[64,64] negate(p)";
        assert_eq!(time(text, &[64]), Err("a tiling of another rank than the result"));
        let text = "p = f32[1024,1024] parameter(0)\n ROOT n = f32[1024,1024] negate(p)";
        assert_eq!(time(text, &[1024, 1024]), Err("a tile that does not fit the registers"));
    }
}
