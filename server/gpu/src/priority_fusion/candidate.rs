//! An instruction that may be fused, with the kernel that it would be on its own.

use indexing::Callees;
use ir::{AttributeKey, Graph, Op, OpId, Opcode};

use crate::cost::{Counted, FusionUse, InstructionCost, KernelTime, has_coalesced_reads};
use crate::cost::{launch, read_efficiency, tiled_time};
use crate::device::Device;
use crate::fused::Fused;
use crate::fusion_analysis::FusionAnalysis;
use crate::heroes::Kind;

/// An instruction with its analysis and counts. Lives for one decision.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The id in the graph of the computation.
    pub id: OpId,
    pub op: Op,
    /// The analysis as a fusion, or as an op wrapped in one. `None` if no fusion emitter makes a kernel of
    /// it.
    pub analysis: Option<FusionAnalysis>,
    /// How often its ops are computed. `None` if that is not counted.
    pub(super) uses: Option<FusionUse>,
    /// Per operand, how often its elements are read.
    pub(super) utilisation: Vec<f64>,
    /// Per operand, bytes read, counted once per read.
    pub(super) bytes_read: Vec<f64>,
    pub(super) time: Option<KernelTime>,
}

impl Candidate {
    pub fn of(graph: &Graph, id: OpId, device: &'static Device, callees: &Callees<'_>) -> Candidate {
        let op = &graph.ops[id as usize];
        let called = match op.opcode {
            Opcode::Fusion => op.attributes.computation(AttributeKey::Calls).and_then(callees),
            _ => None,
        };
        Candidate::with(graph, id, called.as_deref(), device, callees)
    }

    /// The same for a fusion of this computation, whatever its attributes say.
    pub fn with(
        graph: &Graph,
        id: OpId,
        called: Option<&Graph>,
        device: &'static Device,
        callees: &Callees<'_>,
    ) -> Candidate {
        let op = graph.ops[id as usize].clone();
        let fused = match called {
            Some(called) => Fused::of_fusion(&op, called, callees).ok(),
            None => Fused::wrapping(&op, &graph.names[id as usize]).ok(),
        };
        let analysis = fused.and_then(|fused| FusionAnalysis::new(fused, device).ok());
        let uses = analysis.as_ref().and_then(|a| FusionUse::of(&a.fused, device, callees));
        let mut candidate =
            Candidate { id, op, analysis, uses, utilisation: Vec::new(), bytes_read: Vec::new(), time: None };
        candidate.time = candidate.count(device, callees);
        candidate
    }

    /// Whether it is a fusion in the text.
    pub fn is_fusion(&self) -> bool {
        self.op.opcode == Opcode::Fusion
    }

    /// Whether it is a block-level fusion that Triton accepts. Source: `IsGenericTritonFusion`.
    pub fn is_triton(&self) -> bool {
        let kind = self.analysis.as_ref().and_then(|analysis| analysis.fused.backend_kind.as_deref());
        self.is_fusion() && kind == Some("__triton")
    }

    pub(super) fn kind(&self) -> Option<Kind> {
        self.analysis.as_ref().map(|analysis| analysis.kind)
    }

    /// Microseconds of the kernel, without its launch, by XLA's model.
    pub fn exec_us(&self) -> Option<f64> {
        self.time.map(|time| time.exec_us)
    }

    /// Its ops without parameters.
    pub(super) fn ops(&self) -> Vec<&Op> {
        match &self.analysis {
            Some(analysis) => analysis.fused.ops().map(|(_, op)| op).collect(),
            None => vec![&self.op],
        }
    }

    /// The number of copies of its ops in the code of its kernel.
    pub(super) fn ir_size(&self) -> f64 {
        match &self.uses {
            Some(uses) if self.is_fusion() => uses.ir_size,
            _ => 1.0,
        }
    }

    /// Counts per operand and in total. Source: `EstimateRunTimeForInstruction`; a single op is counted as it
    /// is, not as the fusion around it.
    fn count(&mut self, device: &'static Device, callees: &Callees<'_>) -> Option<KernelTime> {
        if self.op.opcode == Opcode::Bitcast {
            (self.utilisation, self.bytes_read) = (vec![1.0], vec![0.0]);
            return Some(KernelTime::default());
        }
        let analysis = self.analysis.as_ref()?;
        let uses = self.uses.as_ref()?;
        let (flops, bytes_written);
        if self.is_fusion() {
            for number in 0..self.op.operand_shapes.len() {
                let parameter = analysis.fused.graph.parameter(u32::try_from(number).ok()?);
                let often = parameter.map_or(0.0, |id| uses.utilisation[id as usize]);
                let size = self.op.operand_shapes[number].bytes()? as f64;
                self.utilisation.push(often);
                self.bytes_read.push((size * often).round());
            }
            (flops, bytes_written) = (uses.flops, uses.bytes_written);
        } else {
            let cost = InstructionCost::of(&self.op, device, callees)?;
            (self.utilisation, self.bytes_read) = (cost.utilisation, cost.bytes_read);
            (flops, bytes_written) = (cost.flops, cost.bytes_written);
        }
        // XLA times GEMM fusions like its own kernels here.
        if self.is_triton() {
            return tiled_time(analysis, callees).ok();
        }
        let is_coalesced = has_coalesced_reads(&analysis.fused, analysis.kind);
        let counted = |(shape, &total): (&ir::Shape, &f64)| {
            let efficiency = read_efficiency(shape, is_coalesced, device);
            Some(Counted { size: shape.bytes()? as f64, total, efficiency })
        };
        let shapes = self.op.operand_shapes.iter();
        let reads = shapes.zip(&self.bytes_read).map(counted).collect::<Option<Vec<_>>>()?;
        Some(KernelTime::new(flops, &reads, bytes_written, launch(analysis)?, device))
    }
}
