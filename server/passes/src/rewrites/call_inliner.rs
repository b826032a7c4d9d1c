//! `call-inliner`: replaces calls by the instructions of the computations that they call.
//!
//! Source: XLA `service/call_inliner.cc`.

use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

/// The most instructions after which inlining stops: calls of calls may grow exponentially.
const MAX_INSTRUCTIONS: usize = 4_000_000;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut total = 0;
    let before = run.changes();
    for computation in run.module.computation_post_order() {
        for id in run.module.post_order(computation) {
            if !is_inlined(run.module, id) {
                continue;
            }
            let Some(callee) = run.module[id].callee(AttributeKey::ToApply) else { continue };
            total += run.module.count(callee);
            if total > MAX_INSTRUCTIONS {
                let message = format!("the module would have more than {MAX_INSTRUCTIONS} instructions");
                return Err(Stop::Unsupported(message));
            }
            run.changed(id, format!("replaced by what %{} computes", run.module[callee].name()));
            run.module.inline(id, callee);
        }
    }
    if run.changes() > before {
        super::dce::run(run)?;
    }
    Ok(())
}

fn is_inlined(module: &Module, id: InstructionId) -> bool {
    let instruction = &module[id];
    let attributes = instruction.attributes();
    let frontend = attributes.text(AttributeKey::FrontendAttributes).unwrap_or_default();
    let is_late =
        ["inlineable=\"false\"", "inlineable=\"xla_late\""].iter().any(|late| frontend.contains(late));
    let callee = instruction.callee(AttributeKey::ToApply);
    let name = callee.map_or("", |callee| module[callee].name());
    instruction.opcode() == Opcode::Call
        && attributes.text(AttributeKey::BackendConfig).is_none()
        && !is_late
        && !name.contains("shmap_body")
        && !name.contains("xla.sdy.manual_computation_body")
}
