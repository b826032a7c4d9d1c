//! `host-offloader`: moves what is annotated for it to the memory of the host, then merges equal instructions.
//!
//! Only the merging is done; a module that uses the memory of the host is refused.
//! Source: XLA `hlo/transforms/host_offloader.cc`.

use ir::Shape;
use syntax::hlo::{AttributeKey, Opcode};

use super::cse;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

/// Custom calls that say where a value is.
const ANNOTATIONS: &[&str] =
    &["MoveToHost", "MoveToDevice", "PinToDevice", "PinToDeviceSram", "AllocateBuffer", "tpu_custom_call"];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.computations() {
        for id in run.module.instructions(computation) {
            cancel::tick();
            if uses_host(run.module, id) {
                let name = run.module[id].name();
                return Err(Stop::Unsupported(format!(
                    "the pass moves values to the host where %{name} says so; that is not implemented"
                )));
            }
        }
    }
    cse::merge_all(run, true);
    Ok(())
}

fn uses_host(module: &Module, id: InstructionId) -> bool {
    let instruction = &module[id];
    let target = instruction.attributes().text(AttributeKey::CustomCallTarget).unwrap_or_default();
    ANNOTATIONS.contains(&target)
        || matches!(instruction.opcode(), Opcode::AsyncStart | Opcode::CopyStart)
        || has_memory_space(instruction.shape())
}

fn has_memory_space(shape: &Shape) -> bool {
    match shape {
        Shape::Tuple(elements) => {
            elements.iter().any(|element| recursion::grow(|| has_memory_space(element)))
        }
        shape => {
            let layout = shape.as_array().and_then(|array| array.layout.as_ref());
            layout.is_some_and(|layout| layout.memory_space != 0)
        }
    }
}
