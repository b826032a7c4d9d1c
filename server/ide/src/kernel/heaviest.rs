//! The kernels of a module by time, the heaviest first.

use gpu::Bound;
use ir::{Opcode, SegmentRef, op_info};

use crate::file_context::FileContext;
use crate::hlo::executions::executions;
use crate::hlo::locate::InstructionRef;
use crate::hlo::source_location::source_location;
use crate::kernel::figures::KernelFigures;
use crate::rich_text::{Column, RichText, code, parts, quoted};
use crate::units::counted;
use crate::{FrameworkOp, TextRange};

/// One instruction that runs as a kernel, with all its executions.
#[derive(Debug, Clone, PartialEq)]
pub struct HeavyKernel {
    /// The range of the instruction's name.
    pub range: TextRange,
    pub name: String,
    /// The computation that contains it.
    pub computation: String,
    /// The emitter of a fusion, or the opcode.
    pub kind: String,
    /// The number of executions when the module runs once.
    pub executions: u64,
    /// Total microseconds of all executions, without launches.
    pub total_us: f64,
    /// The share of the module's time, from 0 to 1.
    pub share: f64,
    /// The figures of one execution.
    pub figures: KernelFigures,
    pub origin: FrameworkOp,
}

/// The kernels of a module, with totals.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HeaviestKernels {
    /// The heaviest first, up to the requested number.
    pub kernels: Vec<HeavyKernel>,
    /// The number of kernels beyond that.
    pub omitted: usize,
    /// Microseconds of all executions of all kernels, without launches.
    pub total_us: f64,
    /// The number of kernel executions.
    pub launches: u64,
    /// The number of loops with an unknown trip count. They count as one iteration, so times are lower
    /// bounds.
    pub unknown_loops: usize,
    /// Whether the time of some kernel is a lower bound, which makes `total_us` one too.
    pub is_at_least: bool,
    pub device: &'static str,
    /// The reason why no kernel is known; empty if some are.
    pub why_none: &'static str,
}

/// Why no kernel of an HLO module without fusions is known.
pub(crate) const NOT_OPTIMIZED: &str =
    "no instruction is a fusion: XLA has not optimized this module, so its kernels are not known";

/// Why a module of XLA's CPU compiler has no kernels.
pub(crate) const ON_CPU: &str = "compiled for a CPU: no GPU kernels";

/// An instruction, its number of executions, and its cost.
type Found = (InstructionRef, u64, KernelFigures);

/// The kernels of all computations that run instruction by instruction; all branches of a conditional count.
/// Reads one cost per kernel, and the call graph.
pub(crate) fn heaviest_kernels(context: &FileContext<'_>, limit: usize) -> HeaviestKernels {
    let module = context.module();
    let mut report = HeaviestKernels {
        device: context.db.device_of(context.view.file).name,
        ..HeaviestKernels::default()
    };
    let (executions, unknown_loops) = executions(context);
    report.unknown_loops = unknown_loops;
    let mut found: Vec<Found> = Vec::new();
    // Before optimisation the kernels of a module are unknown.
    let mut segments = module.computations.iter().flat_map(|computation| &computation.segments);
    if !segments.any(|&segment| context.launches_kernels(segment)) {
        report.why_none = if context.is_of_cpu() { ON_CPU } else { context.semantics().why_no_kernels() };
        return report;
    }
    context.kernels_ahead();
    for (index, computation) in module.computations.iter().enumerate() {
        let times = executions[index];
        if times == 0 {
            continue;
        }
        for &segment in &computation.segments {
            crate::analysis::check_cancelled(context.db);
            for at in timed(context, segment) {
                let Some(id) = context.kernel_id(at) else { continue };
                let Some(figures) = KernelFigures::of(context, id) else { continue };
                report.is_at_least |= figures.is_at_least;
                report.total_us += figures.exec_us * times as f64;
                found.push((at, times, figures));
                report.launches = report.launches.saturating_add(times);
            }
        }
    }
    let total = |(_, times, figures): &Found| figures.exec_us * *times as f64;
    // Ties are in text order.
    found.sort_by(|a, b| total(b).total_cmp(&total(a)));
    report.omitted = found.len().saturating_sub(limit);
    let whole = report.total_us;
    let heavy = |found: Found| {
        let total_us = total(&found);
        let (at, executions, figures) = found;
        let block = context.block(at.piece);
        let index = context.computation_index(at);
        HeavyKernel {
            range: context.range(at.piece, block.instruction(at.id).name),
            name: block.name(at.id).to_owned(),
            computation: index.map_or_else(String::new, |index| module.computations[index].name.to_string()),
            kind: kind(context, at),
            executions,
            total_us,
            share: if whole > 0.0 { total_us / whole } else { 0.0 },
            figures,
            origin: source_location(context, at).into(),
        }
    };
    report.kernels = found.into_iter().take(limit).map(heavy).collect();
    report
}

