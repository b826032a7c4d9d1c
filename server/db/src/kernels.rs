//! The kernels that fusions become, one by one.
//!
//! [`fusion_source`] is all that a kernel depends on, except the device. It re-runs when the piece of the fusion or that of
//! its computation changes. Its value is mostly equal to the previous one, and then no other query here re-runs.

use std::sync::Arc;

use gpu::{
    Bound, BufferTraffic, Cause, Device, Elsewhere, Emitter, Estimate, Fused, FusionAnalysis, Partition,
    Reason, Remedy,
};
use ir::{AttributeKey, Graph, Op, Opcode, SegmentRef};
use salsa::Setter;

use crate::cancellation::for_each_in_parallel;
use crate::compiles::{device_of, has_flag};
use crate::giants::giant_index;
use crate::kernel_ids::KernelId;
use crate::known_kernels::{Content, Known, KnownKernels};
use crate::positions::position_of;
use crate::queries::{block, graph, module};
use crate::{Database, File, FileView};

/// Fusions in fusions beyond this depth are opaque.
const MAX_DEPTH: usize = 16;

/// What kernels are for, and are judged by. One per database.
#[salsa::input(singleton)]
pub struct Target {
    #[returns(copy)]
    pub device: &'static Device,
    /// Whether this device counts for the stages of a compile too, whatever device the compile targets.
    #[returns(copy)]
    pub is_forced: bool,
    /// The ratio of an array's sectors to the ideal above which it is worth a warning.
    #[returns(copy)]
    pub waste_threshold: f64,
    /// Never set again: it decides no answer, only how soon it comes.
    known: KnownKernels,
}

impl Database {
    /// Sets the defaults. The input exists from the start, because salsa records no dependency on a missing one.
    pub(crate) fn with_target(self, known: KnownKernels) -> Database {
        let device = Device::find(gpu::DEFAULT_DEVICE);
        let device = device.unwrap_or_else(|_| &Device::all()[0]);
        Target::new(&self, device, false, gpu::DEFAULT_THRESHOLD, known);
        self
    }

    /// Kernels are for this device from now on. Those of stages are for the device of their compile unless `is_forced`.
    pub fn set_device(&mut self, device: &'static Device, is_forced: bool) {
        let target = Target::get(self);
        if target.device(self) != device {
            target.set_device(self).to(device);
        }
        if target.is_forced(self) != is_forced {
            target.set_is_forced(self).to(is_forced);
        }
    }

    /// Sets the threshold for which [`kernel_waste`] is memoised.
    pub fn set_waste_threshold(&mut self, threshold: f64) {
        let target = Target::get(self);
        if target.waste_threshold(self).to_bits() != threshold.to_bits() {
            target.set_waste_threshold(self).to(threshold);
        }
    }

    /// The device that the kernels of a file are for.
    pub fn device_of(&self, file: File) -> &'static Device {
        device_of(self, Some(file))
    }
}

/// What is known of a kernel, or why there is none; `None` if there is no such instruction.
pub type OfKernel<T> = Option<Result<Arc<T>, Reason>>;

/// A computation by the name under which it is called.
pub type Callee = (String, Arc<Graph>);

/// An instruction with the computations that it calls, as far as its kernel depends on them: shapes and layouts of the
/// operands are the op's.
#[derive(Debug, Clone)]
pub struct FusionSource {
    pub name: Arc<str>,
    pub op: Op,
    /// The fused computation, those that fusions inside it call, and what reductions apply, by the name in the text.
    pub callees: Vec<Callee>,
    /// As [`Fused::same_as`].
    pub same_as: Vec<usize>,
    /// The fusion represents a function of MLIR; XLA did not make it.
    pub is_function: bool,
    /// A computation that it calls is so long that it is read in parts, and is not among the callees.
    pub is_cut: bool,
}

impl PartialEq for FusionSource {
    fn eq(&self, other: &FusionSource) -> bool {
        let same = |(a, b): (&Callee, &Callee)| a.0 == b.0 && (Arc::ptr_eq(&a.1, &b.1) || a.1 == b.1);
        self.name == other.name
            && self.op == other.op
            && self.same_as == other.same_as
            && self.is_function == other.is_function
            && self.is_cut == other.is_cut
            && self.callees.len() == other.callees.len()
            && self.callees.iter().zip(&other.callees).all(same)
    }
}

