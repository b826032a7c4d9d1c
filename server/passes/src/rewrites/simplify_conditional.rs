//! `simplify-conditional`: removes conditionals whose branch is known or cheap, and values that branches take or return in vain.
//!
//! Source: XLA `hlo/transforms/simplifiers/conditional_simplifier.cc`.

use std::collections::BTreeSet;

use ir::{ElementType, Shape, is_elementwise};
use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::add;
use super::loops::integer;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let mut conditionals = Vec::new();
    for computation in run.module.computations() {
        let order = run.module.post_order(computation).into_iter();
        conditionals.extend(order.filter(|&id| is_candidate(run.module, id)));
    }
    for &id in &conditionals {
        merge_equal_results(run, id);
        remove_unused_results(run, id);
        remove_conditional(run, id);
    }
    conditionals.retain(|&id| !run.module[id].is_removed());
    remove_unused_operands(run, &conditionals);
    Ok(())
}

fn is_candidate(module: &Module, id: InstructionId) -> bool {
    let has_channel = |id: InstructionId| module[id].attributes().int(AttributeKey::ChannelId).is_some();
    let mut open: Vec<ComputationId> = module[id].called().collect();
    let mut seen = open.clone();
    if module[id].opcode() != Opcode::Conditional
        || module[id].attributes().get(AttributeKey::Sharding).is_some()
    {
        return false;
    }
    while let Some(computation) = open.pop() {
        for id in module.instructions(computation) {
            if has_channel(id) {
                return false;
            }
            for called in module[id].called() {
                if !seen.contains(&called) {
                    seen.push(called);
                    open.push(called);
                }
            }
        }
    }
    true
}

fn branches(module: &Module, id: InstructionId) -> Vec<ComputationId> {
    module[id].called().collect()
}

fn set_branch(module: &mut Module, id: InstructionId, branch: usize, computation: ComputationId) {
    let mut at = branch;
    let mut lists: Vec<_> = module[id].calls().map(|(key, called)| (key, called.to_vec())).collect();
    for (key, called) in &mut lists {
        match called.get_mut(at) {
            Some(old) => {
                *old = computation;
                return module.set_calls(id, *key, called);
            }
            None => at -= called.len(),
        }
    }
}

/// The elements of a result that are used, if only elements are.
fn used_elements(module: &Module, id: InstructionId) -> Option<BTreeSet<i64>> {
    let index = |&user: &InstructionId| {
        let is_element = module[user].opcode() == Opcode::GetTupleElement;
        module[user].attributes().int(AttributeKey::Index).filter(|_| is_element)
    };
    module[id].users().iter().map(index).collect()
}

fn elements(module: &Module, id: InstructionId) -> Vec<Shape> {
    match module[id].shape() {
        Shape::Tuple(elements) => elements.to_vec(),
        _ => Vec::new(),
    }
}

/// Makes users of an element use an equal one before it.
fn merge_equal_results(run: &mut Run<'_>, id: InstructionId) {
    let module = &*run.module;
    let roots: Vec<_> = branches(module, id).into_iter().map(|branch| module.root(branch)).collect();
    let is_tuple = |&root: &InstructionId| module[root].opcode() == Opcode::Tuple;
    if module.is_root(id) || used_elements(module, id).is_none() || !roots.iter().all(is_tuple) {
        return;
    }
    let mut first: FxHashMap<Vec<InstructionId>, i64> = FxHashMap::default();
    for index in 0..elements(run.module, id).len() {
        let values = roots.iter().map(|&root| run.module[root].operands().get(index).copied());
        let Some(values) = values.collect::<Option<Vec<_>>>() else { return };
        let kept = *first.entry(values).or_insert(index as i64);
        if kept == index as i64 {
            continue;
        }
        for user in run.module[id].users().to_vec() {
            if run.module[user].attributes().int(AttributeKey::Index) == Some(index as i64) {
                run.changed(user, format!("equals element {kept}"));
                run.module.attributes_mut(user).set(AttributeKey::Index, kept);
            }
        }
    }
}

