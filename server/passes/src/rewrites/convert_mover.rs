//! `convert-mover`: moves data in the narrower of two types: widens after, and narrows before it is moved.
//!
//! Source: XLA `hlo/transforms/simplifiers/convert_mover.cc`.

use std::collections::VecDeque;

use eval::{Kind, Values};
use ir::{ElementType, ElementTypeExt as _};
use syntax::hlo::Opcode;

use super::every::{add, add_copy, replace, replace_with};
use crate::dimensions::with_element;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.post_order(computation) {
            cancel::tick();
            if !run.module[id].is_removed() {
                widen_after(run, id);
            }
        }
        narrow_before(run, computation);
    }
    Ok(())
}

fn only_moves(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Concatenate | Opcode::Pad | Opcode::Reshape | Opcode::Slice | Opcode::Transpose)
}

/// The types before and after a conversion.
fn types(run: &Run<'_>, convert: InstructionId) -> Option<(ElementType, ElementType)> {
    let instruction = &run.module[convert];
    let &[operand] = instruction.operands() else { return None };
    let is_convert = instruction.opcode() == Opcode::Convert;
    is_convert.then_some((run.module[operand].shape().element()?, instruction.shape().element()?))
}

/// Bits as XLA counts them for this pass; a type below a byte, apart from `pred`, is never moved.
fn bits(element: ElementType) -> u32 {
    if element == ElementType::Pred { 1 } else { element.bits().unwrap_or(0) }
}

fn is_below_byte(element: ElementType) -> bool {
    element != ElementType::Pred && bits(element) < 8
}

fn widen_after(run: &mut Run<'_>, id: InstructionId) {
    let operands = run.module[id].operands().to_vec();
    let is_convert = |operand: InstructionId| run.module[operand].opcode() == Opcode::Convert;
    let is_movable = |&operand: &InstructionId| {
        is_convert(operand) && run.module[operand].users().len() == 1
            || run.module[operand].opcode() == Opcode::Constant
    };
    if !only_moves(run.module[id].opcode()) || !operands.iter().all(is_movable) {
        return;
    }
    let Some((narrow, wide)) = operands.iter().find_map(|&operand| types(run, operand)) else { return };
    let is_alike = |&operand: &InstructionId| match types(run, operand) {
        Some((from, _)) => from == narrow,
        None => keeps_constant(run, operand, narrow),
    };
    if bits(narrow) >= bits(wide) || is_below_byte(narrow) || !operands.iter().all(is_alike) {
        return;
    }
    let mut sources = Vec::with_capacity(operands.len());
    for operand in operands {
        sources.push(match types(run, operand) {
            Some(_) => run.module.operand(operand, 0),
            None => narrowed(run, operand, narrow),
        });
    }
    let shape = run.module[id].shape().clone();
    let moved = add_copy(run, id, &sources, with_element(&shape, narrow));
    replace_with(run, id, NewOp::new(Opcode::Convert, shape, &[moved]), "is moved before it is widened");
}

fn narrowed(run: &mut Run<'_>, operand: InstructionId, element: ElementType) -> InstructionId {
    let shape = with_element(run.module[operand].shape(), element);
    add(run, operand, NewOp::new(Opcode::Convert, shape, &[operand]))
}

/// Whether the elements of a constant are numbers of a narrower type.
fn keeps_constant(run: &Run<'_>, constant: InstructionId, element: ElementType) -> bool {
    let instruction = &run.module[constant];
    let Some(literal) = instruction.literal() else { return false };
    let Ok(column) = eval::parse_literal(literal, instruction.shape()) else { return false };
    let Some(kind) = Kind::of(element) else { return false };
    match column.values {
        Values::Int(values) if kind.is_integral() => values.iter().all(|&value| kind.wrap(value) == value),
        Values::Real(values) if kind.is_float() => {
            values.iter().all(|&value| kind.round(value).to_bits() == value.to_bits())
        }
        _ => false,
    }
}

fn narrow_before(run: &mut Run<'_>, computation: ComputationId) {
    let mut open: VecDeque<_> = run.module.post_order(computation).into_iter().rev().collect();
    while let Some(id) = open.pop_front() {
        cancel::tick();
        if run.module[id].is_removed() {
            continue;
        }
        let Some((wide, narrow)) = types(run, id) else { continue };
        let moved = run.module.operand(id, 0);
        let is_movable = run.module[moved].users().len() == 1 && only_moves(run.module[moved].opcode());
        if !is_movable || bits(wide) <= bits(narrow) || is_below_byte(narrow) {
            continue;
        }
        let mut sources = Vec::new();
        for operand in run.module[moved].operands().to_vec() {
            let source = narrowed(run, operand, narrow);
            open.push_front(source);
            sources.push(source);
        }
        let shape = with_element(run.module[moved].shape(), narrow);
        let new = add_copy(run, moved, &sources, shape);
        replace(run, id, new, "is narrowed before it is moved");
    }
}
