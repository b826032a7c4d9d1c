//! `pdl-launch-annotation`: lets Triton's matrix products start the kernel behind them before they end.
//!
//! Source: XLA `backends/gpu/transforms/pdl_launch_annotation.cc`.

use syntax::hlo::{AttributeKey, Opcode};

use super::annotations::{add_frontend_attribute, frontend_attribute};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

const LAUNCH: &str = "xla.pdl_launch";
const CHANGING: &str = "xla.no_invariant_operands";

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    if !run.module.header.is_scheduled {
        return Err(Stop::Unsupported("the module has no schedule".to_owned()));
    }
    for computation in run.module.non_fusion_computations() {
        let schedule = run.module.instructions(computation);
        for (at, &id) in schedule.iter().enumerate() {
            let module = &*run.module;
            if frontend_attribute(module, id, LAUNCH).is_some() || !is_triton_product(module, id) {
                continue;
            }
            let Some(next) = next_fusion(module, &schedule[at + 1..]) else { continue };
            let is_changing = |&operand: &usize| {
                let operand = module.operand(next, operand);
                originates_from(module, operand, id)
            };
            let changing = (0..module[next].operands().len()).filter(is_changing);
            let changing: Vec<String> = changing.map(|operand| operand.to_string()).collect();
            // Each fusion follows one product, so that nothing is noted on it yet, unless the pass runs twice.
            let is_noted = frontend_attribute(module, next, CHANGING).is_some();
            run.changed(id, format!("may start %{} before it ends", module[next].name()));
            add_frontend_attribute(run.module, id, LAUNCH, "true");
            if !is_noted && !changing.is_empty() {
                add_frontend_attribute(run.module, next, CHANGING, &changing.join(","));
            }
        }
    }
    Ok(())
}

/// Source: `IsTritonGemm`, `backends/gpu/codegen/triton/support.cc`.
fn is_triton_product(module: &Module, id: InstructionId) -> bool {
    let config = module[id].attributes().text(AttributeKey::BackendConfig).unwrap_or_default();
    let is_of_triton =
        ["__triton_gemm", "__triton_nested_gemm_fusion"].iter().any(|kind| config.contains(kind));
    let Some(fused) = module[id].callee(AttributeKey::Calls) else { return false };
    let fused = module.instructions(fused).into_iter();
    module[id].opcode() == Opcode::Fusion
        && is_of_triton
        && fused.filter(|&id| module[id].opcode() == Opcode::Dot).count() == 1
}

/// The first of these instructions that is a kernel, if it is a fusion.
fn next_fusion(module: &Module, behind: &[InstructionId]) -> Option<InstructionId> {
    use Opcode::*;
    let is_free = |id: &&InstructionId| {
        matches!(module[**id].opcode(), Parameter | Constant | Tuple | GetTupleElement | Bitcast)
    };
    let next = *behind.iter().find(|id| !is_free(id))?;
    (module[next].opcode() == Fusion).then_some(next)
}

/// Whether a value is the result of the producer, or a part of it.
fn originates_from(module: &Module, mut value: InstructionId, producer: InstructionId) -> bool {
    while value != producer {
        value = match module[value].opcode() {
            Opcode::Bitcast => module.operand(value, 0),
            Opcode::GetTupleElement => {
                let of = module.operand(value, 0);
                let index = module[value].attributes().int(AttributeKey::Index);
                let element = index.and_then(|index| module[of].operands().get(usize::try_from(index).ok()?));
                match (module[of].opcode(), element) {
                    (Opcode::Tuple, Some(&element)) => element,
                    _ => of,
                }
            }
            _ => return false,
        };
    }
    true
}
