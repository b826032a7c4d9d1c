//! `config-assigner`: chooses tiles for the fusions of dots, and algorithms for convolutions, without measuring any.
//!
//! Source: XLA `backends/autotuner/config_assigner.cc`: the first configuration that a backend has.

use gpu::Fused;
use syntax::hlo::{AttributeKey, Opcode};

use super::backend_config::{GemmConfig, gemm_config, is_of_kind, of_gemm, set};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

const GEMM: &str = "__triton_gemm";

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.post_order(computation) {
            cancel::tick();
            let target = run.module[id].attributes().text(AttributeKey::CustomCallTarget).unwrap_or_default();
            if run.module[id].opcode() == Opcode::Fusion && is_of_kind(run.module, id, GEMM) {
                if gemm_config(run.module, id).is_none() {
                    assign_tiles(run, id)?;
                }
            } else if target.starts_with("__cudnn$conv") {
                assign_algorithm(run, id);
            } else if target.starts_with("__cublas$gemm") || target.starts_with("__cublas$lt") {
                return unsupported(run.module, id, "algorithms of library calls are not chosen yet");
            }
        }
    }
    Ok(())
}

fn unsupported(module: &Module, id: InstructionId, why: &str) -> Result<(), Stop> {
    Err(Stop::Unsupported(format!("%{}: {why}", module[id].name())))
}

fn assign_tiles(run: &mut Run<'_>, id: InstructionId) -> Result<(), Stop> {
    let module = &*run.module;
    let Some(called) = module.fused_computation(id) else { return Ok(()) };
    let graph = module.graph(called).graph;
    let config = Fused::of_fusion(&module.op(id), &graph, &|_| None).and_then(|fused| {
        let dots = xtile::configs::dots(&fused);
        let dot = *dots.first().ok_or("a fusion without a dot")?;
        xtile::configs::first_dot_config(&fused, run.options.device, dot)
    });
    match config {
        Err(why) => unsupported(module, id, &why),
        Ok(config) => {
            let [rows, columns] = config.result;
            let xtile::configs::DotConfig { contracted, warps, stages, is_tma_allowed, .. } = config;
            run.changed(
                id,
                format!("computed in tiles of {rows}×{columns}, {contracted} products at a time"),
            );
            let config = GemmConfig { rows, columns, contracted, stages, warps, is_tma_allowed };
            set(run.module, id, of_gemm(GEMM, &config));
            Ok(())
        }
    }
}

/// Without a device, the library chooses when it is called. Source: `GetDefaultConfig`, `backends/gpu/autotuner/cudnn.cc`.
fn assign_algorithm(run: &mut Run<'_>, id: InstructionId) {
    let text = run.module[id].attributes().text(AttributeKey::BackendConfig).unwrap_or_default();
    if text.contains("\"algorithm\"") {
        return;
    }
    let Some(at) = text.find("\"conv_result_scale\"") else { return };
    let new = format!(
        "{}\"algorithm\":{{\"algo_id\":\"-1\",\"is_cudnn_frontend\":false,\"math_type\":\"DEFAULT_MATH\",\
         \"tuning_knobs\":{{}}}},{}",
        &text[..at],
        &text[at..]
    );
    run.changed(id, "its algorithm is left to the library");
    set(run.module, id, new);
}
