//! XLA's coarse heuristic, used if it computes no maps: one verdict for all operands. Source:
//! `IsReadCoalescedHeuristic`, `service/gpu/model/coalescing_analysis.cc`.

use ir::{AttributeKey, Graph, OpId, Opcode, Shape, is_elementwise};

use crate::device::Device;
use crate::heroes::Kind;
use crate::reduction_dims::is_reduction_hero;

/// Whether XLA assumes that the reads of a fusion are coalesced, from its ops; `producer` are those of a
/// fusion or an op that might be fused into it. They are not if a transpose moves the fastest dimension,
/// unless its operand is a broadcast or an iota, or if there are two row reductions in one kernel.
pub fn xla_heuristic(kind: Kind, consumer: &Graph, producer: Option<&Graph>, device: &Device) -> bool {
    let both = || producer.into_iter().chain([consumer]);
    let moves_minor = |graph: &Graph| {
        (0..graph.ops.len() as OpId).any(|op| transposes_minor(graph, op) && !is_spread(graph, op))
    };
    if kind != Kind::Transpose && both().any(moves_minor) {
        return false;
    }
    let reduces = |graph: &Graph| graph.ops.iter().any(|op| is_reduction_hero(op, device));
    !(kind == Kind::Reduction && producer.is_some() && both().all(reduces))
}

/// Whether the fastest dimension longer than 1 differs between result and operand.
fn transposes_minor(graph: &Graph, op: OpId) -> bool {
    let op = &graph.ops[op as usize];
    let Some(operand) = op.operand_shapes.first() else { return false };
    let (Some(from), Some(to)) = (minor_dim(operand), minor_dim(&op.shape)) else { return false };
    match op.opcode {
        Opcode::Copy => from != to,
        Opcode::Transpose => op.attributes.ints(AttributeKey::Dimensions).get(to) != Some(&(from as i64)),
        _ => false,
    }
}

fn minor_dim(shape: &Shape) -> Option<usize> {
    let array = shape.as_array()?;
    let order = array.minor_to_major();
    order.iter().copied().find(|&dim| array.dims[dim] != 1).or_else(|| order.first().copied())
}

/// Whether the operand is a broadcast or an iota, or one followed by ops that do not move elements.
fn is_spread(graph: &Graph, op: OpId) -> bool {
    let mut at = op;
    while let Some(&operand) = graph.operands[at as usize].first() {
        let opcode = graph.ops[operand as usize].opcode;
        if matches!(opcode, Opcode::Broadcast | Opcode::Iota) {
            return true;
        }
        let passes = opcode == Opcode::Bitcast || is_elementwise(opcode);
        if graph.operands[operand as usize].len() != 1 || !passes {
            return false;
        }
        at = operand;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[track_caller]
    fn check(instructions: &str, expect: bool) {
        let analysis = fixture::analysis(instructions, "a6000").expect("a kernel");
        let all = xla_heuristic(analysis.kind, &analysis.fused.graph, None, analysis.device);
        assert_eq!(all, expect);
    }

    #[test]
    fn transposes_of_the_minor_dimension_are_bad_outside_their_emitter() {
        let sliced = |made: &str| {
            format!(
                "{made}\n t = f32[32,100,64] transpose(x), dimensions={{2,0,1}}
                 ROOT s = f32[32,100,1] slice(t), slice={{[0:32:1],[0:100:1],[0:1:1]}}"
            )
        };
        check(&sliced("p = f32[32] parameter(0)\n x = f32[100,64,32] broadcast(p), dimensions={2}"), true);
        check(&sliced("x = f32[100,64,32] iota(), iota_dimension=1"), true);
        check(&sliced("p = f32[100,64,32] parameter(0)\n x = f32[100,64,32] add(p, p)"), false);
        check(
            "p = f32[4,5,8] parameter(0)\n t = f32[5,4,8] transpose(p), dimensions={1,0,2}
             ROOT r = f32[4,5,8] reshape(t)",
            true,
        );
    }
}
