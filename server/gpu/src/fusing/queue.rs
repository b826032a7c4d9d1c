//! XLA's priority fusion: the producer whose fusion saves most time is fused first.
//!
//! Source: `PriorityFusionQueue` and `PriorityFusion::RunImpl`, `backends/gpu/transforms/priority_fusion.cc`.

use std::collections::BTreeSet;

use indexing::Callees;
use ir::{AttributeKey, AttributeValue, OpId, Opcode, op_info};
use rustc_hash::FxHashMap;

use super::computation::{Computation, kind_text};
use super::estimates::Estimates;
use super::model::{ALWAYS, FusedKernel, Model, Ticks, ticks};
use crate::cost::RankedTiling;
use crate::cost::times::LAUNCH_OVERHEAD_US;
use crate::device::Device;
use crate::priority_fusion::{is_fusible_bitcast, may_fuse_scatter, triton_supports};
use crate::{Kind, Reason};

const NEVER: Ticks = Ticks::MIN;

/// One fusion that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub producer: OpId,
    pub consumer: OpId,
    /// The fusion of both; the consumer itself if that was a fusion already.
    pub fusion: OpId,
}

/// Fuses the instructions of a computation as XLA's pass does, and returns what was fused, in order. `estimates` are those of
/// earlier runs.
pub fn fuse_by_priority(
    computation: &mut Computation,
    device: &'static Device,
    callees: &Callees<'_>,
    estimates: &Estimates,
) -> Vec<Step> {
    estimates.with(device, |remembered| {
        let model = Model::new(computation, device, callees, remembered);
        let mut queue = Queue::new(computation, callees, model);
        queue.run();
        let mut steps = std::mem::take(&mut queue.steps);
        steps.append(&mut queue.fuse_constants());
        steps
    })
}

struct Queue<'a> {
    computation: &'a mut Computation,
    callees: &'a Callees<'a>,
    /// What it says of consumers that have become larger is out of date until all changes of a step are made.
    model: Model<'a>,
    /// Per producer the consumers with which its fusion was timed.
    timed: FxHashMap<OpId, FxHashMap<OpId, Ticks>>,
    /// Producers by priority; equal ones by age. The last one is the next one.
    queue: BTreeSet<(Ticks, u32, OpId)>,
    priorities: FxHashMap<OpId, Ticks>,
    to_update: BTreeSet<OpId>,
    /// Per operand of new fusions: those fusions.
    new_consumers: FxHashMap<OpId, Vec<OpId>>,
    /// Per operand of new fusions: the times, fused and unfused, of the consumers that it has lost.
    lost_times: FxHashMap<OpId, (Ticks, Ticks)>,
    steps: Vec<Step>,
}

