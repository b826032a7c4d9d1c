//! `cse_barrier_expander`: removes optimization barriers.
//!
//! Source: XLA `hlo/transforms/expanders/optimization_barrier_expander.cc`.

use syntax::hlo::Opcode;

use super::every::every;
use crate::driver::{Run, Stop};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::OptBarrier {
            let value = run.module.operand(id, 0);
            run.changed(id, format!("replaced by %{}", run.module[value].name()));
            run.module.relay_control(id, value);
            run.module.replace_all_uses(id, value);
            run.module.remove(id);
        }
    });
    Ok(())
}
