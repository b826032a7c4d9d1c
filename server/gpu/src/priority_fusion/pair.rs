//! A producer and one of its consumers as one fusion.

use indexing::Callees;
use ir::{Graph, Op, OpId, Opcode, is_elementwise};

use super::candidate::Candidate;
use super::triton_support;
use crate::cost::{Counted, KernelTime, RankedTiling, has_coalesced_reads};
use crate::cost::{best_tilings, launch, read_efficiency};
use crate::device::Device;
use crate::fused::Fused;
use crate::fusion_analysis::FusionAnalysis;

/// The best tiling of a fusion that Triton takes, or the reason why there is none.
pub(crate) type Tiled = Result<RankedTiling, &'static str>;

/// Producer and consumer with the analysis of their fusion. Lives for one decision.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The analysis of the fusion of both; `None` if it makes no kernel.
    pub analysis: Option<FusionAnalysis>,
    /// Operands of the fusion, each once, as ops of the computation's graph.
    pub operands: Vec<OpId>,
    /// If one of them is a Triton fusion already: the tiling of both together.
    pub tiled: Option<Tiled>,
    /// Microseconds by XLA's model of its own emitters.
    exec_us: Option<f64>,
}

impl Pair {
    pub fn of(
        graph: &Graph,
        producer: &Candidate,
        consumer: &Candidate,
        device: &'static Device,
        callees: &Callees<'_>,
    ) -> Pair {
        let (of_producer, of_consumer) =
            (&graph.operands[producer.id as usize], &graph.operands[consumer.id as usize]);
        let mut operands: Vec<OpId> = Vec::new();
        for &operand in of_consumer.iter().filter(|&&o| o != producer.id).chain(of_producer) {
            if !operands.contains(&operand) {
                operands.push(operand);
            }
        }
        let both = whole(graph, producer, consumer, &operands);
        let analysis = both.and_then(|fused| FusionAnalysis::new(fused, device).ok());
        let mut pair = Pair { analysis, operands, tiled: None, exec_us: None };
        if producer.is_triton() || consumer.is_triton() {
            let search = || {
                let is_supported =
                    [producer, consumer].into_iter().all(|c| triton_support::is_supported(c).is_ok());
                let best = match &pair.analysis {
                    _ if !is_supported => Err("an op that Triton does not have"),
                    Some(analysis) => best_tilings(analysis, callees, 1),
                    None => Err("no fusion comes of it"),
                };
                best.and_then(|best| best.into_iter().next().ok_or("no tiling fits"))
            };
            pair.tiled = Some(search());
            return pair;
        }
        let written = consumer.time.map_or(0.0, |time| time.bytes_written);
        pair.exec_us = pair.time(graph, producer, consumer, written, device).map(|time| time.exec_us);
        pair
    }

    /// Microseconds of the fused kernel without its launch, by XLA's model. Only for this consumer: the
    /// kernel writes what the consumer writes.
    pub fn exec_us(&self) -> Option<f64> {
        match &self.tiled {
            Some(tiling) => tiling.as_ref().ok().map(|tiling| tiling.time.exec_us),
            None => self.exec_us,
        }
    }

    /// The same for a kernel that also writes the result of the producer.
    pub(crate) fn exec_with_both_results_us(
        &self,
        graph: &Graph,
        producer: &Candidate,
        consumer: &Candidate,
        device: &'static Device,
    ) -> Option<f64> {
        let written = producer.time?.bytes_written + consumer.time?.bytes_written;
        Some(self.time(graph, producer, consumer, written, device)?.exec_us)
    }

    /// The time of the kernel, which writes `written` bytes. Source: `EstimateRunTimeForFusion`.
    fn time(
        &self,
        graph: &Graph,
        producer: &Candidate,
        consumer: &Candidate,
        written: f64,
        device: &'static Device,
    ) -> Option<KernelTime> {
        let analysis = self.analysis.as_ref()?;
        let (of_producer, of_consumer) = (producer.time?, consumer.time?);
        let inputs = &graph.operands[consumer.id as usize];
        let index = |of: &Candidate, operand: OpId| {
            graph.operands[of.id as usize].iter().position(|&other| other == operand)
        };
        let often: f64 = inputs
            .iter()
            .zip(&consumer.utilisation)
            .filter(|(operand, _)| **operand == producer.id)
            .map(|(_, often)| often)
            .sum();
        let is_coalesced = has_coalesced_reads(&analysis.fused, analysis.kind);
        let first = index(consumer, producer.id).and_then(|at| consumer.utilisation.get(at).copied())?;
        let mut reads = Vec::new();
        for &operand in &self.operands {
            let shape = &graph.ops[operand as usize].shape;
            let size = shape.bytes()? as f64;
            let bytes = |of: &Candidate| {
                index(of, operand).and_then(|at| of.bytes_read.get(at).copied()).unwrap_or(0.0)
            };
            let shared = single(common(graph, producer, consumer, operand) * size);
            let total = single(bytes(producer) * first).round() + bytes(consumer) - shared.round();
            let efficiency = read_efficiency(shape, is_coalesced, device);
            reads.push(Counted { size, total: total.max(0.0), efficiency });
        }
        let flops = single(single(of_producer.flops * often) + of_consumer.flops);
        Some(KernelTime::new(flops, &reads, written, launch(analysis)?, device))
    }
}

