//! Multi-output fusions: the refusals of the pass after priority fusion, in XLA's words.

use ir::{ArrayShape, ElementTypeExt, Graph, OpId, Opcode, Shape, is_elementwise};

use super::budget::fits_budget;
use super::candidate::Candidate;
use crate::Reason;
use crate::cost::transposes_minor;
use crate::device::Device;
use crate::heroes::{Kind, is_intermediate, is_real_reduction, tiling};
use crate::reduction_dims::{ReductionDims, is_reduction_hero};
use crate::transpose::Tiling;

/// Whether two users of one operand may become one kernel with the results of both. Source: XLA
/// `backends/gpu/transforms/multi_output_fusion.cc` (`CanFuseSiblings`). Not implemented: whether both read
/// parts of the operand that do not overlap.
pub fn siblings(graph: &Graph, a: &Candidate, b: &Candidate, device: &Device) -> Result<(), Reason> {
    let name = |candidate: &Candidate| &graph.names[candidate.id as usize];
    if are_connected(graph, a.id, b.id) {
        return Err(format!("{} and {} are connected", name(a), name(b)).into());
    }
    compatible(graph, a, b, device)?;
    let is_update = |candidate: &Candidate| {
        let op = &candidate.op;
        candidate.is_fusion()
            && op.shape.tuple_elements().is_none()
            && has_root(candidate, Opcode::DynamicUpdateSlice)
    };
    if is_update(a) || is_update(b) {
        return Err("can't fuse multiple DUSs".into());
    }
    fits_budget(graph, a, b, device)
}

/// Whether the consumer may take the producer and write its result as well.
/// Source: as above (`ProducerCandidateIsFusible`, `GetProducerConsumerMultiOutputFusionCandidates`).
pub fn into_several_results(
    graph: &Graph,
    producer: &Candidate,
    consumer: &Candidate,
    device: &Device,
) -> Result<(), Reason> {
    let name = |candidate: &Candidate| &graph.names[candidate.id as usize];
    if producer.op.shape.tuple_elements().is_some() {
        return Err(format!("{} is a multi-output fusion", name(producer)).into());
    }
    if [Opcode::Scatter, Opcode::DynamicUpdateSlice].iter().any(|&opcode| has_root(producer, opcode)) {
        return Err(format!("{} is in-place operation", name(producer)).into());
    }
    let is_loop = match producer.op.opcode {
        Opcode::Fusion => producer.kind() == Some(Kind::Loop),
        Opcode::Reduce => producer.op.shape.as_array().is_some(),
        opcode => super::is_fusible(producer) && opcode != Opcode::Scatter,
    };
    if !is_loop {
        return Err(format!("{} is not loop-fusible", name(producer)).into());
    }
    if producer.ops().into_iter().any(|op| op.opcode == Opcode::Copy || transposes_minor(op)) {
        return Err(format!("{} is physically transposing", name(producer)).into());
    }
    if !is_eligible_root(consumer) {
        return Err(format!("{} is not eligible as multi-output fusion root.", name(consumer)).into());
    }
    compatible(graph, producer, consumer, device)?;
    if is_connected_otherwise(graph, producer.id, consumer.id) {
        return Err(format!("{} would introduce a cycle when fused", name(producer)).into());
    }
    fits_budget(graph, producer, consumer, device)
}

/// Source: `IsFusibleAsMultiOutputFusionRoot`, `service/gpu/gpu_fusible.cc`.
pub(crate) fn is_eligible_root(candidate: &Candidate) -> bool {
    super::is_fusible(candidate)
        && match candidate.kind() {
            Some(Kind::Reduction | Kind::Transpose) => true,
            Some(Kind::Loop) => candidate.is_fusion() || is_elementwise(candidate.op.opcode),
            _ => false,
        }
}

/// Checks that the heroes can share a kernel, and that the shapes that it loops over are equal.
/// Source: `FusionHeroesAreCompatible`, `ShapesCompatibleForMultiOutputFusion`, `service/gpu/gpu_fusible.cc`.
fn compatible(graph: &Graph, a: &Candidate, b: &Candidate, device: &Device) -> Result<(), Reason> {
    let (Some(hero_a), Some(hero_b)) = (Hero::of(a, device), Hero::of(b, device)) else {
        return Err("no kernel of a fusion emitter".into());
    };
    match (&hero_a.reduction, &hero_b.reduction) {
        (Some(a), Some(b)) if a != b => {
            return Err("tiled reductions with different shapes".into());
        }
        _ => {}
    }
    match (&hero_a.tiling, &hero_b.tiling) {
        (Some(a), Some(b)) if !a.is_equivalent(b) || hero_a.bits != hero_b.bits => {
            return Err("tiled transposes with different shapes".into());
        }
        _ => {}
    }
    let is_unnested = |hero: &Hero| hero.tiling.is_some() || hero.reduction.is_some();
    if is_unnested(&hero_a) && hero_b.is_nested_transpose
        || is_unnested(&hero_b) && hero_a.is_nested_transpose
    {
        return Err("multi-output fusion of a nested transpose with an unnested hero op".into());
    }
    if hero_a.tiling.is_some() && hero_b.reduction.is_some()
        || hero_b.tiling.is_some() && hero_a.reduction.is_some()
    {
        return Err("multi-output fusion of a transpose and a reduction".into());
    }
    let untiles = |producer: &Candidate, hero: &Hero, consumer: &Candidate| {
        hero.tiling.is_some() && !is_read_by_intermediates(graph, producer, consumer)
    };
    if untiles(a, &hero_a, b) || untiles(b, &hero_b, a) {
        return Err("tiled transpose would become untiled".into());
    }
    match is_same_loop(&hero_a.shape, &hero_b.shape) {
        true => Ok(()),
        false => Err("different loop shapes".into()),
    }
}

