//! Diagnostics about kernel accesses that transfer much more than they use: the access, its cost, its cause
//! and a remedy.

use db::Waste;
use gpu::{Buffer, BufferTraffic, Cause, Counts, FusionAnalysis, Pattern, Remedy, RemedyChange};

use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::kernel::coalescing_queries::buffer_name;
use crate::kernel::launched::LaunchedKernel;
use crate::rich_text::{Line, code, parts};
use crate::units::{averaged, bytes, figure};
use crate::{Diagnostic, Diagnostics, Related, Severity, TextRange};

/// The code of these diagnostics.
pub const CODE: &str = "uncoalesced";

/// What is said with figures of kernels that Triton writes.
pub const PREDICTED: &str = "predicted from Triton's layout rules";
/// Said of tiles that no thread addresses.
pub(super) const BULK: &str =
    "moved by bulk tensor copies (TMA), counted as plain accesses to the same bytes";

/// The conditions for a warning about a memory access.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CoalescingConfig {
    /// The ratio of sectors per request to the ideal.
    pub threshold: f64,
    /// Whether the causing instruction of the fused computation gets its own diagnostic. A report that is
    /// read from top to bottom names it with the warning instead.
    pub marks_causes: bool,
}

impl Default for CoalescingConfig {
    fn default() -> Self {
        CoalescingConfig { threshold: gpu::DEFAULT_THRESHOLD, marks_causes: true }
    }
}

/// The largest number of fusions analysed while the user waits.
const MANY: usize = 64;

/// Warnings about wasteful kernels.
pub(crate) trait KernelWarnings {
    /// Warnings about wasteful kernels.
    fn coalescing_warnings(&self, _: &FileContext<'_>, _: &CoalescingConfig, _: usize) -> Diagnostics {
        Diagnostics::default()
    }
}

pub(crate) fn has_many_kernels(context: &FileContext<'_>) -> bool {
    context.semantics().has_more_kernels_than(context, MANY)
}

impl KernelWarnings for Hlo {
    /// The warnings of all kernels that an HLO file launches, in text order.
    fn coalescing_warnings(
        &self,
        context: &FileContext<'_>,
        config: &CoalescingConfig,
        limit: usize,
    ) -> Diagnostics {
        if has_many_kernels(context) {
            context.kernels_ahead();
        }
        let mut out = Diagnostics::default();
        let mut marks: Vec<Diagnostic> = Vec::new();
        for piece in 0..context.pieces() {
            for at in context.kernels_in(piece) {
                crate::analysis::check_cancelled(context.db);
                let Some(kernel) = LaunchedKernel::of(context, at) else { continue };
                for wasteful in wasteful(context, &kernel, config, &|op| format!("%{op}")) {
                    match out.shown.len() < limit {
                        true => out.shown.push(warning(context, at, &wasteful)),
                        false => out.omitted += 1,
                    }
                    if config.marks_causes && marks.len() < limit {
                        marks.extend(cause_mark(context, at, &kernel.name, &wasteful));
                    }
                }
            }
        }
        marks.truncate(limit.saturating_sub(out.shown.len()));
        out.shown.append(&mut marks);
        out
    }
}

/// A diagnostic at the instruction of the fused computation that causes the warning, for readers of that
/// computation. Its severity is information, since the warning is at the launch.
fn cause_mark(
    context: &FileContext<'_>,
    launch: InstructionRef,
    kernel: &str,
    wasteful: &Wasteful,
) -> Option<Diagnostic> {
    let culprit =
        context.fused_instruction(launch, &wasteful.culprit).filter(|&culprit| culprit != launch)?;
    let name = |at: InstructionRef| context.range(at.piece, context.block(at.piece).instruction(at.id).name);
    let head = wasteful.message.lines().next().unwrap_or_default();
    Some(Diagnostic {
        severity: Severity::Information,
        related: vec![Related { range: name(launch), message: format!("%{kernel} launches the kernel") }],
        ..uncoalesced(name(culprit), format!("in the kernel of %{kernel}, {head}"), Vec::new())
    })
}

