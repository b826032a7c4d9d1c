//! `simplify-sorts`: leaves out arrays that are sorted along but never used.
//!
//! Source: XLA `hlo/transforms/simplifiers/sort_simplifier.cc`.

use std::collections::BTreeSet;

use ir::Shape;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add_copy, every};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        let count = run.module[id].operands().len();
        let Some(used) = used(run.module, id).filter(|used| used.len() < count) else { return };
        run.changed(id, format!("sorts {} arrays instead of {count}", used.len()));
        simplify(run, id, &used);
    });
    Ok(())
}

/// The arrays that are compared or whose sorted elements are used.
fn used(module: &Module, id: InstructionId) -> Option<BTreeSet<usize>> {
    let is_sort = module[id].opcode() == Opcode::Sort && matches!(module[id].shape(), Shape::Tuple(_));
    let comparator = module[id].callee(AttributeKey::ToApply).filter(|_| is_sort && !module.is_root(id))?;
    if module[id].has_control_dependencies() {
        return None;
    }
    let mut used = BTreeSet::new();
    for &user in module[id].users() {
        let is_element = module[user].opcode() == Opcode::GetTupleElement;
        let index = module[user].attributes().int(AttributeKey::Index).filter(|_| is_element)?;
        used.insert(usize::try_from(index).ok()?);
    }
    for (number, parameter) in module.parameters(comparator).into_iter().enumerate() {
        if !module[parameter].users().is_empty() || module.is_root(parameter) {
            used.insert(number / 2);
        }
    }
    Some(used).filter(|used| !used.is_empty())
}

fn simplify(run: &mut Run<'_>, id: InstructionId, used: &BTreeSet<usize>) {
    let Some(comparator) = run.module[id].callee(AttributeKey::ToApply) else { return };
    let operands: Vec<_> = used.iter().filter_map(|&at| run.module[id].operands().get(at).copied()).collect();
    let shapes: Vec<_> = operands.iter().map(|&operand| run.module[operand].shape().clone()).collect();
    let shape = match &shapes[..] {
        [shape] => shape.clone(),
        shapes => Shape::tuple(shapes.iter().cloned()),
    };
    let comparator = run.module.copy_computation(comparator);
    for (number, parameter) in run.module.parameters(comparator).into_iter().enumerate() {
        match used.iter().position(|&at| at == number / 2) {
            Some(at) => run.module.set_parameter_number(parameter, (2 * at + number % 2) as u32),
            None => run.module.remove(parameter),
        }
    }
    let sort = add_copy(run, id, &operands, shape);
    run.module.set_calls(sort, AttributeKey::ToApply, &[comparator]);
    for user in run.module[id].users().to_vec() {
        let index = run.module[user].attributes().int(AttributeKey::Index).unwrap_or(0);
        let at = used.iter().position(|&of| of as i64 == index).unwrap_or(0);
        let new = if used.len() == 1 { sort } else { run.module.add_element(sort, at as i64) };
        run.module.replace_all_uses(user, new);
        run.module.remove_with_operands(user);
    }
}
