//! Whether a producer may be fused into a consumer. The first rule that refuses gives the reason in XLA's
//! words.

use ir::{ElementTypeExt, Graph, Op, Opcode, Shape, is_elementwise};

use super::budget::{fits_budget, fits_buffers};
use super::candidate::Candidate;
use super::in_place::{may_fuse_in_place, may_fuse_scatter};
use super::pair::Pair;
use super::triton_support;
use crate::Reason;
use crate::device::Device;
use crate::heroes::Kind;

/// The maximum number of copies of ops in one kernel. Source: `kMaxIRSize`,
/// `service/gpu/model/gpu_hlo_cost_analysis.h`.
const MAX_IR_SIZE: f64 = 10_000.0;

/// The minimum number of reduced elements of a significant reduction. Source: `IsSignificantReduce`.
const SIGNIFICANT_REDUCTION: i64 = 16;

/// The refusal of a producer whose value leaves the computation.
pub(crate) const INTO_RESULT: &str = "not fusing into the output of the root instruction";

/// Whether XLA considers the instruction as a producer.
pub(super) fn is_asked(op: &Op) -> bool {
    use Opcode::*;
    let never = [Parameter, Constant, Tuple, GetTupleElement, Bitcast, While, Conditional, Call, Domain];
    !never.contains(&op.opcode)
}

/// Source: `IsFusible`, `backends/gpu/transforms/priority_fusion.cc`.
pub fn is_fusible(candidate: &Candidate) -> bool {
    use Opcode::*;
    let op = &candidate.op;
    match op.opcode {
        Fusion => {
            candidate.is_triton()
                || !matches!(candidate.kind(), None | Some(Kind::Triton | Kind::CuDnn | Kind::Custom))
        }
        Bitcast => is_fusible_bitcast(op),
        Iota | Constant | Reduce | Broadcast | Concatenate | DynamicSlice | DynamicUpdateSlice | Gather
        | Pad | ReduceWindow | Reshape | Reverse | Scatter | Slice | Transpose => true,
        opcode => is_elementwise(opcode),
    }
}

/// Whether the op is a bitcast that keeps the width of the elements. Source: `IsFusibleBitcast`.
pub(crate) fn is_fusible_bitcast(op: &Op) -> bool {
    let bits = |shape: &Shape| shape.element().and_then(ElementTypeExt::bits);
    op.opcode == Opcode::Bitcast
        && op.operand_shapes.first().is_some_and(|from| bits(from) == bits(&op.shape))
}

/// Applies the rules in XLA's order. `producer_is_root`: its value leaves the computation. `graph` is as for
/// [`super::decide`].
/// Source: `PriorityFusionQueue::CanFuse`.
pub fn can_fuse(
    graph: &Graph,
    producer: &Candidate,
    consumer: &Candidate,
    pair: &Pair,
    producer_is_root: bool,
    device: &Device,
) -> Result<(), Reason> {
    if producer_is_root {
        return Err(INTO_RESULT.into());
    }
    if let Some(tiled) = &pair.tiled {
        may_be_tiled(graph, producer, consumer)?;
        return tiled.as_ref().map(|_| ()).map_err(|why| not_tiled(why));
    }
    are_fusible(producer, consumer)?;
    if consumer.op.opcode == Opcode::Bitcast {
        return Err("not fusing into a single bitcast as consumer".into());
    }
    may_fuse_scatter(graph, producer, consumer)?;
    if has_significant_reduction(producer) && has_significant_reduction(consumer) {
        return Err("both the producer and the consumer contain a reduce".into());
    }
    let together = pair.analysis.as_ref().map(|analysis| analysis.kind);
    if producer.kind() == Some(Kind::Reduction) && together == Some(Kind::Loop) {
        return Err("fusion into output of a reduce fusion would create a loop fusion".into());
    }
    fits_budget(graph, producer, consumer, device)?;
    if is_too_large(graph, producer, consumer) {
        return Err("the fusion would result in an overly large code duplication".into());
    }
    may_fuse_in_place(graph, producer, consumer)
}

