//! The limits of one kernel.

use ir::{ElementTypeExt, Graph, Op, OpId, Opcode, Shape};

use super::candidate::Candidate;
use crate::Reason;
use crate::device::Device;
use crate::heroes::tiling;
use crate::reduction_dims::{ReductionDims, is_reduction_hero};
use crate::transpose::Tiling;

/// The maximum number of reductions in a kernel. Source: `FusionFitsInBudget`, `service/gpu/gpu_fusible.cc`.
const MAX_REDUCTIONS: usize = 8;

/// The maximum number of operands and results of a kernel. Source: `MaxOperandsAndOutputsPerFusion`.
const MAX_BUFFERS: usize = 96;

/// Checks shared memory, reductions and buffers of both together. Source: `FusionFitsInBudget`,
/// `service/gpu/gpu_fusible.cc`.
pub(super) fn fits_budget(
    graph: &Graph,
    producer: &Candidate,
    consumer: &Candidate,
    device: &Device,
) -> Result<(), Reason> {
    let shared = shared_bytes(producer, device).saturating_add(shared_bytes(consumer, device));
    if shared > device.shared_memory_per_block {
        let budget = device.shared_memory_per_block;
        return Err(format!("shared memory usage would be over the budget of {budget}B").into());
    }
    if reductions(producer, device) + reductions(consumer, device) > MAX_REDUCTIONS {
        return Err(format!("over {MAX_REDUCTIONS} unnested reductions in fusion").into());
    }
    fits_buffers(graph, producer, consumer)
}

/// Checks the number of buffers. The consumer may keep as many operands as it has, and get more only up to
/// the limit.
pub(super) fn fits_buffers(graph: &Graph, producer: &Candidate, consumer: &Candidate) -> Result<(), Reason> {
    let operands = |of: &Candidate| &graph.operands[of.id as usize];
    let outputs = |of: &Candidate| subshapes(&of.op.shape);
    let (of_producer, of_consumer) = (operands(producer), operands(consumer));
    let results = outputs(producer) + outputs(consumer);
    if (of_producer.len() + of_consumer.len() + results).saturating_sub(1) <= MAX_BUFFERS {
        return Ok(());
    }
    let mut all: Vec<OpId> = of_producer.iter().chain(of_consumer).copied().collect();
    all.sort_unstable();
    all.dedup();
    all.retain(|&id| id != producer.id && id != consumer.id);
    if all.len() <= of_consumer.len() || all.len() + results <= MAX_BUFFERS {
        return Ok(());
    }
    Err("Number of operands and output buffers is larger than allowed budget per fusion".into())
}

/// The number of subshapes: a tuple and its elements.
fn subshapes(shape: &Shape) -> usize {
    1 + shape.tuple_elements().map_or(0, |elements| elements.iter().map(subshapes).sum())
}

fn reductions(candidate: &Candidate, device: &Device) -> usize {
    candidate.ops().into_iter().filter(|op| is_reduction_hero(op, device)).count()
}

/// Source: `SharedMemoryUsage`, as above.
fn shared_bytes(candidate: &Candidate, device: &Device) -> i64 {
    let Some(analysis) = &candidate.analysis else { return 0 };
    let fused = &analysis.fused;
    let of = |(id, op): (OpId, &Op)| match op.opcode {
        Opcode::Reduce if is_reduction_hero(op, device) => reduction_bytes(op),
        Opcode::Transpose => match tiling(fused, id) {
            // 32 by 33 elements.
            Some(Tiling::Swapped(_) | Tiling::KeptMinor(_)) => 32 * 33 * element_bytes(&op.shape),
            Some(Tiling::Packed(_)) => 32 * 128,
            None => 0,
        },
        _ => 0,
    };
    fused.ops().map(of).fold(0, i64::saturating_add)
}

/// Bytes of shared memory of a reduction: a value per warp for rows, a tile of 32 by 129 for columns.
fn reduction_bytes(op: &Op) -> i64 {
    let inputs = op.operand_shapes.len() / 2;
    let bytes: i64 = op.operand_shapes[..inputs].iter().map(element_bytes).sum();
    match ReductionDims::of(op) {
        Some(ReductionDims::Row { .. }) | None => 32 * bytes,
        Some(ReductionDims::Column { .. }) => 32 * (4 * 32 + 1) * bytes,
    }
}

fn element_bytes(shape: &Shape) -> i64 {
    i64::from(shape.element().and_then(|element| element.bits()).unwrap_or(8).div_ceil(8))
}
