//! Maps of one op from an output to its operands.

use std::sync::Arc;

use ir::{AttributeKey, Graph, Op, OpId, Opcode, is_elementwise};

use crate::Rules;
use crate::checks::{self, Checked, Reason, ensure};
use crate::inlined::Callees;
use crate::operand_indexing::{ArraySource, OpIndexing, OperandIndexing, RuntimeSource};
use crate::runtime_variables::{fold, with_known_parameters};
use crate::{
    bitcast, broadcast, calls, collectives, convolution, dot, elementwise, exact, fusion, gather, reduce,
    reshape, runtime_places, slices, whole_operand, window,
};

/// The accesses of `op` to its operands, a list per operand, for each element of output `output_id` (0 unless
/// the result is a tuple). As XLA builds them: simplified only where XLA does. Ops without operands have no
/// lists.
pub fn output_to_input(op: &Op, output_id: usize) -> OpIndexing {
    output_to_input_by(op, output_id, Rules::Xla)
}

/// [`output_to_input`] by the given rules.
pub fn output_to_input_by(op: &Op, output_id: usize, rules: Rules) -> OpIndexing {
    match dispatch(op, output_id, rules) {
        Ok(indexing) => fitting(op, indexing),
        Err(reason) => OpIndexing::undefined(op.operand_shapes.len(), &reason),
    }
}

/// [`output_to_input_by`] for an op in its graph. Runtime variables whose source is a constant or an iota are
/// folded, the sources of the others are named, and the maps of a fusion are composed through its called
/// computation, which `callees` finds.
pub fn in_graph(
    graph: &Graph,
    id: OpId,
    output_id: usize,
    rules: Rules,
    callees: &Callees<'_>,
) -> OpIndexing {
    let Some(op) = graph.ops.get(id as usize) else { return OpIndexing::default() };
    let operand_count = op.operand_shapes.len();
    let called = match rules {
        Rules::Exact => calls::transparent(op),
        Rules::Xla => op.attributes.computation(AttributeKey::Calls).filter(|_| op.opcode == Opcode::Fusion),
    };
    if let Some(callee) = called.and_then(callees) {
        let known = known_operands(graph, id, &callee, rules);
        return fusion::fusion(known.as_ref().unwrap_or(&callee), output_id, operand_count, rules, callees);
    }
    if rules == Rules::Exact
        && let Some(answer) = calls::called(op, output_id, callees)
    {
        return fitting(op, answer);
    }
    let mut indexing = output_to_input_by(op, output_id, rules);
    resolve(&mut indexing, graph, id, rules);
    indexing
}

/// The computation that op `id` calls, with its known operands, by [`with_known_parameters`].
pub(crate) fn known_operands(graph: &Graph, id: OpId, callee: &Graph, rules: Rules) -> Option<Graph> {
    if rules == Rules::Xla {
        return None;
    }
    let operands = graph.operands.get(id as usize)?;
    with_known_parameters(callee, |number| graph.ops.get(*operands.get(number as usize)? as usize))
}

/// Folds the known runtime variables of an op's accesses, and names the sources of the others.
pub(crate) fn resolve(indexing: &mut OpIndexing, graph: &Graph, id: OpId, rules: Rules) {
    let operands = graph.operands.get(id as usize).map_or(&[][..], Vec::as_slice);
    for access in indexing.operands.iter_mut().flatten() {
        fold(access, |i| operands.get(i).copied(), graph, rules);
        for variable in &mut access.runtime_variables {
            let name = |op: OpId| Arc::from(graph.names.get(op as usize).map_or("", String::as_str));
            match &mut variable.source {
                RuntimeSource::Operand(i) => {
                    if let Some(&op) = operands.get(*i) {
                        variable.source = RuntimeSource::Op { op, name: name(op) };
                    }
                }
                RuntimeSource::Extent { array, .. } => {
                    let op = match array {
                        ArraySource::Output => Some(id),
                        ArraySource::Operand(i) => operands.get(*i).copied(),
                        ArraySource::Op { .. } => None,
                    };
                    if let Some(op) = op {
                        *array = ArraySource::Op { op, name: name(op) };
                    }
                }
                RuntimeSource::Op { .. } => {}
            }
        }
    }
}