/// The instructions of a computation that take time on the device: kernels, library calls, collectives.
pub(crate) fn timed(context: &FileContext<'_>, segment: SegmentRef) -> Vec<InstructionRef> {
    let block = context.block(segment.piece);
    let takes_time = |opcode: Opcode| {
        use Opcode::*;
        let library = [Dot, ScaledDot, RaggedDot, Convolution, CustomCall, Fft, TriangularSolve, Cholesky];
        opcode == Fusion
            || gpu::is_wrapped(opcode)
            || library.contains(&opcode)
            // In an asynchronous pair, the start does the work.
            || op_info(opcode).is_collective
    };
    let ids = context.computation(segment).instructions.clone();
    let ids = ids.filter(|&id| block.instruction(id).opcode.is_some_and(takes_time));
    ids.map(|id| InstructionRef { piece: segment.piece, id }).collect()
}

/// The emitter of a fusion, or the opcode.
pub(crate) fn kind(context: &FileContext<'_>, at: InstructionRef) -> String {
    let opcode = context.block(at.piece).instruction(at.id).opcode;
    let kernel = context.kernel_id(at).and_then(|id| context.kernel(id));
    match (opcode, kernel) {
        (Some(Opcode::Fusion), Some(Ok(analysis))) => analysis.emitter.name().to_owned(),
        (opcode, _) => opcode.map_or_else(String::new, |opcode| opcode.name().to_owned()),
    }
}

impl HeaviestKernels {
    /// The list as Markdown, for clients without a list view.
    pub fn markdown(&self) -> String {
        let column = |title| Column { title, is_number: matches!(title, "runs" | "µs" | "share") };
        let columns =
            ["kernel", "in", "kind", "runs", "µs", "share", "bound by", "bytes per run"].map(column);
        let row = |kernel: &HeavyKernel| {
            let at_least = if kernel.figures.is_at_least { "≥ " } else { "" };
            vec![
                parts![code(format!("%{}", kernel.name))],
                parts![code(&kernel.computation)],
                parts![quoted(&kernel.kind)],
                parts![kernel.executions.to_string()],
                parts![format!("{at_least}{:.2}", kernel.total_us)],
                parts![format!("{:.1} %", kernel.share * 100.0)],
                parts![bound(kernel.figures.bound)],
                parts![kernel.figures.traffic()],
            ]
        };
        let mut text = RichText::default();
        text.heading("Heaviest kernels");
        text.paragraph(self.summary());
        text.table(&columns, self.kernels.iter().map(row).collect());
        text.markdown()
    }

    /// What XLA counts for the time between the kernels, in microseconds.
    pub fn launch_us(&self) -> f64 {
        self.launches as f64 * gpu::times::LAUNCH_OVERHEAD_US
    }

