//! `convert_triton_gemm_config`: turns the tiles of a fused dot into the tile of the fusion's result.
//!
//! Source: XLA `backends/gpu/transforms/convert_triton_gemm_config.cc`.

use gpu::{Fused, stated_steps};
use syntax::hlo::Opcode;

use super::backend_config::{BlockConfig, gemm_config, of_block, of_tile, set};
use crate::driver::{Run, Stop};
use crate::module::InstructionId;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.post_order(computation) {
            cancel::tick();
            convert(run, id)?;
        }
    }
    Ok(())
}

fn convert(run: &mut Run<'_>, id: InstructionId) -> Result<(), Stop> {
    let Some(config) = gemm_config(run.module, id) else { return Ok(()) };
    let Some(called) = run.module.fused_computation(id) else { return Ok(()) };
    let is_dot = |id: &InstructionId| matches!(run.module[*id].opcode(), Opcode::Dot | Opcode::ScaledDot);
    let Some(dot) = run.module.instructions(called).into_iter().find(is_dot) else { return Ok(()) };
    let mut steps = stated_steps(run.module[dot].attributes()).unwrap_or_default();
    steps.push(config.contracted);
    set(run.module, dot, of_tile(&steps));
    let graph = run.module.graph(called);
    let at = graph.ids.iter().position(|&other| other == dot).unwrap_or_default();
    let tile = Fused::of_fusion(&run.module.op(id), &graph.graph, &|_| None).and_then(|fused| {
        let name = run.module[dot].name();
        let dots = xtile::configs::dots(&fused);
        let dot = dots.into_iter().find(|&dot| fused.name(dot) == name).unwrap_or(at as u32);
        xtile::tile_of_result(&fused, run.options.device, dot, [config.rows, config.columns])
    });
    let tile = tile.map_err(|why| Stop::Unsupported(format!("%{}: {why}", run.module[id].name())))?;
    let sizes: Vec<String> = tile.iter().map(i64::to_string).collect();
    run.changed(id, format!("computed in tiles of {}", sizes.join("×")));
    let block = BlockConfig {
        tile,
        stages: config.stages,
        warps: config.warps,
        is_tma_allowed: config.is_tma_allowed,
    };
    set(run.module, id, of_block("__triton_nested_gemm_fusion", &block));
    Ok(())
}
