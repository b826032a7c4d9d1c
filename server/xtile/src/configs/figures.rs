//! What a configuration costs: blocks, elements outside of arrays, shared memory, registers, occupancy, time.

use gpu::{BufferTraffic, Counts, Fused, FusionAnalysis, KernelTime, estimate};
use indexing::Callees;
use indexing_map::ceil_div;
use ir::{ElementTypeExt, Opcode};

use super::{TileConfig, with_config};
use crate::program::{Block, Kind, Program, Type, ValueId};
use crate::space::TilingSpace;
use crate::tile::static_sizes;
use crate::tiled::TiledFusion;
use crate::{Reason, accesses, emit, lower};

/// The largest tile of Triton. Source: `TRITON_MAX_TENSOR_NUMEL` of Triton, `kMaxTensorNumElements`,
/// `service/gpu/model/triton_emitter_constraints.cc`.
pub(crate) const MAX_ELEMENTS: i64 = 1 << 20;

/// One configuration of a fusion, with its consequences.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigFigures {
    pub config: TileConfig,
    pub blocks: i64,
    /// The share of the elements of tiles that lie outside of the arrays: blocks compute them in vain. Of the
    /// op with most elements; a dot has those of its products.
    pub masked: f64,
    /// Bytes of shared memory of a block, by XLA's cost model: operand tiles of its dots, for each stage.
    /// `None` without dots.
    pub shared_bytes: Option<i64>,
    /// Registers per thread for the sums of loops, which stay in registers throughout; 0 without loops. A
    /// lower bound of what the kernel needs.
    pub sum_registers: i64,
    /// The number of blocks that a core holds at once, as far as threads, `shared_bytes` and `sum_registers`
    /// decide it.
    pub blocks_per_core: Option<i64>,
    /// 32-byte sectors per request of a warp, on average, by Triton's layout rules. `None` where they do not decide it.
    pub sectors_per_request: Option<f64>,
    /// XLA's estimate, or the reason why its model gives none.
    pub time: Result<KernelTime, &'static str>,
}

impl ConfigFigures {
    /// Bytes that all blocks read and write, by XLA's model.
    pub fn bytes(&self) -> Option<f64> {
        self.time.as_ref().ok().map(|time| time.bytes_read + time.bytes_written)
    }
}

/// The figures of a fusion with a configuration, or the reason why XLA refuses it.
pub fn figures(
    name: &str,
    analysis: &FusionAnalysis,
    callees: &Callees<'_>,
    config: &TileConfig,
) -> Result<ConfigFigures, Reason> {
    let changed = with_config(analysis, config)?;
    sizes_fit(&changed, config)?;
    let program = emit(name, &changed, callees)?;
    let device = changed.device;
    let threads = config.warps * device.threads_per_warp;
    if threads > device.threads_per_block_limit {
        return Err(format!(
            "a block of {threads} threads; {} has at most {}",
            device.name, device.threads_per_block_limit
        )
        .into());
    }
    let tiles = || program.values.iter().map(|ty| elements(ty.sizes()));
    if tiles().any(|elements| elements.is_none_or(|elements| elements > MAX_ELEMENTS)) {
        return Err(format!("a tile of more than {MAX_ELEMENTS} elements, the most that Triton takes").into());
    }
    let level = changed.fused.block_level.as_ref().ok_or("a fusion without tiles")?;
    let space = TilingSpace::of(&changed.fused, level)?;
    let shared_bytes = shared_bytes(&program, config.stages);
    let sums = loop_sums(&program).into_iter().map(|ty| bits(ty).unwrap_or(0)).max().unwrap_or(0);
    let sum_registers = ceil_div(sums, 32 * threads).unwrap_or(0);
    let limit = |whole: i64, each: i64| (each > 0).then(|| whole / each);
    let blocks_per_core = [
        limit(device.threads_per_core_limit, threads),
        limit(device.shared_memory_per_core, shared_bytes.unwrap_or(0)),
        device.registers_per_core.and_then(|registers| limit(registers, sum_registers * threads)),
        device.blocks_per_core_limit,
    ];
    let estimate = estimate(&changed, callees);
    let sectors_per_request = requests(&program, &changed).map(|counts| counts.sectors_per_request());
    Ok(ConfigFigures {
        config: config.clone(),
        blocks: program.blocks,
        masked: masked(&space, &changed.fused)?,
        shared_bytes,
        sum_registers,
        blocks_per_core: blocks_per_core.into_iter().flatten().min(),
        sectors_per_request,
        time: estimate.xla.ok_or(estimate.not_modelled.unwrap_or("it has no estimate")),
    })
}

