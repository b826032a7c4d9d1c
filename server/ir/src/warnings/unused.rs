//! Instructions without users. Parameters stay: callers pass them.

use rustc_hash::FxHashSet;
use syntax::hlo::{AttributeKey, ComputationKind, InstructionId, Opcode, ValueNode};

use super::{Condition, Remedy, Warning, WarningKind};
use crate::block::Block;
use crate::finding::Part;
use crate::op_table::op_info;

pub(super) fn find(block: &Block, found: &mut Vec<Warning>) {
    let after = predecessors(block);
    let last = block.parse.computations.len().wrapping_sub(1);
    for (c, computation) in block.parse.computations.iter().enumerate() {
        // Of others it is not known what their root is.
        let is_whole = match computation.kind {
            ComputationKind::Whole => computation.is_closed,
            ComputationKind::Inline(_) => true,
            ComputationKind::Continued | ComputationKind::Headless | ComputationKind::Bare => false,
        };
        let is_giant = computation.kind == ComputationKind::Continued && (computation.is_closed || c == last)
            || computation.kind == ComputationKind::Whole && c == last && block.parse.ends_in_body;
        // A line that is not read may use anything of its computation.
        if !is_whole && !is_giant || !block.is_readable(c as u32) {
            continue;
        }
        let root = block.root(c as u32);
        for id in computation.instructions.clone() {
            let instruction = block.instruction(id);
            let Some(opcode) = instruction.opcode else { continue };
            if !block.users(id).is_empty()
                || root == Some(id)
                || instruction.is_root
                || instruction.is_broken
                || instruction.is_nested
                || after.contains(&id)
                || has_side_effect(block, id)
            {
                continue;
            }
            let name = block.name(id);
            if opcode == Opcode::Parameter {
                continue;
            }
            let condition = Condition { is_unused_elsewhere: !is_whole, callees_are_pure: is_caller(opcode) };
            let message = format!("{name} is never used");
            let warning = Warning::new(WarningKind::UnusedInstruction, id, Part::Name, message);
            found.push(Warning { condition, remedy: Remedy::Remove, ..warning });
        }
    }
}

/// Instructions that others name as control predecessors.
fn predecessors(block: &Block) -> FxHashSet<InstructionId> {
    let mut found = FxHashSet::default();
    for (id, instruction) in block.parse.instructions.iter().enumerate() {
        for attribute in block.parse.attributes_of(instruction) {
            if let (Some(AttributeKey::ControlPredecessors), ValueNode::Names { start, len }) =
                (attribute.key, attribute.value)
            {
                let computation = block.parse.computation_of(id as InstructionId).unwrap_or_default();
                let names = block.parse.spans(start, len).iter();
                found.extend(names.filter_map(|span| block.find(computation, span.of(&block.text))));
            }
        }
    }
    found
}

/// Whether the instruction does more than compute its result, apart from what it calls. Rather too often: see
/// `OpInfo::has_side_effect`.
pub fn has_side_effect(block: &Block, id: InstructionId) -> bool {
    let instruction = block.instruction(id);
    match instruction.opcode {
        None => true,
        Some(Opcode::CustomCall) => block.parse.attributes_of(instruction).iter().any(|a| {
            a.key == Some(AttributeKey::CustomCallHasSideEffect) && a.value != ValueNode::Bool(false)
        }),
        Some(opcode) => op_info(opcode).has_side_effect,
    }
}

/// Ops that may run any code; the computations of the others are arithmetic on scalars.
pub fn is_caller(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(opcode, Call | Conditional | CustomCall | Fusion | While)
}
