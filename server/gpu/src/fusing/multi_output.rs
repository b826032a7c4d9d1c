//! XLA's multi-output fusion: kernels that share their reads.
//!
//! Source: `backends/gpu/transforms/multi_output_fusion.cc`.

use std::rc::Rc;

use indexing::Callees;
use ir::{AttributeKey, AttributeValue, Graph, OpId, Opcode};
use rustc_hash::FxHashMap;

use super::computation::Computation;
use super::queue::{Step, candidate, may_be_fused};
use crate::Kind;
use crate::cost::times::LAUNCH_OVERHEAD_US;
use crate::device::Device;
use crate::priority_fusion::{
    Candidate, Pair, into_several_results, is_eligible_root, is_too_large, siblings,
};

/// The smallest operand whose parts are not read together, in bytes. Source: `ParameterSlicesAreNonOverlapping`.
const MIN_SLICED: u64 = 1024;

/// Fuses users of one operand, and producers with a consumer, into kernels of several results, and returns
/// what was fused, in order.
pub fn fuse_results(
    computation: &mut Computation,
    device: &'static Device,
    callees: &Callees<'_>,
) -> Vec<Step> {
    let mut pass =
        MultiOutput { computation, device, callees, candidates: FxHashMap::default(), steps: Vec::new() };
    for id in pass.computation.post_order().into_iter().rev() {
        cancel::tick();
        let op = pass.computation.op(id);
        let is_custom =
            op.opcode == Opcode::Fusion && op.attributes.text(AttributeKey::Kind) == Some("kCustom");
        if pass.computation.is_removed(id) || op.opcode == Opcode::Constant || is_custom {
            continue;
        }
        pass.fuse_siblings(id);
        pass.fuse_with_consumer(id);
    }
    pass.steps
}

struct MultiOutput<'a> {
    computation: &'a mut Computation,
    device: &'static Device,
    callees: &'a Callees<'a>,
    candidates: FxHashMap<OpId, Rc<Candidate>>,
    steps: Vec<Step>,
}

