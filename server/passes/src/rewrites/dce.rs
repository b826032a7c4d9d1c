//! `dce`: removes instructions whose values nothing uses, results of fusions too, and computations that nothing calls.
//!
//! Source: XLA `hlo/transforms/simplifiers/hlo_dce.cc`.

use ir::Shape;
use rustc_hash::FxHashSet;
use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    // Callers come before callees: what a fusion no longer returns is dead in it.
    let mut seen = FxHashSet::from_iter([run.module.entry()]);
    let mut open = vec![run.module.entry()];
    let callers = run.module.callers();
    while let Some(computation) = open.pop() {
        let caller = callers.get(&computation).and_then(|callers| match callers[..] {
            [only] if run.module[only].opcode() == Opcode::Fusion => Some(only),
            _ => None,
        });
        if let Some(fusion) = caller.filter(|&fusion| !run.module[fusion].is_removed()) {
            remove_unused_results(run, computation, fusion);
        }
        remove_dead(run, computation);
        if let Some(fusion) = caller.filter(|&fusion| !run.module[fusion].is_removed()) {
            remove_unused_parameters(run, computation, fusion);
        }
        for id in run.module.instructions(computation) {
            open.extend(run.module[id].called().filter(|callee| seen.insert(*callee)));
        }
    }
    let unreachable = run.module.remove_unreachable_computations();
    if unreachable > 0 {
        let plural = if unreachable > 1 { "s" } else { "" };
        let root = run.module.root(run.module.entry());
        run.changed(root, format!("removed {unreachable} computation{plural} that nothing calls"));
    }
    Ok(())
}

fn remove_dead(run: &mut Run<'_>, computation: ComputationId) {
    for id in run.module.instructions(computation) {
        if !run.module[id].is_removed() && can_remove(run.module, id) {
            run.changed(id, "removed: nothing uses it");
            run.module.remove_with_operands(id);
        }
    }
}

fn can_remove(module: &Module, id: InstructionId) -> bool {
    if !module.is_dead(id) || !module.is_removable(id) || disables_dce(module, id) {
        return false;
    }
    let instruction = &module[id];
    let target = instruction.attributes().text(AttributeKey::CustomCallTarget);
    if target == Some("Sharding") {
        let Some(&operand) = instruction.operands().first() else { return false };
        if module.is_root(operand)
            || module[operand].opcode() == Opcode::Parameter
            || module[operand].users().len() != 1
        {
            return false;
        }
    }
    if instruction.opcode() == Opcode::AfterAll
        && instruction.operands().iter().any(|&operand| {
            let is_element = module[operand].opcode() == Opcode::GetTupleElement;
            module.has_side_effect(if is_element { module.operand(operand, 0) } else { operand })
        })
    {
        return false;
    }
    !module.has_side_effect(id)
}

/// Whether the user forbids to remove a loop.
fn disables_dce(module: &Module, id: InstructionId) -> bool {
    let attributes = module[id].attributes().text(AttributeKey::FrontendAttributes).unwrap_or_default();
    module[id].opcode() == Opcode::While && attributes.contains("disable_while_loop_dce")
}

/// Removes the elements of a fusion's tuple that nothing takes.
fn remove_unused_results(run: &mut Run<'_>, computation: ComputationId, fusion: InstructionId) {
    let module = &mut *run.module;
    let root = module.root(computation);
    let attributes = module[fusion].attributes();
    if module[root].opcode() != Opcode::Tuple
        || module[root].attributes().get(AttributeKey::Sharding).is_some()
        || attributes.get(AttributeKey::OutputToOperandAliasing).is_some()
        || attributes.text(AttributeKey::Kind) == Some("kCustom")
        || module[fusion].has_control_dependencies()
        || module.is_root(fusion)
        || module[fusion].users().is_empty()
    {
        return;
    }
    let mut used = std::collections::BTreeSet::new();
    for &user in module[fusion].users() {
        let index = module[user].attributes().int(AttributeKey::Index).and_then(|i| usize::try_from(i).ok());
        match index.filter(|_| module[user].opcode() == Opcode::GetTupleElement) {
            Some(index) => _ = used.insert(index),
            None => return,
        }
    }
    let results = module[root].operands().to_vec();
    used.extend((0..results.len()).filter(|&index| module.has_side_effect(results[index])));
    if used.len() >= results.len() || used.last().is_some_and(|&last| last >= results.len()) {
        return;
    }
    let removed = results.len() - used.len();
    run.changed(fusion, format!("returns {removed} of {} values less: nothing uses them", results.len()));
    let module = &mut *run.module;
    let kept: Vec<InstructionId> = used.iter().map(|&index| results[index]).collect();
    if let [only] = kept[..] {
        module.set_shape(fusion, module[only].shape().clone());
        for user in module[fusion].users().to_vec() {
            let (before, behind) =
                (module[user].control_predecessors().to_vec(), module[user].control_successors().to_vec());
            module.drop_control(user);
            before.into_iter().for_each(|before| module.add_control(before, fusion));
            behind.into_iter().for_each(|behind| module.add_control(fusion, behind));
            module.replace(user, fusion);
        }
        module.replace_all_uses(root, only);
        module.remove(root);
        return;
    }
    let shapes: Vec<Shape> = kept.iter().map(|&id| module[id].shape().clone()).collect();
    module.set_shape(fusion, Shape::tuple(shapes));
    for user in module[fusion].users().to_vec() {
        let old = module[user].attributes().int(AttributeKey::Index).unwrap_or_default();
        let new = used.iter().position(|&index| index as i64 == old).unwrap_or_default();
        module.attributes_mut(user).set(AttributeKey::Index, new as i64);
    }
    let tuple = module.add_tuple(computation, &kept);
    module.replace(root, tuple);
}

/// Removes the parameters of a fused computation that nothing uses, and the operands of the fusion with them.
fn remove_unused_parameters(run: &mut Run<'_>, computation: ComputationId, fusion: InstructionId) {
    let parameters = run.module.parameters(computation);
    let is_unused =
        |id: &&InstructionId| run.module.is_dead(**id) && !run.module[**id].has_control_dependencies();
    let unused = parameters.iter().filter(is_unused).count();
    if unused == 0 || parameters.len() != run.module[fusion].operands().len() {
        return;
    }
    run.changed(fusion, format!("takes {unused} of {} operands less: nothing uses them", parameters.len()));
    let module = &mut *run.module;
    let operands = module[fusion].operands().to_vec();
    let mut kept = Vec::new();
    for (parameter, &operand) in parameters.into_iter().zip(&operands) {
        if module.is_dead(parameter) && !module[parameter].has_control_dependencies() {
            module.remove(parameter);
        } else {
            module.set_parameter_number(parameter, kept.len() as u32);
            kept.push(operand);
        }
    }
    module.set_operands(fusion, &kept);
    for operand in operands {
        if !module[operand].is_removed() && module.is_dead(operand) && module.is_removable(operand) {
            module.remove_with_operands(operand);
        }
    }
}