impl<'a> Queue<'a> {
    fn new(computation: &'a mut Computation, callees: &'a Callees<'a>, model: Model<'a>) -> Queue<'a> {
        Queue {
            computation,
            callees,
            model,
            timed: FxHashMap::default(),
            queue: BTreeSet::new(),
            priorities: FxHashMap::default(),
            to_update: BTreeSet::new(),
            new_consumers: FxHashMap::default(),
            lost_times: FxHashMap::default(),
            steps: Vec::new(),
        }
    }

    fn run(&mut self) {
        self.start();
        while let Some((producer, consumers)) = self.next() {
            cancel::tick();
            self.fuse_into(producer, &consumers);
        }
    }

    fn start(&mut self) {
        let is_producer = |id: &OpId| {
            let never = [Opcode::Tuple, Opcode::GetTupleElement];
            !self.computation.users(*id).is_empty()
                && !never.contains(&self.computation.op(*id).opcode)
                && self.may_be_fused(*id)
        };
        let producers: Vec<OpId> = self.computation.ids().filter(is_producer).collect();
        self.update(&producers);
    }

    /// The next producer, and the consumers that take it.
    fn next(&mut self) -> Option<(OpId, Vec<OpId>)> {
        while let Some((_, _, producer)) = self.queue.pop_last() {
            self.priorities.remove(&producer);
            let mut consumers = self.computation.users(producer).to_vec();
            if is_fusible_bitcast(self.computation.op(producer)) {
                consumers.retain(|&consumer| self.verdict(producer, consumer).is_ok());
            }
            if !consumers.is_empty() {
                return Some((producer, consumers));
            }
        }
        None
    }

    fn fuse_into(&mut self, producer: OpId, consumers: &[OpId]) {
        // What the producer reads gets its users in their order.
        if consumers.len() > 1 && self.computation.guesses_users(producer) {
            for operand in self.computation.operands(producer).to_vec() {
                self.computation.guess_users(operand);
            }
        }
        for &consumer in consumers {
            if is_fusible_bitcast(self.computation.op(consumer)) {
                continue;
            }
            let fused = self.model.fused(self.computation, producer, consumer);
            let id = self.model.fusion_id(self.computation, producer, consumer);
            let Some(fusion) = fuse_pair(self.computation, producer, consumer, &fused, self.callees) else {
                continue;
            };
            self.model.was_fused(fusion, id);
            self.steps.push(Step { producer, consumer, fusion });
            if fusion != consumer {
                self.forget_producer(consumer);
            }
            for &operand in self.computation.operands(fusion) {
                let never = [Opcode::Constant, Opcode::GetTupleElement];
                let op = self.computation.op(operand);
                if operand != producer && !never.contains(&op.opcode) && self.may_be_fused(operand) {
                    self.to_update.insert(operand);
                    self.new_consumers.entry(operand).or_default().push(fusion);
                }
            }
            self.to_update.insert(fusion);
        }
        self.count_lost_consumers(producer, consumers);
        if self.computation.users(producer).is_empty() {
            self.invalidate(producer);
            self.forget_producer(producer);
            self.computation.remove(producer);
        }
        for &consumer in consumers {
            self.invalidate(consumer);
        }
        let changed: Vec<OpId> = std::mem::take(&mut self.to_update).into_iter().collect();
        self.update(&changed);
        self.new_consumers.clear();
        self.lost_times.clear();
    }

    /// Source: `ComputeRuntimesOfRemovedConsumers`.
    fn count_lost_consumers(&mut self, producer: OpId, consumers: &[OpId]) {
        let operands: Vec<OpId> = self.new_consumers.keys().copied().collect();
        for operand in operands {
            if !self.priorities.contains_key(&operand) {
                continue;
            }
            let Some(known) = self.timed.get(&operand).cloned() else { continue };
            let (mut fused, mut unfused) = (0, 0);
            for consumer in consumers.iter().chain([&producer]) {
                if let Some(&together) = known.get(consumer) {
                    fused = add(fused, together);
                    unfused = add(unfused, self.time(*consumer));
                }
            }
            unfused = add(add(unfused, self.time(operand)), ticks(LAUNCH_OVERHEAD_US));
            self.lost_times.insert(operand, (fused, unfused));
        }
    }

    fn age(&self, id: OpId) -> u32 {
        self.computation.age(id)
    }

    fn forget_producer(&mut self, id: OpId) {
        self.to_update.remove(&id);
        if let Some(priority) = self.priorities.remove(&id) {
            self.queue.remove(&(priority, self.age(id), id));
        }
    }

    /// Forgets what was computed about an instruction and its operands' fusions with it.
    fn invalidate(&mut self, id: OpId) {
        self.timed.remove(&id);
        for operand in self.computation.operands(id) {
            if let Some(of_operand) = self.timed.get_mut(operand) {
                of_operand.remove(&id);
            }
        }
        self.model.forget(self.computation, id);
    }

    /// Computes the priorities of producers, and queues those whose fusion is no loss.
    fn update(&mut self, producers: &[OpId]) {
        let priorities: Vec<Ticks> = producers.iter().map(|&id| self.priority(id)).collect();
        for (&id, priority) in producers.iter().zip(priorities) {
            if let Some(old) = self.priorities.remove(&id) {
                self.queue.remove(&(old, self.age(id), id));
            }
            if priority >= 0 {
                self.queue.insert((priority, self.age(id), id));
                self.priorities.insert(id, priority);
            }
        }
    }

    /// Source: `CalculateProducerPriority`.
    fn priority(&mut self, producer: OpId) -> Ticks {
        let op = self.computation.op(producer);
        if is_fusible_bitcast(op) {
            return ALWAYS;
        }
        if op.opcode == Opcode::Constant || self.refusal(producer).is_some() {
            return NEVER;
        }
        let update = self.lost_times.get(&producer).copied();
        let consumers = match (&update, self.new_consumers.get(&producer)) {
            (Some(_), Some(new)) => new.clone(),
            _ => self.computation.users(producer).to_vec(),
        };
        let launches = consumers.len() as Ticks * ticks(LAUNCH_OVERHEAD_US);
        let mut fused = launches;
        let mut unfused = add(launches + ticks(LAUNCH_OVERHEAD_US), self.time(producer));
        for consumer in consumers {
            unfused = add(unfused, self.time(consumer));
            fused = add(fused, self.fused_time(producer, consumer));
        }
        let gain = subtract(unfused, fused);
        match update {
            Some((lost_fused, lost_unfused)) => {
                let old = self.priorities.get(&producer).copied().unwrap_or(0);
                add(old, subtract(gain, subtract(lost_unfused, lost_fused)))
            }
            None => gain,
        }
    }

    /// Why the producer cannot be fused into all its consumers. Source: `CanFuseWithAllNonBitcastUsers`.
    fn refusal(&mut self, producer: OpId) -> Option<Reason> {
        let users = self.computation.users(producer).to_vec();
        if users.is_empty() {
            return Some("No users to fuse".into());
        }
        let is_kernel = |&id: &OpId| !is_fusible_bitcast(self.computation.op(id));
        let kernels: Vec<OpId> = users.iter().copied().filter(is_kernel).collect();
        if kernels.is_empty() {
            return Some("not fusing because there are only bitcast users".into());
        }
        kernels.into_iter().find_map(|consumer| self.verdict(producer, consumer).err())
    }

    fn verdict(&mut self, producer: OpId, consumer: OpId) -> Result<(), Reason> {
        self.model.fused(self.computation, producer, consumer).verdict.clone()
    }

    /// The time of an instruction as a kernel of its own, without its launch.
    fn time(&mut self, id: OpId) -> Ticks {
        self.model.kernel(self.computation, id).time
    }

    fn fused_time(&mut self, producer: OpId, consumer: OpId) -> Ticks {
        let time = self.model.fused(self.computation, producer, consumer).time;
        self.timed.entry(producer).or_default().insert(consumer, time);
        time
    }
}