    /// `84.10 µs, and 12.00 µs for 12 launches on h100-sxm; 3 more not listed`
    pub fn summary(&self) -> String {
        let at_least = if self.is_at_least { "≥ " } else { "" };
        let launches = counted(self.launches, "launch");
        let mut text = format!(
            "{at_least}{:.2} µs, and {:.2} µs for {launches} on {}",
            self.total_us,
            self.launch_us(),
            self.device
        );
        if !self.why_none.is_empty() {
            text += &format!("; {}", self.why_none);
        }
        if self.omitted > 0 {
            text += &format!("; {} more not listed", self.omitted);
        }
        if self.unknown_loops > 0 {
            let loops = counted(self.unknown_loops as u64, "loop");
            text += &format!("; {loops} of unknown length counted once");
        }
        text
    }
}

/// `memory`, `compute`, `launch` or `latency`.
pub fn bound(bound: Bound) -> &'static str {
    match bound {
        Bound::Memory => "memory",
        Bound::Compute => "compute",
        Bound::Launch => "launch",
        Bound::Latency => "latency",
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open;

    const MODULE: &str = "HloModule m

%fused {
  p = f32[4096,4096] parameter(0)
  ROOT n = f32[4096,4096] negate(p)
}

%small {
  q = f32[64] parameter(0)
  ROOT n.1 = f32[64] negate(q)
}

%body {
  state = (s32[], f32[4096,4096]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[4096,4096] get-tuple-element(state), index=1
  again = f32[4096,4096] fusion(x), kind=kLoop, calls=%fused
  ROOT next = (s32[], f32[4096,4096]) tuple(i, again)
}

%condition {
  state.1 = (s32[], f32[4096,4096]) parameter(0)
  ROOT true = pred[] constant(true)
}

ENTRY %e {
  a = (s32[], f32[4096,4096]) parameter(0)
  b = f32[64] parameter(1)
  loop = (s32[], f32[4096,4096]) while(a), condition=%condition, body=%body, backend_config={\"known_trip_count\":{\"n\":\"20\"}}
  tiny = f32[64] fusion(b), kind=kLoop, calls=%small
  ROOT r = ((s32[], f32[4096,4096]), f32[64]) tuple(loop, tiny)
}
";

    fn check(module: &str, limit: usize, expect: Expect) {
        let (analysis, file, _) = open(module);
        let found = analysis.heaviest_kernels(file, limit).expect("nobody cancels");
        expect.assert_eq(&found.markdown());
        for kernel in &found.kernels {
            assert_eq!(module[kernel.range.clone()].trim_start_matches('%'), kernel.name);
        }
    }

    #[test]
    fn loops_count_as_often_as_they_run() {
        check(
            MODULE,
            10,
            expect![[r#"
                # Heaviest kernels

                801.50 µs, and 21.00 µs for 21 launches on h100-sxm

                | kernel | in | kind | runs | µs | share | bound by | bytes per run |
                |---|---|---|--:|--:|--:|---|---|
                | `%again` | `body` | loop | 20 | 801.50 | 100.0 % | memory | 134 MB |
                | `%tiny` | `e` | loop | 1 | 0.00 | 0.0 % | launch | 512 B |
            "#]],
        );
    }

    #[test]
    fn what_is_not_known_is_said() {
        check(
            &MODULE.replace("known_trip_count", "other"),
            1,
            expect![[r#"
                # Heaviest kernels

                40.08 µs, and 2.00 µs for 2 launches on h100-sxm; 1 more not listed; 1 loop of unknown length counted once

                | kernel | in | kind | runs | µs | share | bound by | bytes per run |
                |---|---|---|--:|--:|--:|---|---|
                | `%again` | `body` | loop | 1 | 40.08 | 100.0 % | memory | 134 MB |
            "#]],
        );
    }

    #[test]
    fn no_fusion_no_kernel() {
        check(
            "\
HloModule m

ENTRY %e {
  p = f32[8] parameter(0)
  ROOT n = f32[8] negate(p)
}
",
            5,
            expect![[r#"
                # Heaviest kernels

                0.00 µs, and 0.00 µs for 0 launches on h100-sxm; no instruction is a fusion: XLA has not optimized this module, so its kernels are not known

                | kernel | in | kind | runs | µs | share | bound by | bytes per run |
                |---|---|---|--:|--:|--:|---|---|
            "#]],
        );
    }
}
