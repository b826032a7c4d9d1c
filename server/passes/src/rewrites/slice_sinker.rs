//! `slice-sinker`: applies elementwise operations to whole arrays instead of to slices that make up as many elements.
//!
//! Source: XLA `hlo/transforms/simplifiers/slice_sinker.cc`.

use ir::is_elementwise;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::add_copy;
use crate::dimensions::with_element;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.computations() {
        for id in run.module.post_order(computation) {
            cancel::tick();
            let group = group(run.module, id);
            if !group.is_empty() {
                sink(run, id, &group);
            }
        }
    }
    Ok(())
}

/// The operations that compute the same as this one on slices of the same arrays, and this one, if they have as many elements as
/// one of the arrays.
fn group(module: &Module, id: InstructionId) -> Vec<InstructionId> {
    let operands = module[id].operands();
    let is_candidate = is_elementwise(module[id].opcode())
        && !operands.is_empty()
        && !module[id].users().is_empty()
        && operands.iter().all(|&operand| module[operand].opcode() == Opcode::Slice);
    if !is_candidate || !are_alike(module, operands) {
        return Vec::new();
    }
    let source = module.operand(operands[0], 0);
    let slices = module[source].users().iter().filter(|&&user| module[user].opcode() == Opcode::Slice);
    let users = slices.flat_map(|&slice| module[slice].users());
    let group: Vec<_> = users.copied().filter(|&user| is_similar(module, id, user)).collect();
    let elements = |id: InstructionId| {
        let array = module[id].shape().as_array();
        array.and_then(|array| array.elements()).unwrap_or(0)
    };
    let sum = group.iter().fold(0i64, |sum, &id| sum.saturating_add(elements(id)));
    if sum >= elements(source) { group } else { Vec::new() }
}

/// Whether all slices take the same part of arrays of the same size.
fn are_alike(module: &Module, slices: &[InstructionId]) -> bool {
    let whole = |slice: InstructionId| module[module.operand(slice, 0)].dims();
    let part = |slice: InstructionId| module[slice].attributes().triples(AttributeKey::Slice);
    slices.iter().all(|&slice| whole(slice) == whole(slices[0]) && part(slice) == part(slices[0]))
}

fn is_similar(module: &Module, id: InstructionId, other: InstructionId) -> bool {
    let (left, right) = (module[id].operands(), module[other].operands());
    module[id].opcode() == module[other].opcode()
        && !module[other].users().is_empty()
        && module[id].shape().element() == module[other].shape().element()
        && module.has_same_attributes(id, other)
        && left.len() == right.len()
        && left.iter().zip(right).all(|(&left, &right)| {
            module[right].opcode() == Opcode::Slice && module.operand(left, 0) == module.operand(right, 0)
        })
        && are_alike(module, right)
}

fn sink(run: &mut Run<'_>, id: InstructionId, group: &[InstructionId]) {
    let slices = run.module[id].operands().to_vec();
    let sources: Vec<_> = slices.iter().map(|&slice| run.module.operand(slice, 0)).collect();
    let Some(element) = run.module[id].shape().element() else { return };
    let shape = with_element(run.module[sources[0]].shape(), element);
    let whole = add_copy(run, id, &sources, shape);
    for &user in group {
        let slice = run.module.operand(user, 0);
        let shape = run.module[user].shape().clone();
        let slice = add_copy(run, slice, &[whole], shape);
        run.changed(user, "is computed before it is sliced");
        run.module.replace_all_uses(user, slice);
    }
}
