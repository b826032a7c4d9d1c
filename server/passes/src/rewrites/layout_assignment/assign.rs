//! Gives instructions the layouts that were chosen, and copies operands and results that are needed in another one.
//!
//! Source: XLA `LayoutAssignment::AssignLayouts`, `CopyOperandIfLayoutsDiffer`, `CreateCopyWithNewLayout`.

use std::sync::Arc;

use ir::Layout;
use syntax::hlo::Opcode;

use super::layouts::{Layouts, are_same_orders, layouts_of, leaves, with_layouts};
use super::solver::Solution;
use crate::driver::Run;
use crate::module::{ComputationId, InstructionId, NewOp};

pub(super) fn assign(run: &mut Run<'_>, solution: &Solution, computation: ComputationId) {
    for id in run.module.post_order(computation) {
        cancel::tick();
        let layouts: Layouts =
            solution.buffers.of(id).iter().map(|&buffer| layout(solution, buffer)).collect();
        let shape = with_layouts(run.module[id].shape(), &layouts).without_default_layouts();
        if shape != *run.module[id].shape() {
            run.changed(id, format!("is laid out as {shape}"));
            run.module.set_shape(id, shape);
        }
        for index in 0..run.module[id].operands().len() {
            if let Some(wanted) = solution.of_operands.get(&(id, index)) {
                copy_operand(run, id, index, &wanted.layouts);
            }
        }
    }
    let callable = solution.callables.get(&computation).filter(|callable| callable.has_result);
    let root = run.module.root(computation);
    if let Some(callable) = callable.filter(|callable| callable.result.iter().all(Option::is_some)) {
        if are_same_orders(&layouts_of(run.module[root].shape()), &callable.result) {
            let shape = with_layouts(run.module[root].shape(), &callable.result);
            run.module.set_shape(root, shape);
        } else {
            run.changed(root, "is returned through a copy in the layout of the result");
            let copy = copy(run, root, &callable.result);
            run.module.set_root(computation, copy);
        }
    }
}

fn layout(solution: &Solution, buffer: super::buffers::BufferId) -> Option<Arc<Layout>> {
    Some(solution.of_buffers.get(buffer.index())?.as_ref()?.layout.clone())
}

/// Copies an operand that has not the layouts in which the user reads it.
fn copy_operand(run: &mut Run<'_>, user: InstructionId, index: usize, wanted: &Layouts) {
    let operand = run.module.operand(user, index);
    let shape = run.module[operand].shape().clone();
    if wanted.iter().any(Option::is_none) || are_same_orders(&layouts_of(&shape), wanted) {
        return;
    }
    run.changed(user, format!("reads a copy of %{} in another layout", run.module[operand].name()));
    let branch = match run.module[user].opcode() {
        Opcode::Conditional if index > 0 && run.module[operand].users().len() == 1 => {
            run.module[user].called().nth(index - 1)
        }
        _ => None,
    };
    let parameter = branch.and_then(|branch| run.module.parameters(branch).first().copied());
    let Some(parameter) = parameter else {
        let copy = copy(run, operand, wanted);
        return run.module.set_operand(user, index, copy);
    };
    // Only the branch that needs the copy makes it.
    run.module.set_shape(parameter, shape);
    let users = run.module[parameter].users().to_vec();
    let copy = copy(run, parameter, wanted);
    users.into_iter().for_each(|user| run.module.replace_use(parameter, user, copy));
    if run.module.is_root(parameter) {
        run.module.set_root(run.module[parameter].parent(), copy);
    }
}

/// Adds a copy of a value in other layouts; of a tuple, only what differs is copied.
fn copy(run: &mut Run<'_>, id: InstructionId, wanted: &[Option<Arc<Layout>>]) -> InstructionId {
    let shape = run.module[id].shape().clone();
    let computation = run.module[id].parent();
    let Some(elements) = shape.tuple_elements() else {
        let new = NewOp::new(Opcode::Copy, with_layouts(&shape, wanted), &[id]);
        let copy = run.module.add(computation, new);
        run.module.inherit(copy, id);
        return copy;
    };
    let mut copies = Vec::with_capacity(elements.len());
    let mut rest = wanted;
    for (index, element) in (0..).zip(elements) {
        let Some((own, behind)) = rest.split_at_checked(leaves(element).len()) else { return id };
        rest = behind;
        let value = run.module.add_element(id, index);
        copies.push(match are_same_orders(&layouts_of(element), own) {
            true => value,
            false => {
                run.module.inherit(value, id);
                recursion::grow(|| copy(run, value, own))
            }
        });
    }
    let tuple = run.module.add_tuple(computation, &copies);
    run.module.inherit(tuple, id);
    tuple
}