/// Rounds as XLA does, which computes with `f32` here.
fn single(number: f64) -> f64 {
    f64::from(number as f32)
}

/// Both as one fusion, with the operands as its parameters. `None` if one of them makes no kernel.
fn whole(graph: &Graph, producer: &Candidate, consumer: &Candidate, operands: &[OpId]) -> Option<Fused> {
    let mut both = Graph { is_complete: true, ..Graph::default() };
    for (number, &operand) in operands.iter().enumerate() {
        let shape = graph.ops[operand as usize].shape.clone();
        both.push(Op::parameter(number as u32, shape), Vec::new(), graph.names[operand as usize].clone());
    }
    let place = |operand: OpId| operands.iter().position(|&o| o == operand).map(|at| at as OpId);
    let of_producer: Option<Vec<OpId>> =
        graph.operands[producer.id as usize].iter().map(|&o| place(o)).collect();
    let result = *add(&mut both, graph, producer, &of_producer?)?.first()?;
    let of_consumer = graph.operands[consumer.id as usize].iter();
    let of_consumer: Option<Vec<OpId>> =
        of_consumer.map(|&o| if o == producer.id { Some(result) } else { place(o) }).collect();
    let results = add(&mut both, graph, consumer, &of_consumer?)?;
    Fused::trusted(both, results).ok()
}

/// Adds the ops of a candidate to the fusion, and returns its results there.
fn add(both: &mut Graph, graph: &Graph, candidate: &Candidate, operands: &[OpId]) -> Option<Vec<OpId>> {
    let Some(analysis) = &candidate.analysis else {
        let is_single = !candidate.is_fusion();
        let name = graph.names[candidate.id as usize].clone();
        return is_single.then(|| vec![both.push(candidate.op.clone(), operands.to_vec(), name)]);
    };
    let fused = &analysis.fused;
    let mut ids: Vec<OpId> = Vec::with_capacity(fused.graph.ops.len());
    for (id, op) in fused.graph.ops.iter().enumerate() {
        ids.push(match op.parameter {
            Some(number) => *operands.get(number as usize)?,
            None => {
                let inner = fused.graph.operands[id].iter().map(|&o| ids[o as usize]).collect();
                both.push(op.clone(), inner, fused.graph.names[id].clone())
            }
        });
    }
    Some(fused.roots.iter().map(|&root| ids[root as usize]).collect())
}

/// How often both read the same element of an operand at the same index. Source: `GetCommonUtilization`,
/// `service/gpu/model/gpu_performance_model_base.cc`.
fn common(graph: &Graph, producer: &Candidate, consumer: &Candidate, operand: OpId) -> f64 {
    let place = |of: &Candidate, operand: OpId| {
        graph.operands[of.id as usize].iter().position(|&other| other == operand)
    };
    let (Some(at_producer), Some(at_consumer)) = (place(producer, operand), place(consumer, operand)) else {
        return 0.0;
    };
    let reads_at_own_index = is_elementwise(producer.op.opcode)
        || producer.op.opcode == Opcode::Fusion && is_elementwise_from_root(producer, at_producer);
    if !reads_at_own_index {
        return 0.0;
    }
    if consumer.op.opcode == Opcode::Fusion {
        let (Some(analysis), Some(uses)) = (&consumer.analysis, &consumer.uses) else { return 0.0 };
        let parameter = |number: usize| analysis.fused.graph.parameter(number as u32);
        let inputs = graph.operands[consumer.id as usize].iter().enumerate();
        let of_producer = inputs.filter(|(_, input)| **input == producer.id);
        return of_producer
            .filter_map(|(at, _)| Some(uses.common(parameter(at_consumer)?, parameter(at)?)))
            .sum();
    }
    f64::from(u8::from(is_elementwise(consumer.op.opcode)))
}

/// Source: `FusionUsesParameterElementwiseFromRoot`.
fn is_elementwise_from_root(fusion: &Candidate, number: usize) -> bool {
    let (Some(analysis), Some(uses)) = (&fusion.analysis, &fusion.uses) else { return false };
    let parameter = analysis.fused.graph.parameter(number as u32);
    parameter.is_some_and(|parameter| uses.common(parameter, analysis.fused.roots[0]) == 1.0)
}
