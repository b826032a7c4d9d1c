//! Which producers XLA fuses into their consumers, and why it does not fuse others.
//!
//! XLA's pass decides per producer: it is recomputed in all of its consumers, or in none. [`decide`] returns
//! whether it may be fused, in the words of XLA's log, and the times of producer and consumers, unfused and
//! fused.
//!
//! * [`Candidate`]: an instruction with the kernel that it would be on its own.
//! * [`can_fuse()`]: the rules for a pair, in XLA's order.
//! * [`Pair`]: producer and consumer as one fusion.
//! * [`siblings`], [`into_several_results`]: whether the later multi-output fusion pass may fuse two
//!   instructions.
//!
//! Source: XLA `backends/gpu/transforms/priority_fusion.cc`, `service/gpu/gpu_fusible.cc`,
//! `service/gpu/model/gpu_performance_model.cc`. Flags have XLA's default values.

#[cfg(test)]
mod against_xla;
mod budget;
mod can_fuse;
mod candidate;
mod in_place;
mod multi_output;
mod pair;
mod triton_support;

pub(crate) use can_fuse::{INTO_RESULT, is_fusible_bitcast, is_too_large, may_be_tiled, not_tiled};
pub use can_fuse::{can_fuse, is_fusible};
pub use candidate::Candidate;
pub(crate) use in_place::may_fuse_scatter;
pub(crate) use multi_output::{are_connected, is_connected_otherwise, is_eligible_root};
pub use multi_output::{into_several_results, siblings};
pub use pair::Pair;
pub(crate) use pair::Tiled;
pub use triton_support::of_op as triton_supports;

use indexing::Callees;
use ir::{Graph, OpId, Opcode};

use crate::Reason;
use crate::cost::times::LAUNCH_OVERHEAD_US;
use crate::device::Device;

/// XLA's decision about a producer.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// The consumers that XLA considers, each once: users other than bitcasts.
    pub consumers: Vec<ConsumerDecision>,
    /// Why it stays a kernel of its own, in XLA's words; `None` if all consumers may take it.
    pub ineligible: Option<Reason>,
    /// Microseconds with all launches, unfused and fused. `None` if the producer is not eligible or a time is
    /// not known. XLA fuses if the second is not larger.
    pub unfused_us: Option<f64>,
    pub fused_us: Option<f64>,
}

/// The decision about one consumer of the producer.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsumerDecision {
    pub consumer: OpId,
    /// Why the producer is not fused into this consumer, in XLA's words.
    pub reason: Option<Reason>,
    /// Why the later pass does not make them a multi-output fusion either; `None` if it may.
    pub several_results: Option<Reason>,
}

impl Decision {
    /// Whether XLA fuses the producer when its turn comes.
    pub fn is_fused(&self) -> bool {
        let is_faster = self.unfused_us.zip(self.fused_us).is_some_and(|(unfused, fused)| fused <= unfused);
        self.ineligible.is_none() && is_faster
    }
}

/// The decision about an instruction of a computation. `None` for instructions that XLA does not consider:
/// parameters, constants, tuples and their elements, bitcasts. `graph` holds the producer, its users and all
/// their operands; a graph that is a part of a computation has a `root` only if it contains the root. Source:
/// `CalculateProducerPriority`.
pub fn decide(
    graph: &Graph,
    root: Option<OpId>,
    producer: OpId,
    device: &'static Device,
    callees: &Callees<'_>,
) -> Option<Decision> {
    let op = graph.ops.get(producer as usize)?;
    if !can_fuse::is_asked(op) {
        return None;
    }
    let uses = |user: &Vec<OpId>| user.contains(&producer);
    let users: Vec<OpId> =
        (0..graph.ops.len() as OpId).filter(|&id| uses(&graph.operands[id as usize])).collect();
    let mut decision = Decision { consumers: Vec::new(), ineligible: None, unfused_us: None, fused_us: None };
    if users.is_empty() {
        decision.ineligible = Some("No users to fuse".into());
        return Some(decision);
    }
    let is_bitcast = |id: OpId| graph.ops[id as usize].opcode == Opcode::Bitcast;
    if users.iter().all(|&id| is_bitcast(id)) {
        decision.ineligible = Some("not fusing because there are only bitcast users".into());
        return Some(decision);
    }
    let producer = Candidate::of(graph, producer, device, callees);
    let mut times = Some((0.0, 0.0));
    for &consumer in &users {
        let is_root = root == Some(producer.id);
        let candidate = Candidate::of(graph, consumer, device, callees);
        let pair = Pair::of(graph, &producer, &candidate, device, callees);
        times = times
            .zip(candidate.exec_us())
            .zip(pair.exec_us())
            .map(|(((apart, together), consumer), pair)| (apart + consumer, together + pair));
        // A bitcast is not a kernel: the producer stays for it, and XLA counts it nevertheless.
        if !is_bitcast(consumer) {
            let verdict = can_fuse(graph, &producer, &candidate, &pair, is_root, device);
            let several_results = match is_root {
                true => None,
                false => into_several_results(graph, &producer, &candidate, device).err(),
            };
            decision.consumers.push(ConsumerDecision { consumer, reason: verdict.err(), several_results });
        }
    }
    decision.ineligible = decision.consumers.iter().find_map(|consumer| consumer.reason.clone());
    let launches = users.len() as f64 * LAUNCH_OVERHEAD_US;
    let times = times.filter(|_| decision.ineligible.is_none());
    if let Some(((apart, together), own)) = times.zip(producer.exec_us()) {
        decision.unfused_us = Some(launches + LAUNCH_OVERHEAD_US + own + apart);
        decision.fused_us = Some(launches + together);
    }
    Some(decision)
}
