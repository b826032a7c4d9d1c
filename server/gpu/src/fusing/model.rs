//! What XLA's cost model says of the kernels of a computation, and of pairs of them, while a pass fuses them.

use std::rc::Rc;

use indexing::Callees;
use ir::{AttributeKey, Graph, OpId, Opcode};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::computation::Computation;
use super::content::{ContentId, Numbering};
use super::estimates::{PairKey, Remembered};
use super::fusion_id::{FusionId, FusionIds};
use crate::cost::times::LAUNCH_OVERHEAD_US;
use crate::device::Device;
use crate::priority_fusion::{
    Candidate, INTO_RESULT, Pair, Tiled, are_connected, can_fuse, into_several_results,
    is_connected_otherwise, is_eligible_root, is_fusible, is_too_large, may_be_tiled, not_tiled, siblings,
};
use crate::{Kind, Reason};

/// A time in quarters of a nanosecond, the resolution of XLA's durations.
pub(super) type Ticks = i64;

/// What is not known takes for ever; XLA fuses bitcasts first, whatever they cost.
pub(super) const ALWAYS: Ticks = Ticks::MAX;

/// What counts of an instruction as a kernel of its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel {
    /// Without the launch.
    pub(super) time: Ticks,
    pub(super) kind: Option<Kind>,
    pub(super) is_fusible: bool,
    pub(super) is_triton: bool,
    /// Whether a kernel of several results may have it as one of them.
    pub(super) is_eligible_root: bool,
    /// Whether it is a reduction of several arrays that no kernel is built around.
    pub(super) is_loop_of_reductions: bool,
}

/// What counts of a producer and a consumer as one kernel, apart from its tiling.
#[derive(Debug, Clone)]
pub(super) struct PairOfKernels {
    /// Whether one of them is a fusion for Triton.
    is_triton: bool,
    refusal: Option<Reason>,
    kind: Kind,
    /// By the model of XLA's own emitters.
    time: Ticks,
}

/// A producer and a consumer as one kernel.
#[derive(Debug)]
pub(super) struct FusedKernel {
    /// Whether the producer may be fused into the consumer.
    pub(super) verdict: Result<(), Reason>,
    pub(super) kind: Kind,
    /// Of a fusion for Triton.
    pub(super) tiled: Option<Tiled>,
    /// Without the launch.
    pub(super) time: Ticks,
}

/// Answers for one computation. What was computed about an op holds until [`Model::forget`], even if the op has changed.
pub(super) struct Model<'a> {
    device: &'static Device,
    callees: &'a Callees<'a>,
    remembered: &'a mut Remembered,
    by_name: FxHashMap<String, Option<ContentId>>,
    contents: FxHashMap<OpId, Option<ContentId>>,
    candidates: FxHashMap<OpId, Known>,
    kernels: FxHashMap<OpId, Kernel>,
    /// By producer and consumer.
    pairs: FxHashMap<OpId, FxHashMap<OpId, Rc<FusedKernel>>>,
    /// Of computations that have fusions for Triton.
    ids: Option<FusionIds>,
    tilings: FxHashMap<FusionId, Tiled>,
}

/// An analysed op, and its content at that time.
#[derive(Clone)]
struct Known {
    candidate: Rc<Candidate>,
    content: Option<ContentId>,
}

