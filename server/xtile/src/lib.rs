//! Triton fusions as XLA's emitter writes them: one block's work on its tiles.
//!
//! * [`TilingSpace`]: the dimensions of the result and those that ops contract, each with a tile size.
//! * [`emit()`]: from the tile of the result to the tiles of all ops, and from these to a [`Program`] of typed
//!   values: loops over contracted dimensions, masks of ragged tiles, reads and writes of tiles.
//! * [`lower()`]: the same program in Triton's operations, by XLA's passes.
//! * [`accesses()`]: the addresses that each thread reads and writes, by Triton's layout rules.
//! * [`configs`]: the same fusion with other tiles: what they cost, and the best ones by XLA's model.
//! * [`check_tileable`], [`tile_of_result`]: what XLA's passes ask of a fusion that has no configuration yet.
//! * [`text()`]: either program as MLIR of the dialects `xtile`, `stablehlo`, `tt`, `arith`, `math`, `scf` and
//!   `tensor`.
//!
//! Rules: XLA `codegen/tiling/experimental/*`, `codegen/xtile/*`,
//! `backends/gpu/codegen/triton/transforms/*`.
//!
//! Architecture Invariant: a fusion has a program, or XLA's reason why it refuses the fusion, or the name of what
//! is not written yet.

mod accesses;
mod bitcast;
pub mod configs;
mod emit;
mod lower;
pub mod program;
mod propagate;
mod schedule;
mod space;
mod text;
mod tile;
mod tiled;
mod tiling;

use std::borrow::Cow;

use gpu::FusionAnalysis;
use indexing::Callees;

pub use accesses::accesses;
pub use lower::lower;
pub use program::Program;
pub use space::{Dimension, RuntimeOffset, SEVERAL_RESULTS_FLAG, TilingSpace};
pub use text::text;
pub use tile::{DimTile, Tile};
pub use tiling::{check_tileable, tile_of_result};

use schedule::Schedule;
use tiled::TiledFusion;

/// The reason why there is no program: text that follows "no kernel: ".
pub type Reason = Cow<'static, str>;

/// Stack for regions in regions, whose depth is bounded.
const STACK: usize = 8 << 20;

/// Emits the program of a Triton fusion whose configuration states its tiles. `name` is that of the fusion.
pub fn emit(name: &str, analysis: &FusionAnalysis, callees: &Callees<'_>) -> Result<Program, Reason> {
    recursion::with_stack(STACK, || emitted(name, analysis, callees))
}

fn emitted(name: &str, analysis: &FusionAnalysis, callees: &Callees<'_>) -> Result<Program, Reason> {
    let fused = &analysis.fused;
    let config = fused.block_level.as_ref();
    let config =
        config.ok_or_else(|| format!("Block level fusion config is required for Triton fusions: %{name}"))?;
    if config.is_specialized && !analysis.device.is_blackwell_or_later() {
        return Err("Failed to compile Triton kernel: specialized warps need Blackwell.".into());
    }
    let space = TilingSpace::of(fused, config)?;
    let tiled = TiledFusion::of(&space, fused)?;
    tiling::check_sizes(fused, analysis.device, &space, &tiled)
        .map_err(|why| format!("Triton constraints violated during codegen: {why}"))?;
    let schedule = Schedule::of(&space, fused, config.tiles_per_block)?;
    emit::emit(codegen::kernel_name(name), analysis, callees, &space, &tiled, &schedule)
}