impl FusionSource {
    pub fn callee(&self, name: &str) -> Option<Arc<Graph>> {
        self.callees.iter().find(|(known, _)| known == name).map(|(_, graph)| graph.clone())
    }

    /// The fused computation, with its name; nothing for an op that XLA would wrap.
    pub fn computation(&self) -> Option<(&str, &Arc<Graph>)> {
        match self.op.opcode {
            Opcode::Fusion => self.callees.first().map(|(name, graph)| (name.as_str(), graph)),
            _ => None,
        }
    }

    /// Whether the kernel's results may be elements of a tuple.
    fn may_have_several_results(&self) -> bool {
        self.op.shape.as_array().is_none()
    }

    fn fused(&self) -> Result<Fused, Reason> {
        Ok(Fused { same_as: self.same_as.clone(), ..self.plain_fused()? })
    }

    fn plain_fused(&self) -> Result<Fused, Reason> {
        let called = self.op.attributes.computation(AttributeKey::Calls);
        match (self.op.opcode, called) {
            (Opcode::Fusion, Some(called)) => {
                let callee = self.callee(called).ok_or(match self.is_cut {
                    true => "the fused computation has more than 2048 lines or 256 KiB of text, too many for a kernel",
                    false => "the fusion calls an unknown computation",
                })?;
                let callees = |name: &str| self.callee(name);
                match self.is_function {
                    true => Fused::of_function(&self.op, &callee, &callees),
                    false => Fused::of_fusion(&self.op, &callee, &callees),
                }
            }
            (Opcode::Fusion, None) => Err("the fusion calls no computation".into()),
            _ => Fused::standing_alone(&self.op, &self.name),
        }
    }
}

/// Everything that the kernel of an instruction depends on, except the device. `None` if the instruction has no shape. While
/// this value stays equal, no kernel query re-runs.
#[salsa::tracked(lru = 4096)]
pub fn fusion_source<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Option<Arc<FusionSource>> {
    let (piece, computation, name) = (id.piece(db), id.computation(db), id.name(db));
    if piece.file(db).is_some_and(|file| file.language(db) == crate::Language::Mlir) {
        return crate::mlir_kernels::mlir_fusion_source(db, id);
    }
    let block = block(db, piece);
    let id = block.find(computation, &name)?;
    let place = || {
        let (file, at) = position_of(db, piece)?;
        let index = module(db, file).computation_of(SegmentRef { piece: at, computation })?;
        Some((file, index))
    };
    let external = |name: &str| {
        let (file, index) = place()?;
        giant_index(db, file).find(index, name)?.export(db, file)?.shape.clone()
    };
    let op = block.op(id, external)?;
    let (mut callees, mut is_cut) = (Vec::new(), false);
    if called_by(&op).next().is_some()
        && let Some((file, index)) = place()
    {
        let section = module(db, file).computations[index].section;
        for called in called_by(&op) {
            is_cut |= !collect(db, file, section, called, &mut callees, 0);
        }
    }
    let operands =
        block.operands_of(id).map(|(operand, _)| operand.name.of(&block.text).trim_start_matches('%'));
    let same_as = same_as(&operands.collect::<Vec<_>>());
    Some(Arc::new(FusionSource { name, op, callees, same_as, is_function: false, is_cut }))
}

/// Per name of an operand, the first one like it; nothing where all differ.
fn same_as(operands: &[&str]) -> Vec<usize> {
    let first = |own: &&str| operands.iter().position(|other| other == own).unwrap_or(0);
    let all: Vec<usize> = operands.iter().map(first).collect();
    if all.iter().enumerate().all(|(n, &first)| n == first) { Vec::new() } else { all }
}

