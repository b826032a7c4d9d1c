//! `while-loop-constant-sinking`: makes loops use the constants that they carry unchanged.
//!
//! Source: XLA `service/while_loop_constant_sinking.cc`.

use rustc_hash::FxHashSet;
use syntax::hlo::{AttributeKey, Opcode};

use super::loops;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let before = run.changes();
    // From the outside in, so that constants sink as far as they can.
    let mut open = vec![run.module.entry()];
    let mut seen: FxHashSet<ComputationId> = FxHashSet::default();
    while let Some(computation) = open.pop() {
        cancel::tick();
        if !seen.insert(computation) {
            continue;
        }
        for id in run.module.instructions(computation) {
            sink(run, id);
            open.extend(run.module[id].called());
        }
    }
    if run.changes() > before {
        run.module.remove_unreachable_computations();
    }
    Ok(())
}

fn sink(run: &mut Run<'_>, id: InstructionId) {
    let Some((condition, body)) = loops::computations(run.module, id) else { return };
    let init = run.module.operand(id, 0);
    let root = run.module.root(body);
    if run.module[init].opcode() != Opcode::Tuple || run.module[root].opcode() != Opcode::Tuple {
        return;
    }
    let values = run.module[init].operands().to_vec();
    let results = run.module[root].operands().to_vec();
    let passed = |module: &Module, (index, &value): (usize, &InstructionId)| {
        let is_constant = |id: InstructionId| module[id].opcode() == Opcode::Constant;
        let is_filled = module[value].opcode() == Opcode::Broadcast && is_constant(module.operand(value, 0));
        let result = *results.get(index)?;
        let is_passed = loops::index_of(module, result) == Some(index as i64);
        (is_passed && (is_constant(value) || is_filled)).then_some((index, value, result))
    };
    let sunk: Vec<_> = values.iter().enumerate().filter_map(|item| passed(run.module, item)).collect();
    // The element that the root passes on, and those of the condition.
    let of_body = sunk.iter().any(|&(_, _, element)| run.module[element].users().len() > 1);
    let elements = |module: &Module, index: usize| -> Vec<InstructionId> {
        let all = module.instructions(condition).into_iter();
        let is_one = |&id: &InstructionId| {
            loops::index_of(module, id) == Some(index as i64) && !module[id].users().is_empty()
        };
        all.filter(is_one).collect()
    };
    let of_condition = sunk.iter().any(|&(index, ..)| !elements(run.module, index).is_empty());
    if !of_body && !of_condition {
        return;
    }
    run.changed(id, "uses constants instead of carrying them");
    let own = |run: &mut Run<'_>, key: AttributeKey, computation: ComputationId| {
        let callers = run.module.callers().get(&computation).map_or(0, Vec::len);
        if callers > 1 {
            let copy = run.module.copy_computation(computation);
            run.module.set_calls(id, key, &[copy]);
            return copy;
        }
        computation
    };
    if of_body {
        let body = own(run, AttributeKey::Body, body);
        let root = run.module.root(body);
        for &(index, value, _) in &sunk {
            let element = run.module.operand(root, index);
            let users = run.module[element].users().to_vec();
            if users.len() < 2 {
                continue;
            }
            let constant = copy(run.module, body, value);
            for user in users {
                for at in 0..run.module[user].operands().len() {
                    if run.module.operand(user, at) == element && !(user == root && at == index) {
                        run.module.set_operand(user, at, constant);
                    }
                }
            }
        }
    }
    if of_condition {
        let condition = own(run, AttributeKey::Condition, condition);
        for &(index, value, _) in &sunk {
            let all = run.module.instructions(condition);
            for element in all {
                let is_one = loops::index_of(run.module, element) == Some(index as i64);
                if is_one && !run.module[element].users().is_empty() {
                    let constant = copy(run.module, condition, value);
                    run.module.replace_all_uses(element, constant);
                    run.module.remove(element);
                }
            }
        }
    }
}

/// Adds a copy of a constant, or of a broadcast of one.
fn copy(module: &mut Module, computation: ComputationId, value: InstructionId) -> InstructionId {
    let operands: Vec<InstructionId> = match module[value].opcode() {
        Opcode::Broadcast => {
            let scalar = module.operand(value, 0);
            vec![module.add_copy(computation, scalar, &[])]
        }
        _ => Vec::new(),
    };
    module.add_copy(computation, value, &operands)
}
