//! `computation-deduplicator`: lets callers share computations that are equal.
//!
//! Source: XLA `hlo/transforms/simplifiers/hlo_computation_deduplicator.cc`.

use ir::op_info;
use rustc_hash::FxHashMap;
use syntax::hlo::Opcode;

use crate::driver::{Run, Stop};
use crate::module::{ComputationId, Module};

const MAX_INSTRUCTIONS: usize = 128;
/// Of all constants of a computation together.
const MAX_CONSTANT_BYTES: u64 = 1024;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    // After fusion XLA only notes which are equal, for profiles.
    if run.options.pipeline.starts_with("post-fusion") {
        return Ok(());
    }
    let callers = run.module.callers();
    let mut known: FxHashMap<(usize, Opcode), Vec<ComputationId>> = FxHashMap::default();
    for computation in run.module.computation_post_order() {
        let calls = callers.get(&computation).map(Vec::as_slice).unwrap_or_default();
        let is_of_collective = calls.iter().any(|&id| op_info(run.module[id].opcode()).is_collective);
        if computation == run.module.entry()
            || run.module.count(computation) > MAX_INSTRUCTIONS
            || is_of_collective
            || has_large_constants(run.module, computation)
        {
            continue;
        }
        let root = run.module.root(computation);
        let alike = known.entry((run.module.count(computation), run.module[root].opcode())).or_default();
        match alike.iter().find(|&&other| run.module.is_same_computation(other, computation)) {
            None => alike.push(computation),
            Some(&other) => {
                for &caller in calls {
                    run.changed(caller, format!("calls %{}, which is equal", run.module[other].name()));
                    let keys: Vec<_> =
                        run.module[caller].calls().map(|(key, called)| (key, called.to_vec())).collect();
                    for (key, mut called) in keys {
                        called
                            .iter_mut()
                            .filter(|callee| **callee == computation)
                            .for_each(|callee| *callee = other);
                        run.module.set_calls(caller, key, &called);
                    }
                }
                run.module.remove_computation(computation);
            }
        }
    }
    Ok(())
}

fn has_large_constants(module: &Module, computation: ComputationId) -> bool {
    let constants =
        module.instructions(computation).into_iter().filter(|&id| module[id].opcode() == Opcode::Constant);
    constants.map(|id| module[id].shape().bytes().unwrap_or(u64::MAX)).fold(0, u64::saturating_add)
        > MAX_CONSTANT_BYTES
}
