//! Maps of one op from an operand to its outputs.

use indexing_map::{Expr, IndexingMap};
use ir::{Graph, Op, OpId, Opcode, is_elementwise, op_info};

use crate::Rules;
use crate::broadcast::Rotation;
use crate::checks::{self, Checked, ensure};
use crate::fusion::MAX_MAPS_PER_OP;
use crate::inlined::{Callees, Inlined, NodeId, no_callees};
use crate::inverse::inverse;
use crate::operand_indexing::{OpIndexing, OperandIndexing, insert};
use crate::output_to_input::{known_operands, output_to_input_by, resolve};
use crate::{
    bitcast, broadcast, calls, collectives, dot, elementwise, reduce, reshape, slices, whole_operand,
};

/// The outputs' elements that each element of operand `input_id` feeds, one list per output, as XLA builds
/// them. XLA has fewer of these maps than of the other direction.
pub fn input_to_output(op: &Op, input_id: usize) -> OpIndexing {
    input_to_output_by(op, input_id, Rules::Xla)
}

/// [`input_to_output`] by the given rules. By [`Rules::Exact`] every op has a list of accesses per output, as
/// exact as its maps from output to input.
pub fn input_to_output_by(op: &Op, input_id: usize, rules: Rules) -> OpIndexing {
    // An op without operands produces all of its output.
    if rules == Rules::Exact && op.opcode == Opcode::Iota && input_id == 0 {
        let everywhere = |sizes: &[i64]| {
            let results = (0..sizes.len()).map(Expr::var).collect();
            OperandIndexing::from(IndexingMap::from_sizes(&[], sizes, results))
        };
        return OpIndexing::of([checks::output(op, 0).map_or_else(OperandIndexing::undefined, everywhere)]);
    }
    if op.operand_shapes.get(input_id).is_none() {
        let reason = format!("there is no operand {input_id}").into();
        return OpIndexing::undefined(checks::output_count(op).max(1), &reason);
    }
    // Only the other direction has maps over unknown extents.
    if let Err(reason) = checks::known_extents(op) {
        return OpIndexing::undefined(checks::output_count(op).max(1), &reason);
    }
    match dispatch(op, input_id, rules) {
        Ok(answer) => answer,
        Err(_) if rules == Rules::Exact => exact(op, input_id),
        Err(reason) => OpIndexing::undefined(checks::output_count(op).max(1), &reason),
    }
}

/// [`input_to_output_by`] for an op in its graph: known runtime variables are folded, and the sources of
/// others are named. The called computation of a fusion is not available here: see
/// [`in_graph_input_to_output_with`].
pub fn in_graph_input_to_output(graph: &Graph, id: OpId, input_id: usize, rules: Rules) -> OpIndexing {
    in_graph_input_to_output_with(graph, id, input_id, rules, &no_callees)
}

/// [`in_graph_input_to_output`], through fusions and calls by [`Rules::Exact`].
pub fn in_graph_input_to_output_with(
    graph: &Graph,
    id: OpId,
    input_id: usize,
    rules: Rules,
    callees: &Callees<'_>,
) -> OpIndexing {
    let Some(op) = graph.ops.get(id as usize) else { return OpIndexing::default() };
    if rules == Rules::Exact
        && let Some(callee) = calls::transparent(op).and_then(callees)
        && op.operand_shapes.get(input_id).is_some()
    {
        let known = known_operands(graph, id, &callee, rules);
        return fusion_input_to_output(known.as_ref().unwrap_or(&callee), input_id, rules, callees);
    }
    let mut answer = input_to_output_by(op, input_id, rules);
    if rules == Rules::Exact {
        resolve(&mut answer, graph, id, rules);
    }
    answer
}

/// Maps parameter `input_id` of a called computation to the leaves of its root. Every use chain between them
/// is an access of its own; an op without a map on it makes that access undefined. A parameter that is a
/// tuple has accesses per leaf.
pub fn fusion_input_to_output(
    callee: &Graph,
    input_id: usize,
    rules: Rules,
    callees: &Callees<'_>,
) -> OpIndexing {
    let Some(root) = callee.ops.get(callee.root as usize) else { return OpIndexing::default() };
    let count = checks::output_count(root);
    if !callee.is_complete {
        return OpIndexing::undefined(count, &"the called computation has errors".into());
    }
    let all: Vec<OpId> = (0..callee.ops.len() as OpId).collect();
    let mut inlined = Inlined::new(callee, &all, rules, callees);
    let targets: Vec<_> = (0..count).map(|output| inlined.target(callee.root, output)).collect();
    let maps = from_parameter(&inlined, input_id, rules);
    let list = |target: Option<NodeId>| match target {
        Some(node) => maps[node].clone(),
        None => vec![OperandIndexing::undefined("the computation has no such output")],
    };
    OpIndexing { operands: targets.into_iter().map(list).collect() }
}

