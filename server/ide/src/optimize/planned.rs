//! The kernels that a module would become, and which instruction of the text goes into which.
//!
//! The fused module is analysed apart from the files of the editor, and only figures are kept.

use std::sync::Arc;

use ir::Opcode;
use rustc_hash::FxHashMap;

use super::known::KnownOptimized;
use super::preview::Preview;
use super::source::SourceInstruction;
use super::{NotOptimized, OptimizeRequest};
use crate::file_context::FileContext;
use crate::hlo::executions::executions;
use crate::kernel::figures::{duration, time_sign};
use crate::kernel::heaviest::{kind, timed};
use crate::units::{bytes, counted};
use crate::{AnalysisHost, Language};

/// Modules of more bytes are not analysed: their kernels take seconds.
const MAX_BYTES: usize = 4 << 20;
/// The pipeline from the module before optimization to its kernels, and the part of it that fuses.
pub(crate) const WHOLE: &str = "pipeline";
pub const FUSION: &str = "fusion-pipeline";

/// The kernels of a module after fusion.
#[derive(Debug)]
pub(crate) struct PlannedKernels {
    /// In the order of the fused text.
    pub(crate) kernels: Vec<PlannedKernel>,
    /// Indices into `kernels` by those of instructions of the text.
    of_source: FxHashMap<u32, Vec<usize>>,
    pub(crate) before: Totals,
    pub(crate) after: Totals,
    pub(crate) preview: Arc<Preview>,
    /// The pipeline that made them.
    pub(crate) pipeline: &'static str,
    /// Why they are those of fusion alone: where the whole pipeline stops.
    pub(crate) why_fusion_alone: Option<String>,
}

/// A kernel.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlannedKernel {
    pub(crate) name: String,
    /// The emitter of a fusion, or the opcode.
    kind: String,
    is_fusion: bool,
    executions: u64,
    exec_us: f64,
    is_at_least: bool,
    pub(crate) bytes: u64,
    /// The instructions of the text that compute something in it, as indices.
    pub(crate) members: Vec<u32>,
    line: usize,
}

/// All kernels of a module together.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Totals {
    pub(crate) kernels: usize,
    pub(crate) us: f64,
    pub(crate) bytes: u64,
    pub(crate) is_at_least: bool,
}

impl PlannedKernels {
    pub(crate) fn new(
        context: &FileContext<'_>,
        known: &KnownOptimized,
    ) -> Result<PlannedKernels, NotOptimized> {
        if context.view.text.len_bytes() > MAX_BYTES {
            return Err(NotOptimized::TooLarge(MAX_BYTES));
        }
        let (pipeline, preview, why_fusion_alone) = fused(context, known)?;
        let device = context.db.device_of(context.view.file);
        let mut kernels = run_kernels(&preview.body, device);
        for kernel in &mut kernels {
            let members = preview.line(kernel.line).iter().copied();
            kernel.members = members.filter(|&at| preview.source(at).is_some_and(computes)).collect();
        }
        let mut of_source: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
        for (at, kernel) in kernels.iter().enumerate() {
            kernel.members.iter().for_each(|&member| of_source.entry(member).or_default().push(at));
        }
        let (before, after) = (Totals::of(&run_kernels(preview.before()?, device)), Totals::of(&kernels));
        Ok(PlannedKernels { kernels, of_source, before, after, preview, pipeline, why_fusion_alone })
    }

    /// The indices of the kernels that an instruction of the text goes into.
    pub(crate) fn of(&self, source: u32) -> &[usize] {
        self.of_source.get(&source).map(Vec::as_slice).unwrap_or_default()
    }

    /// `kernel 7 of 23: loop fusion with 12 others, ≈ 31 µs`
    pub(crate) fn in_words(&self, kernel: usize) -> String {
        let PlannedKernel { executions, exec_us, is_at_least, .. } = self.kernels[kernel];
        let times = if executions > 1 { format!("{executions} × ") } else { String::new() };
        format!(
            "kernel {} of {}: {}, {times}{} {}",
            kernel + 1,
            self.kernels.len(),
            self.content(kernel),
            time_sign(is_at_least),
            duration(exec_us)
        )
    }

    /// `loop fusion with 12 others`, `dot`
    fn content(&self, kernel: usize) -> String {
        let PlannedKernel { kind, is_fusion, members, .. } = &self.kernels[kernel];
        let others = members.len().saturating_sub(1);
        let fusion = if *is_fusion { " fusion" } else { "" };
        let with =
            if others > 0 { format!(" with {}", counted(others as u64, "other")) } else { String::new() };
        format!("{kind}{fusion}{with}")
    }