impl<'a> Model<'a> {
    pub(super) fn new(
        computation: &Computation,
        device: &'static Device,
        callees: &'a Callees<'a>,
        remembered: &'a mut Remembered,
    ) -> Model<'a> {
        let is_custom = |id: OpId| computation.op(id).attributes.text(AttributeKey::Kind) == Some("kCustom");
        computation.forget_numbers();
        Model {
            device,
            callees,
            remembered,
            by_name: FxHashMap::default(),
            contents: FxHashMap::default(),
            candidates: FxHashMap::default(),
            kernels: FxHashMap::default(),
            pairs: FxHashMap::default(),
            ids: computation.ids().any(is_custom).then(|| FusionIds::of(computation, callees)),
            tilings: FxHashMap::default(),
        }
    }

    /// An instruction as it would be a kernel.
    pub(super) fn kernel(&mut self, computation: &Computation, id: OpId) -> Kernel {
        if let Some(&known) = self.kernels.get(&id) {
            return known;
        }
        let content = self.content(computation, id);
        let known = content.and_then(|content| self.remembered.kernels.get(&content));
        let kernel = match known {
            Some(&known) => known,
            None => {
                let Known { candidate, content } = self.analysed(computation, id);
                let kernel = Kernel {
                    time: candidate.exec_us().map_or(ALWAYS, ticks),
                    kind: candidate.analysis.as_ref().map(|analysis| analysis.kind),
                    is_fusible: is_fusible(&candidate),
                    is_triton: candidate.is_triton(),
                    is_eligible_root: is_eligible_root(&candidate),
                    is_loop_of_reductions: is_loop_of_reductions(&candidate),
                };
                content.map(|content| self.remembered.kernels.insert(content, kernel));
                kernel
            }
        };
        self.kernels.insert(id, kernel);
        kernel
    }

    /// The kernel of a producer and its consumer.
    pub(super) fn fused(
        &mut self,
        computation: &Computation,
        producer: OpId,
        consumer: OpId,
    ) -> Rc<FusedKernel> {
        let known = self.pairs.get(&producer).and_then(|of| of.get(&consumer));
        if let Some(known) = known {
            return known.clone();
        }
        let key = self.key(computation, producer, consumer, producer);
        let known = key.as_ref().and_then(|key| self.remembered.pairs.get(key));
        let pair = match known {
            Some(known) => known.clone(),
            None => {
                let [a, b] = [producer, consumer].map(|id| self.analysed(computation, id));
                let pair = self.pair(&computation.graph, &a.candidate, &b.candidate);
                let key = key.clone().filter(|key| key.is_of(&a, &b));
                key.map(|key| self.remembered.pairs.insert(key, pair.clone()));
                pair
            }
        };
        let tiled = pair.is_triton.then(|| self.tiled(computation, producer, consumer, key));
        let verdict = match (&pair.refusal, &tiled) {
            _ if computation.root() == producer => Err(INTO_RESULT.into()),
            (Some(why), _) => Err(why.clone()),
            (None, Some(Err(why))) => Err(not_tiled(why)),
            (None, _) => Ok(()),
        };
        let time = match &tiled {
            Some(tiled) => tiled.as_ref().map_or(ALWAYS, |tiling| ticks(tiling.time.exec_us)),
            None => pair.time,
        };
        let fused = Rc::new(FusedKernel { verdict, kind: pair.kind, tiled, time });
        self.pairs.entry(producer).or_default().insert(consumer, fused.clone());
        fused
    }

    fn pair(&self, graph: &Graph, producer: &Candidate, consumer: &Candidate) -> PairOfKernels {
        if producer.is_triton() || consumer.is_triton() {
            let refusal = may_be_tiled(graph, producer, consumer).err();
            return PairOfKernels { is_triton: true, refusal, kind: Kind::Triton, time: ALWAYS };
        }
        let pair = Pair::of(graph, producer, consumer, self.device, self.callees);
        PairOfKernels {
            is_triton: false,
            refusal: can_fuse(graph, producer, consumer, &pair, false, self.device).err(),
            kind: pair.analysis.as_ref().map_or(Kind::Loop, |analysis| analysis.kind),
            time: pair.exec_us().map_or(ALWAYS, ticks),
        }
    }

    /// The best tiling of both together; that of an equal fusion, where XLA has looked for one before.
    fn tiled(
        &mut self,
        computation: &Computation,
        producer: OpId,
        consumer: OpId,
        key: Option<PairKey>,
    ) -> Tiled {
        let id = self.fusion_id(computation, producer, consumer);
        if let Some(known) = id.and_then(|id| self.tilings.get(&id)) {
            return known.clone();
        }
        let known = key.as_ref().and_then(|key| self.remembered.tilings.get(key));
        let tiled = match known {
            Some(known) => known.clone(),
            None => {
                let [a, b] = [producer, consumer].map(|id| self.analysed(computation, id));
                let graph = &computation.graph;
                let pair = Pair::of(graph, &a.candidate, &b.candidate, self.device, self.callees);
                let tiled = pair.tiled.unwrap_or(Err("no fusion for Triton"));
                let key = key.filter(|key| key.is_of(&a, &b));
                key.map(|key| self.remembered.tilings.insert(key, tiled.clone()));
                tiled
            }
        };
        id.map(|id| self.tilings.insert(id, tiled.clone()));
        tiled
    }

    /// Whether a producer and its consumer gain by one kernel with both results.
    pub(super) fn gain(&mut self, computation: &Computation, producer: OpId, consumer: OpId) -> bool {
        let key = self.key(computation, producer, consumer, producer);
        let known = key.as_ref().and_then(|key| self.remembered.gains.get(key)).copied();
        let graph = &computation.graph;
        if known == Some(false) || is_connected_otherwise(graph, producer, consumer) {
            return false;
        }
        if let Some(known) = known {
            return known;
        }
        let [a, b] = [producer, consumer].map(|id| self.analysed(computation, id));
        let gains = gains(graph, &a.candidate, &b.candidate, self.device, self.callees);
        let key = key.filter(|key| key.is_of(&a, &b));
        key.map(|key| self.remembered.gains.insert(key, gains));
        gains
    }

    /// Whether two users of `parent` may be one kernel, by their own rules and by `rule`.
    pub(super) fn siblings(
        &mut self,
        computation: &Computation,
        [first, second]: [OpId; 2],
        parent: OpId,
        rule: impl Fn(&Candidate, &Candidate) -> bool,
    ) -> bool {
        let key = self.key(computation, first, second, parent);
        let known = key.as_ref().and_then(|key| self.remembered.siblings.get(key)).copied();
        let graph = &computation.graph;
        if known == Some(false) || are_connected(graph, first, second) {
            return false;
        }
        if let Some(known) = known {
            return known;
        }
        let [a, b] = [first, second].map(|id| self.analysed(computation, id));
        let may_be = siblings(graph, &a.candidate, &b.candidate, self.device).is_ok()
            && rule(&a.candidate, &b.candidate);
        let key = key.filter(|key| key.is_of(&a, &b));
        key.map(|key| self.remembered.siblings.insert(key, may_be));
        may_be
    }

    pub(super) fn fusion_id(
        &self,
        computation: &Computation,
        producer: OpId,
        consumer: OpId,
    ) -> Option<FusionId> {
        self.ids.as_ref()?.of_pair(computation, producer, consumer)
    }

    /// Tells that the fusion `fusion` was made, which had this id as a pair.
    pub(super) fn was_fused(&mut self, fusion: OpId, id: Option<FusionId>) {
        if let Some((ids, id)) = self.ids.as_mut().zip(id) {
            ids.fused(fusion, id);
        }
    }

    /// Forgets what was computed about an op and about its operands' fusions with it.
    pub(super) fn forget(&mut self, computation: &Computation, id: OpId) {
        self.pairs.remove(&id);
        for operand in computation.operands(id) {
            if let Some(of_operand) = self.pairs.get_mut(operand) {
                of_operand.remove(&id);
            }
        }
        self.candidates.remove(&id);
        self.kernels.remove(&id);
        self.contents.remove(&id);
    }

    /// The analysis of an op as a kernel of its own.
    pub(super) fn candidate(&mut self, computation: &Computation, id: OpId) -> Rc<Candidate> {
        self.analysed(computation, id).candidate
    }

    fn analysed(&mut self, computation: &Computation, id: OpId) -> Known {
        if let Some(known) = self.candidates.get(&id) {
            return known.clone();
        }
        let candidate = Rc::new(candidate(computation, id, self.device, self.callees));
        let known = Known { candidate, content: self.number(computation, id) };
        self.candidates.insert(id, known.clone());
        known
    }

    fn content(&mut self, computation: &Computation, id: OpId) -> Option<ContentId> {
        if let Some(&known) = self.contents.get(&id) {
            return known;
        }
        let content = self.number(computation, id);
        self.contents.insert(id, content);
        content
    }

    fn number(&mut self, computation: &Computation, id: OpId) -> Option<ContentId> {
        let contents = &mut self.remembered.contents;
        Numbering { contents, by_name: &mut self.by_name, callees: self.callees }.of_op(computation, id)
    }

    fn key(&mut self, computation: &Computation, first: OpId, second: OpId, common: OpId) -> Option<PairKey> {
        let contents = (self.content(computation, first)?, self.content(computation, second)?);
        let operands = places(common, computation.operands(second), computation.operands(first));
        Some(PairKey { first: contents.0, second: contents.1, operands })
    }
}