/// Adds the computation of this name and those that it calls. Returns false if one of them is read in parts: then it is missing.
fn collect(
    db: &dyn salsa::Database,
    file: File,
    section: u32,
    name: &str,
    callees: &mut Vec<Callee>,
    depth: usize,
) -> bool {
    if depth > MAX_DEPTH || callees.iter().any(|(known, _)| known == name) {
        return true;
    }
    let module = module(db, file);
    let Some(segments) = module.find_in(section, name).map(|c| &module.computations[c].segments) else {
        return true;
    };
    let [only] = segments.as_slice() else { return false };
    let Some(found) = file.pieces(db).get(only.piece).and_then(|&p| graph(db, p, only.computation).clone())
    else {
        return true;
    };
    callees.push((name.to_owned(), found.clone()));
    let mut is_whole = true;
    for called in found.ops.iter().flat_map(called_by) {
        is_whole &= collect(db, file, section, called, callees, depth + 1);
    }
    is_whole
}

/// A fusion's computation, or what a reduction, a scatter or a map applies.
pub(crate) fn called_by(op: &Op) -> impl Iterator<Item = &str> {
    [AttributeKey::Calls, AttributeKey::ToApply].into_iter().filter_map(|key| op.attributes.computation(key))
}

/// The emitter of a fusion, or of an op that XLA would wrap into one, with its launch.
#[salsa::tracked(lru = 4096, no_eq)]
pub fn kernel<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> OfKernel<FusionAnalysis> {
    let Content { source, device, is_of_cpu, has_several_results_flag } = content(db, id)?;
    let analysis = source.fused().and_then(|mut fused| {
        if is_of_cpu {
            fused.left_to = Some(Elsewhere::CpuBackend);
        }
        fused.has_several_results_flag = has_several_results_flag && fused.outputs.len() > 1;
        FusionAnalysis::new(fused, device)
    });
    Some(analysis.map(Arc::new))
}

/// All that a kernel depends on. `None` if the instruction has no shape.
fn content<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Option<Content> {
    let source = fusion_source(db, id).clone()?;
    let file = id.piece(db).file(db);
    Some(Content {
        is_of_cpu: file.is_some_and(|file| crate::is_of_cpu(db, file)),
        has_several_results_flag: source.may_have_several_results()
            && has_flag(db, file, xtile::SEVERAL_RESULTS_FLAG),
        device: device_of(db, file),
        source,
    })
}

/// What is known of the kernel, and of all that are alike.
#[salsa::tracked(lru = 4096, no_eq)]
fn known<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Option<Arc<Known>> {
    Some(Target::get(db).known(db).of(content(db, id)?))
}

/// How long the kernel takes: XLA's estimate and the roofline. `None` where no emitter takes it.
#[salsa::tracked(lru = 4096, no_eq)]
pub fn kernel_estimate<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Option<Arc<Estimate>> {
    let source = fusion_source(db, id).clone()?;
    let Some(Ok(analysis)) = kernel(db, id) else { return None };
    let known = known(db, id).as_ref()?;
    if let Some(known) = known.estimate.get() {
        return Some(known.clone());
    }
    let estimate = Arc::new(gpu::estimate(analysis, &|name| source.callee(name)));
    _ = known.estimate.set(estimate.clone());
    Some(estimate)
}

/// The code of the kernel, before it is text.
#[salsa::tracked(lru = 64, no_eq)]
pub fn kernel_code<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> OfKernel<codegen::Kernel> {
    let source = fusion_source(db, id).clone()?;
    let analysis = match kernel(db, id).as_ref()? {
        Ok(analysis) => analysis,
        Err(reason) => return Some(Err(reason.clone())),
    };
    if let Emitter::Elsewhere(elsewhere) = &analysis.emitter {
        return Some(Err(elsewhere.reason()));
    }
    Some(emit(&source, analysis).map(Arc::new))
}

fn emit(source: &FusionSource, analysis: &FusionAnalysis) -> Result<codegen::Kernel, Reason> {
    let computation = source.computation().map_or("fused", |(name, _)| name);
    let callees = |name: &str| source.callee(name);
    codegen::emit(&codegen::Source { name: &source.name, computation, analysis, callees: &callees })
}

/// What the code of a kernel that a change of the fusion would give reads and writes.
fn changed_code(source: &FusionSource, analysis: &FusionAnalysis) -> Result<Vec<gpu::CodeAccess>, Reason> {
    if analysis.is_for_triton() {
        let program = xtile::emit(&source.name, analysis, &|name| source.callee(name))?;
        return xtile::accesses(&xtile::lower(&program)?, analysis);
    }
    codegen::accesses(&emit(source, analysis)?, analysis.device)
}