/// A kernel buffer whose accesses transfer much more than they use.
pub(crate) struct Wasteful {
    pub(crate) buffer: Buffer,
    /// An operand's name at the launch, or the op of the fusion that computes the result.
    pub(crate) name: String,
    /// The op of the fusion at which the lanes' addresses diverge.
    pub(crate) culprit: String,
    pub(crate) message: String,
}

/// The buffers of a kernel that need a warning. `called` gives the name of an op of the fusion in the text.
pub(crate) fn wasteful<'a>(
    context: &FileContext<'a>,
    kernel: &LaunchedKernel<'a>,
    config: &CoalescingConfig,
    called: &dyn Fn(&str) -> String,
) -> Vec<Wasteful> {
    let Ok(analysis) = kernel.analysis(context) else { return Vec::new() };
    let buffers = context.kernel_coalescing(kernel.id);
    let waste = context.kernel_waste(kernel.id, config.threshold);
    let of = |waste: &Waste| {
        let buffer = buffers.get(waste.buffer)?;
        let name = buffer_name(&kernel.operands, analysis, buffer.buffer);
        Some(Wasteful {
            buffer: buffer.buffer,
            culprit: analysis.fused.name(waste.cause.op()).to_owned(),
            message: message(analysis, buffer, waste, &name, called)?,
            name,
        })
    };
    waste.iter().filter_map(of).collect()
}

fn message(
    analysis: &FusionAnalysis,
    buffer: &BufferTraffic,
    waste: &Waste,
    name: &str,
    called: &dyn Fn(&str) -> String,
) -> Option<String> {
    let ((best, most), counts) = (buffer.with_reuse()?, buffer.judged()?);
    let Waste { cause, remedy, .. } = waste;
    let verb = match buffer.buffer {
        Buffer::Operand(_) => "read",
        Buffer::Result(_) => "written",
    };
    let name = match buffer.buffer {
        Buffer::Operand(_) => format!("%{name}"),
        Buffer::Result(_) => called(name),
    };
    let mut message = format!("{name} is {verb} {}: ", lanes(buffer.pattern()));
    message += &format!(
        "{} per request, {} would do; {} moved{}, {} used{}",
        sectors(best, most),
        figure(counts.ideal_sectors_per_request()),
        bytes(counts.bytes_moved()),
        at_worst(buffer),
        bytes(counts.bytes_used),
        if buffer.is_sampled() { " (sampled)" } else { "" },
    );
    message += &format!("\ncause: {}", cause_text(analysis, buffer, *cause, called).plain_text());
    if let Some(remedy) = remedy {
        message += &format!("\nhelp: {}", remedy_text(analysis, &name, remedy, called));
    }
    match buffer.xla_coalesced.filter(|_| !buffer.is_predicted) {
        Some(true) => message += "\nXLA's heuristic disagrees: it takes this for coalesced",
        Some(false) => message += "\nXLA's heuristic agrees",
        None => {}
    }
    if buffer.is_bulk() {
        message += &format!("\n{BULK}");
    }
    if buffer.is_predicted {
        message += &format!("\n{PREDICTED}");
    }
    Some(message)
}

/// A warning at the operand of the launching instruction, or at its name.
fn warning(context: &FileContext<'_>, at: InstructionRef, wasteful: &Wasteful) -> Diagnostic {
    let block = context.block(at.piece);
    let own = block.instruction(at.id).name;
    let mut related = Vec::new();
    let mut relate = |found: Option<InstructionRef>, message: String| {
        if let Some(found) = found.filter(|&found| found != at) {
            let name = context.block(found.piece).instruction(found.id).name;
            related.push(Related { range: context.range(found.piece, name), message });
        }
    };
    let Wasteful { name, culprit, .. } = wasteful;
    relate(context.fused_instruction(at, culprit), format!("the lanes diverge at {culprit}"));
    let span = match wasteful.buffer {
        Buffer::Operand(number) => {
            relate(context.definition(at, number as usize), format!("{name} is defined here"));
            block.operands_of(at.id).nth(number as usize).map_or(own, |(operand, _)| operand.name)
        }
        Buffer::Result(_) => own,
    };
    uncoalesced(context.range(at.piece, span), wasteful.message.clone(), related)
}

