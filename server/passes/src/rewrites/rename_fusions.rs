//! `rename_fusions`: names fusions after their kinds and heroes.
//!
//! Source: XLA `backends/gpu/transforms/rename_fusions.cc`.

use std::collections::BTreeSet;
use std::sync::Arc;

use gpu::Fused;
use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.instructions(computation) {
            let kind = match run.module[id].attributes().text(AttributeKey::Kind) {
                Some("kLoop") => "loop",
                Some("kInput") => "input",
                Some("kOutput") => "output",
                _ => continue,
            };
            let Some(fused) = run.module[id].callee(AttributeKey::Calls) else { continue };
            if run.module[id].opcode() == Opcode::Fusion {
                let heroes = heroes(run.module, id, fused).map_err(Stop::Unsupported)?;
                run.changed(id, format!("named after its heroes: {heroes}"));
                run.module.rename(id, &format!("{kind}_{heroes}_fusion"));
                run.module.rename_computation(fused, &format!("fused_{heroes}"));
            }
        }
    }
    Ok(())
}

/// The opcodes of the heroes of all roots, sorted, each once.
fn heroes(module: &Module, fusion: InstructionId, computation: ComputationId) -> Result<String, String> {
    let graph = |name: &str| {
        let called = module.computations().into_iter().find(|&id| module[id].name() == name)?;
        Some(Arc::new(module.graph(called).graph))
    };
    let fused = Fused::of_fusion(&module.op(fusion), &module.graph(computation).graph, &graph)
        .map_err(|why| format!("%{}: {why}", module[fusion].name()))?;
    let opcode = |&root: &_| fused.op(gpu::hero(&fused, root)).opcode.name();
    let heroes: BTreeSet<&str> = fused.roots.iter().map(opcode).collect();
    Ok(heroes.into_iter().collect::<Vec<_>>().join("_").replace('-', "_"))
}