/// The operands of two ops, numbered as they come, those of `first` first; `common` is 0.
fn places(common: OpId, first: &[OpId], second: &[OpId]) -> SmallVec<[u32; 8]> {
    /// More operands than this are found by hash.
    const FEW: usize = 16;
    let count = first.len() + second.len();
    let both = first.iter().chain(second).copied();
    let mut places = SmallVec::with_capacity(count);
    if count <= FEW {
        let mut distinct: SmallVec<[OpId; FEW + 1]> = SmallVec::from_slice(&[common]);
        for operand in both {
            let place = distinct.iter().position(|&known| known == operand).unwrap_or(distinct.len());
            if place == distinct.len() {
                distinct.push(operand);
            }
            places.push(place as u32);
        }
    } else {
        let mut distinct = FxHashMap::from_iter([(common, 0)]);
        distinct.reserve(count);
        for operand in both {
            let next = distinct.len() as u32;
            places.push(*distinct.entry(operand).or_insert(next));
        }
    }
    places
}

impl PairKey {
    fn is_of(&self, first: &Known, second: &Known) -> bool {
        (Some(self.first), Some(self.second)) == (first.content, second.content)
    }
}

/// An instruction as it would be a kernel.
fn candidate(
    computation: &Computation,
    id: OpId,
    device: &'static Device,
    callees: &Callees<'_>,
) -> Candidate {
    match computation.body(id) {
        Some(body) => Candidate::with(&computation.graph, id, Some(&body.to_graph().0), device, callees),
        None => Candidate::of(&computation.graph, id, device, callees),
    }
}