pub(crate) fn uncoalesced(range: TextRange, message: String, related: Vec<Related>) -> Diagnostic {
    Diagnostic {
        range,
        severity: Severity::Warning,
        code: CODE,
        message,
        related,
        is_of_parser: false,
        fix: None,
    }
}

/// `8.6 sectors`, or `8.6 to 32 sectors` if it depends on runtime data.
pub(crate) fn sectors(best: Counts, worst: Counts) -> String {
    let most = averaged(worst.sectors_per_request(), "sector");
    match best == worst {
        true => most,
        false => format!("{} to {most}", figure(best.sectors_per_request())),
    }
}

/// ` at worst` after the bytes of a gather, whose worst case is shown.
pub(crate) fn at_worst(buffer: &BufferTraffic) -> &'static str {
    if buffer.is_judged_at_worst() { " at worst" } else { "" }
}

/// The layout of the lanes' addresses, in words after "is read".
fn lanes(pattern: Option<Pattern>) -> String {
    match pattern {
        Some(Pattern::Strided(step)) => format!("with a stride of {step} elements between lanes"),
        Some(Pattern::Runs { lanes, step }) => {
            format!("in runs of {lanes} lanes that are {step} elements apart")
        }
        Some(Pattern::Gathered) => "at places that are read from memory".to_owned(),
        Some(Pattern::Contiguous) => "side by side, but not from a sector's start".to_owned(),
        _ => "at places that lie apart".to_owned(),
    }
}

fn layout(shape: &ir::Shape) -> String {
    let order = shape.as_array().map(|array| array.minor_to_major()).unwrap_or_default();
    format!("{{{}}}", order.iter().map(usize::to_string).collect::<Vec<_>>().join(","))
}

/// The op or layout because of which lanes diverge. `called` gives the name of an op of the fusion in the
/// text.
pub(crate) fn cause_text(
    analysis: &FusionAnalysis,
    buffer: &BufferTraffic,
    cause: Cause,
    called: &dyn Fn(&str) -> String,
) -> Line {
    let array = buffer.shape(analysis).map(layout).unwrap_or_default();
    let name = |op| code(called(analysis.fused.name(op)));
    match cause {
        Cause::Layout(_) if matches!(buffer.buffer, Buffer::Result(_)) => {
            parts!["its layout ", array, " is not the order in which the threads compute it"]
        }
        Cause::Layout(op) => {
            let own = layout(&analysis.fused.op(op).shape);
            parts!["the threads do not follow ", name(op), " in its layout ", own]
        }
        Cause::Tiles(_) => {
            let longest = buffer.widths().last().copied().unwrap_or(0);
            let moved = format!(" too few neighbours: a thread moves at most {longest} B at once");
            parts!["its tiles have in its layout ", array, moved]
        }
        Cause::Op(op) => {
            let the_op = analysis.fused.op(op);
            let own = layout(&the_op.shape);
            let differs = the_op.operand_shapes.iter().any(|s| layout(s) == array) && own != array;
            match ir::is_elementwise(the_op.opcode) && differs {
                true => parts!["its layout ", array, ", where ", name(op), " has ", own],
                false => parts![the_op.opcode.name(), " ", name(op)],
            }
        }
    }
}