/// The rules for a pair of which one is a fusion for Triton, but for its tiling: only Triton's support for both counts.
pub(crate) fn may_be_tiled(graph: &Graph, producer: &Candidate, consumer: &Candidate) -> Result<(), Reason> {
    are_fusible(producer, consumer)?;
    triton_support::is_supported(producer)?;
    triton_support::is_supported(consumer)?;
    fits_buffers(graph, producer, consumer)
}

/// The refusal of a pair that has no tiling.
pub(crate) fn not_tiled(why: &str) -> Reason {
    format!("Fusion can not be tiled with SymbolicTileAnalysis: {why}").into()
}

fn are_fusible(producer: &Candidate, consumer: &Candidate) -> Result<(), Reason> {
    match (is_fusible(producer), is_fusible(consumer)) {
        (false, _) => Err("the producer is not fusible".into()),
        (true, false) => Err("the consumer is not fusible".into()),
        (true, true) => Ok(()),
    }
}

fn has_significant_reduction(candidate: &Candidate) -> bool {
    let elements = |shape: &Shape| shape.as_array().and_then(|array| array.elements());
    candidate.ops().into_iter().any(|op| {
        let from = op.operand_shapes.first().and_then(elements);
        let (Opcode::Reduce, Some(from), Some(to)) = (op.opcode, from, elements(&op.shape)) else {
            return false;
        };
        to > 0 && from / to >= SIGNIFICANT_REDUCTION
    })
}

