//! What the passes share that look at one instruction at a time.

use crate::driver::{MAX_ROUNDS, Run};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

/// Instructions that were visited.
#[derive(Debug, Default)]
pub(super) struct Visited(Vec<bool>);

impl Visited {
    /// Adds an instruction. False if it was there.
    pub(super) fn insert(&mut self, id: InstructionId) -> bool {
        let at = Module::index(id);
        if at >= self.0.len() {
            self.0.resize(at + 1, false);
        }
        !std::mem::replace(&mut self.0[at], true)
    }

    fn contains(&self, id: InstructionId) -> bool {
        self.0.get(Module::index(id)).copied().unwrap_or(false)
    }
}

/// Calls `f` for each instruction outside of fusions, operands first. Instructions that `f` adds are not visited.
pub(super) fn every(run: &mut Run<'_>, mut f: impl FnMut(&mut Run<'_>, InstructionId)) {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.post_order(computation) {
            cancel::tick();
            if !run.module[id].is_removed() {
                f(run, id);
            }
        }
    }
}

/// As [`every`], again and again until `f` reports no change.
///
/// Source: `HloPassFix` of XLA.
pub(super) fn every_until_unchanged(run: &mut Run<'_>, mut f: impl FnMut(&mut Run<'_>, InstructionId)) {
    for _ in 0..MAX_ROUNDS {
        let before = run.changes();
        every(run, &mut f);
        if run.changes() == before {
            break;
        }
    }
}

/// Calls `f` once for each instruction of a computation, operands first: for those that nothing uses, then those of the root.
/// What `f` adds is visited only where it is an operand of what is visited later, and not in the set that `f` is given.
///
/// Source: `PostOrderDFS` and `HloComputation::Accept` of XLA.
pub(super) fn visit(
    run: &mut Run<'_>,
    computation: ComputationId,
    mut f: impl FnMut(&mut Run<'_>, InstructionId, &mut Visited),
) {
    let module = &run.module;
    let is_loose = |&id: &InstructionId| module.is_dead(id) && module[id].control_successors().is_empty();
    let loose = module.instructions(computation).into_iter().filter(is_loose);
    let starts: Vec<_> = loose.chain([module.root(computation)]).collect();
    let (mut visited, mut opened) = (Visited::default(), Visited::default());
    for start in starts {
        let mut stack = vec![start];
        while let Some(&id) = stack.last() {
            cancel::tick();
            if visited.contains(id) {
                stack.pop();
            } else if opened.insert(id) {
                let instruction = &run.module[id];
                let before =
                    instruction.operands().iter().chain(instruction.control_predecessors()).rev().copied();
                stack.extend(before.filter(|&id| !visited.contains(id) && !opened.contains(id)));
            } else {
                stack.pop();
                visited.insert(id);
                if !run.module[id].is_removed() {
                    f(run, id, &mut visited);
                }
            }
        }
    }
}

/// Replaces an instruction and reports it. Does nothing where control dependencies hold it.
pub(super) fn replace(run: &mut Run<'_>, old: InstructionId, new: InstructionId, what: &str) {
    if !run.module[old].has_control_dependencies() {
        run.changed(old, what);
        run.module.replace(old, new);
    }
}

/// As [`replace`], by a new instruction.
pub(super) fn replace_with(run: &mut Run<'_>, old: InstructionId, new: NewOp, what: &str) {
    if !run.module[old].has_control_dependencies() {
        run.changed(old, what);
        run.module.replace_with_new(old, new);
    }
}

/// Adds an instruction to the computation of another one.
pub(super) fn add(run: &mut Run<'_>, beside: InstructionId, new: NewOp) -> InstructionId {
    run.module.add(run.module[beside].parent(), new)
}

/// Adds a copy of an instruction with other operands and another shape.
pub(super) fn add_copy(
    run: &mut Run<'_>,
    of: InstructionId,
    operands: &[InstructionId],
    shape: ir::Shape,
) -> InstructionId {
    let copy = run.module.add_copy(run.module[of].parent(), of, operands);
    run.module.set_shape(copy, shape);
    copy
}
