//! XLA's multi-output fusion: kernels that share their reads.
//!
//! Source: `backends/gpu/transforms/multi_output_fusion.cc`.

use indexing::Callees;
use ir::{AttributeKey, AttributeValue, Graph, OpId, Opcode};

use super::computation::Computation;
use super::estimates::Estimates;
use super::model::Model;
use super::queue::{Step, may_be_fused};
use crate::Kind;
use crate::device::Device;
use crate::priority_fusion::Candidate;

/// The smallest operand whose parts are not read together, in bytes. Source: `ParameterSlicesAreNonOverlapping`.
const MIN_SLICED: u64 = 1024;

/// Fuses users of one operand, and producers with a consumer, into kernels of several results, and returns
/// what was fused, in order. `estimates` are those of earlier runs.
pub fn fuse_results(
    computation: &mut Computation,
    device: &'static Device,
    callees: &Callees<'_>,
    estimates: &Estimates,
) -> Vec<Step> {
    estimates.with(device, |remembered| {
        let model = Model::new(computation, device, callees, remembered);
        let mut pass = MultiOutput { computation, callees, model, steps: Vec::new() };
        pass.run();
        pass.steps
    })
}

struct MultiOutput<'a> {
    computation: &'a mut Computation,
    callees: &'a Callees<'a>,
    model: Model<'a>,
    steps: Vec<Step>,
}

impl MultiOutput<'_> {
    fn run(&mut self) {
        for id in self.computation.post_order().into_iter().rev() {
            cancel::tick();
            let op = self.computation.op(id);
            let is_custom =
                op.opcode == Opcode::Fusion && op.attributes.text(AttributeKey::Kind) == Some("kCustom");
            if self.computation.is_removed(id) || op.opcode == Opcode::Constant || is_custom {
                continue;
            }
            self.fuse_siblings(id);
            self.fuse_with_consumer(id);
        }
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
        !(is_tuple && self.model.kernel(self.computation, id).is_loop_of_reductions)
    }

    /// Source: `IsFusibleAsMultiOutputFusionRoot`.
    fn may_be_root(&mut self, id: OpId) -> bool {
        may_be_fused(self.computation, id) && self.model.kernel(self.computation, id).is_eligible_root
    }

    /// Source: `CanFuseSiblings`.
    fn are_siblings(&mut self, a: OpId, b: OpId, parent: OpId) -> bool {
        let computation = &*self.computation;
        let read_common_parts = |a: &Candidate, b: &Candidate| read_common_parts(computation, a, b, parent);
        self.model.siblings(computation, [a, b], parent, read_common_parts)
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
                let kinds = [producer, consumer].map(|id| self.model.kernel(self.computation, id).kind);
                let is_input = kinds
                    .iter()
                    .any(|kind| matches!(kind, Some(Kind::Reduction | Kind::Transpose | Kind::Scatter)));
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
        self.may_be_root(consumer) && self.model.gain(self.computation, producer, consumer)
    }

    fn set_kind(&mut self, fusion: OpId, kind: &str) {
        self.computation.set_attribute(fusion, AttributeKey::Kind, AttributeValue::Word(kind.to_owned()));
    }

    fn fused(&mut self, producer: OpId, consumer: OpId, fusion: OpId) {
        for id in [producer, consumer, fusion] {
            self.model.forget(self.computation, id);
        }
        self.steps.push(Step { producer, consumer, fusion });
    }
}

/// Whether the slices of the parent that both read overlap. Source: `ParameterSlicesAreNonOverlapping`.
fn read_common_parts(computation: &Computation, a: &Candidate, b: &Candidate, parent: OpId) -> bool {
    let op = computation.op(parent);
    if op.shape.tuple_elements().is_some() || op.shape.bytes().is_some_and(|bytes| bytes < MIN_SLICED) {
        return true;
    }
    let slice = |of: &Candidate| only_slice(&computation.graph, of, parent);
    let (Some(a), Some(b)) = (slice(a), slice(b)) else { return true };
    a.iter().zip(&b).all(|(a, b)| a[0] < b[1] && b[0] < a[1])
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