/// The requests of all reads and writes.
fn requests(program: &Program, analysis: &FusionAnalysis) -> Option<Counts> {
    let code = lower(program).and_then(|lowered| accesses(&lowered, analysis)).ok()?;
    let buffers = analysis.coalescing_of(&|_| Ok(code.clone()));
    let accessed = buffers.iter().filter(|buffer| buffer.code.as_ref().is_none_or(|code| !code.is_empty()));
    accessed.map(BufferTraffic::judged).reduce(|a, b| Some(a?.plus(b?)))?
}

/// Refuses tiles of the result that are neither a power of two nor the whole dimension. Source:
/// `VerifyTritonConstraints`, `service/gpu/model/triton_emitter_constraints.cc`.
fn sizes_fit(analysis: &FusionAnalysis, config: &TileConfig) -> Result<(), Reason> {
    let fused = &analysis.fused;
    let Some(&root) = fused.roots.first() else { return Ok(()) };
    let dims = fused.op(root).shape.dims().iter().zip(&config.result).enumerate();
    let unfit = dims.into_iter().find(|&(_, (size, tile))| tile != size && tile.count_ones() != 1);
    unfit.map_or(Ok(()), |(dim, (size, tile))| {
        Err(format!(
            "Root instruction {} has a tile size of {tile} in dimension {dim}, which is neither a power of 2 nor equal \
             to the dimension size {size}.",
            fused.name(root)
        )
        .into())
    })
}

fn elements(sizes: &[i64]) -> Option<i64> {
    sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(size))
}

fn bits(ty: &Type) -> Option<i64> {
    elements(ty.sizes())?.checked_mul(i64::from(ty.element()?.bits()?))
}

/// Source: `CalculateSharedMemoryPerBlockBytes`, `service/gpu/model/gpu_dot_fusion_cost_model.cc`.
fn shared_bytes(program: &Program, stages: i64) -> Option<i64> {
    let mut largest = None;
    each_op(&program.body, &mut |kind, operands, _| {
        if matches!(kind, Kind::Dot(_) | Kind::ScaledDot { .. }) {
            let tiles = operands.iter().take(2).map(|&value| bits(&program.values[value as usize]));
            let bits = tiles.sum::<Option<i64>>().and_then(|bits| bits.checked_mul(stages));
            largest = largest.max(bits.map(|bits| bits / 8));
        }
    });
    largest
}

/// The tiles that loops carry from step to step.
fn loop_sums(program: &Program) -> Vec<&Type> {
    let mut sums = Vec::new();
    each_op(&program.body, &mut |kind, _, result| {
        if let (Kind::For, Some(result)) = (kind, result) {
            sums.push(&program.values[result as usize]);
        }
    });
    sums
}

/// Calls `visit` for each op, inner ones included: its kind, operands and result.
fn each_op(block: &Block, visit: &mut impl FnMut(&Kind, &[ValueId], Option<ValueId>)) {
    // Regions are nested at most as deep as `tiled::MAX_DEPTH`.
    for op in &block.ops {
        visit(&op.kind, &op.operands, op.result());
        op.blocks.iter().for_each(|inner| each_op(inner, visit));
    }
}

/// The masked share of the elements of the op with most of them: of its result, or for a dot, of its products.
fn masked(space: &TilingSpace, fused: &Fused) -> Result<f64, Reason> {
    let tiled = TiledFusion::of(space, fused)?;
    let (mut used, mut whole) = (1.0, 1.0);
    for op in &tiled.ops {
        let dims = fused.op(op.op).shape.dims();
        let along = dims.iter().copied().zip(static_sizes(&op.tile).unwrap_or_default());
        let is_dot = matches!(fused.op(op.op).opcode, Opcode::Dot | Opcode::ScaledDot);
        let summed = space.dimensions.iter().filter(|dim| is_dot && dim.is_sequential && dim.op == op.op);
        let along = along.chain(summed.map(|dim| (dim.size, dim.tile)));
        let (own, all) = along.fold((1.0, 1.0), |(own, all), (size, tile)| {
            let tiles = ceil_div(size, tile).unwrap_or(0).max(0);
            (own * size as f64, all * tiles as f64 * tile as f64)
        });
        if all > whole {
            (used, whole) = (own, all);
        }
    }
    // Sizes whose product is infinite have no share.
    Ok(Some(1.0 - used / whole).filter(|share: &f64| share.is_finite()).unwrap_or(0.0))
}
