//! Rules for fusing into ops that write into an operand's buffer.

use ir::{AttributeKey, Graph, Op, OpId, Opcode, is_elementwise};

use super::candidate::Candidate;
use crate::Reason;
use crate::fused::Fused;

/// Source: `CanEmitInputFusedScatter`, `service/gpu/gpu_fusible.cc`.
pub(crate) fn may_fuse_scatter(
    graph: &Graph,
    producer: &Candidate,
    consumer: &Candidate,
) -> Result<(), Reason> {
    if is_scatter(producer) {
        return Err("do not fuse into the output of scatter".into());
    }
    if !is_scatter(consumer) {
        return Ok(());
    }
    let Some(&buffer) = scatter_buffer(graph, consumer).as_ref() else { return Ok(()) };
    if buffer == producer.id {
        return Err("do not fuse into the in-place operand of scatter".into());
    }
    if graph.operands[producer.id as usize].contains(&buffer) {
        return Err("Producer uses the in-place operand of a scatter".into());
    }
    Ok(())
}

fn is_scatter(candidate: &Candidate) -> bool {
    match candidate.op.opcode {
        Opcode::Scatter => true,
        Opcode::Fusion => candidate.analysis.as_ref().is_some_and(|analysis| {
            let [root] = analysis.fused.roots[..] else { return false };
            analysis.fused.op(root).opcode == Opcode::Scatter
        }),
        _ => false,
    }
}

/// The operand of the consumer that its scatter updates.
fn scatter_buffer(graph: &Graph, consumer: &Candidate) -> Option<OpId> {
    let operands = &graph.operands[consumer.id as usize];
    if consumer.op.opcode == Opcode::Scatter {
        return operands.first().copied();
    }
    let fused = &consumer.analysis.as_ref()?.fused;
    let updated = *fused.operands(fused.roots[0]).first()?;
    operands.get(fused.op(updated).parameter? as usize).copied()
}

/// Source: `ShouldFuseInPlaceOp`, `service/instruction_fusion.cc`.
pub(super) fn may_fuse_in_place(
    graph: &Graph,
    producer: &Candidate,
    consumer: &Candidate,
) -> Result<(), Reason> {
    for (buffer, update) in in_place(consumer) {
        let operands = &graph.operands[consumer.id as usize];
        let Some(&updated) = operands.get(buffer) else { continue };
        if operands.iter().enumerate().any(|(i, &operand)| i != buffer && operand == updated) {
            return Err("The consumer is an in-place operation that has an additional operand that has the same value as the in-place buffer".into());
        }
        if updated != producer.id && !graph.operands[producer.id as usize].contains(&updated) {
            continue;
        }
        let moved: Vec<&Op> = producer.ops().into_iter().filter(|op| !keeps_index(op.opcode)).collect();
        match moved[..] {
            [] if !has_other_index(consumer, operands, producer.id) => {}
            [] => return Err("The consumer uses the in-place operand at other indices".into()),
            [only] => match &update {
                None => {}
                Some(update) if is_same_slice(only, update) => {}
                Some(_) => return Err("unrecognized inplace update non-elementwise input pair".into()),
            },
            _ => return Err("fusion has multiple non-elementwise ops, bailing.".into()),
        }
    }
    Ok(())
}

fn keeps_index(opcode: Opcode) -> bool {
    is_elementwise(opcode)
        || matches!(
            opcode,
            Opcode::Parameter | Opcode::Constant | Opcode::Bitcast | Opcode::Tuple | Opcode::GetTupleElement
        )
}

/// Operands that the consumer updates in place, with the update if it is a dynamic-update-slice.
fn in_place(consumer: &Candidate) -> Vec<(usize, Option<Op>)> {
    let Some(analysis) = &consumer.analysis else { return Vec::new() };
    let fused = &analysis.fused;
    let of_root = |&root: &OpId| {
        let op = fused.op(root);
        if !matches!(op.opcode, Opcode::DynamicUpdateSlice | Opcode::Scatter) {
            return None;
        }
        let number = buffer(fused, *fused.operands(root).first()?)?;
        Some((number, (op.opcode == Opcode::DynamicUpdateSlice).then(|| op.clone())))
    };
    fused.roots.iter().filter_map(of_root).collect()
}

/// The number of the parameter that an op passes on unchanged.
fn buffer(fused: &Fused, mut id: OpId) -> Option<usize> {
    while fused.op(id).opcode == Opcode::Bitcast {
        id = *fused.operands(id).first()?;
    }
    fused.op(id).parameter.map(|number| number as usize)
}

/// Whether the consumer reads the producer at other indices than those that it writes.
fn has_other_index(consumer: &Candidate, operands: &[OpId], producer: OpId) -> bool {
    let Some(analysis) = consumer.analysis.as_ref().filter(|_| consumer.is_fusion()) else { return false };
    let fused = &analysis.fused;
    let parameters = operands.iter().enumerate().filter(|(_, operand)| **operand == producer);
    let mut open: Vec<OpId> =
        parameters.filter_map(|(number, _)| fused.graph.parameter(number as u32)).collect();
    let mut seen = vec![false; fused.graph.ops.len()];
    while let Some(id) = open.pop() {
        for &user in &fused.users[id as usize] {
            let opcode = fused.op(user).opcode;
            let is_update = matches!(opcode, Opcode::DynamicUpdateSlice | Opcode::Scatter);
            if !keeps_index(opcode) && !is_update {
                return true;
            }
            if !std::mem::replace(&mut seen[user as usize], true) {
                open.push(user);
            }
        }
    }
    false
}

/// Whether the producer reads the slice that the consumer updates. Starts are compared only if both are
/// attributes.
fn is_same_slice(read: &Op, update: &Op) -> bool {
    let has_its_shape = update.operand_shapes.get(1).is_some_and(|shape| shape.dims() == read.shape.dims());
    match read.opcode {
        Opcode::DynamicSlice => has_its_shape,
        Opcode::Slice => {
            has_its_shape
                && read.attributes.triples(AttributeKey::Slice).iter().all(|[_, _, stride]| *stride == 1)
        }
        _ => false,
    }
}