/// Source: `ProducerCandidateIsFusible`, `backends/gpu/transforms/multi_output_fusion.cc`.
fn gains(
    graph: &Graph,
    producer: &Candidate,
    consumer: &Candidate,
    device: &'static Device,
    callees: &Callees<'_>,
) -> bool {
    if into_several_results(graph, producer, consumer, device).is_err()
        || is_too_large(graph, producer, consumer)
    {
        return false;
    }
    let pair = Pair::of(graph, producer, consumer, device, callees);
    let together = pair.exec_with_both_results_us(graph, producer, consumer, device);
    let times = producer.exec_us().zip(consumer.exec_us()).zip(together);
    times.is_some_and(|((producer, consumer), together)| together <= LAUNCH_OVERHEAD_US + producer + consumer)
}

fn is_loop_of_reductions(candidate: &Candidate) -> bool {
    candidate.analysis.as_ref().filter(|analysis| analysis.kind == Kind::Loop).is_some_and(|analysis| {
        let fused = &analysis.fused;
        let is_reduction = |root: OpId| {
            let op = fused.op(root);
            op.opcode == Opcode::Reduce && op.shape.tuple_elements().is_some()
        };
        matches!(fused.roots[..], [only] if is_reduction(only))
    })
}

pub(super) fn ticks(us: f64) -> Ticks {
    (us * 4000.0).round() as Ticks
}
