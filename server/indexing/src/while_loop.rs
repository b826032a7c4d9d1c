//! While: the leaves of the initial state on which the result depends.

use ir::{AttributeKey, Graph, Op, OpId, Opcode, Shape};

use indexing_map::IndexingMap;

use crate::checks::{self, leaf_count};
use crate::inlined::Callees;
use crate::operand_indexing::{OpIndexing, OperandIndexing};
use crate::whole_operand::{self, every_element};

/// Maps leaf `output_id` of the final state to the leaves of the initial one. A leaf that the body passes on
/// reads only its own index. A leaf that the body changes reads at most every element of every leaf that
/// reaches it in some iteration, and of those that decide the number of iterations.
pub(crate) fn while_loop(op: &Op, output_id: usize, callees: &Callees<'_>) -> OpIndexing {
    let answer = analyse(op, output_id, callees);
    OpIndexing { operands: vec![answer.unwrap_or_else(|| vec![unknown(op)])] }
}

fn unknown(op: &Op) -> OperandIndexing {
    OperandIndexing::undefined(whole_operand::reason(op.opcode))
}

fn analyse(op: &Op, output_id: usize, callees: &Callees<'_>) -> Option<Vec<OperandIndexing>> {
    let state = op.operand_shapes.first()?;
    let output = checks::output(op, output_id).ok()?;
    let body = callees(op.attributes.computation(AttributeKey::Body)?)?;
    let leaves = leaf_count(state);
    let element = |leaf: usize| state.tuple_elements().map(|_| leaf);
    let body_root = roots(&body, leaves)?;
    if handed_on(&body, body_root[output_id], output_id) {
        return Some(vec![
            OperandIndexing::from(IndexingMap::identity(output)).of_element(element(output_id)),
        ]);
    }
    let reads: Vec<Vec<bool>> = body_root.iter().map(|&root| parameter_leaves(&body, root, leaves)).collect();
    let condition = op.attributes.computation(AttributeKey::Condition).and_then(callees);
    // The number of iterations affects every leaf that changes.
    let mut reaches = match condition {
        Some(condition) => parameter_leaves(&condition, condition.root, leaves),
        None => vec![true; leaves],
    };
    reaches[output_id] = true;
    let mut open: Vec<usize> = (0..leaves).filter(|&leaf| reaches[leaf]).collect();
    while let Some(leaf) = open.pop() {
        for (other, &is_read) in reads[leaf].iter().enumerate() {
            if is_read && !std::mem::replace(&mut reaches[other], true) {
                open.push(other);
            }
        }
    }
    let access = |leaf: usize| -> Option<OperandIndexing> {
        let access = every_element(checks::leaf(state, leaf)?, output).ok()?;
        let why = whole_operand::reason(Opcode::While);
        Some(access.of_element(element(leaf)).at_most("the whole operand", why))
    };
    Some((0..leaves).filter(|&leaf| reaches[leaf]).filter_map(access).collect())
}

/// Per leaf of the state, the op of the body that computes its next value. Only flat states are split.
fn roots(body: &Graph, leaves: usize) -> Option<Vec<OpId>> {
    let root = body.ops.get(body.root as usize)?;
    let is_flat = root.shape.tuple_elements().is_none_or(|e| e.iter().all(|e| e.tuple_elements().is_none()));
    let of = match root.opcode {
        Opcode::Tuple if is_flat => body.operands.get(body.root as usize)?.clone(),
        _ => vec![body.root; leaves],
    };
    (of.len() == leaves && leaves > 0).then_some(of)
}

fn is_parameter(graph: &Graph, op: OpId) -> bool {
    graph.ops.get(op as usize).is_some_and(|op| op.parameter == Some(0))
}

/// Whether `value` is the unchanged leaf of the parameter.
fn handed_on(body: &Graph, value: OpId, leaf: usize) -> bool {
    let Some(op) = body.ops.get(value as usize) else { return false };
    match op.opcode {
        Opcode::Parameter => op.shape.tuple_elements().is_none() && is_parameter(body, value),
        Opcode::GetTupleElement => own_leaf(body, value) == Some(leaf),
        _ => false,
    }
}

/// The leaf of the parameter that a get-tuple-element returns.
fn own_leaf(graph: &Graph, op: OpId) -> Option<usize> {
    let &[tuple] = graph.operands.get(op as usize)?.as_slice() else { return None };
    let taken = graph.ops.get(op as usize)?;
    let index = usize::try_from(taken.attributes.int(AttributeKey::Index)?).ok()?;
    let (first, shape) = checks::element(&graph.ops.get(tuple as usize)?.shape, index)?;
    (is_parameter(graph, tuple) && !matches!(shape, Shape::Tuple(_))).then_some(first)
}

/// The leaves of the parameter from which `root` is computed.
fn parameter_leaves(graph: &Graph, root: OpId, leaves: usize) -> Vec<bool> {
    let mut reached = vec![false; leaves];
    let mut is_seen = vec![false; graph.ops.len()];
    let mut open = vec![root];
    while let Some(op) = open.pop() {
        match is_seen.get_mut(op as usize) {
            Some(seen) if !*seen => *seen = true,
            _ => continue,
        }
        if let Some(slot) = own_leaf(graph, op).and_then(|leaf| reached.get_mut(leaf)) {
            *slot = true;
        } else if is_parameter(graph, op) {
            reached.fill(true);
        } else {
            open.extend(graph.operands.get(op as usize).into_iter().flatten());
        }
    }
    reached
}
