//! `fusion-wrapper`: makes a fusion of each instruction that needs a kernel and was not fused.
//!
//! Source: XLA `codegen/emitters/fusion_wrapper_base.cc`, `backends/gpu/transforms/fusion_wrapper.cc`.

use gpu::{Device, Fused, Kind};
use rustc_hash::FxHashSet;
use syntax::hlo::Opcode;

use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in launched(run.module) {
        for id in run.module.post_order(computation) {
            cancel::tick();
            let is_known = run.module[id].verbatim().is_none_or(|verbatim| verbatim.opcode.is_none());
            if is_known && must_be_wrapped(run.module[id].opcode()) {
                wrap(run, id);
            }
        }
    }
    Ok(())
}

/// The entry, and what loops, conditionals, calls and asynchronous operations call, each once.
fn launched(module: &Module) -> Vec<ComputationId> {
    let (mut found, mut seen) = (vec![module.entry()], FxHashSet::from_iter([module.entry()]));
    let mut next = 0;
    while let Some(&computation) = found.get(next) {
        next += 1;
        for id in module.post_order(computation) {
            use Opcode::{AsyncStart, Call, Conditional, While};
            if matches!(module[id].opcode(), Conditional | While | Call | AsyncStart) {
                found.extend(module[id].called().filter(|&called| seen.insert(called)));
            }
        }
    }
    found
}

fn must_be_wrapped(opcode: Opcode) -> bool {
    use Opcode::{Constant, Copy, Parameter, Sort};
    gpu::is_wrapped(opcode) && !matches!(opcode, Constant | Copy | Parameter | Sort)
}

fn wrap(run: &mut Run<'_>, id: InstructionId) {
    let name = run.module[id].opcode().name();
    run.changed(id, "is a kernel of its own");
    let module = &mut *run.module;
    let kind = kind(module, id, run.options.device);
    let fusion = module.add_fusion(id, kind);
    module.rename(fusion, &format!("wrapped_{name}"));
    if let Some(called) = module.fused_computation(fusion) {
        module.rename_computation(called, &format!("wrapped_{name}_computation"));
    }
    if module.header.is_scheduled {
        module.schedule_before(fusion, id);
    }
    module.relay_control(id, fusion);
    module.replace_all_uses(id, fusion);
    module.remove(id);
}

/// Source: `ChooseFusionKind`, `service/gpu/gpu_fusible.cc`.
fn kind(module: &Module, id: InstructionId, device: &Device) -> &'static str {
    let fused = Fused::wrapping(&module.op(id), module[id].name());
    let kind = fused.ok().map(|fused| {
        let heroes: Vec<ir::OpId> = fused.roots.iter().map(|&root| gpu::hero(&fused, root)).collect();
        gpu::kind(&fused, &heroes, device)
    });
    match kind {
        Some(Kind::Reduction | Kind::Transpose | Kind::Scatter) => "kInput",
        _ => "kLoop",
    }
}
