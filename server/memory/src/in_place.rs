//! Results that must take the memory of an operand: updates in place, and what the text states.

use ir::{AttributeKey, Opcode};

use crate::program::{Id, Instruction, Program};
use crate::slots::{Slot, Slots};

/// Fusions in fusions beyond this depth are not looked into.
const MAX_DEPTH: usize = 16;

/// A result that takes the memory of an operand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InPlace {
    pub(crate) operand: usize,
    /// The slot in the operand.
    pub(crate) from: Slot,
    /// The slot in the result.
    pub(crate) to: Slot,
}

/// Source: `AliasInfo::GetInPlaceInputOutputPairs`, `hlo/analysis/alias_info.cc`.
pub(crate) fn in_place(program: &Program, slots: &Slots, id: Id) -> Vec<InPlace> {
    at_depth(program, slots, id, 0)
}

fn at_depth(program: &Program, slots: &Slots, id: Id, depth: usize) -> Vec<InPlace> {
    let instruction = program.instruction(id);
    let pair = |operand: usize, from: &[i64], to: &[i64]| {
        let of = *instruction.operands.get(operand)?;
        let from = slots.at(slots.top(of), from)?;
        Some(InPlace { operand, from, to: slots.at(slots.top(id), to)? })
    };
    let stated = || {
        instruction
            .aliasing
            .iter()
            .filter_map(|a| pair(usize::try_from(a.parameter).ok()?, &a.index, &a.output))
    };
    let Some(opcode) = instruction.opcode else { return Vec::new() };
    match opcode {
        Opcode::DynamicUpdateSlice | Opcode::SetDimensionSize => pair(0, &[], &[]).into_iter().collect(),
        Opcode::Scatter => each(scattered(instruction), pair),
        Opcode::AllReduceStart => each(instruction.operands.len(), pair),
        Opcode::RaggedAllToAll => pair(1, &[], &[]).into_iter().collect(),
        Opcode::CollectivePermute | Opcode::CollectivePermuteStart if instruction.operands.len() == 4 => {
            let base: &[i64] = if opcode == Opcode::CollectivePermute { &[] } else { &[1] };
            let parts = slots.children(slots.top(instruction.operands[1])).len();
            let whole = pair(1, &[], base);
            let parts = (0..parts as i64).filter_map(|i| pair(1, &[i], &[base, &[i]].concat()));
            whole.into_iter().chain(parts).collect()
        }
        Opcode::CustomCall => stated().collect(),
        Opcode::AsyncStart | Opcode::AsyncUpdate => {
            stated().filter(|alias| !slots.is_top(alias.to)).collect()
        }
        Opcode::Fusion => {
            let mut pairs = inside(program, slots, id, depth);
            pairs.extend(stated());
            pairs
        }
        _ => Vec::new(),
    }
}

/// The arrays that a scatter updates: as many as there are updates, around one array of indices.
fn scattered(instruction: &Instruction) -> usize {
    instruction.operands.len() / 2
}

/// Operand i and result i; the whole result if there is one operand.
fn each(count: usize, pair: impl Fn(usize, &[i64], &[i64]) -> Option<InPlace>) -> Vec<InPlace> {
    match count {
        1 => pair(0, &[], &[]).into_iter().collect(),
        _ => (0..count).filter_map(|i| pair(i, &[], &[i as i64])).collect(),
    }
}

/// The updates in place that are the results of a fusion and start from its parameters.
fn inside(program: &Program, slots: &Slots, fusion: Id, depth: usize) -> Vec<InPlace> {
    let Some(body) = program.callee(fusion, AttributeKey::Calls).filter(|_| depth < MAX_DEPTH) else {
        return Vec::new();
    };
    let mut pairs = Vec::new();
    for to in slots.of_instruction(fusion).filter(|&slot| !slots.is_tuple(slot)) {
        cancel::tick();
        let Some(result) = slots.at(slots.top(body.root), &slots.path(to)) else { continue };
        let result = source(program, slots, result);
        let updates = at_depth(program, slots, slots.owner(result), depth + 1);
        let Some(update) = updates.into_iter().find(|pair| pair.to == result) else { continue };
        let mut updated = source(program, slots, update.from);
        // A fusion inside may pass on an update of its operand.
        if program.instruction(slots.owner(updated)).opcode == Some(Opcode::Fusion) {
            let inner = at_depth(program, slots, slots.owner(updated), depth + 1);
            if let Some(inner) = inner.into_iter().find(|pair| pair.to == updated) {
                updated = source(program, slots, inner.from);
            }
        }
        let parameter = program.instruction(slots.owner(updated));
        let Some(operand) = parameter.number.filter(|_| parameter.opcode == Some(Opcode::Parameter)) else {
            continue;
        };
        let Some(&of) = program.instruction(fusion).operands.get(operand as usize) else { continue };
        if let Some(from) = slots.at(slots.top(of), &slots.path(updated)) {
            pairs.push(InPlace { operand: operand as usize, from, to });
        }
    }
    pairs
}

/// Follows a slot through tuples, and then through what moves no byte.
/// Source: `FollowTupleIndirection`, `GpuAliasInfo::IsNoOpForAliasAnalysis`.
fn source(program: &Program, slots: &Slots, mut slot: Slot) -> Slot {
    loop {
        let owner = slots.owner(slot);
        let instruction = program.instruction(owner);
        let path = slots.path(slot);
        let operand = |n: usize| instruction.operands.get(n).map(|&of| slots.top(of));
        let next = match instruction.opcode {
            Some(Opcode::Tuple) => match &path[..] {
                [first, rest @ ..] => {
                    let of = usize::try_from(*first).ok().and_then(operand);
                    of.and_then(|of| slots.at(of, rest))
                }
                [] => None,
            },
            Some(Opcode::GetTupleElement) => {
                let index = instruction.number.map(i64::from);
                operand(0).zip(index).and_then(|(of, index)| slots.at(of, &[&[index], &path[..]].concat()))
            }
            Some(Opcode::Bitcast | Opcode::Reshape) if path.is_empty() => operand(0),
            _ => None,
        };
        match next {
            // Operands stand before their users, so this ends.
            Some(next) if next < slot => slot = next,
            _ => return slot,
        }
    }
}