fn remedy_text(
    analysis: &FusionAnalysis,
    name: &str,
    remedy: &Remedy,
    called: &dyn Fn(&str) -> String,
) -> String {
    let what = match &remedy.change {
        RemedyChange::Layout(order) => {
            let order: Vec<String> = order.iter().map(i64::to_string).collect();
            format!("lay out {name} as {{{}}}", order.join(","))
        }
        RemedyChange::TransposeBefore(op) => {
            format!("do {} before this kernel", called(analysis.fused.name(*op)))
        }
    };
    // Not sectors per request: the loads may then be wider, with more sectors each for fewer bytes in total.
    format!("{what}: {} moved", bytes(remedy.counts.bytes_moved()))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::fixture::open;

    fn check(computation: &str, entry: &str, expect: Expect) {
        let text = format!("HloModule m\n\nfused {{\n{computation}\n}}\n\nENTRY e {{\n{entry}\n}}\n");
        let (analysis, file, _) = open(&text);
        let errors = analysis.diagnostics(file, 9).expect("nobody cancels").shown;
        assert!(errors.is_empty(), "the fixture is wrong: {errors:?}");
        let config = CoalescingConfig::default();
        let found = analysis.coalescing_warnings(file, &config, 10).expect("nobody cancels").shown;
        let mut shown = String::new();
        for d in &found {
            shown += &format!("«{}» {}\n", &text[d.range.clone()], d.message);
            for r in &d.related {
                shown += &format!("  at «{}» {}\n", &text[r.range.clone()], r.message);
            }
        }
        expect.assert_eq(&shown);
        let none = CoalescingConfig { threshold: 100.0, ..CoalescingConfig::default() };
        assert!(analysis.coalescing_warnings(file, &none, 10).expect("nobody cancels").shown.is_empty());
    }

    #[test]
    fn an_operand_in_another_layout() {
        check(
            "  p = f32[1024,1024]{1,0} parameter(0)\n  q = f32[1024,1024]{0,1} parameter(1)\n  ROOT a = f32[1024,1024]{1,0} add(p, q)",
            "  x = f32[1024,1024]{1,0} parameter(0)\n  y = f32[1024,1024]{0,1} parameter(1)\n  ROOT f = f32[1024,1024]{1,0} fusion(x, y), kind=kLoop, calls=fused",
            expect![[r#"
                «y» %y is read with a stride of 4096 elements between lanes: 32 sectors per request, 4 would do; 33.6 MB moved, 4.19 MB used
                cause: its layout {0,1}, where %a has {1,0}
                help: lay out %y as {1,0}: 4.19 MB moved
                XLA's heuristic agrees
                  at «a» the lanes diverge at a
                  at «y» y is defined here
                «a» in the kernel of %f, %y is read with a stride of 4096 elements between lanes: 32 sectors per request, 4 would do; 33.6 MB moved, 4.19 MB used
                  at «f» %f launches the kernel
            "#]],
        );
    }

    #[test]
    fn small_kernels_are_left_alone() {
        check(
            "  p = f32[32,32]{1,0} parameter(0)\n  q = f32[32,32]{0,1} parameter(1)\n  ROOT a = f32[32,32]{1,0} add(p, q)",
            "  x = f32[32,32]{1,0} parameter(0)\n  y = f32[32,32]{0,1} parameter(1)\n  ROOT f = f32[32,32]{1,0} fusion(x, y), kind=kLoop, calls=fused",
            expect![""],
        );
    }

    /// Each access loads a separate sector, thousands in total, and the kernel is shorter than the launch
    /// interval.
    #[test]
    fn kernels_that_are_shorter_than_a_launch_are_left_alone() {
        check(
            "  p = f32[128,512]{1,0} parameter(0)\n  q = f32[128,512]{0,1} parameter(1)\n  ROOT a = f32[128,512]{1,0} add(p, q)",
            "  x = f32[128,512]{1,0} parameter(0)\n  y = f32[128,512]{0,1} parameter(1)\n  ROOT f = f32[128,512]{1,0} fusion(x, y), kind=kLoop, calls=fused",
            expect![""],
        );
    }
}
