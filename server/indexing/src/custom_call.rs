//! Custom calls: what they read is theirs to know, except for the few that are only marks.

use indexing_map::IndexingMap;
use ir::{AttributeKey, Op};

use crate::checks::{self, Checked};
use crate::operand_indexing::{OpIndexing, OperandIndexing};
use crate::sort;
use crate::whole_operand::{self, whole};

/// Targets that hand operand 0 on, element for element. Sources: `hlo/ir/hlo_instruction.cc`, `service/sharding_propagation`,
/// `service/host_memory_offload_annotations.h`, `service/spmd`.
const MARKS: &[&str] = &[
    "Sharding",
    "LayoutConstraint",
    "MoveToHost",
    "MoveToDevice",
    "PinToDevice",
    "PinToDeviceSram",
    "annotate_device_placement",
    "AssumeGatherIndicesInBound",
    "Pin",
    "Unpin",
    "xla.sdy.FuncResultSharding",
    "xla.sdy.LocalToGlobalShape",
    "ShardBarrierFrom",
    "ShardBarrierTo",
];

/// Element for element. Source: what jax and StableHLO lower to before expansion.
const ELEMENTWISE: &[&str] =
    &["mhlo.erf", "mhlo.cosh", "mhlo.sinh", "mhlo.tan", "mhlo.atan", "mhlo.asin", "mhlo.acos"];

/// Rows to their k largest elements and these elements' places.
const TOPK: &[&str] = &["TopK", "mhlo.topk", "__gpu$TopK"];

pub(crate) fn custom_call(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let output = checks::output(op, output_id)?;
    let target = op.attributes.text(AttributeKey::CustomCallTarget).unwrap_or("").trim_matches('"');
    let is_mark = MARKS.contains(&target) || ELEMENTWISE.contains(&target);
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
