//! Instructions that compute what one above them has computed.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use syntax::hlo::{AttributeKey, ComputationId, InstructionId, Opcode, OperandKind};

use super::unused::has_side_effect;
use super::{Remedy, Warning, WarningKind};
use crate::block::{Block, OperandRef};
use crate::finding::Part;

pub(super) fn find(block: &Block, found: &mut Vec<Warning>) {
    let mut first: FxHashMap<u64, InstructionId> = FxHashMap::default();
    for c in 0..block.parse.computations.len() as ComputationId {
        first.clear();
        for id in block.parse.computations[c as usize].instructions.clone() {
            if !is_worth_sharing(block, id) {
                continue;
            }
            let original = *first.entry(key(block, id)).or_insert(id);
            if original != id && is_same(block, original, id) {
                let (name, other) = (block.name(id), block.name(original));
                // A root stays, and with it what others wait for.
                let is_root = block.root(c) == Some(id);
                found.push(Warning {
                    related: Some((original, "the same is computed here")),
                    remedy: if is_root { Remedy::None } else { Remedy::ReplaceBy(original) },
                    ..Warning::new(
                        WarningKind::DuplicateInstruction,
                        id,
                        Part::Name,
                        format!("{name} computes the same as {other}"),
                    )
                });
            }
        }
    }
}

/// Not what costs nothing, and not what is there to be apart: copies, barriers, what has a side effect or calls code.
fn is_worth_sharing(block: &Block, id: InstructionId) -> bool {
    use Opcode::*;
    let instruction = block.instruction(id);
    let Some(opcode) = instruction.opcode else { return false };
    if instruction.is_broken || instruction.is_nested || instruction.operands.1 == 0 {
        return false;
    }
    let is_scalar = |id: InstructionId| block.shape(id).is_some_and(|s| s.dims().is_empty());
    let of_scalar = || {
        block.operands_of(id).all(|(_, target)| match target {
            OperandRef::Local(id) => is_scalar(id),
            _ => false,
        })
    };
    match opcode {
        AddDependency | AfterAll | Bitcast | Call | Conditional | Copy | CustomCall | Domain | Fusion
        | GetTupleElement | OptBarrier | Tuple | While => false,
        Broadcast => !of_scalar(),
        _ => !is_scalar(id) && !has_side_effect(block, id),
    }
}

/// Attributes that do not change what is computed.
fn is_note(key: Option<AttributeKey>) -> bool {
    matches!(key, Some(AttributeKey::Metadata | AttributeKey::Origin | AttributeKey::Statistics))
}

fn key(block: &Block, id: InstructionId) -> u64 {
    let mut hasher = FxHasher::default();
    let instruction = block.instruction(id);
    instruction.opcode.hash(&mut hasher);
    block.result_shapes[id as usize].hash(&mut hasher);
    for (operand, target) in block.operands_of(id) {
        match target {
            OperandRef::Local(id) => id.hash(&mut hasher),
            _ => operand.name.of(&block.text).hash(&mut hasher),
        }
    }
    for attribute in block.parse.attributes_of(instruction).iter().filter(|a| !is_note(a.key)) {
        attribute.value_span.of(&block.text).hash(&mut hasher);
    }
    hasher.finish()
}

fn is_same(block: &Block, a: InstructionId, b: InstructionId) -> bool {
    let (one, other) = (block.instruction(a), block.instruction(b));
    let attributes = |id| {
        let all = block.parse.attributes_of(block.instruction(id)).iter();
        all.filter(|a| !is_note(a.key)).map(|a| (a.key, a.value_span.of(&block.text)))
    };
    let path = |kind| match kind {
        OperandKind::Element { start, len } => block.parse.ints(start, len),
        _ => &[],
    };
    one.opcode == other.opcode
        && one.operands.1 == other.operands.1
        && block.shape(a) == block.shape(b)
        && block.operands_of(a).zip(block.operands_of(b)).all(|((x, x_at), (y, y_at))| {
            let same = match (x_at, y_at) {
                (OperandRef::Local(x), OperandRef::Local(y)) => x == y,
                (OperandRef::External(_), OperandRef::External(_)) => {
                    x.name.of(&block.text) == y.name.of(&block.text)
                }
                _ => false,
            };
            same && path(x.kind) == path(y.kind)
        })
        && attributes(a).eq(attributes(b))
}
