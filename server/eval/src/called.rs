//! Ops that call computations, tuples, and scalar computations on many elements at a time.

use std::collections::HashMap;
use std::rc::Rc;

use ir::{AttributeKey, ElementTypeExt, Graph, OpId, Opcode, is_elementwise};

use super::column::Column;
use super::dispatch::Asked;
use super::elementwise;
use super::evaluator::{Evaluator, kind_of};
use super::frames::Binding;
use super::literals;
use super::moves;
use crate::checks::{Checked, ensure, leaves};

/// The largest number of iterations of all loops together.
const MAX_TURNS: u64 = 1 << 20;

type Answer = Checked<Rc<Column>>;

/// Concatenates the arrays of the operands.
pub(crate) fn tuple(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    let mut leaf = asked.leaf;
    for (&operand, shape) in asked.operands().iter().zip(&asked.op.operand_shapes) {
        let count = leaves(shape).len();
        if leaf < count {
            return evaluator.eval(asked.frame, operand, leaf, asked.batch);
        }
        leaf -= count;
    }
    Err("there is no such element".into())
}

/// The number of a tuple element's first array. `f.1` written as an operand is an op whose name gives the
/// index.
fn index_of(asked: &Asked<'_>) -> Option<usize> {
    match asked.op.attributes.int(AttributeKey::Index) {
        Some(index) => usize::try_from(index).ok(),
        None => asked.graph.names[asked.id as usize].rsplit('_').next()?.parse().ok(),
    }
}

pub(crate) fn element(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    let elements = asked.operand_shape(0)?.tuple_elements().ok_or("the operand is no tuple")?;
    let index = index_of(asked).filter(|&i| i < elements.len()).ok_or("the tuple has no such element")?;
    let before: usize = elements[..index].iter().map(|e| leaves(e).len()).sum();
    evaluator.eval(asked.frame, asked.operand(0)?, before + asked.leaf, asked.batch)
}

/// Fusion and call.
pub(crate) fn call(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    let key = if asked.op.opcode == Opcode::Fusion { AttributeKey::Calls } else { AttributeKey::ToApply };
    let name = asked.op.attributes.computation(key).ok_or("the called computation is not named")?;
    let frame = evaluator.called(asked.frame, asked.id, name, asked.operands())?;
    let root = evaluator.frames[frame].graph.root;
    evaluator.eval(frame, root, asked.leaf, asked.batch)
}

/// The branch that operand 0 selects; the last branch for an index out of range.
pub(crate) fn conditional(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    let attributes = &asked.op.attributes;
    let by_number = attributes.computations(AttributeKey::BranchComputations);
    let choice = evaluator.scalar(asked.frame, asked.operand(0)?)?;
    ensure(choice.error.is_none(), "a branch that depends on an inexact number")?;
    let choice = choice.ints().first().copied().unwrap_or(0);
    let (name, branch) = match attributes.computation(AttributeKey::TrueComputation) {
        Some(on_true) => match choice {
            0 => (attributes.computation(AttributeKey::FalseComputation), 1),
            _ => (Some(on_true), 0),
        },
        None => {
            let last = by_number.len().checked_sub(1).ok_or("there are no branches")?;
            let branch = usize::try_from(choice).unwrap_or(last).min(last);
            (by_number.get(branch).map(String::as_str), branch)
        }
    };
    let name = name.ok_or("the branch is not named")?;
    let frame = evaluator.called(asked.frame, asked.id, name, &[asked.operand(branch + 1)?])?;
    let root = evaluator.frames[frame].graph.root;
    evaluator.eval(frame, root, asked.leaf, asked.batch)
}

/// Runs the loop on whole arrays.
pub(crate) fn while_loop(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let name = |key| asked.op.attributes.computation(key).ok_or("a computation of the loop is not named");
    let condition = evaluator.callee(name(AttributeKey::Condition)?)?;
    let body = evaluator.callee(name(AttributeKey::Body)?)?;
    let count = leaves(asked.operand_shape(0)?).len();
    let before = evaluator.frames.len();
    let mut state = Vec::new();
    for leaf in 0..count {
        state.push(evaluator.held(asked.frame, asked.operand(0)?, leaf)?);
    }
    for _ in 0..MAX_TURNS {
        let held = Binding::Held(Rc::new(state.clone()));
        let frame = evaluator.frame(condition.clone(), vec![held.clone()]);
        let goes_on = evaluator.held(frame, condition.root, 0)?;
        ensure(goes_on.error.is_none(), "a loop that depends on an inexact number")?;
        if goes_on.ints().first() != Some(&1) {
            let indices: Vec<u32> = asked.batch.positions.iter().map(|&p| p as u32).collect();
            let whole = state.get(asked.leaf).ok_or("there is no such output")?;
            ensure(indices.iter().all(|&i| (i as usize) < whole.len()), "the loop's shapes differ")?;
            return Ok(whole.pick(&indices));
        }
        let frame = evaluator.frame(body.clone(), vec![held]);
        let mut next = Vec::new();
        for leaf in 0..count {
            next.push(evaluator.held(frame, body.root, leaf)?);
        }
        state = next;
        evaluator.end_turn(before);
    }
    Err("the loop takes too many turns".into())
}

/// Applies the computation to the elements of all operands.
pub(crate) fn map(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let name =
        asked.op.attributes.computation(AttributeKey::ToApply).ok_or("the computation is not named")?;
    let mut columns = Vec::new();
    for &operand in asked.operands() {
        columns.push(evaluator.eval(asked.frame, operand, 0, asked.batch)?);
    }
    let mut results = lanes(evaluator, name, &columns, 0)?;
    ensure(results.len() == 1, "the mapped computation answers several values")?;
    Ok(Rc::unwrap_or_clone(results.swap_remove(0)))
}