/// Whether only elementwise ops, one after the other, lie between the result of the producer and that of the consumer. True if they are
/// no fusions, or the consumer does not read the producer.
fn is_read_by_intermediates(graph: &Graph, producer: &Candidate, consumer: &Candidate) -> bool {
    let operands = &graph.operands[consumer.id as usize];
    let position = operands.iter().position(|&operand| operand == producer.id);
    let Some((number, analysis)) = position.zip(consumer.analysis.as_ref()) else { return true };
    if !producer.is_fusion() || !consumer.is_fusion() {
        return true;
    }
    let fused = &analysis.fused;
    let Some(parameter) = u32::try_from(number).ok().and_then(|number| fused.graph.parameter(number)) else {
        return true;
    };
    let users = |op: OpId| &fused.users[op as usize][..];
    let &[mut op] = users(parameter) else { return false };
    while let Some(&user) = users(op).first() {
        if users(op).len() > 1 || !is_intermediate(fused, op, 1) {
            return false;
        }
        op = user;
    }
    true
}

/// What a kernel is built around, and the shape that it loops over.
struct Hero {
    reduction: Option<ReductionDims>,
    tiling: Option<Tiling>,
    /// Whether it is a transpose that goes element by element.
    is_nested_transpose: bool,
    bits: Option<u32>,
    shape: Shape,
}

impl Hero {
    /// Of several results, the first one that needs a kernel of its own counts.
    /// Source: `GetRealHeroForMultiOutputFusion`.
    fn of(candidate: &Candidate, device: &Device) -> Option<Hero> {
        let analysis = candidate.analysis.as_ref()?;
        let fused = &analysis.fused;
        let is_wanted = |&(&root, &hero): &(&OpId, &OpId)| {
            is_real_reduction(fused, root, hero, device) || tiling(fused, hero).is_some()
        };
        let mut results = fused.roots.iter().zip(&analysis.heroes);
        let hero = match results.find(is_wanted) {
            Some((_, &hero)) => hero,
            None => *fused.roots.first()?,
        };
        let op = fused.op(hero);
        let tiling = tiling(fused, hero);
        let reduction = ReductionDims::of(op).filter(|_| is_reduction_hero(op, device));
        let shape = match reduction.is_some() || tiling.is_some() {
            true => op.operand_shapes.first()?.clone(),
            false => op.shape.clone(),
        };
        let bits = op.shape.element().and_then(ElementTypeExt::bits);
        let is_nested_transpose = op.opcode == Opcode::Transpose && tiling.is_none();
        Some(Hero { reduction, tiling, is_nested_transpose, bits, shape })
    }
}

/// Whether the shapes differ only in the element type, or have the same elements in the same order in memory.
fn is_same_loop(a: &Shape, b: &Shape) -> bool {
    let equal = |a: &ArrayShape, b: &ArrayShape| a.dims == b.dims && a.minor_to_major() == b.minor_to_major();
    match (a.as_array(), b.as_array()) {
        (Some(x), Some(y)) => {
            equal(x, y) || x.element.bits().is_some() && crate::bitcasts::reshape_is_bitcast(a, b)
        }
        _ => false,
    }
}

fn has_root(candidate: &Candidate, opcode: Opcode) -> bool {
    candidate.analysis.as_ref().is_some_and(|analysis| {
        analysis.fused.roots.iter().any(|&root| analysis.fused.op(root).opcode == opcode)
    })
}

/// Whether `user` depends on `of`.
fn is_connected(graph: &Graph, user: OpId, of: OpId) -> bool {
    reaches(graph, graph.operands[user as usize].clone(), of)
}

/// Whether one of them depends on the other.
pub(crate) fn are_connected(graph: &Graph, a: OpId, b: OpId) -> bool {
    is_connected(graph, a, b) || is_connected(graph, b, a)
}

