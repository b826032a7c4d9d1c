//! `flatten-call-graph`: gives each caller a copy of the computation that it calls.
//!
//! Source: XLA `hlo/transforms/simplifiers/flatten_call_graph.cc`.

use syntax::hlo::Opcode;

use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module};

/// The most computations after which copying stops: copies of copies may grow exponentially.
const MAX_COMPUTATIONS: usize = 100_000;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.computation_post_order() {
        let callers = run.module.callers();
        let mut callers = callers.get(&computation).cloned().unwrap_or_default();
        callers.sort_unstable();
        callers.dedup();
        for (nth, &caller) in callers.iter().enumerate() {
            let times = run.module[caller].called().filter(|&callee| callee == computation).count();
            if nth > 0 || times > 1 {
                run.changed(caller, format!("calls a copy of %{}", run.module[computation].name()));
                let copies = copy_callees(run.module, caller, |callee| callee == computation);
                copy_below(run.module, copies)?;
            }
        }
    }
    Ok(())
}

/// Gives an instruction copies of some computations that it calls, and returns them.
fn copy_callees(
    module: &mut Module,
    caller: InstructionId,
    is_copied: impl Fn(ComputationId) -> bool,
) -> Vec<ComputationId> {
    let calls: Vec<_> = module[caller].calls().map(|(key, called)| (key, called.to_vec())).collect();
    let mut copies = Vec::new();
    for (key, called) in calls {
        let mut new = Vec::new();
        for callee in called {
            new.push(match is_copied(callee) {
                true => module.copy_computation(callee),
                false => callee,
            });
            copies.extend(new.last().copied().filter(|_| is_copied(callee)));
        }
        module.set_calls(caller, key, &new);
    }
    copies
}

/// Copies what copies call, down to the leaves.
fn copy_below(module: &mut Module, mut open: Vec<ComputationId>) -> Result<(), Stop> {
    while let Some(computation) = open.pop() {
        for id in module.instructions(computation) {
            // The copy of a fusion has a computation of its own already.
            if module[id].called().next().is_none() || module[id].opcode() == Opcode::Fusion {
                continue;
            }
            open.extend(copy_callees(module, id, |_| true));
            if module.computations().len() > MAX_COMPUTATIONS {
                let message = format!("the module would have more than {MAX_COMPUTATIONS} computations");
                return Err(Stop::Unsupported(message));
            }
        }
    }
    Ok(())
}