/// Lets branches return only what is used.
fn remove_unused_results(run: &mut Run<'_>, id: InstructionId) {
    let old = elements(run.module, id);
    let Some(used) = used_elements(run.module, id) else { return };
    let is_tuple = matches!(run.module[id].shape(), Shape::Tuple(_));
    if run.module.is_root(id)
        || !is_tuple && !run.module[id].users().is_empty()
        || is_tuple && used.len() == old.len()
    {
        return;
    }
    run.changed(id, format!("returns {} values instead of {}", used.len(), old.len().max(1)));
    for (number, branch) in branches(run.module, id).into_iter().enumerate() {
        let copy = run.module.copy_computation(branch);
        set_branch(run.module, id, number, copy);
        let root = run.module.root(copy);
        let kept: Vec<_> = used.iter().map(|&index| run.module.add_element(root, index)).collect();
        let tuple = run.module.add_tuple(copy, &kept);
        run.module.set_root(copy, tuple);
    }
    let shapes = used.iter().filter_map(|&index| old.get(index as usize).cloned());
    run.module.set_shape(id, Shape::tuple(shapes));
    for user in run.module[id].users().to_vec() {
        renumber(run.module, user, &used);
    }
}

/// Gives an accessor the place of its element among those that are left.
fn renumber(module: &mut Module, accessor: InstructionId, used: &BTreeSet<i64>) {
    let old = module[accessor].attributes().int(AttributeKey::Index).unwrap_or(0);
    let new = used.iter().position(|&index| index == old).unwrap_or(0) as i64;
    module.attributes_mut(accessor).set(AttributeKey::Index, new);
}

/// Replaces a conditional by its branch, or by both where that is cheap.
fn remove_conditional(run: &mut Run<'_>, id: InstructionId) {
    let module = &*run.module;
    let branches = branches(module, id);
    let attributes = module[id].attributes().text(AttributeKey::FrontendAttributes);
    let is_kept = module[id].has_control_dependencies()
        || module.has_side_effect(id)
        || attributes.is_some_and(|attributes| attributes.contains("_scheduling_group_id"));
    let Some(&chooser) = module[id].operands().first().filter(|_| !is_kept) else { return };
    let is_pred = module[chooser].shape().element() == Some(ElementType::Pred);
    let known = match (branches.len(), module[chooser].literal()) {
        (1, _) => Some(0),
        (_, Some(literal)) if is_pred => Some(usize::from(literal.trim() != "true")),
        (count, Some(_)) => integer(module, chooser).map(|index| match usize::try_from(index) {
            Ok(index) if index < count => index,
            _ => count - 1,
        }),
        _ => None,
    };
    if let Some(branch) = known {
        run.changed(id, format!("always takes branch {branch}"));
        let call = add_call(run.module, id, branch, branches[branch]);
        run.module.replace(id, call);
        run.module.inline(call, branches[branch]);
        return;
    }
    let &[then, otherwise] = &branches[..] else { return };
    let is_cheap = |&branch: &ComputationId| {
        module.instructions(branch).into_iter().all(|id| is_cheap(module[id].opcode()))
    };
    if !is_pred || !branches.iter().all(is_cheap) || branches.iter().any(|&branch| is_empty(module, branch)) {
        return;
    }
    run.changed(id, "computes both branches, and selects");
    let calls = [add_call(run.module, id, 0, then), add_call(run.module, id, 1, otherwise)];
    let new = select(run, chooser, calls[0], calls[1]);
    run.module.replace(id, new);
    run.module.inline(calls[1], otherwise);
    run.module.inline(calls[0], then);
}

fn add_call(
    module: &mut Module,
    id: InstructionId,
    branch: usize,
    computation: ComputationId,
) -> InstructionId {
    let operand = module.operand(id, branch + 1);
    let call = NewOp::new(Opcode::Call, module[id].shape().clone(), &[operand])
        .calling(AttributeKey::ToApply, &[computation]);
    let call = module.add(module[id].parent(), call);
    module.inherit(call, id);
    call
}