/// Whether the consumer also depends on the producer indirectly.
pub(crate) fn is_connected_otherwise(graph: &Graph, producer: OpId, consumer: OpId) -> bool {
    let others = graph.operands[consumer as usize].iter().copied().filter(|&operand| operand != producer);
    others.into_iter().any(|operand| is_connected(graph, operand, producer))
}

fn reaches(graph: &Graph, mut open: Vec<OpId>, of: OpId) -> bool {
    let mut seen = vec![false; graph.ops.len()];
    while let Some(id) = open.pop() {
        if id == of {
            return true;
        }
        if !std::mem::replace(&mut seen[id as usize], true) {
            open.extend(&graph.operands[id as usize]);
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the verdicts on `a` and `b` of an entry, as siblings and as producer and consumer.
    #[track_caller]
    fn check(lines: &str, as_siblings: Result<(), &str>, as_pair: Result<(), &str>) {
        let module = format!(
            "\
HloModule m
add {{
 x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y)
}}
ENTRY e {{
 p = f32[64,64] parameter(0)
 z = f32[] constant(0)
{lines}
}}
"
        );
        let graphs = ir::graphs_of_text(&module);
        let callees = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
        let (_, graph) = graphs.last().expect("an entry");
        let device = Device::find("h100-sxm").unwrap();
        let [a, b] = ["a", "b"].map(|n| Candidate::of(graph, graph.find(n).unwrap(), device, &callees));
        let words = |verdict: Result<(), Reason>| verdict.map_err(|reason| reason.into_owned());
        assert_eq!(words(siblings(graph, &a, &b, device)), as_siblings.map_err(str::to_owned), "{lines}");
        let pair = words(into_several_results(graph, &a, &b, device));
        assert_eq!(pair, as_pair.map_err(str::to_owned), "{lines}");
    }

    #[test]
    fn loops_of_one_shape() {
        let two = " a = f32[64,64] negate(p)\n b = f32[64,64] floor(p)\n ROOT t = (f32[64,64], f32[64,64]) tuple(a, b)";
        check(two, Ok(()), Ok(()));
        let chain = " a = f32[64,64] negate(p)\n ROOT b = f32[64,64] floor(a)";
        check(chain, Err("a and b are connected"), Ok(()));
        let other = " a = f32[64,64] negate(p)\n s = f32[8,64] slice(p), slice={[0:8],[0:64]}\n ROOT b = f32[8,64] floor(s)";
        check(other, Err("different loop shapes"), Err("different loop shapes"));
        let cycle = " a = f32[64,64] negate(p)\n c = f32[64,64] sort(a), dimensions={1}, to_apply=add\n ROOT b = f32[64,64] add(a, c)";
        check(cycle, Err("a and b are connected"), Err("a would introduce a cycle when fused"));
    }

    #[test]
    fn heroes() {
        let rows = " a = f32[64] reduce(p, z), dimensions={1}, to_apply=add\n b = f32[64] reduce(p, z), dimensions={0}, to_apply=add\n ROOT t = (f32[64], f32[64]) tuple(a, b)";
        let differ = "tiled reductions with different shapes";
        check(rows, Err(differ), Err(differ));
        let both = " a = f32[64,64] transpose(p), dimensions={1,0}\n b = f32[64] reduce(p, z), dimensions={1}, to_apply=add\n ROOT t = (f32[64,64], f32[64]) tuple(a, b)";
        check(
            both,
            Err("multi-output fusion of a transpose and a reduction"),
            Err("a is physically transposing"),
        );
    }

    /// Of several results, the transpose decides, whatever the first result is.
    #[test]
    fn heroes_of_several_results() {
        let module = "\
HloModule m
add {
 x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y)
}
f {
 x = f32[64,64] parameter(0)
 n = f32[64,64] negate(x)
 u = f32[64,64] transpose(x), dimensions={1,0}
 ROOT t = (f32[64,64], f32[64,64]) tuple(n, u)
}
ENTRY e {
 p = f32[64,64] parameter(0)
 z = f32[] constant(0)
 a = (f32[64,64], f32[64,64]) fusion(p), kind=kInput, calls=f
 b = f32[64] reduce(p, z), dimensions={1}, to_apply=add
 c = f32[64,64] floor(p)
 ROOT t = ((f32[64,64], f32[64,64]), f32[64], f32[64,64]) tuple(a, b, c)
}
";
        let graphs = ir::graphs_of_text(module);
        let callees = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
        let (_, graph) = graphs.last().expect("an entry");
        let device = Device::find("h100-sxm").unwrap();
        let [a, b, c] =
            ["a", "b", "c"].map(|n| Candidate::of(graph, graph.find(n).unwrap(), device, &callees));
        let forbidden = "multi-output fusion of a transpose and a reduction";
        assert_eq!(siblings(graph, &a, &b, device), Err(forbidden.into()));
        assert_eq!(siblings(graph, &a, &c, device), Ok(()));
    }
}
