//! Orders of instructions and computations in which XLA's passes visit them.

use std::sync::{Arc, OnceLock};

use syntax::hlo::{AttributeKey, Opcode};

use super::calls::Callers;
use super::{ComputationId, InstructionId, Module};

/// What follows from the structure of a module, until that changes: most passes change nothing.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownOrders {
    computations: OnceLock<Arc<[ComputationId]>>,
    /// See [`Module::fused_computations`].
    fused: OnceLock<Arc<[bool]>>,
    pub(super) callers: OnceLock<Arc<Callers>>,
}

impl Module {
    /// Forgets orders: operands, users, control dependencies, calls or the list of a computation change.
    pub(super) fn restructured(&mut self, computation: ComputationId) {
        self.computations[computation.0 as usize].order.take();
        self.known.computations.take();
        self.known.fused.take();
        self.known.callers.take();
    }

    /// Whether no instruction was added since the module was read from a text, which does not state the order of creation.
    pub fn is_as_read(&self) -> bool {
        self.instructions.len() == self.read
    }

    /// Whether the order of an instruction's users is a guess: texts do not state it.
    pub fn guesses_users(&self, id: InstructionId) -> bool {
        self.guessed_users.contains(&id)
    }

    /// The instructions of a computation, operands and control predecessors first.
    /// Source: `HloComputation::MakeInstructionPostOrder`.
    pub fn post_order(&self, computation: ComputationId) -> Vec<InstructionId> {
        self[computation].order.get_or_init(|| self.find_post_order(computation).into()).to_vec()
    }

    fn find_post_order(&self, computation: ComputationId) -> Vec<InstructionId> {
        const OPEN: u8 = 1;
        const DONE: u8 = 2;
        let listed = self.instructions(computation);
        // Ids of one computation are mostly close to each other.
        let first = listed.iter().map(|id| id.0).min().unwrap_or_default();
        let last = listed.iter().map(|id| id.0).max().unwrap_or_default();
        let mut state = vec![0u8; (last - first + 1) as usize];
        let at = |id: InstructionId| (id.0 - first) as usize;
        let mut order = Vec::with_capacity(listed.len());
        let mut stack = Vec::new();
        for &root in listed.iter().filter(|&&id| self[id].users.is_empty()) {
            stack.push(root);
            while let Some(&id) = stack.last() {
                cancel::tick();
                match state[at(id)] {
                    0 => {
                        state[at(id)] = OPEN;
                        let is_open = |id: &&InstructionId| state[at(**id)] != DONE;
                        stack.extend(self[id].operands.iter().rev().filter(is_open));
                        stack.extend(self[id].control_predecessors.iter().filter(is_open));
                    }
                    seen => {
                        stack.pop();
                        if seen == OPEN {
                            state[at(id)] = DONE;
                            order.push(id);
                        }
                    }
                }
            }
        }
        order
    }

    /// All computations, callees before their callers.
    /// Source: `HloModule::MakeComputationPostOrder`.
    pub fn computation_post_order(&self) -> Vec<ComputationId> {
        self.known.computations.get_or_init(|| self.find_computation_post_order().into()).to_vec()
    }

    fn find_computation_post_order(&self) -> Vec<ComputationId> {
        let all = self.computations();
        let mut callees: Vec<Vec<ComputationId>> = vec![Vec::new(); self.computations.len()];
        let mut is_called = vec![false; self.computations.len()];
        let calls = |&&computation: &&ComputationId| {
            self[computation].listed.iter().any(|&id| !self[id].calls.is_empty() && !self[id].is_removed)
        };
        for &computation in all.iter().filter(calls) {
            for id in self.post_order(computation) {
                if self[id].calls.is_empty() {
                    continue;
                }
                // The body of a loop is its first called computation, though it is written last.
                let is_condition = |key| key == AttributeKey::Condition;
                let calls = self[id].calls();
                let (behind, before): (Vec<_>, Vec<_>) = calls.partition(|(key, _)| is_condition(*key));
                for (_, called) in before.into_iter().chain(behind) {
                    called.iter().for_each(|c| is_called[c.0 as usize] = true);
                    callees[computation.0 as usize].extend(called);
                }
            }
        }
        let mut order = Vec::with_capacity(all.len());
        let mut is_visited = vec![false; self.computations.len()];
        // Recursive computations, which no valid module has, come last.
        for root in all.iter().filter(|c| !is_called[c.0 as usize]).chain(&all) {
            if std::mem::replace(&mut is_visited[root.0 as usize], true) {
                continue;
            }
            let mut stack = vec![(*root, 0)];
            while let Some((computation, next)) = stack.last_mut() {
                let callee = callees[computation.0 as usize].get(*next);
                *next += 1;
                match callee {
                    Some(callee) if std::mem::replace(&mut is_visited[callee.0 as usize], true) => {}
                    Some(&callee) => stack.push((callee, 0)),
                    None => {
                        order.push(*computation);
                        stack.pop();
                    }
                }
            }
        }
        order
    }

    /// The computations that no fusion calls, callees before their callers.
    /// Source: `HloModule::MakeNonfusionComputations`.
    pub fn non_fusion_computations(&self) -> Vec<ComputationId> {
        let fused = self.fused_computations();
        self.computation_post_order().into_iter().filter(|c| !fused[c.0 as usize]).collect()
    }

    /// By number of the computation, whether a fusion calls it.
    pub(super) fn fused_computations(&self) -> Arc<[bool]> {
        let find = || {
            let mut fused = vec![false; self.computations.len()];
            for instruction in self.instructions.iter().filter(|instruction| !instruction.is_removed) {
                if instruction.opcode() == Opcode::Fusion {
                    instruction.called().for_each(|c| fused[c.0 as usize] = true);
                }
            }
            fused.into()
        };
        self.known.fused.get_or_init(find).clone()
    }
}

#[cfg(test)]
mod tests {
    use generators::hlo::random_graph;
    use random::Rng;

    use crate::{Module, Options, PASSES, optimize};

    /// What was found before an edit is found anew behind it.
    #[test]
    fn orders_follow_edits() {
        let device = gpu::Device::find(gpu::DEFAULT_DEVICE).unwrap();
        let mut changed = 0;
        for case in 0..generators::cases(100) {
            let text = random_graph(&mut Rng::new(generators::seed(case))).text;
            let mut module = Module::from_text(&text).unwrap();
            for pass in PASSES {
                let Ok(applied) = optimize(&mut module, &[pass.name], &Options::new("", device)) else {
                    break;
                };
                changed += applied.iter().filter(|applied| !applied.changes.is_empty()).count();
                for computation in module.computations() {
                    let found = module.find_post_order(computation);
                    assert_eq!(module.post_order(computation), found, "{}\n{text}", pass.name);
                }
                assert_eq!(module.computation_post_order(), module.find_computation_post_order());
                let callers = module.callers();
                module.known.callers.take();
                assert_eq!(module.callers(), callers, "{}\n{text}", pass.name);
            }
        }
        assert!(changed > 100, "{changed} changes");
    }
}
