//! `rename-instructions`: appends `.0` to names, so that copies that fusing makes are recognised.
//!
//! Source: XLA `backends/gpu/transforms/add_tracking_suffix_to_instruction_names.cc`.

use syntax::hlo::Opcode;

use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.instructions(computation) {
            if is_tracked(run.module, id) {
                let name = format!("{}.0", run.module[id].name());
                run.changed(id, format!("renamed to %{name}"));
                run.module.rename(id, &name);
            }
        }
    }
    Ok(())
}

/// Whether fusing may copy the instruction. Source: as above, and `HloInstruction::IsFusible`.
fn is_tracked(module: &Module, id: InstructionId) -> bool {
    use Opcode::*;
    match module[id].opcode() {
        Parameter | CustomCall | Fusion | Domain | While | Conditional | Call => false,
        Map | Reduce | ReduceWindow => true,
        Rng => module[id].users().len() <= 1,
        _ => !module.has_side_effect(id),
    }
}
