//! One op, from an operand to its outputs.

use ir::{Graph, Op, OpId, Opcode, is_elementwise};

use crate::Rules;
use crate::checks::{self, Checked, ensure};
use crate::operand_indexing::OpIndexing;
use crate::{bitcast, broadcast, dot, elementwise, reduce, reshape, slices, whole_operand};

/// The outputs' elements that each element of operand `input_id` feeds, a list per output. As XLA builds them; XLA has
/// fewer of these than of the other direction.
pub fn input_to_output(op: &Op, input_id: usize) -> OpIndexing {
    input_to_output_by(op, input_id, Rules::Xla)
}

/// [`input_to_output`] by the given rules: [`Rules::Exact`] adds dot and pad.
pub fn input_to_output_by(op: &Op, input_id: usize, rules: Rules) -> OpIndexing {
    let answer = match op.operand_shapes.get(input_id) {
        Some(_) => dispatch(op, input_id, rules),
        None => Err(format!("there is no operand {input_id}").into()),
    };
    answer.unwrap_or_else(|reason| OpIndexing::undefined(checks::output_count(op).max(1), &reason))
}

/// [`input_to_output_by`] for an op in its graph.
pub fn in_graph_input_to_output(graph: &Graph, id: OpId, input_id: usize, rules: Rules) -> OpIndexing {
    graph.ops.get(id as usize).map_or_else(OpIndexing::default, |op| input_to_output_by(op, input_id, rules))
}

fn dispatch(op: &Op, input_id: usize, rules: Rules) -> Checked<OpIndexing> {
    match op.opcode {
        Opcode::Map => elementwise::input_to_output(op, input_id),
        Opcode::AllReduce if op.shape.tuple_elements().is_none() => {
            elementwise::input_to_output(op, input_id)
        }
        Opcode::Tuple | Opcode::AllReduce => elementwise::only_output(op, input_id),
        Opcode::Bitcast => Ok(OpIndexing::of([bitcast::bitcast(&op.operand_shapes[input_id], &op.shape)?])),
        Opcode::Reshape => {
            let map = reshape::reshape(checks::operand(op, input_id)?, checks::output(op, 0)?)?;
            Ok(OpIndexing::of([map.into()]))
        }
        Opcode::Broadcast => broadcast::broadcast_input_to_output(op),
        Opcode::Transpose => broadcast::transpose_input_to_output(op),
        Opcode::Reverse => broadcast::reverse(op),
        Opcode::Concatenate => slices::concatenate_input_to_output(op, input_id),
        Opcode::Slice => slices::slice_input_to_output(op),
        Opcode::Reduce => reduce::reduce_input_to_output(op, input_id),
        Opcode::Dot if rules == Rules::Exact => dot::dot_input_to_output(op, input_id),
        Opcode::Pad if rules == Rules::Exact => slices::pad_input_to_output(op, input_id),
        opcode if is_elementwise(opcode) => elementwise::input_to_output(op, input_id),
        Opcode::Dot | Opcode::Pad => Err("XLA has no input to output map for this op".into()),
        opcode => {
            ensure(!has_output_to_input(opcode), "XLA has no input to output map for this op")?;
            Err(whole_operand::reason(opcode))
        }
    }
}

/// Ops that have a map in the other direction.
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
