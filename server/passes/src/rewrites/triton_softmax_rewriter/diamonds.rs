//! Diamonds: an operation of rows with what the same rows were reduced to.

use gpu::triton_supports;
use ir::{Shape, is_elementwise};
use syntax::hlo::{AttributeKey, Opcode};

use crate::module::{InstructionId, Module};

/// From the rows that are reduced to the operation that reads them again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Diamond {
    pub(super) root: InstructionId,
    pub(super) producer: InstructionId,
}

/// The diamond that ends in an instruction. Source: `MatchesTritonCompatibleClosedReductionDiamondImpl`.
pub(super) fn diamond(module: &Module, root: InstructionId) -> Option<Diamond> {
    let &[left, right] = module[root].operands() else { return None };
    if !is_elementwise(module[root].opcode()) || !is_supported(module, root) {
        return None;
    }
    let broadcast = along_trivial(module, right, Opcode::Broadcast)?;
    let reduce = along_trivial(module, module.operand(broadcast, 0), Opcode::Reduce)?;
    let is_plain =
        has_default_layout(module[broadcast].shape()) && has_default_layout(module[reduce].shape());
    if !is_plain || !is_row_reduction(module, reduce) {
        return None;
    }
    if module[broadcast].users().len() != 1 || module[reduce].users().len() != 1 {
        return None;
    }
    let last = module[broadcast].dims().len() as i64 - 1;
    if module[broadcast].dimensions().contains(&last) {
        return None;
    }
    let mut producer = module.operand(reduce, 0);
    while is_trivial(module, producer) {
        producer = main_operand(module, producer)?;
    }
    let is_closed = has_default_layout(module[producer].shape())
        && is_connected(module, producer, left)
        && (producer == left || module[left].users().len() == 1);
    is_closed.then_some(Diamond { root, producer })
}

fn is_supported(module: &Module, id: InstructionId) -> bool {
    let is_known = module[id].verbatim().is_none_or(|verbatim| verbatim.opcode.is_none());
    is_known && triton_supports(module[id].op()).is_ok()
}

fn has_default_layout(shape: &Shape) -> bool {
    shape.as_array().is_some_and(|array| array.minor_to_major().iter().rev().is_sorted())
}

/// Whether a value is the same in all elements, or a parameter that is broadcast.
fn is_splat(module: &Module, id: InstructionId) -> bool {
    if module[id].opcode() != Opcode::Broadcast {
        return false;
    }
    let of = &module[module.operand(id, 0)];
    of.opcode() == Opcode::Parameter || of.opcode() == Opcode::Constant && of.dims().is_empty()
}

/// The operand that is no splat. Source: `ChooseOperandForFusionProcessing`.
fn main_operand(module: &Module, id: InstructionId) -> Option<InstructionId> {
    match *module[id].operands() {
        [first, second] if is_splat(module, first) => Some(second),
        [first, ..] => Some(first),
        [] => None,
    }
}

/// Whether an instruction can be fused without reading or writing more. Source: `IsTriviallyFusible`.
fn is_trivial(module: &Module, id: InstructionId) -> bool {
    if module[id].users().len() > 1 || !has_default_layout(module[id].shape()) {
        return false;
    }
    let is_computed = is_elementwise(module[id].opcode()) && is_supported(module, id);
    match *module[id].operands() {
        _ if module[id].opcode() == Opcode::Bitcast => true,
        [_] => is_computed,
        [left, right] => is_computed && (left == right || is_splat(module, left) != is_splat(module, right)),
        _ => false,
    }
}

/// The first instruction of an opcode up from `id`, past trivial ones. Source: `TrivialEdge`.
fn along_trivial(module: &Module, mut id: InstructionId, opcode: Opcode) -> Option<InstructionId> {
    while module[id].opcode() != opcode {
        if !is_trivial(module, id) {
            return None;
        }
        id = main_operand(module, id)?;
    }
    Some(id)
}

/// Source: `IsTriviallyConnectedProducerOf`.
fn is_connected(module: &Module, producer: InstructionId, consumer: InstructionId) -> bool {
    let mut from = consumer;
    while let Some(found) = along_trivial(module, from, module[producer].opcode()) {
        if found == producer {
            return true;
        }
        if !is_trivial(module, found) {
            return false;
        }
        let Some(&next) = module[found].operands().first() else { return false };
        from = next;
    }
    false
}

/// Whether the last dimension alone is reduced, from a constant. Source: `ShouldFuseReduction`.
fn is_row_reduction(module: &Module, reduce: InstructionId) -> bool {
    let &[of, init] = module[reduce].operands() else { return false };
    let last = module[of].dims().len() as i64 - 1;
    if !is_supported(module, reduce) || module[reduce].dimensions() != [last] {
        return false;
    }
    let combiner = module[reduce].callee(AttributeKey::ToApply);
    let is_constant = |id: InstructionId| module[id].opcode() == Opcode::Constant;
    let is_converted = || {
        module[init].opcode() == Opcode::Convert
            && is_constant(module.operand(init, 0))
            && is_supported(module, init)
    };
    combiner.is_some_and(|called| module.instructions(called).into_iter().all(|id| is_supported(module, id)))
        && (is_constant(init) || is_converted())
}