/// Runs a computation of scalars on many elements at a time: parameter i is column i of `arguments`. Returns
/// the arrays of the root.
pub(crate) fn lanes(
    evaluator: &mut Evaluator<'_>,
    name: &str,
    arguments: &[Rc<Column>],
    depth: u32,
) -> Checked<Vec<Rc<Column>>> {
    ensure(depth < 16, "computations call each other too deep")?;
    let graph = evaluator.callee(name)?;
    let len = arguments.first().map_or(1, |column| column.len());
    let mut values: HashMap<OpId, Vec<Rc<Column>>> = HashMap::new();
    for id in reachable(&graph) {
        let op = &graph.ops[id as usize];
        evaluator.spend(len)?;
        let operands = &graph.operands[id as usize];
        let one = |i: usize| -> Checked<&Rc<Column>> {
            let operand = operands.get(i).and_then(|operand| values.get(operand)?.first());
            operand.ok_or_else(|| "an operand is missing".into())
        };
        let result = match op.opcode {
            Opcode::Parameter => {
                let column = op.parameter.and_then(|n| arguments.get(n as usize));
                vec![column.cloned().ok_or("a parameter without an argument")?]
            }
            Opcode::Constant => vec![Rc::new(literals::constant(op)?.pick(&vec![0; len]))],
            Opcode::Tuple => {
                let parts = operands.iter().filter_map(|operand| values.get(operand));
                parts.flatten().cloned().collect()
            }
            Opcode::GetTupleElement => {
                let index = op.attributes.int(AttributeKey::Index).and_then(|i| usize::try_from(i).ok());
                let tuple = operands.first().and_then(|operand| values.get(operand));
                let part = index.and_then(|i| tuple?.get(i)).cloned();
                vec![part.ok_or("the tuple has no such element")?]
            }
            Opcode::Broadcast | Opcode::Reshape | Opcode::Transpose if op.shape.dims().is_empty() => {
                vec![one(0)?.clone()]
            }
            Opcode::Bitcast | Opcode::BitcastConvert if op.shape.dims().is_empty() => {
                let (from, to) = (op.operand_shapes.first().and_then(|s| s.element()), op.shape.element());
                let bits = |e: Option<ir::ElementType>| e.and_then(|e| e.bits());
                ensure(bits(from) == bits(to), "a bitcast between different sizes")?;
                vec![Rc::new(moves::reinterpreted(one(0)?, kind_of(&op.shape)?))]
            }
            Opcode::Fusion | Opcode::Call => {
                let key =
                    if op.opcode == Opcode::Fusion { AttributeKey::Calls } else { AttributeKey::ToApply };
                let name = op.attributes.computation(key).ok_or("the called computation is not named")?;
                let inner: Vec<Rc<Column>> =
                    (0..operands.len()).map(|i| one(i).cloned()).collect::<Checked<_>>()?;
                lanes(evaluator, name, &inner, depth + 1)?
            }
            opcode if is_elementwise(opcode) && op.shape.dims().is_empty() => {
                let columns: Vec<&Column> =
                    (0..operands.len()).map(|i| one(i).map(Rc::as_ref)).collect::<Checked<_>>()?;
                vec![Rc::new(elementwise::apply(op, kind_of(&op.shape)?, &columns)?)]
            }
            opcode => return Err(format!("{opcode} in a computation of scalars is not evaluated").into()),
        };
        values.insert(id, result);
    }
    values.remove(&graph.root).ok_or_else(|| "the computation has no root".into())
}

/// The ops that the root needs, in definition order.
fn reachable(graph: &Graph) -> Vec<OpId> {
    let mut needed = vec![false; graph.ops.len()];
    let mut stack = vec![graph.root];
    while let Some(id) = stack.pop() {
        if let Some(slot) = needed.get_mut(id as usize)
            && !std::mem::replace(slot, true)
        {
            stack.extend(&graph.operands[id as usize]);
        }
    }
    (0..graph.ops.len() as OpId).filter(|&id| needed[id as usize]).collect()
}

/// The op of each value, if a computation of `count` pairs of scalars combines each pair separately with one
/// order-independent op: `add(parameter(0), parameter(1))`, or a tuple of those.
pub(crate) fn parts(graph: &Graph, count: usize) -> Option<Vec<Opcode>> {
    use Opcode::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    let root = graph.ops.get(graph.root as usize)?;
    let roots = match root.opcode {
        Opcode::Tuple => graph.operands.get(graph.root as usize)?.clone(),
        _ => vec![graph.root],
    };
    let of = |(i, &id): (usize, &OpId)| {
        let op = graph.ops.get(id as usize)?;
        let operands = graph.operands.get(id as usize)?;
        let parameter = |k: usize| graph.ops.get(*operands.get(k)? as usize)?.parameter;
        let own = [i as u32, (i + count) as u32];
        let both = [parameter(0)?, parameter(1)?];
        let is_own = operands.len() == 2 && (both == own || both == [own[1], own[0]]);
        let is_free_of_order = matches!(op.opcode, Add | Multiply | Maximum | Minimum | And | Or | Xor);
        (is_own && is_free_of_order).then_some(op.opcode)
    };
    (roots.len() == count).then(|| roots.iter().enumerate().map(of).collect())?
}