fn is_cheap(opcode: Opcode) -> bool {
    use Opcode::*;
    is_elementwise(opcode)
        || matches!(
            opcode,
            Broadcast
                | Concatenate
                | DynamicSlice
                | GetTupleElement
                | Reduce
                | Reshape
                | Pad
                | Parameter
                | Slice
                | Tuple
        )
}

/// Whether a branch returns arrays that it only takes.
fn is_empty(module: &Module, branch: ComputationId) -> bool {
    use Opcode::*;
    let is_plain = |id: InstructionId| matches!(module[id].opcode(), Tuple | GetTupleElement | Parameter);
    module.instructions(branch).into_iter().all(is_plain) && has_array(module[module.root(branch)].shape())
}

fn has_array(shape: &Shape) -> bool {
    match shape {
        Shape::Tuple(elements) => elements.iter().any(|element| recursion::grow(|| has_array(element))),
        shape => shape.as_array().is_some(),
    }
}

/// Of two values of one shape the first where `chooser` is true, array by array.
fn select(run: &mut Run<'_>, chooser: InstructionId, a: InstructionId, b: InstructionId) -> InstructionId {
    let shape = run.module[b].shape().clone();
    match &shape {
        Shape::Tuple(elements) => {
            let selects: Vec<_> = (0..elements.len() as i64)
                .map(|index| {
                    let a = run.module.add_element(a, index);
                    let b = run.module.add_element(b, index);
                    recursion::grow(|| select(run, chooser, a, b))
                })
                .collect();
            run.module.add_tuple(run.module[b].parent(), &selects)
        }
        Shape::Array(_) => {
            let mut condition = chooser;
            if !shape.dims().is_empty() {
                let of_pred = crate::dimensions::with_element(&shape, ElementType::Pred);
                let broadcast = NewOp::new(Opcode::Broadcast, of_pred, &[chooser]).dimensions(&[]);
                condition = add(run, b, broadcast);
            }
            add(run, b, NewOp::new(Opcode::Select, shape, &[condition, a, b]))
        }
        _ => add(run, b, NewOp::new(Opcode::AfterAll, shape, &[a, b])),
    }
}

/// Lets branches take only what they use.
fn remove_unused_operands(run: &mut Run<'_>, conditionals: &[InstructionId]) {
    let mut callers: Vec<(ComputationId, Vec<(InstructionId, usize)>)> = Vec::new();
    for &id in conditionals {
        for (number, branch) in branches(run.module, id).into_iter().enumerate() {
            match callers.iter_mut().find(|(known, _)| *known == branch) {
                Some((_, calls)) => calls.push((id, number)),
                None => callers.push((branch, vec![(id, number)])),
            }
        }
    }
    for (branch, calls) in callers {
        let Some(&parameter) = run.module.parameters(branch).first() else { continue };
        let old = elements(run.module, parameter);
        let is_tuple = matches!(run.module[parameter].shape(), Shape::Tuple(_));
        let Some(used) = used_elements(run.module, parameter) else { continue };
        if run.module.is_root(parameter) || !is_tuple || used.len() == old.len() {
            continue;
        }
        let copy = run.module.copy_computation(branch);
        let Some(&parameter) = run.module.parameters(copy).first() else { continue };
        let shapes = used.iter().filter_map(|&index| old.get(index as usize).cloned());
        run.module.set_shape(parameter, Shape::tuple(shapes));
        for user in run.module[parameter].users().to_vec() {
            renumber(run.module, user, &used);
        }
        for (id, number) in calls {
            run.changed(id, format!("branch {number} takes {} values instead of {}", used.len(), old.len()));
            set_branch(run.module, id, number, copy);
            let operand = run.module.operand(id, number + 1);
            let kept: Vec<_> = used.iter().map(|&index| run.module.add_element(operand, index)).collect();
            let tuple = run.module.add_tuple(run.module[id].parent(), &kept);
            run.module.set_operand(id, number + 1, tuple);
        }
    }
}
