//! Which producer XLA fuses into its consumers, and why it does not.
//!
//! XLA's pass decides by producer: one is computed anew in all of its consumers, or in none. [`decide`] says whether it may
//! be, in the words of XLA's own log, and how long producer and consumers take apart and together.
//!
//! * [`Candidate`]: an instruction with the kernel that it would be on its own.
//! * [`can_fuse()`]: the rules for a pair, in XLA's order.
//! * [`Pair`]: producer and consumer as one fusion.
//! * [`siblings`], [`into_several_results`]: what the later pass for fusions of several results says of two instructions.
//!
//! Source: XLA `backends/gpu/transforms/priority_fusion.cc`, `service/gpu/gpu_fusible.cc`,
//! `service/gpu/model/gpu_performance_model.cc`. Facts: which flags are XLA's defaults.

#[cfg(test)]
mod against_xla;
mod budget;
mod can_fuse;
mod candidate;
mod in_place;
mod multi_output;
mod pair;
mod tiling;

pub use can_fuse::{can_fuse, is_fusible};
pub use candidate::Candidate;
pub use multi_output::{into_several_results, siblings};
pub use pair::Pair;

use indexing::Callees;
use ir::{Graph, OpId, Opcode};

use crate::Reason;
use crate::cost::times::LAUNCH_OVERHEAD_US;
use crate::device::Device;

/// What XLA makes of a producer.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// Those that are asked, each once: users but bitcasts.
    pub consumers: Vec<ConsumerDecision>,
    /// Why it stays a kernel of its own, in XLA's words; nothing where all consumers may take it.
    pub ineligible: Option<Reason>,
    /// Microseconds with all launches, apart and together. Nothing where the producer is not eligible or a time is not
    /// known; XLA fuses where the second is not larger.
    pub unfused_us: Option<f64>,
    pub fused_us: Option<f64>,
}

/// One consumer of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsumerDecision {
    pub consumer: OpId,
    /// Why not this one, in XLA's words.
    pub reason: Option<Reason>,
    /// Why the pass behind does not make them a fusion with the results of both either; nothing where it may.
    pub several_results: Option<Reason>,
}

impl Decision {
    /// Does XLA fuse it, when its turn comes?
    pub fn is_fused(&self) -> bool {
        let is_faster = self.unfused_us.zip(self.fused_us).is_some_and(|(unfused, fused)| fused <= unfused);
        self.ineligible.is_none() && is_faster
    }
}

/// Of an instruction of a computation; nothing where XLA does not ask: parameters, constants, tuples and their elements,
/// bitcasts. `graph` holds the producer, its users and all their operands; a graph that is a part of a computation has a
/// `root` only if that is in it. Source: `CalculateProducerPriority`.
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
        // A bitcast is no kernel: the producer stays for it, and XLA counts it all the same.
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