impl MultiOutput<'_> {
    fn candidate(&mut self, id: OpId) -> Rc<Candidate> {
        if let Some(known) = self.candidates.get(&id) {
            return known.clone();
        }
        let candidate = Rc::new(candidate(self.computation, id, self.device, self.callees));
        self.candidates.insert(id, candidate.clone());
        candidate
    }

    /// Source: `FuseSiblings`.
    fn fuse_siblings(&mut self, parent: OpId) {
        // Scalars cost nothing to read.
        let op = self.computation.op(parent);
        let is_scalar = op.shape.as_array().is_some_and(|array| array.dims.iter().all(|&size| size == 1));
        if is_scalar || self.computation.users(parent).len() < 2 {
            return;
        }
        let users = self.computation.users(parent).to_vec();
        let mut siblings: Vec<OpId> = users.into_iter().filter(|&user| self.may_be_sibling(user)).collect();
        siblings.sort_by_key(|&id| std::cmp::Reverse(self.rank(id)));
        let mut first = 0;
        while first < siblings.len() {
            let into = siblings[first];
            let mut next = first + 1;
            while self.computation.op(into).opcode == Opcode::Fusion && next < siblings.len() {
                cancel::tick();
                let sibling = siblings[next];
                if !self.are_siblings(into, sibling, parent) {
                    next += 1;
                    continue;
                }
                let is_input =
                    self.computation.op(sibling).attributes.text(AttributeKey::Kind) == Some("kInput");
                if !self.computation.fuse_with_results(sibling, into, self.callees) {
                    next += 1;
                    continue;
                }
                if is_input {
                    self.set_kind(into, "kInput");
                }
                self.fused(sibling, into, into);
                siblings.remove(next);
            }
            first += 1;
        }
    }

    /// Fusions of several results come first, then other fusions. Source: `FusionPriority`.
    fn rank(&self, id: OpId) -> u8 {
        match self.computation.op(id).opcode {
            Opcode::Fusion if self.computation.has_several_results(id) => 2,
            Opcode::Fusion => 1,
            _ => 0,
        }
    }

    /// Source: `IsSiblingFusionCandidate`.
    fn may_be_sibling(&mut self, id: OpId) -> bool {
        let users = self.computation.users(id).to_vec();
        if users.is_empty() || !self.may_be_root(id) {
            return false;
        }
        let op = self.computation.op(id);
        let is_tuple = op.shape.tuple_elements().is_some();
        let is_element = |&user: &OpId| self.computation.op(user).opcode == Opcode::GetTupleElement;
        if self.computation.has_several_results(id) && !users.iter().all(is_element) {
            return false;
        }
        // A reduction of several arrays that no kernel is built around.
        let candidate = self.candidate(id);
        let is_loop = candidate.analysis.as_ref().is_some_and(|analysis| analysis.kind == Kind::Loop);
        !(is_tuple && is_loop && reduces_several(&candidate))
    }

    /// Source: `IsFusibleAsMultiOutputFusionRoot`.
    fn may_be_root(&mut self, id: OpId) -> bool {
        may_be_fused(self.computation, id) && is_eligible_root(&self.candidate(id))
    }

    /// Source: `CanFuseSiblings`.
    fn are_siblings(&mut self, a: OpId, b: OpId, parent: OpId) -> bool {
        let (of_a, of_b) = (self.candidate(a), self.candidate(b));
        siblings(&self.computation.graph, &of_a, &of_b, self.device).is_ok()
            && self.read_common_parts(&of_a, &of_b, parent)
    }

    /// Whether the slices of the parent that both read overlap. Source: `ParameterSlicesAreNonOverlapping`.
    fn read_common_parts(&self, a: &Candidate, b: &Candidate, parent: OpId) -> bool {
        let op = self.computation.op(parent);
        if op.shape.tuple_elements().is_some() || op.shape.bytes().is_some_and(|bytes| bytes < MIN_SLICED) {
            return true;
        }
        let slice = |of: &Candidate| only_slice(&self.computation.graph, of, parent);
        let (Some(a), Some(b)) = (slice(a), slice(b)) else { return true };
        a.iter().zip(&b).all(|(a, b)| a[0] < b[1] && b[0] < a[1])
    }

    /// Source: `GetProducerConsumerMultiOutputFusionCandidates`, `SelectPreferredFusionCandidate`.
    fn fuse_with_consumer(&mut self, producer: OpId) {
        let users = self.computation.users(producer).to_vec();
        match users[..] {
            [] => return,
            // Fusing it into its only user was considered before.
            [only] if !self.computation.has_several_results(only) => return,
            _ => {}
        }
        if !may_be_fused(self.computation, producer) {
            return;
        }
        let mut best: Option<OpId> = None;
        for consumer in users {
            // Of equal ones the first is taken.
            if best.is_none_or(|best| self.rank(consumer) > self.rank(best))
                && self.is_gain(producer, consumer)
            {
                best = Some(consumer);
            }
        }
        let Some(consumer) = best else { return };
        let fusion = match self.computation.op(consumer).opcode {
            Opcode::Fusion => consumer,
            _ => {
                let candidates = [self.candidate(producer), self.candidate(consumer)];
                let is_input =
                    candidates.iter().filter_map(|candidate| candidate.analysis.as_ref()).any(|analysis| {
                        matches!(analysis.kind, Kind::Reduction | Kind::Transpose | Kind::Scatter)
                    });
                let kind = if is_input { "kInput" } else { "kLoop" };
                self.computation.create_fusion(consumer, kind, self.callees)
            }
        };
        if self.computation.fuse_with_results(producer, fusion, self.callees) {
            self.fused(producer, consumer, fusion);
        }
    }

    /// Source: `ProducerCandidateIsFusible`.
    fn is_gain(&mut self, producer: OpId, consumer: OpId) -> bool {
        if !self.may_be_root(consumer) {
            return false;
        }
        let (a, b) = (self.candidate(producer), self.candidate(consumer));
        let graph = &self.computation.graph;
        if into_several_results(graph, &a, &b, self.device).is_err() || is_too_large(graph, &a, &b) {
            return false;
        }
        let pair = Pair::of(graph, &a, &b, self.device, self.callees);
        let together = pair.exec_with_both_results_us(graph, &a, &b, self.device);
        let times = a.exec_us().zip(b.exec_us()).zip(together);
        times.is_some_and(|((a, b), together)| together <= LAUNCH_OVERHEAD_US + a + b)
    }

    fn set_kind(&mut self, fusion: OpId, kind: &str) {
        self.computation.set_attribute(fusion, AttributeKey::Kind, AttributeValue::Word(kind.to_owned()));
    }

    fn fused(&mut self, producer: OpId, consumer: OpId, fusion: OpId) {
        for id in [producer, consumer, fusion] {
            self.candidates.remove(&id);
        }
        self.steps.push(Step { producer, consumer, fusion });
    }
}

/// Whether the result of the kernel is that of a reduction of several arrays.
fn reduces_several(candidate: &Candidate) -> bool {
    candidate.analysis.as_ref().is_some_and(|analysis| {
        let fused = &analysis.fused;
        let is_reduction = |root: OpId| {
            let op = fused.op(root);
            op.opcode == Opcode::Reduce && op.shape.tuple_elements().is_some()
        };
        matches!(fused.roots[..], [only] if is_reduction(only))
    })
}

/// Starts, limits and strides of the only slice through which a kernel reads an operand. Source:
/// `FindUniqueSlice`.
fn only_slice(graph: &Graph, of: &Candidate, parent: OpId) -> Option<Vec<[i64; 3]>> {
    if of.op.opcode == Opcode::Slice {
        return Some(of.op.attributes.triples(AttributeKey::Slice).to_vec());
    }
    let analysis = of.analysis.as_ref().filter(|_| of.is_fusion())?;
    let fused = &analysis.fused;
    let mut numbers = graph.operands[of.id as usize].iter().enumerate().filter(|(_, o)| **o == parent);
    let (number, None) = (numbers.next()?.0, numbers.next()) else { return None };
    let parameter = fused.graph.parameter(u32::try_from(number).ok()?)?;
    let [user] = fused.users[parameter as usize][..] else { return None };
    let op = fused.op(user);
    (op.opcode == Opcode::Slice).then(|| op.attributes.triples(AttributeKey::Slice).to_vec())
}
