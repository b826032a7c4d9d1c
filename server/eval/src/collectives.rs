//! Collectives of a single device, which return their operands, and both ends of asynchronous ops.

use std::rc::Rc;

use ir::{AttributeKey, Opcode, Shape};

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of, leaf_shape};
use crate::checks::{Checked, ensure, leaves};

/// The elements of a collective, its start or its done.
pub(crate) fn collective(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Rc<Column>> {
    let given: usize = asked.op.operand_shapes.iter().map(|shape| leaves(shape).len()).sum();
    let leaf = match asked.op.opcode {
        Opcode::AllReduceDone => return passed(evaluator, asked, asked.leaf),
        // The start returns its operands, its results, and data for the hardware only.
        Opcode::AllGatherDone | Opcode::CollectivePermuteDone => {
            let results = leaves(&asked.op.shape).len();
            return passed(evaluator, asked, results + asked.leaf);
        }
        Opcode::AllGatherStart | Opcode::CollectivePermuteStart if asked.leaf < given => asked.leaf,
        Opcode::AllGatherStart | Opcode::CollectivePermuteStart => asked.leaf - given,
        _ => asked.leaf,
    };
    let is_pair = matches!(asked.op.opcode, Opcode::CollectivePermute | Opcode::CollectivePermuteStart);
    ensure_alone(evaluator, asked, is_pair)?;
    ensure(leaf < given, "an output that holds no data")?;
    let is_operand = asked.op.opcode == Opcode::CollectivePermuteStart && asked.leaf < given;
    if is_pair && !is_operand {
        let in_place = asked.op.attributes.text(AttributeKey::SliceSizes).is_some();
        ensure(!in_place, "an in-place collective-permute is not evaluated")?;
        let pairs = asked.op.attributes.source_target_pairs().ok_or("no source_target_pairs")?;
        if !pairs.contains(&(0, 0)) {
            // A device that is not a target gets zeros.
            let kind = kind_of(leaf_shape(&asked.op.shape, asked.leaf)?)?;
            let zeros = super::fill::Fill::Zeros.column(kind, 0, 0, &asked.batch.positions);
            return Ok(Rc::new(zeros));
        }
    }
    let from = operand_leaf(asked, leaf)?;
    let sizes = |shape: &Shape| shape.as_array().map(|array| array.dims.clone());
    let fits = sizes(from.1) == sizes(leaf_shape(&asked.op.shape, asked.leaf)?);
    ensure(fits, "the result of one device has another shape than the operand")?;
    evaluator.eval(asked.frame, from.0, from.2, asked.batch)
}

/// The op, shape and array of leaf `leaf` over all operands.
fn operand_leaf<'a>(asked: &Asked<'a>, mut leaf: usize) -> Checked<(ir::OpId, &'a Shape, usize)> {
    for (&operand, shape) in asked.graph.operands[asked.id as usize].iter().zip(&asked.op.operand_shapes) {
        let own = leaves(shape);
        if let Some(shape) = own.get(leaf) {
            return Ok((operand, shape, leaf));
        }
        leaf -= own.len();
    }
    Err("there is no such operand".into())
}

/// Array `leaf` of the operand.
fn passed(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>, leaf: usize) -> Checked<Rc<Column>> {
    evaluator.eval(asked.frame, asked.operand(0)?, leaf, asked.batch)
}

/// Fails if the values of other devices are needed.
fn ensure_alone(evaluator: &Evaluator<'_>, asked: &Asked<'_>, is_pair: bool) -> Checked<()> {
    let opcode = asked.op.opcode;
    let devices = evaluator.devices();
    // A group of one needs no other device, regardless of the number of devices.
    if !is_pair && asked.op.attributes.replica_group_size() == Some(1) {
        return Ok(());
    }
    let others = "the values of one are known";
    ensure(devices <= 1, format!("{opcode} among {devices} devices is not evaluated: {others}"))?;
    if is_pair {
        return Ok(());
    }
    let groups = asked.op.attributes.text(AttributeKey::ReplicaGroups).unwrap_or("{}");
    let is_own = crate::replica_groups::replica_group(asked.op, 0, 1).is_some_and(|group| group == [0]);
    ensure(is_own, format!("{opcode} among {groups} is not evaluated: {others}"))
}

/// The number of the replica or the partition, which is 0 for a single device.
pub(crate) fn number(evaluator: &Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let (opcode, devices) = (asked.op.opcode, evaluator.devices());
    ensure(devices <= 1, format!("{opcode} is not evaluated: it differs between {devices} devices"))?;
    Ok(Column::int(kind_of(&asked.op.shape)?, vec![0; asked.batch.positions.len()]))
}

/// `copy-start` returns the copy, the operand and data for the hardware only; `copy-done` returns the copy.
pub(crate) fn copied(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Rc<Column>> {
    ensure(asked.op.opcode == Opcode::CopyDone || asked.leaf < 2, "an output that holds no data")?;
    passed(evaluator, asked, 0)
}

/// `async-start` returns its operands and the results of the computation; `async-done` returns those results.
pub(crate) fn asynchronous(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Rc<Column>> {
    let operands = |shape: &Shape| match shape.tuple_elements().and_then(|elements| elements.first()) {
        Some(first) => leaves(first).len(),
        None => 0,
    };
    match asked.op.opcode {
        Opcode::AsyncUpdate => passed(evaluator, asked, asked.leaf),
        Opcode::AsyncDone => passed(evaluator, asked, operands(asked.operand_shape(0)?) + asked.leaf),
        _ => match asked.leaf.checked_sub(operands(&asked.op.shape)) {
            None => {
                let (operand, _, leaf) = operand_leaf(asked, asked.leaf)?;
                evaluator.eval(asked.frame, operand, leaf, asked.batch)
            }
            Some(leaf) => {
                let name = asked.op.attributes.computation(AttributeKey::Calls);
                let name = name.ok_or("the called computation is not named")?;
                let frame = evaluator.called(asked.frame, asked.id, name, asked.operands())?;
                let root = evaluator.frames[frame].graph.root;
                evaluator.eval(frame, root, leaf, asked.batch)
            }
        },
    }
}
