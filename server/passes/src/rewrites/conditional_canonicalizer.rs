//! `conditional-canonicalizer`: lets branches of conditionals take and return tuples.
//!
//! Source: XLA `hlo/transforms/simplifiers/conditional_canonicalizer.cc`.

use ir::Shape;
use syntax::hlo::Opcode;

use super::every::{add_copy, every, replace};
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::Conditional {
            canonicalize(run, id);
        }
    });
    Ok(())
}

fn is_tuple(module: &Module, id: InstructionId) -> bool {
    matches!(module[id].shape(), Shape::Tuple(_))
}

fn canonicalize(run: &mut Run<'_>, id: InstructionId) {
    let module = &run.module;
    let is_held = module[id].has_control_dependencies() && !is_tuple(module, id);
    let takes_one = module[id].called().all(|branch| module.parameters(branch).len() == 1);
    let operands = module[id].operands()[1..].iter();
    let is_canonical = operands.copied().chain([id]).all(|value| is_tuple(module, value));
    if is_held || !takes_one || is_canonical {
        return;
    }
    copy_shared_branches(run.module, id);
    let branches: Vec<ComputationId> = run.module[id].called().collect();
    for branch in branches {
        canonicalize_branch(run.module, branch);
    }
    let parent = run.module[id].parent();
    for index in 1..run.module[id].operands().len() {
        let operand = run.module.operand(id, index);
        if !is_tuple(run.module, operand) {
            let tuple = run.module.add_tuple(parent, &[operand]);
            run.module.set_operand(id, index, tuple);
        }
    }
    if is_tuple(run.module, id) {
        run.changed(id, "has branches that take tuples");
        return;
    }
    let operands = run.module[id].operands().to_vec();
    let shape = Shape::tuple([run.module[id].shape().clone()]);
    let conditional = add_copy(run, id, &operands, shape);
    let element = run.module.add_element(conditional, 0);
    replace(run, id, element, "has branches that return tuples");
}

/// Gives a conditional copies of the branches that others than conditionals call.
fn copy_shared_branches(module: &mut Module, id: InstructionId) {
    let callers = module.callers();
    let is_shared = |branch: &ComputationId| {
        let callers = callers.get(branch).into_iter().flatten();
        callers.clone().any(|&caller| module[caller].opcode() != Opcode::Conditional)
    };
    let shared: Vec<_> = module[id]
        .calls()
        .filter(|(_, branches)| branches.iter().any(is_shared))
        .map(|(key, branches)| (key, branches.to_vec()))
        .collect();
    let is_shared: Vec<ComputationId> =
        shared.iter().flat_map(|(_, branches)| branches).copied().filter(is_shared).collect();
    for (key, mut branches) in shared {
        for branch in &mut branches {
            if is_shared.contains(branch) {
                *branch = module.copy_computation(*branch);
            }
        }
        module.set_calls(id, key, &branches);
    }
}

fn canonicalize_branch(module: &mut Module, branch: ComputationId) {
    let Some(&parameter) = module.parameters(branch).first() else { return };
    if !is_tuple(module, parameter) {
        let shape = Shape::tuple([module[parameter].shape().clone()]);
        let users = module[parameter].users().to_vec();
        let is_root = module.is_root(parameter);
        module.set_shape(parameter, shape);
        let element = module.add_element(parameter, 0);
        users.into_iter().for_each(|user| module.replace_use(parameter, user, element));
        if is_root {
            module.set_root(branch, element);
        }
    }
    let root = module.root(branch);
    if !is_tuple(module, root) {
        let tuple = module.add_tuple(branch, &[root]);
        module.set_root(branch, tuple);
    }
}
