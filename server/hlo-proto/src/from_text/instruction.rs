//! One instruction as a message.

use ir::ParsedInstruction;
use syntax::hlo::{AttributeKey, Opcode};

use crate::attributes::{self, CALLS, Context};
use crate::literal::{Budget, literal_proto};
use crate::messages::HloInstructionProto;
use crate::notes::Notes;
use crate::shapes::shape_proto;

/// `own_ids` are those of the instructions of the computation, `computations` those of all computations.
pub(super) fn instruction_proto(
    instruction: &ParsedInstruction,
    id: i64,
    own_ids: &[i64],
    computations: &[i64],
    notes: &mut Notes,
) -> Result<HloInstructionProto, String> {
    let op = &instruction.op;
    let verbatim = instruction.verbatim.as_deref();
    let unknown = verbatim.and_then(|verbatim| verbatim.opcode.as_deref());
    let arity = ir::op_info(op.opcode).arity;
    if unknown.is_none() && !arity.accepts(instruction.operands.len()) {
        return Err(format!("{} takes {arity}, but has {}", op.opcode, instruction.operands.len()));
    }
    let mut proto = HloInstructionProto {
        name: instruction.name.clone(),
        opcode: unknown.unwrap_or(op.opcode.name()).to_owned(),
        shape: Some(shape_proto(&op.shape)),
        id,
        operand_ids: instruction.operands.iter().map(|&operand| own_ids[operand]).collect(),
        control_predecessor_ids: instruction
            .control_predecessors
            .iter()
            .map(|&before| own_ids[before])
            .collect(),
        parameter_number: op.parameter.map_or(0, i64::from),
        ..HloInstructionProto::default()
    };
    if let Some(word) = unknown {
        notes.add(format!("the opcode {word} is not known: XLA may refuse the message"));
    }
    if verbatim.is_some_and(|verbatim| !verbatim.argument.is_empty()) {
        notes.add(format!("{} has an argument, which XLA's messages have no field for", instruction.name));
    }
    for (key, _) in verbatim.iter().flat_map(|verbatim| &verbatim.attributes) {
        notes.add(format!("the attribute {key} is not known and left out"));
    }
    if let Some(text) = &op.literal {
        proto.literal = literal_proto(text, &op.shape)?;
        if proto.literal.is_none() {
            notes.add("a constant has no elements in the message, because it is {...} in the text");
        }
    }
    let mut calls: Vec<_> = instruction.calls.iter().collect();
    calls.sort_by_key(|(key, _)| CALLS.iter().position(|own| own == key));
    proto.called_computation_ids =
        calls.into_iter().flat_map(|(_, called)| called).map(|&called| computations[called]).collect();
    let mut context = Context {
        opcode: unknown.is_none().then_some(op.opcode),
        operands: &op.operand_shapes,
        payloads: &[],
        budget: &mut Budget(0),
    };
    for (key, value) in op.attributes.iter() {
        if key == AttributeKey::ControlPredecessors || CALLS.contains(&key) {
            return Err(format!("{key} names what does not exist"));
        }
        match attributes::put(key, value, &mut proto, &mut context) {
            Ok(()) => {}
            Err(why) => notes.add(format!("{}: {why}", instruction.name)),
        }
    }
    attributes::put_defaults(&mut proto, &context);
    if op.opcode == Opcode::AsyncStart && proto.async_execution_thread == "main" {
        proto.async_execution_thread.clear();
    }
    Ok(proto)
}