/// The kernel as XLA's emitters write it, with the op of each line.
#[salsa::tracked(lru = 64, no_eq)]
pub fn kernel_mlir<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> OfKernel<codegen::KernelText> {
    let code = kernel_code(db, id).as_ref()?;
    Some(code.as_ref().map(|kernel| Arc::new(codegen::mlir(kernel))).map_err(Clone::clone))
}

/// The program of one block of a Triton kernel, as MLIR on tiles. The error says why XLA refuses the fusion, or what is not
/// written yet.
#[salsa::tracked(lru = 64, no_eq)]
pub fn kernel_tiles<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> OfKernel<codegen::KernelText> {
    Some(
        tile_program(db, id)
            .as_ref()?
            .as_ref()
            .map_err(Clone::clone)
            .map(|program| Arc::new(xtile::text(program))),
    )
}

/// The same after XLA's simplification and lowering to Triton's operations.
#[salsa::tracked(lru = 64, no_eq)]
pub fn kernel_triton<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> OfKernel<codegen::KernelText> {
    let lowered = lowered_program(db, id).as_ref()?.as_ref();
    Some(lowered.map_err(Clone::clone).map(|program| Arc::new(xtile::text(program))))
}

/// The program in Triton's operations, from which its text is written and its memory accesses are derived.
#[salsa::tracked(lru = 16, no_eq)]
fn lowered_program<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> OfKernel<xtile::Program> {
    let program = tile_program(db, id).as_ref()?.as_ref();
    Some(program.map_err(Clone::clone).and_then(|program| xtile::lower(program)).map(Arc::new))
}

/// What both texts are written from.
#[salsa::tracked(lru = 16, no_eq)]
fn tile_program<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> OfKernel<xtile::Program> {
    let source = fusion_source(db, id).clone()?;
    let analysis = match kernel(db, id).as_ref()? {
        Ok(analysis) => analysis,
        Err(reason) => return Some(Err(reason.clone())),
    };
    if !analysis.is_for_triton() {
        return Some(Err("only fusions for Triton are written as tiles".into()));
    }
    Some(xtile::emit(&source.name, analysis, &|name| source.callee(name)).map(Arc::new))
}

/// The same after the passes that `asked` names: each of its texts below a head. The error says which passes there are where
/// there is none of that name.
#[salsa::tracked(lru = 8, no_eq)]
pub fn kernel_passes<'db>(
    db: &'db dyn salsa::Database,
    id: KernelId<'db>,
    asked: Arc<str>,
) -> OfKernel<codegen::KernelText> {
    let code = kernel_code(db, id).as_ref()?;
    let text = code.as_ref().map_err(Clone::clone).and_then(|kernel| {
        let text = codegen::passes::mlir_after(kernel, &asked);
        text.map(Arc::new)
            .ok_or_else(|| format!("after which pass? {}", codegen::passes::known().join(", ")).into())
    });
    Some(text)
}

/// The same as PTX.
#[salsa::tracked(lru = 64, no_eq)]
pub fn kernel_ptx<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> OfKernel<codegen::KernelText> {
    let code = match kernel_code(db, id).as_ref()? {
        Ok(code) => code,
        Err(reason) => return Some(Err(reason.clone())),
    };
    let Some(Ok(analysis)) = kernel(db, id) else { return None };
    let name_of = |op| analysis.fused.name(op).to_owned();
    Some(codegen::ptx(code, analysis.device, &name_of).map(Arc::new))
}

/// The functions of the kernel that a fusion becomes, over the graph of its analysis: those of the kernel's code.
#[salsa::tracked(lru = 4096, no_eq)]
pub fn kernel_partition<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Option<Arc<Partition>> {
    let source = fusion_source(db, id).clone()?;
    let Some(Ok(analysis)) = kernel(db, id) else { return None };
    let (called, _) = source.computation()?;
    let kernel = codegen::kernel_name(&id.name(db));
    Some(Arc::new(analysis.partition(&kernel, called, &|name| source.callee(name))))
}