impl Queue<'_> {
    /// Fuses constants of one element into all users that can have them.
    fn fuse_constants(&mut self) -> Vec<Step> {
        let is_small = |&id: &OpId| {
            let op = self.computation.op(id);
            let elements = op.shape.as_array().and_then(|array| array.elements());
            op.opcode == Opcode::Constant && elements.is_some_and(|count| count <= 1)
        };
        let constants: Vec<OpId> = self.computation.ids().filter(is_small).collect();
        let mut steps = Vec::new();
        for constant in constants {
            for user in self.computation.users(constant).to_vec() {
                cancel::tick();
                if !self.may_fuse_constant(constant, user) {
                    continue;
                }
                let Some(fusion) = self.fuse_constant(constant, user) else { continue };
                self.model.forget(self.computation, user);
                steps.push(Step { producer: constant, consumer: user, fusion });
            }
        }
        steps
    }

    /// Source: `PriorityFusion::CanFuseConstant`.
    fn may_fuse_constant(&mut self, constant: OpId, user: OpId) -> bool {
        if self.result_opcode(user) == Some(Opcode::Scatter) {
            let [a, b] = [constant, user].map(|id| self.model.candidate(self.computation, id));
            if may_fuse_scatter(&self.computation.graph, &a, &b).is_err() {
                return false;
            }
        }
        let kind = self.computation.op(user).attributes.text(AttributeKey::Kind);
        // Constants change the kind of no fusion.
        if kind.is_some_and(|kind| kind != "kCustom") {
            return true;
        }
        let kernel = self.model.kernel(self.computation, user);
        match kernel.is_triton {
            true => triton_supports(self.computation.op(constant)).is_ok(),
            false => kernel.is_fusible,
        }
    }

    /// The opcode of an instruction's result: of a fusion, that of its root.
    fn result_opcode(&self, id: OpId) -> Option<Opcode> {
        let op = self.computation.op(id);
        if op.opcode != Opcode::Fusion {
            return Some(op.opcode);
        }
        if let Some(body) = self.computation.body(id) {
            return Some(body.op(body.root()).opcode);
        }
        let called = (self.callees)(op.attributes.computation(AttributeKey::Calls)?)?;
        Some(called.ops.get(called.root as usize)?.opcode)
    }

    /// A fusion keeps its kind and its tiling.
    fn fuse_constant(&mut self, constant: OpId, user: OpId) -> Option<OpId> {
        let mut fusion = user;
        if self.computation.op(user).opcode != Opcode::Fusion {
            let kind = self.model.kernel(self.computation, user).kind.unwrap_or(Kind::Loop);
            fusion = self.computation.create_fusion(user, kind_text(kind), self.callees);
        }
        self.computation.fuse(constant, fusion, self.callees).then_some(fusion)
    }

    /// Whether the instruction may be part of a fusion at all. Source: `HloInstruction::IsFusible`.
    fn may_be_fused(&self, id: OpId) -> bool {
        may_be_fused(self.computation, id)
    }
}