    /// `180 → 23 kernels · 2.1 ms → 410 µs · 98 MB → 12 MB`
    pub(crate) fn totals(&self) -> String {
        let Totals { kernels, us, bytes: moved, is_at_least } = self.before;
        let sign = time_sign(is_at_least || self.after.is_at_least);
        let time = format!("{sign} {} → {}", duration(us), duration(self.after.us));
        let kernels = format!("{kernels} → {}", counted(self.after.kernels as u64, "kernel"));
        [kernels, time, format!("{} → {}", bytes(moved), bytes(self.after.bytes))].join(" · ")
    }
}

/// The fused module: after the whole pipeline, or where that stops after fusion alone, with the reason.
fn fused(
    context: &FileContext<'_>,
    known: &KnownOptimized,
) -> Result<(&'static str, Arc<Preview>, Option<String>), NotOptimized> {
    let mut why = None;
    if passes::pipelines().any(|name| name == WHOLE) {
        let preview = known.preview(context, &OptimizeRequest::of(&[WHOLE]))?;
        match &preview.stopped {
            None => return Ok((WHOLE, preview, None)),
            Some(stopped) => why = Some(format!("{WHOLE} stops at {}: {}", stopped.pass, stopped.why)),
        }
    }
    let preview = known.preview(context, &OptimizeRequest::of(&[FUSION]))?;
    match &preview.stopped {
        None => Ok((FUSION, preview, why)),
        Some(stopped) => Err(NotOptimized::Stopped(stopped.why.clone())),
    }
}

/// Whether an instruction is work of a kernel, rather than data that a kernel takes.
fn computes(source: &SourceInstruction) -> bool {
    use Opcode::*;
    !matches!(source.opcode, Parameter | Constant | Tuple | GetTupleElement)
}

/// The kernels of a module, if nothing of it is fused any more.
fn run_kernels(text: &str, device: &'static gpu::Device) -> Vec<PlannedKernel> {
    let mut host = AnalysisHost::of_this_computation();
    host.use_device(device);
    let file = host.open("", Language::Hlo, text);
    let found = host.analysis().with_context(file, |context| {
        let (times, _) = executions(context);
        let mut kernels = Vec::new();
        let computations = context.module().computations.iter().enumerate();
        for (index, computation) in computations.filter(|(index, _)| times[*index] > 0) {
            for at in computation.segments.iter().flat_map(|&segment| timed(context, segment)) {
                cancel::check();
                let Some(estimate) = context.kernel_id(at).and_then(|id| context.kernel_cost(id)) else {
                    continue;
                };
                let block = context.block(at.piece);
                let roofline = &estimate.roofline;
                kernels.push(PlannedKernel {
                    name: block.name(at.id).to_owned(),
                    kind: kind(context, at),
                    is_fusion: block.instruction(at.id).opcode == Some(Opcode::Fusion),
                    executions: times[index],
                    exec_us: estimate.exec_us(),
                    is_at_least: estimate.is_at_least(),
                    // A float cast saturates.
                    bytes: (roofline.bytes_read + roofline.bytes_written) as u64,
                    members: Vec::new(),
                    line: context.view.text.byte_to_line(context.offset_of(at)),
                });
            }
        }
        kernels.sort_by_key(|kernel| kernel.line);
        kernels
    });
    // The host has no other writer: a cancellation is that of the caller, and unwinds there.
    cancel::check();
    found.unwrap_or_default()
}

impl Totals {
    /// Of a module in which nothing is fused any more.
    pub(crate) fn of_text(text: &str, device: &'static gpu::Device) -> Totals {
        Totals::of(&run_kernels(text, device))
    }

    fn of(kernels: &[PlannedKernel]) -> Totals {
        let mut totals = Totals { kernels: kernels.len(), ..Totals::default() };
        for kernel in kernels {
            totals.us += kernel.exec_us * kernel.executions as f64;
            totals.bytes = totals.bytes.saturating_add(kernel.bytes.saturating_mul(kernel.executions));
            totals.is_at_least |= kernel.is_at_least;
        }
        totals
    }
}

/// How the time of a module changes: `41 µs → 36 µs`; of a small change of a long time `194 ms − 2.1 µs`.
pub(crate) fn change_in_words(from_us: f64, to_us: f64) -> String {
    let [from, to, change] = [from_us, to_us, (to_us - from_us).abs()].map(duration);
    if from != to {
        return format!("{from} → {to}");
    }
    match change == duration(0.0) {
        true => format!("{from} as before"),
        false => format!("{from} {} {change}", if to_us < from_us { "−" } else { "+" }),
    }
}

#[cfg(test)]
mod tests {
    use super::change_in_words;

    #[test]
    fn small_changes_of_long_times_are_shown() {
        for (from, to, expected) in [
            (41.0, 36.4, "41 µs → 36 µs"),
            (194_000.0, 193_997.9, "194 ms − 2.1 µs"),
            (1.93, 1.94, "1.9 µs + 0.010 µs"),
            (5.0, 5.0, "5.0 µs as before"),
        ] {
            assert_eq!(change_in_words(from, to), expected);
        }
    }
}
