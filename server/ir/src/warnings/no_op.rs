//! Instructions whose result is their operand, and pairs of which the second undoes the first.

use syntax::hlo::{AttributeKey, InstructionId, Opcode};

use super::{Remedy, Warning, WarningKind};
use crate::attributes::Attributes;
use crate::block::{Block, OperandRef};
use crate::finding::Part;
use crate::graph::Op;
use crate::shape::Shape;

pub(super) fn find(
    block: &Block,
    id: InstructionId,
    opcode: Opcode,
    undoes: &dyn Fn(&Op, &Op) -> bool,
) -> Option<Warning> {
    use Opcode::*;
    let is_candidate = matches!(
        opcode,
        Bitcast
            | BitcastConvert
            | Broadcast
            | Concatenate
            | Convert
            | DynamicSlice
            | Pad
            | Reshape
            | Reverse
            | Slice
            | Transpose
    );
    if !is_candidate {
        return None;
    }
    let operand = operand(block, id)?;
    let shape = block.shape(id)?;
    if is_same_array(shape, block.shape(operand)?) && answers_operand(block, id, opcode, shape) {
        return Some(warning(
            block,
            WarningKind::NoOp,
            id,
            operand,
            format!("this {opcode} changes nothing: the result is {}", block.name(operand)),
        ));
    }
    let inner = block.instruction(operand).opcode?;
    let original = self::operand(block, operand)?;
    let is_pair = moves(opcode) && moves(inner) && is_same_array(shape, block.shape(original)?);
    if !is_pair || !undoes(&block.op(id, |_| None)?, &block.op(operand, |_| None)?) {
        return None;
    }
    let message = format!(
        "this {opcode} undoes the {inner} {}: the result is {}",
        block.name(operand),
        block.name(original)
    );
    let mut found = warning(block, WarningKind::RoundTrip, id, original, message);
    found.related = Some((operand, "this is undone"));
    Some(found)
}

fn warning(
    block: &Block,
    kind: WarningKind,
    id: InstructionId,
    instead: InstructionId,
    message: String,
) -> Warning {
    let is_root = block.instruction(id).is_root
        || block.parse.computation_of(id).is_some_and(|c| block.root(c) == Some(id));
    Warning {
        related: Some((instead, "it is this")),
        remedy: if is_root { Remedy::None } else { Remedy::ReplaceBy(instead) },
        ..Warning::new(kind, id, Part::Opcode, message)
    }
}

/// The only operand that is data, where it is an instruction of this block as a whole.
fn operand(block: &Block, id: InstructionId) -> Option<InstructionId> {
    let (operand, target) = block.operands_of(id).next()?;
    let is_whole = operand.kind == syntax::hlo::OperandKind::Name;
    match target {
        OperandRef::Local(id) if is_whole => Some(id),
        _ => None,
    }
}

/// Ops that only move elements, each of them to one place.
fn moves(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Bitcast | Opcode::Reshape | Opcode::Reverse | Opcode::Transpose)
}

/// Also in memory, as far as layouts are written.
fn is_same_array(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Array(a), Shape::Array(b)) => {
            let layouts = a.layout.as_ref().zip(b.layout.as_ref());
            a.element == b.element
                && a.dims == b.dims
                && a.dynamic == b.dynamic
                && layouts.is_none_or(|(a, b)| a == b)
        }
        _ => false,
    }
}

/// Whether element i of the result is element i of the operand, where both have the same shape.
fn answers_operand(block: &Block, id: InstructionId, opcode: Opcode, shape: &Shape) -> bool {
    let instruction = block.instruction(id);
    let attributes = Attributes::from_syntax(&block.text, &block.parse, instruction);
    let dims = || attributes.ints(AttributeKey::Dimensions);
    let is_ascending = || dims().iter().enumerate().all(|(i, &d)| d == i as i64);
    match opcode {
        Opcode::Bitcast | Opcode::BitcastConvert | Opcode::Convert | Opcode::Reshape => true,
        Opcode::Transpose | Opcode::Broadcast => is_ascending(),
        Opcode::Concatenate => instruction.operands.1 == 1,
        Opcode::Slice => attributes
            .triples(AttributeKey::Slice)
            .iter()
            .all(|&[start, _, stride]| start == 0 && stride == 1),
        Opcode::DynamicSlice => true,
        Opcode::Pad => attributes.triples(AttributeKey::Padding).iter().all(|t| *t == [0, 0, 0]),
        Opcode::Reverse => {
            let size = |&d: &i64| usize::try_from(d).ok().and_then(|d| shape.dims().get(d)).copied();
            dims().iter().all(|d| size(d).is_some_and(|size| size <= 1))
        }
        _ => false,
    }
}
