//! A producer and one of its consumers as one fusion.

use indexing::Callees;
use ir::{Graph, Op, OpId, Opcode, is_elementwise};

use super::candidate::Candidate;
use super::tiling;
use crate::cost::{Counted, KernelTime, has_coalesced_reads};
use crate::cost::{launch, read_efficiency};
use crate::device::Device;
use crate::fused::Fused;
use crate::fusion_analysis::FusionAnalysis;

/// Producer and consumer with the analysis of their fusion. Lives for one decision.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The analysis of the fusion of both; `None` if it makes no kernel.
    pub analysis: Option<FusionAnalysis>,
    /// Operands of the fusion, each once, as ops of the computation's graph.
    pub operands: Vec<OpId>,
    /// If Triton takes both: the time of the best tiling in microseconds, or the reason why there is no
    /// tiling.
    pub(super) tiled: Option<Result<f64, &'static str>>,
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
        let analysis = Fused::of_fusion(&Op::leaf(ir::Shape::Token), &both, callees);
        let analysis = analysis.and_then(|fused| FusionAnalysis::new(fused, device)).ok();
        let mut pair = Pair { analysis, operands, tiled: None, exec_us: None };
        if producer.is_triton() || consumer.is_triton() {
            let best = match &pair.analysis {
                Some(analysis) => tiling::best_time(analysis, callees),
                None => Err("no fusion comes of it"),
            };
            pair.tiled = Some(best);
        }
        pair.exec_us = pair.time(graph, producer, consumer, device).map(|time| time.exec_us);
        pair
    }

    /// Microseconds of the fused kernel without its launch, by XLA's model. Only for this consumer: the
    /// kernel writes what the consumer writes.
    pub fn exec_us(&self) -> Option<f64> {
        match self.tiled {
            Some(time) => time.ok(),
            None => self.exec_us,
        }
    }

    /// Source: `EstimateRunTimeForFusion`.
    fn time(
        &self,
        graph: &Graph,
        producer: &Candidate,
        consumer: &Candidate,
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
            let shared = common(graph, producer, consumer, operand) * size;
            let total = (bytes(producer) * first).trunc() + bytes(consumer) - shared.trunc();
            let efficiency = read_efficiency(shape, is_coalesced, device);
            reads.push(Counted { size, total: total.max(0.0), efficiency });
        }
        let flops = of_producer.flops * often + of_consumer.flops;
        Some(KernelTime::new(flops, &reads, of_consumer.bytes_written, launch(analysis)?, device))
    }
}

/// The computation of the fusion: its operands, the producer, the consumer.
fn whole(graph: &Graph, producer: &Candidate, consumer: &Candidate, operands: &[OpId]) -> Graph {
    let (of_producer, of_consumer) =
        (&graph.operands[producer.id as usize], &graph.operands[consumer.id as usize]);
    let mut both = Graph { is_complete: true, ..Graph::default() };
    for (number, &operand) in operands.iter().enumerate() {
        let shape = graph.ops[operand as usize].shape.clone();
        let leaf = Op { parameter: Some(number as u32), ..Op::leaf(shape) };
        both.push(leaf, Vec::new(), graph.names[operand as usize].clone());
    }
    let place = |operand: &OpId| operands.iter().position(|o| o == operand).unwrap_or(0) as OpId;
    let at = both.push(
        producer.op.clone(),
        of_producer.iter().map(place).collect(),
        graph.names[producer.id as usize].clone(),
    );
    let places = of_consumer.iter().map(|o| if *o == producer.id { at } else { place(o) }).collect();
    both.root = both.push(consumer.op.clone(), places, graph.names[consumer.id as usize].clone());
    both
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