/// Per node, the accesses of a parameter to it.
fn from_parameter(inlined: &Inlined<'_>, number: usize, rules: Rules) -> Vec<Vec<OperandIndexing>> {
    let mut maps: Vec<Vec<OperandIndexing>> = vec![Vec::new(); inlined.nodes.len()];
    for (id, node) in inlined.nodes.iter().enumerate() {
        let op = inlined.op(node);
        if op.parameter == Some(number as u32) && inlined.place(node).computation.is_none() {
            let element = op.shape.tuple_elements().map(|_| node.output);
            maps[id] = vec![match checks::output(op, node.output) {
                Ok(sizes) => OperandIndexing::from(IndexingMap::identity(sizes)).of_element(element),
                Err(reason) => OperandIndexing::undefined(reason),
            }];
            continue;
        }
        let mut list = Vec::new();
        for used in node.operands.iter().filter(|used| used.node < id && !maps[used.node].is_empty()) {
            for step in inlined.step(node, used, rules) {
                for start in &maps[used.node] {
                    let through = start.compose_by(&step, rules).of_element(start.element);
                    if !through.map.is_known_empty() {
                        insert(&mut list, through);
                    }
                }
            }
            if list.len() > MAX_MAPS_PER_OP {
                list = vec![OperandIndexing::undefined(format!(
                    "more than {MAX_MAPS_PER_OP} different accesses"
                ))];
                break;
            }
        }
        maps[id] = list;
    }
    maps
}

/// The inverse of the accesses from each output, for ops without their own map in this direction.
fn exact(op: &Op, input_id: usize) -> OpIndexing {
    let outputs = (0..checks::output_count(op)).map(|output_id| {
        if op_info(op.opcode).is_collective
            && let Ok(accesses) = collectives::collective_input_to_output(op, input_id, output_id)
        {
            return accesses;
        }
        let answer = output_to_input_by(op, output_id, Rules::Exact);
        let accesses = answer.operands.get(input_id).map_or(&[][..], Vec::as_slice);
        let back = |access: &OperandIndexing| {
            let shape = match access.element {
                Some(element) => checks::leaf(&op.operand_shapes[input_id], element),
                None => op.operand_shapes.get(input_id),
            };
            let sizes = shape.ok_or("the operand has no such element".into());
            match sizes.and_then(|shape| checks::array(shape, "the operand")) {
                Ok(array) => inverse(access, &array.dims).of_element(access.element),
                Err(reason) => OperandIndexing::undefined(access.note.clone().unwrap_or(reason)),
            }
        };
        accesses.iter().map(back).collect()
    });
    OpIndexing { operands: outputs.collect() }
}

fn dispatch(op: &Op, input_id: usize, rules: Rules) -> Checked<OpIndexing> {
    let is_exact = rules == Rules::Exact;
    match op.opcode {
        opcode if is_exact && (op_info(opcode).is_collective || opcode == Opcode::Tuple) => {
            Err("by its inverse".into())
        }
        Opcode::Map => elementwise::input_to_output(op, input_id),
        Opcode::AllReduce if op.shape.tuple_elements().is_none() => {
            elementwise::input_to_output(op, input_id)
        }
        Opcode::Tuple | Opcode::AllReduce => elementwise::only_output(op, input_id),
        Opcode::Bitcast => {
            let (from, to) = (&op.operand_shapes[input_id], &op.shape);
            let access =
                if is_exact { bitcast::bitcast_any_width(from, to) } else { bitcast::bitcast(from, to) };
            Ok(OpIndexing::of([access?]))
        }
        Opcode::Reshape => {
            let map = reshape::reshape(checks::operand(op, input_id)?, checks::output(op, 0)?)?;
            Ok(OpIndexing::of([map.into()]))
        }
        Opcode::Broadcast => broadcast::broadcast_input_to_output(op),
        Opcode::Transpose => broadcast::transpose_input_to_output(op),
        Opcode::Reverse => broadcast::reverse(op),
        Opcode::Shuffle if is_exact => broadcast::shuffle(op, Rotation::InputToOutput),
        Opcode::Concatenate => slices::concatenate_input_to_output(op, input_id),
        Opcode::Slice => slices::slice_input_to_output(op),
        Opcode::Reduce => reduce::reduce_input_to_output(op, input_id),
        Opcode::Dot if is_exact => dot::dot_input_to_output(op, input_id),
        Opcode::Pad if is_exact => slices::pad_input_to_output(op, input_id),
        opcode if is_elementwise(opcode) => elementwise::input_to_output(op, input_id),
        Opcode::Dot | Opcode::Pad => Err("XLA has no input to output map for this op".into()),
        opcode => {
            ensure(!has_output_to_input(opcode), "XLA has no input to output map for this op")?;
            Err(whole_operand::reason(opcode))
        }
    }
}

/// Whether the op has a map in the other direction.
fn has_output_to_input(opcode: Opcode) -> bool {
    matches!(
        opcode,
        Opcode::DynamicSlice
            | Opcode::DynamicUpdateSlice
            | Opcode::ReduceWindow
            | Opcode::Convolution
            | Opcode::ScaledDot
            | Opcode::Gather
            | Opcode::AllGather
            | Opcode::Scan
            | Opcode::GetTupleElement
            | Opcode::Fusion
    )
}
