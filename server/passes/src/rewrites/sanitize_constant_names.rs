//! `sanitize-constant-names`: gives constants names that LLVM's PTX backend accepts.
//!
//! Source: XLA `backends/gpu/transforms/sanitize_constant_names.cc`.

use ir::Uniquer;
use syntax::hlo::Opcode;

use crate::driver::{Run, Stop};
use crate::module::InstructionId;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut names: Uniquer<'static> = Uniquer::separated_by('_');
    let computations = run.module.computations();
    let all = computations.into_iter().flat_map(|computation| run.module.instructions(computation));
    let is_constant = |&id: &InstructionId| run.module[id].opcode() == Opcode::Constant;
    let (constants, others): (Vec<_>, Vec<_>) = all.partition(is_constant);
    for id in others {
        names.unique_owned(run.module[id].name().to_owned());
    }
    for id in constants {
        let plain = run.module[id].name().replace(['.', '-', ';'], "_");
        let name = names.unique_owned(plain);
        if *run.module[id].name() != *name {
            run.changed(id, format!("renamed to %{name}"));
            run.module.set_name(id, &name);
        }
    }
    Ok(())
}
