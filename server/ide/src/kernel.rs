//! The kernels of a file: which instructions have one, and queries about them.

pub(crate) mod access_pattern;
pub(crate) mod block_level_tiles;
pub(crate) mod coalescing_queries;
pub(crate) mod coalescing_warnings;
pub(crate) mod default_kernel;
pub(crate) mod document;
pub(crate) mod document_hover;
pub(crate) mod elsewhere;
pub(crate) mod figures;
pub(crate) mod follow;
pub(crate) mod functions;
pub(crate) mod fusion;
pub(crate) mod heaviest;
pub(crate) mod hover;
pub(crate) mod language;
pub(crate) mod launched;
pub(crate) mod lens;
pub(crate) mod partition_queries;
pub(crate) mod readable_config;
pub(crate) mod shown_kernel;
pub(crate) mod tile_document;
pub(crate) mod tilings;
pub(crate) mod why_not_fused;
pub(crate) mod xla_kernel;

use std::sync::Arc;

use codegen::KernelText;
use db::{FusionSource, KernelId, Waste};
use gpu::{BufferTraffic, Estimate, FusionAnalysis, Partition, Reason};
use ir::{Opcode, SegmentRef};
use syntax::hlo::AttributeKey;

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::language::KernelLanguage;

impl<'a> FileContext<'a> {
    pub(crate) fn kernel_id(&self, at: InstructionRef) -> Option<KernelId<'a>> {
        let computation = self.computation_id(at)?;
        let piece = *self.view.file.pieces(self.db).get(at.piece)?;
        Some(db::kernel_id(self.db, piece, computation, self.block(at.piece).name(at.id)))
    }

    pub(crate) fn fusion_source(&self, id: KernelId<'a>) -> Option<&'a Arc<FusionSource>> {
        db::fusion_source(self.db, id).as_ref()
    }

    /// The kernel of an instruction, or why it has none; `None` if the instruction has no shape.
    pub(crate) fn kernel(&self, id: KernelId<'a>) -> Option<&'a Result<Arc<FusionAnalysis>, Reason>> {
        db::kernel(self.db, id).as_ref()
    }

    /// The estimated time; `None` if the instruction has no shape.
    pub(crate) fn kernel_cost(&self, id: KernelId<'a>) -> Option<Arc<Estimate>> {
        db::kernel_cost(self.db, id)
    }

    pub(crate) fn kernel_code(&self, id: KernelId<'a>) -> Option<&'a Result<Arc<codegen::Kernel>, Reason>> {
        db::kernel_code(self.db, id).as_ref()
    }

    /// The code as text; a table of tile sizes is none.
    pub(crate) fn kernel_text(
        &self,
        id: KernelId<'a>,
        language: KernelLanguage,
    ) -> Option<&'a Result<Arc<KernelText>, Reason>> {
        let text = match language {
            KernelLanguage::Mlir => db::kernel_mlir(self.db, id),
            KernelLanguage::MlirAfter(passes) => db::kernel_passes(self.db, id, passes.into()),
            KernelLanguage::Ptx => db::kernel_ptx(self.db, id),
            KernelLanguage::Tiles => db::kernel_tiles(self.db, id),
            KernelLanguage::Triton => db::kernel_triton(self.db, id),
            KernelLanguage::Tilings => return None,
        };
        text.as_ref()
    }

    pub(crate) fn kernel_partition(&self, id: KernelId<'a>) -> Option<&'a Arc<Partition>> {
        db::kernel_partition(self.db, id).as_ref()
    }

    pub(crate) fn kernel_waste(&self, id: KernelId<'a>, threshold: f64) -> Arc<Vec<Waste>> {
        db::kernel_waste(self.db, id, threshold)
    }

    /// Computes all information about the file's kernels on all cores. Returns their number.
    pub(crate) fn kernels_ahead(&self) -> usize {
        let all = (0..self.pieces()).flat_map(|piece| self.kernels_in(piece));
        let ids: Vec<_> = all.filter_map(|at| self.kernel_id(at)).collect();
        self.view.kernels_ahead(self.db, &ids);
        ids.len()
    }

    pub(crate) fn kernel_coalescing(&self, id: KernelId<'a>) -> &'a Arc<Vec<BufferTraffic>> {
        db::kernel_coalescing(self.db, id)
    }

    /// Whether this instruction alone runs something: a kernel or a library call. Unlike
    /// [`Self::is_launched`], also true for instructions that XLA may still fuse.
    pub(crate) fn may_be_kernel(&self, at: InstructionRef) -> bool {
        let Some(opcode) = self.block(at.piece).instruction(at.id).opcode else { return false };
        let Some(computation) = self.computation_id(at) else { return false };
        let is_run = matches!(opcode, Opcode::Fusion | Opcode::CustomCall) || gpu::is_wrapped(opcode);
        is_run && self.is_run_as_written(SegmentRef { piece: at.piece, computation })
    }

    /// Whether the instruction is launched as a kernel: a fusion that is not inside another, or, in a
    /// computation with fusions, an instruction that XLA wraps in one.
    pub(crate) fn is_launched(&self, at: InstructionRef) -> bool {
        if self.is_of_cpu() {
            return false;
        }
        let opcode = self.block(at.piece).instruction(at.id).opcode;
        let Some(computation) = self.computation_id(at) else { return false };
        let segment = SegmentRef { piece: at.piece, computation };
        match opcode {
            Some(Opcode::Fusion) => self.is_run_as_written(segment),
            Some(opcode) if gpu::is_wrapped(opcode) => self.launches_kernels(segment),
            _ => false,
        }
    }

    /// Whether XLA's CPU compiler made the module, which then has no GPU kernels.
    pub(crate) fn is_of_cpu(&self) -> bool {
        db::is_of_cpu(self.db, self.view.file)
    }

    /// Whether the computation runs instruction by instruction and contains fusions. Before optimisation the
    /// kernels of a module are unknown.
    pub(crate) fn launches_kernels(&self, segment: SegmentRef) -> bool {
        self.has_fusions(segment) && !self.is_of_cpu() && self.is_run_as_written(segment)
    }

    fn has_fusions(&self, segment: SegmentRef) -> bool {
        let index = self.module().computation_of(segment);
        index.is_some_and(|index| db::has_fusions(self.db, self.view.file)[index])
    }

    /// The entry, bodies of loops, branches, called computations; not the computations of fusions or
    /// reductions.
    pub(crate) fn is_run_as_written(&self, segment: SegmentRef) -> bool {
        let module = self.module();
        let Some(index) = module.computation_of(segment) else { return false };
        if module.is_entry(index) {
            return true;
        }
        let calls = db::call_graph(self.db, self.view.file).incoming(index);
        let opcode = |call: &db::CallSite| self.block(call.piece).instruction(call.instruction).opcode;
        calls.iter().all(|call| {
            matches!(
                opcode(call),
                Some(Opcode::While | Opcode::Conditional | Opcode::Call | Opcode::AsyncStart)
            )
        })
    }

    /// The first fusion that calls a computation.
    pub(crate) fn fusion_of(&self, computation: usize) -> Option<InstructionRef> {
        let calls = db::call_graph(self.db, self.view.file).incoming(computation).iter();
        let calls = calls.map(|call| InstructionRef { piece: call.piece, id: call.instruction });
        let is_fusion =
            |at: &InstructionRef| self.block(at.piece).instruction(at.id).opcode == Some(Opcode::Fusion);
        calls.into_iter().find(is_fusion)
    }

    /// The instruction of this name in a kernel's fused computation.
    pub(crate) fn fused_instruction(&self, fusion: InstructionRef, name: &str) -> Option<InstructionRef> {
        let segments = self.called_by(fusion, AttributeKey::Calls, 0)?;
        self.find_in_segments(&segments, name)
    }

    /// Like [`Self::fused_instruction`], including fusions nested in the fusion.
    pub(crate) fn nested_instruction(&self, fusion: InstructionRef, name: &str) -> Option<InstructionRef> {
        self.fused_instruction(fusion, name).or_else(|| {
            let source = self.fusion_source(self.kernel_id(fusion)?)?;
            source.callees.iter().skip(1).find_map(|(called, _)| {
                let computation = self.callee(fusion, called)?;
                self.find_in_segments(&self.module().computations[computation].segments, name)
            })
        })
    }

    fn find_in_segments(&self, segments: &[SegmentRef], name: &str) -> Option<InstructionRef> {
        segments.iter().find_map(|s| {
            let id = self.block(s.piece).find(s.computation, name)?;
            Some(InstructionRef { piece: s.piece, id })
        })
    }

    /// The first instruction that calls the computation containing `at`.
    pub(crate) fn caller(&self, at: InstructionRef) -> Option<InstructionRef> {
        let computation = self.enclosing_computation(at)?;
        let call = db::call_graph(self.db, self.view.file).incoming(computation).iter().next()?;
        Some(InstructionRef { piece: call.piece, id: call.instruction })
    }

    /// The instructions of a piece that are launched as kernels, in text order.
    pub(crate) fn kernels_in(&self, piece: usize) -> Vec<InstructionRef> {
        if self.is_of_cpu() {
            return Vec::new();
        }
        let segments = 0..self.block(piece).parse.computations.len() as u32;
        segments.flat_map(|computation| self.kernels_of(SegmentRef { piece, computation })).collect()
    }

    /// Like [`Self::kernels_in`], for the part of one computation in the piece.
    pub(crate) fn kernels_of(&self, segment: SegmentRef) -> Vec<InstructionRef> {
        let block = self.block(segment.piece);
        let is_fusion = |id: u32| block.instruction(id).opcode == Some(Opcode::Fusion);
        let may_wrap = |id: u32| block.instruction(id).opcode.is_some_and(gpu::is_wrapped);
        let ids = self.computation(segment).instructions.clone();
        // Most computations are reducers and have no fusion: who calls them is not asked.
        let may_launch = ids.clone().any(is_fusion) || self.has_fusions(segment) && ids.clone().any(may_wrap);
        if !may_launch || self.is_of_cpu() || !self.is_run_as_written(segment) {
            return Vec::new();
        }
        let wraps = self.has_fusions(segment);
        let launched = ids.filter(|&id| is_fusion(id) || wraps && may_wrap(id));
        launched.map(|id| InstructionRef { piece: segment.piece, id }).collect()
    }
}
