//! `constant-fill-copy-rewriter`: fills an array with a constant again instead of copying one that is filled with it.
//!
//! The source of the pass is not public; the rule is what its dumps show: copies for loops stay, and so do those of a few bytes.

use ir::{ElementTypeExt as _, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::every;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

/// Smaller arrays are copied. XLA's bound lies between 32 bytes and 25 MB.
const MIN_BYTES: i64 = 1 << 20;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        let Some(fill) = filled(run.module, id) else { return };
        let parent = run.module[id].parent();
        let again = run.module.add_copy(parent, fill, &[]);
        if let Some(fused) = run.module[fill].callee(AttributeKey::Calls) {
            let fused = run.module.copy_computation(fused);
            run.module.set_calls(again, AttributeKey::Calls, &[fused]);
        }
        let name = format!("{}.rematerialized", run.module[fill].name());
        run.module.rename(again, &name);
        run.changed(
            id,
            format!("replaced by %{name}, which fills an array as %{} does", run.module[fill].name()),
        );
        if run.module.header.is_scheduled {
            run.module.schedule_before(again, id);
        }
        run.module.replace_relaying_control(id, again);
    });
    Ok(())
}

/// The fusion that fills the array that an instruction copies.
fn filled(module: &Module, id: InstructionId) -> Option<InstructionId> {
    let &fill = module[id].operands().first()?;
    let root = module.root(module[fill].callee(AttributeKey::Calls)?);
    let &value = module[root].operands().first()?;
    let is_filled = module[id].opcode() == Opcode::Copy
        && module[fill].opcode() == Opcode::Fusion
        && module[fill].operands().is_empty()
        && module[root].opcode() == Opcode::Broadcast
        && module[value].opcode() == Opcode::Constant
        && module[fill].shape() == module[id].shape()
        && module[id].users().iter().all(|&user| module[user].opcode() == Opcode::Fusion)
        && bytes(module[id].shape()) >= MIN_BYTES;
    is_filled.then_some(fill)
}

fn bytes(shape: &Shape) -> i64 {
    let Some(array) = shape.as_array() else { return 0 };
    let bits = array.element.bits().unwrap_or(0) as i64;
    array.elements().unwrap_or(i64::MAX).saturating_mul(bits) / 8
}