/// Whether both together have too many copies of ops.
/// Source: `ProducerConsumerMergedTooLarge`, `service/gpu/model/gpu_hlo_cost_analysis.cc`.
pub(crate) fn is_too_large(graph: &Graph, producer: &Candidate, consumer: &Candidate) -> bool {
    let at = graph.operands[consumer.id as usize].iter().position(|&operand| operand == producer.id);
    let copies = match (&consumer.analysis, &consumer.uses, at) {
        (Some(analysis), Some(uses), Some(at)) if consumer.is_fusion() => {
            let parameter = analysis.fused.graph.parameter(at as u32);
            parameter.map_or(1.0, |parameter| uses.copies[parameter as usize])
        }
        _ => 1.0,
    };
    producer.ir_size() * copies + consumer.ir_size() > MAX_IR_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::priority_fusion::decide;

    /// Checks whether `p` may be fused into `c`, in the entry of a module whose other computations come
    /// first.
    #[track_caller]
    fn check(module: &str, expect: Result<(), &str>) {
        let module = format!(
            "\
HloModule m
add {{
 a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT s = f32[] add(a, b)
}}
{module}
"
        );
        let graphs = ir::graphs_of_text(&module);
        let callees = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
        let (_, graph) = graphs.last().expect("an entry");
        let device = Device::find("h100-sxm").unwrap();
        let decision = decide(graph, Some(graph.root), graph.find("p").unwrap(), device, &callees).unwrap();
        let consumer = graph.find("c").unwrap();
        let found = decision.consumers.iter().find(|decided| decided.consumer == consumer).unwrap();
        assert_eq!(found.reason.as_deref().map_or(Ok(()), Err), expect, "{module}");
    }

    #[test]
    fn kinds_of_ops() {
        let entry = |p: &str, c: &str| {
            format!(
                "\
ENTRY e {{
 x = f32[64,64] parameter(0)
 i = s32[] parameter(1)
 z = f32[] constant(0)
 {p}
 {c}
}}"
            )
        };
        let negate = "p = f32[64,64] negate(x)";
        check(&entry(negate, "ROOT c = f32[64,64] floor(p)"), Ok(()));
        check(&entry(negate, "ROOT c = (f32[64,64]) tuple(p)"), Err("the consumer is not fusible"));
        let sort = "p = f32[64,64] sort(x), dimensions={1}, to_apply=add";
        check(&entry(sort, "ROOT c = f32[64,64] floor(p)"), Err("the producer is not fusible"));
        let root = "c = f32[64,64] floor(p)\n ROOT r = f32[64,64] floor(c)";
        check(&entry(negate, root), Ok(()));
        let only = "ROOT p = f32[64,64] negate(x)";
        check(
            &entry(only, "c = f32[64,64] floor(p)"),
            Err("not fusing into the output of the root instruction"),
        );
    }

    #[test]
    fn reductions() {
        let reduce = "p = f32[64] reduce(x, z), dimensions={1}, to_apply=add";
        let entry = |c: &str| {
            format!(
                "\
ENTRY e {{
 x = f32[64,64] parameter(0)
 z = f32[] constant(0)
 {reduce}
 {c}
}}"
            )
        };
        let again = "ROOT c = f32[] reduce(p, z), dimensions={0}, to_apply=add";
        check(&entry(again), Err("both the producer and the consumer contain a reduce"));
        let spread = "ROOT c = f32[64,64] broadcast(p), dimensions={0}";
        check(&entry(spread), Err("fusion into output of a reduce fusion would create a loop fusion"));
        check(&entry("ROOT c = f32[64] negate(p)"), Ok(()));
    }

    #[test]
    fn updates_in_place() {
        let entry = |p: &str, c: &str| {
            format!(
                "\
ENTRY e {{
 x = f32[64,64] parameter(0)
 u = f32[1,64] parameter(1)
 i = s32[] parameter(2)
 {p}
 {c}
}}"
            )
        };
        let update = "ROOT c = f32[64,64] dynamic-update-slice(x, p, i, i)";
        check(&entry("p = f32[1,64] negate(u)", update), Ok(()));
        // Elements read elsewhere in the buffer may have been overwritten already.
        let moved = "r = f32[64,64] reverse(x), dimensions={0}";
        let two = "p = f32[1,64] fusion(x), kind=kLoop, calls=f";
        let called = format!(
            "\
f {{
 x = f32[64,64] parameter(0)
 {moved}
 ROOT s = f32[1,64] slice(r), slice={{[0:1],[0:64]}}
}}
"
        );
        check(
            &format!("{called}{}", entry(two, update)),
            Err("fusion has multiple non-elementwise ops, bailing."),
        );
        check(&entry("p = f32[1,64] slice(x), slice={[0:1],[0:64]}", update), Ok(()));
        let other = "p = f32[1,64] slice(x), slice={[0:2:2],[0:64]}";
        check(&entry(other, update), Err("unrecognized inplace update non-elementwise input pair"));
    }

    #[test]
    fn too_many_buffers() {
        let parameters: String = (0..99).map(|n| format!(" x{n} = f32[64] parameter({n})\n")).collect();
        let mut sum = " t1 = f32[64] add(x0, x1)\n".to_owned();
        for n in 2..99 {
            sum += &format!(" t{n} = f32[64] add(t{}, x{n})\n", n - 1);
        }
        let operands = (0..98).map(|n| format!("y{n}")).collect::<Vec<_>>().join(", ");
        let outer: String = (0..98).map(|n| format!(" y{n} = f32[64] parameter({n})\n")).collect();
        let module = format!(
            "\
f {{
{parameters}{}}}
ENTRY e {{
{outer} p = f32[64] negate(y0)
 ROOT c = f32[64] fusion(p, {operands}), kind=kLoop, calls=f
}}",
            sum.replace(" t98", " ROOT t98")
        );
        // The same number of operands as before is allowed.
        check(&module, Ok(()));
        let more = module
            .replace("negate(y0)", "add(y98, y99)")
            .replace(" p = f32", " y98 = f32[64] parameter(98)\n y99 = f32[64] parameter(99)\n p = f32");
        let limit = "Number of operands and output buffers is larger than allowed budget per fusion";
        check(&more, Err(limit));
    }
}