/// Whether the instruction may be part of a fusion at all. Source: `HloInstruction::IsFusible`.
pub(super) fn may_be_fused(computation: &Computation, id: OpId) -> bool {
    use Opcode::*;
    match computation.op(id).opcode {
        Domain | Parameter | While | Conditional | Call => false,
        Fusion | Map | Reduce | ReduceWindow => true,
        Rng => computation.users(id).len() <= 1,
        opcode => !op_info(opcode).has_side_effect,
    }
}

/// Makes one fusion of producer and consumer, and returns it. The producer stays. `None` if a computation is
/// missing. Source: `PriorityFusion::Fuse`.
fn fuse_pair(
    computation: &mut Computation,
    producer: OpId,
    consumer: OpId,
    fused: &FusedKernel,
    callees: &Callees<'_>,
) -> Option<OpId> {
    let kind = if fused.tiled.is_some() { "kCustom" } else { kind_text(fused.kind) };
    let is_open = |computation: &mut Computation, id: OpId| {
        computation.op(id).opcode != Opcode::Fusion || computation.open_body(id, callees)
    };
    if !is_open(computation, producer) || !is_open(computation, consumer) {
        return None;
    }
    let fusion = match computation.op(consumer).opcode {
        Opcode::Fusion => {
            computation.set_attribute(consumer, AttributeKey::Kind, AttributeValue::Word(kind.to_owned()));
            consumer
        }
        _ => computation.create_fusion(consumer, kind, callees),
    };
    computation.fuse(producer, fusion, callees);
    if let Some(Ok(tiling)) = &fused.tiled {
        let rank = computation.op(fusion).shape.dims().len();
        let config = AttributeValue::Text(backend_config(tiling, rank));
        computation.set_attribute(fusion, AttributeKey::BackendConfig, config);
    }
    Some(fusion)
}

/// The configuration of a block-level fusion whose result has this rank, as XLA writes it.
fn backend_config(tiling: &RankedTiling, rank: usize) -> String {
    // Triton's tiles are powers of two.
    let padded = |&size: &i64| u64::try_from(size).map_or(1, u64::next_power_of_two);
    let sizes: Vec<String> =
        tiling.tile.iter().take(rank).map(|size| format!("\"{}\"", padded(size))).collect();
    format!(
        "{{\"fusion_backend_config\":{{\"kind\":\"__triton\",\"block_level_fusion_config\":{{\"num_warps\":\"{}\",\
         \"output_tiles\":[{{\"sizes\":[{}]}}],\"num_ctas\":1,\"num_stages\":1,\"is_tma_allowed\":false,\
         \"is_warp_specialization_allowed\":false}}}}}}",
        tiling.warps,
        sizes.join(","),
    )
}

/// Sums of times, of which one may be infinite.
fn add(a: Ticks, b: Ticks) -> Ticks {
    if a == ALWAYS || b == ALWAYS { ALWAYS } else { a.saturating_add(b) }
}

fn subtract(a: Ticks, b: Ticks) -> Ticks {
    match (a, b) {
        (_, ALWAYS) => NEVER,
        (ALWAYS, _) => ALWAYS,
        _ => a.saturating_sub(b),
    }
}
