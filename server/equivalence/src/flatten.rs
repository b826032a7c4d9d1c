//! Modules without fusions and calls, so that fusing changes no term.

use passes::{InstructionId, Module};
use syntax::hlo::{AttributeKey, Opcode};

/// The most instructions that inlining adds: calls of calls may grow exponentially.
const MAX_INSTRUCTIONS: usize = 1_000_000;

/// Replaces fusions, calls and asynchronous computations by what they call. Too large a module stays as it is from there on.
pub fn flatten(module: &Module) -> Module {
    let mut flat = module.clone();
    let mut added = 0;
    for computation in flat.computation_post_order() {
        for id in flat.post_order(computation) {
            cancel::tick();
            if flat[id].is_removed() {
                continue;
            }
            let start = match flat[id].opcode() {
                Opcode::Fusion | Opcode::Call => id,
                Opcode::AsyncDone => match start_of(&flat, id) {
                    Some(start) => start,
                    None => continue,
                },
                _ => continue,
            };
            let Some(callee) = callee(&flat, start) else { continue };
            added += flat.count(callee);
            if added > MAX_INSTRUCTIONS {
                return flat;
            }
            if start != id {
                let operands = flat[start].operands().to_vec();
                flat.set_operands(id, &operands);
            }
            flat.inline(id, callee);
        }
    }
    flat
}

/// The start that a chain of asynchronous operations begins with.
fn start_of(module: &Module, done: InstructionId) -> Option<InstructionId> {
    let mut id = *module[done].operands().first()?;
    while module[id].opcode() == Opcode::AsyncUpdate {
        id = *module[id].operands().first()?;
    }
    (module[id].opcode() == Opcode::AsyncStart).then_some(id)
}

fn callee(module: &Module, id: InstructionId) -> Option<passes::ComputationId> {
    [AttributeKey::Calls, AttributeKey::ToApply].into_iter().find_map(|key| module[id].callee(key))
}
