//! Custom calls: their reads are unknown, except for a few targets.

use indexing_map::IndexingMap;
use ir::{AttributeKey, Op, Opcode, op_info};

use crate::checks::{self, Checked};
use crate::operand_indexing::{OpIndexing, OperandIndexing};
use crate::sort;
use crate::whole_operand::{self, whole};

/// Targets that return operand 0 element for element if the shapes are equal. Sources, in the order of the
/// lines: `service/spmd/shardy/constants.h`; `service/host_memory_offload_annotations.h`;
/// `service/spmd/shard_barrier_partitioner.h`; `service/layout_assignment.cc`;
/// `hlo/transforms/despecializer.cc`, which makes it a copy; `backends/gpu` `thunk_emitter.cc`, which emits
/// nothing for them.
const MARKS: &[&str] = &[
    "Sharding",
    "xla.sdy.FuncResultSharding",
    "annotate_device_placement",
    "MoveToHost",
    "MoveToDevice",
    "PinToDevice",
    "PinToDeviceSram",
    "ShardBarrierFrom",
    "ShardBarrierTo",
    "LayoutConstraint",
    "AssumeGatherIndicesInBound",
    "Pin",
    "Unpin",
];

/// Whether the target is an elementwise op of MHLO. Source: `stablehlo_ext/transforms/chlo_preserve_high_level_ops.cpp`,
/// and its tests for the tangent.
fn is_elementwise_target(target: &str) -> bool {
    let Some(name) = target.strip_prefix("mhlo.") else { return false };
    let rows = Opcode::ALL.iter().map(|&opcode| op_info(opcode));
    rows.filter(|row| row.is_elementwise).any(|row| row.counterpart.name() == Some(name))
}

/// Targets that return the k largest elements of each row and their indices. Sources:
/// `service/topk_rewriter.cc`, the file above,
/// `service/gpu/cublas_cudnn.h`.
const TOPK: &[&str] = &["TopK", "mhlo.topk", "__gpu$TopK"];

pub(crate) fn custom_call(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let output = checks::output(op, output_id)?;
    let target = op.attributes.text(AttributeKey::CustomCallTarget).unwrap_or("").trim_matches('"');
    let is_mark = MARKS.contains(&target) || is_elementwise_target(target);
    if is_mark && op.operand_shapes.len() == 1 && checks::operand(op, 0).is_ok_and(|sizes| sizes == output) {
        return Ok(OpIndexing::of([OperandIndexing::from(IndexingMap::identity(output))]));
    }
    if TOPK.contains(&target)
        && let Ok(answer) = sort::topk(op, output_id)
    {
        return Ok(answer);
    }
    let why = whole_operand::reason(op.opcode);
    let operands = (0..op.operand_shapes.len()).map(|i| whole(op, i, output, &why));
    Ok(OpIndexing { operands: operands.collect() })
}
