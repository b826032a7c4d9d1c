//! What kernels take, with the sectors that their requests move.

use db::KernelId;
use gpu::{Buffer, Counts, Device};
use passes::{InstructionId, Module};
use rustc_hash::FxHashMap;

use crate::file_context::FileContext;
use crate::kernel::heaviest::timed;
use crate::optimize::fusing::kernels_alone;
use crate::{AnalysisHost, Language};

/// The time of one execution of a kernel in microseconds.
pub(super) fn time_of<'a>(context: &FileContext<'a>, id: KernelId<'a>) -> f64 {
    let Some(estimate) = context.kernel_cost(id) else { return 0.0 };
    match context.kernel(id) {
        Some(Ok(analysis)) => estimate.with_sectors_us(analysis, context.kernel_coalescing(id)),
        _ => estimate.exec_us(),
    }
}

/// Some kernels of a module, analysed.
#[derive(Debug, Default)]
pub(super) struct Analysed(FxHashMap<String, (f64, Vec<(Buffer, Counts)>)>);

impl Analysed {
    pub(super) fn new(module: &Module, ids: &[InstructionId], device: &'static Device) -> Analysed {
        let mut host = AnalysisHost::of_this_computation();
        host.use_device(device);
        let file = host.open("", Language::Hlo, &kernels_alone(module, ids));
        let found = host.analysis().with_context(file, |context| {
            let mut kernels = FxHashMap::default();
            let computations = context.module().computations.iter().enumerate();
            for (_, entry) in computations.filter(|(index, _)| context.module().is_entry(*index)) {
                for at in entry.segments.iter().flat_map(|&segment| timed(context, segment)) {
                    cancel::check();
                    let Some(id) = context.kernel_id(at) else { continue };
                    let buffers = context.kernel_coalescing(id).iter();
                    let counts = buffers.filter_map(|buffer| Some((buffer.buffer, buffer.judged()?)));
                    let name = context.block(at.piece).name(at.id).to_owned();
                    kernels.insert(name, (time_of(context, id), counts.collect()));
                }
            }
            kernels
        });
        // The host has no other writer: a cancellation is that of the caller, and unwinds there.
        cancel::check();
        Analysed(found.unwrap_or_default())
    }

    pub(super) fn total_us(&self) -> f64 {
        self.0.values().map(|(us, _)| us).sum()
    }

    /// The time of one of them; 0 of others.
    pub(super) fn us(&self, module: &Module, id: InstructionId) -> f64 {
        self.0.get(module[id].name()).map_or(0.0, |(us, _)| *us)
    }

    pub(super) fn counts(&self, module: &Module, id: InstructionId, buffer: Buffer) -> Option<Counts> {
        let (_, counts) = self.0.get(module[id].name())?;
        counts.iter().find(|(own, _)| *own == buffer).map(|(_, counts)| *counts)
    }
}