fn dispatch(op: &Op, output_id: usize, rules: Rules) -> Checked<OpIndexing> {
    if rules == Rules::Xla {
        checks::known_extents(op)?;
    }
    let operand_count = |n: usize| {
        let given = op.operand_shapes.len();
        ensure(given == n, format!("{} takes {n} operands, not {given}", op.opcode.name()))
    };
    if rules == Rules::Exact
        && !op.operand_shapes.is_empty()
        && let Some(answer) = exact::output_to_input(op, output_id)
    {
        return answer;
    }
    match op.opcode {
        Opcode::Parameter | Opcode::Constant | Opcode::Iota => Ok(OpIndexing::default()),
        Opcode::Map => elementwise::output_to_input(op, output_id),
        Opcode::AllReduce => elementwise::all_reduce(op, output_id),
        Opcode::GetTupleElement => elementwise::get_tuple_element(op),
        Opcode::Broadcast => operand_count(1).and_then(|()| broadcast::broadcast(op)),
        Opcode::Transpose => operand_count(1).and_then(|()| broadcast::transpose(op)),
        Opcode::Reverse => operand_count(1).and_then(|()| broadcast::reverse(op)),
        Opcode::Slice if rules == Rules::Exact && op.operand_shapes.len() == 3 => runtime_places::slice(op),
        Opcode::Slice => operand_count(1).and_then(|()| slices::slice(op)),
        Opcode::Pad if rules == Rules::Exact && op.operand_shapes.len() == 4 => runtime_places::pad(op),
        Opcode::Pad => operand_count(2).and_then(|()| slices::pad(op, rules)),
        Opcode::Concatenate => slices::concatenate(op),
        Opcode::DynamicSlice => slices::dynamic_slice(op),
        Opcode::DynamicUpdateSlice => slices::dynamic_update_slice(op, rules),
        Opcode::Reduce => reduce::reduce(op),
        Opcode::Scan => reduce::scan(op, output_id, rules),
        Opcode::ReduceWindow => window::reduce_window(op, output_id),
        Opcode::Convolution => convolution::convolution(op, rules),
        Opcode::Dot => dot::dot(op),
        Opcode::ScaledDot => dot::scaled_dot(op),
        Opcode::Gather => gather::gather(op),
        Opcode::AllGather => collectives::all_gather(op),
        Opcode::Reshape => operand_count(1).and_then(|()| reshape::reshape_op(op)),
        Opcode::Bitcast => {
            operand_count(1)?;
            Ok(OpIndexing::of([bitcast::bitcast(&op.shape, &op.operand_shapes[0])?]))
        }
        // HLO's have no dimensions.
        opcode
            if rules == Rules::Exact
                && is_elementwise(opcode)
                && op.attributes.get(AttributeKey::Dimensions).is_some() =>
        {
            broadcast::broadcasting(op)
        }
        opcode if is_elementwise(opcode) => {
            ensure(!op.operand_shapes.is_empty(), "an elementwise op without operands")?;
            elementwise::output_to_input(op, output_id)
        }
        _ if op.operand_shapes.is_empty() => Ok(OpIndexing::default()),
        opcode => Err(whole_operand::reason(opcode)),
    }
}

/// Makes maps undefined whose number of results differs from the operand's rank; this never happens for valid
/// ops.
fn fitting(op: &Op, mut indexing: OpIndexing) -> OpIndexing {
    // A get-tuple-element reads an element, not the tuple; a scalar output of a scan gets XLA's scalar maps as they are.
    if matches!(op.opcode, Opcode::GetTupleElement | Opcode::Scan) {
        return indexing;
    }
    for (list, shape) in indexing.operands.iter_mut().zip(&op.operand_shapes) {
        for access in list {
            if access.map.is_undefined() && access.note.is_some() {
                continue;
            }
            let read = access.element.map_or(Some(shape), |element| checks::leaf(shape, element));
            let read = read.ok_or(Reason::from("the operand has no such element"));
            let reason: Option<Reason> =
                match read.and_then(|shape| checks::array_of_any_extents(shape, "the operand")) {
                    Err(reason) => Some(reason),
                    Ok(array) if access.map.is_undefined() && access.note.is_none() => {
                        Some(format!("the map into {} dimensions grows too large", array.rank()).into())
                    }
                    Ok(array) if !access.map.is_undefined() && access.map.results().len() != array.rank() => {
                        Some(format!("the operand has {} dimensions", array.rank()).into())
                    }
                    Ok(_) => None,
                };
            if let Some(reason) = reason {
                *access = OperandIndexing::undefined(reason);
            }
        }
    }
    indexing
}