/// What the kernel's reads and writes move, array by array. Empty where no emitter takes it.
#[salsa::tracked(lru = 4096, no_eq)]
pub fn kernel_coalescing<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Arc<Vec<BufferTraffic>> {
    let (Some(Ok(analysis)), Some(known)) = (kernel(db, id), known(db, id)) else { return Arc::default() };
    if let Some(coalescing) = known.coalescing() {
        return coalescing;
    }
    let coalescing = Arc::new(coalescing(db, id, analysis));
    known.set_coalescing(&coalescing);
    coalescing
}

fn coalescing<'db>(
    db: &'db dyn salsa::Database,
    id: KernelId<'db>,
    analysis: &FusionAnalysis,
) -> Vec<BufferTraffic> {
    let no_shape = || Reason::from("the instruction has no known shape");
    if analysis.is_for_triton() {
        let predicted = |_: &FusionAnalysis| match lowered_program(db, id) {
            Some(Ok(program)) => xtile::accesses(program, analysis),
            Some(Err(reason)) => Err(reason.clone()),
            None => Err(no_shape()),
        };
        return analysis.coalescing_of(&predicted);
    }
    // Asked for where there is code at all, so that it is kept for the text.
    let code = |_: &FusionAnalysis| match kernel_code(db, id) {
        Some(Ok(code)) => codegen::accesses(code, analysis.device),
        Some(Err(reason)) => Err(reason.clone()),
        None => Err(no_shape()),
    };
    analysis.coalescing_of(&code)
}

/// An array of a kernel that moves more than `threshold` times its ideal.
#[derive(Debug, Clone, PartialEq)]
pub struct Waste {
    /// Its place in the answer of [`kernel_coalescing`].
    pub buffer: usize,
    pub cause: Cause,
    pub remedy: Option<Remedy>,
}

/// A kernel that moves fewer sectors in vain takes no longer for it than its launch.
const LEAST_WASTE: u64 = 1024;

/// The arrays that are worth a warning above this ratio of the sectors to the ideal, with cause and remedy. Memoised for the
/// database's own threshold: a key of two parts would stay in memory for every name that a kernel ever had.
pub fn kernel_waste<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>, threshold: f64) -> Arc<Vec<Waste>> {
    match threshold.to_bits() == Target::get(db).waste_threshold(db).to_bits() {
        true => usual_waste(db, id).clone(),
        false => waste(db, id, threshold),
    }
}

#[salsa::tracked(lru = 4096, no_eq)]
fn usual_waste<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>) -> Arc<Vec<Waste>> {
    let threshold = Target::get(db).waste_threshold(db);
    let Some(known) = known(db, id) else { return Arc::default() };
    if let Some(waste) = known.waste(threshold) {
        return waste;
    }
    let waste = waste(db, id, threshold);
    known.set_waste(threshold, &waste);
    waste
}

fn waste<'db>(db: &'db dyn salsa::Database, id: KernelId<'db>, threshold: f64) -> Arc<Vec<Waste>> {
    // A threshold of 1 or less would call everything waste.
    let threshold = threshold.max(1.01);
    let Some(Ok(analysis)) = kernel(db, id) else { return Arc::default() };
    // One that is over before the next could be launched gains nothing.
    let estimate = kernel_estimate(db, id);
    if estimate.as_ref().is_some_and(|estimate| estimate.bound == Bound::Launch) {
        return Arc::default();
    }
    let Some(source) = fusion_source(db, id) else { return Arc::default() };
    let code = |analysis: &FusionAnalysis| changed_code(source, analysis);
    let buffers = kernel_coalescing(db, id).iter().enumerate();
    let wasted = buffers.filter_map(|(at, buffer)| {
        let counts = buffer.judged()?;
        let wasted = counts.sectors.saturating_sub(counts.ideal_sectors);
        if counts.excess() < threshold || wasted < LEAST_WASTE {
            return None;
        }
        let cause = analysis.cause_of(buffer, threshold)?;
        Some(Waste { buffer: at, cause, remedy: analysis.remedy(buffer.buffer, cause, threshold, &code) })
    });
    Arc::new(wasted.collect())
}

impl FileView {
    /// Computes everything about these kernels, on all cores.
    pub fn kernels_ahead(&self, db: &Database, kernels: &[KernelId<'_>]) {
        for_each_in_parallel(db, kernels, |db, &id| {
            kernel_partition(db, id);
            kernel_coalescing(db, id);
            kernel_estimate(db, id);
        });
    }
}
