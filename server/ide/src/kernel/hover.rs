//! The kernel part of an instruction's hover.

use db::KernelId;
use gpu::{Buffer, BufferTraffic, Cause, DEFAULT_THRESHOLD, Emitter, FusionAnalysis};
use indexing_map::{IndexingMap, PrintStyle, print_map};

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::kernel::block_level_tiles::block_level_tiles;
use crate::kernel::coalescing_queries::buffer_name;
use crate::kernel::coalescing_warnings::{BULK, PREDICTED, at_worst, cause_text, sectors};
use crate::kernel::figures::KernelFigures;
use crate::kernel::functions::explained;
use crate::kernel::launched::LaunchedKernel;
use crate::kernel::lens::launched;
use crate::rich_text::{Line, RichText, code, parts, quoted, strong};
use crate::units::{bytes, counted, figure};

/// The number of maps and functions in one hover.
const LIMIT: usize = 8;

/// Empty for instructions that are not launched as kernels.
pub(crate) fn kernel_hover(context: &FileContext<'_>, at: InstructionRef) -> KernelSections {
    if context.is_of_cpu() {
        let is_fusion = context.block(at.piece).instruction(at.id).opcode == Some(ir::Opcode::Fusion);
        let why = gpu::Elsewhere::CpuBackend.reason();
        let mut summary = RichText::default();
        if is_fusion {
            summary.paragraph(parts![strong("no GPU kernel:"), " ", why]);
        }
        return KernelSections::summary(summary);
    }
    if !context.is_launched(at) {
        return KernelSections::default();
    }
    LaunchedKernel::of(context, at)
        .map_or_else(KernelSections::default, |kernel| kernel_sections(context, &kernel))
}

/// For an instruction inside a fused computation: the kernel's accesses that are uncoalesced because of it,
/// and for a gather those with data-dependent addresses. Empty for other instructions.
pub(crate) fn caused_in_kernel(context: &FileContext<'_>, at: InstructionRef) -> RichText {
    let mut text = RichText::default();
    let launch = context.caller(at).filter(|&launch| context.is_launched(launch));
    let Some(kernel) = launch.and_then(|launch| LaunchedKernel::of(context, launch)) else { return text };
    let Some(Ok(analysis)) = context.kernel(kernel.id) else { return text };
    let block = context.block(at.piece);
    let is_gather = block.instruction(at.id).opcode == Some(ir::Opcode::Gather);
    for buffer in context.kernel_coalescing(kernel.id).iter().filter(|b| b.is_accessed()) {
        let cause = uncoalesced_cause(analysis, buffer);
        let is_cause = cause.is_some_and(|cause| analysis.fused.name(cause.op()) == block.name(at.id));
        if is_cause || is_gather && buffer.is_judged_at_worst() {
            let launched = code(format!("%{}", kernel.name));
            text.item(parts![
                "in the kernel of ",
                launched,
                ": ",
                memory(&kernel.operands, analysis, buffer)
            ]);
        }
    }
    if !text.is_empty() {
        text.space();
    }
    text
}

/// The reason why an array is uncoalesced; `None` if it is coalesced, or its traffic is unknown.
fn uncoalesced_cause(analysis: &FusionAnalysis, buffer: &BufferTraffic) -> Option<Cause> {
    let is_coalesced = buffer.is_coalesced()?;
    if is_coalesced { None } else { analysis.cause_of(buffer, DEFAULT_THRESHOLD) }
}

/// The hover text of a kernel, in two parts that other sections may separate.
#[derive(Debug, Default)]
pub(crate) struct KernelSections {
    /// One line with the emitter, the launch and the time, then a line per array with its accesses.
    pub(crate) summary: RichText,
    /// Thread maps and functions.
    pub(crate) details: RichText,
}

impl KernelSections {
    fn summary(summary: RichText) -> KernelSections {
        KernelSections { summary, details: RichText::default() }
    }
}

/// The sections of a kernel, for HLO and StableHLO launches.
pub(crate) fn kernel_sections<'a>(context: &FileContext<'a>, kernel: &LaunchedKernel<'a>) -> KernelSections {
    let &LaunchedKernel { id, ref operands, .. } = kernel;
    let device = context.db.device_of(context.view.file).name;
    let analysis = match context.kernel(id) {
        None => return KernelSections::default(),
        Some(Err(reason)) => {
            let title = strong(parts!["no kernel on ", device, ":"]);
            let mut summary = RichText::default();
            summary.paragraph(parts![title, " ", quoted(&**reason)]);
            return KernelSections::summary(summary);
        }
        Some(Ok(analysis)) => analysis,
    };
    let buffers = context.kernel_coalescing(id);
    let figures = KernelFigures::of(context, id);
    let mut summary = summary(analysis, device, figures.as_ref());
    if let Some(unknown) = buffers.iter().find_map(|buffer| Some((buffer, buffer.unknown.as_deref()?))) {
        let why = match unknown {
            (buffer, reason) if buffer.is_predicted => format!(": {reason}"),
            _ => String::new(),
        };
        summary.paragraph(parts!["how it reads and writes memory is not known", quoted(why)]);
    }
    let called = |op: &str| format!("%{op}");
    for buffer in buffers.iter().filter(|b| b.is_accessed()) {
        let mut item = memory(operands, analysis, buffer);
        if let Some(cause) = uncoalesced_cause(analysis, buffer) {
            item.push("; cause: ");
            item.push(cause_text(analysis, buffer, cause, &called));
        }
        summary.item(item);
    }
    if buffers.iter().any(BufferTraffic::is_accessed) {
        summary.space();
    }
    if matches!(analysis.emitter, Emitter::Elsewhere(_)) {
        return KernelSections { summary, details: block_level_tiles(context, id, analysis) };
    }
    let mut details = thread_maps(operands, analysis, buffers);
    details.append(functions(context, id));
    KernelSections { summary, details }
}

/// The maps from a thread to the elements it writes and reads. Arrays with equal maps share one.
fn thread_maps(operands: &[String], analysis: &FusionAnalysis, buffers: &[BufferTraffic]) -> RichText {
    let outputs = analysis.thread_to_output();
    let several = outputs.len() > 1;
    let mut maps: Vec<(String, Vec<Line>)> = Vec::new();
    let mut add = |map: &IndexingMap, array: Line| {
        let text = print_map(&map.without_unit_variables(0), PrintStyle::Floordiv);
        match maps.iter_mut().find(|(known, _)| *known == text) {
            Some((_, arrays)) if arrays.contains(&array) => {}
            Some((_, arrays)) => arrays.push(array),
            None => maps.push((text, vec![array])),
        }
    };
    let mut text = RichText::default();
    for (i, map) in outputs.iter().take(LIMIT).enumerate() {
        let what = if several { format!("output {i}") } else { "output".to_owned() };
        match map {
            Some(map) => add(map, what.into()),
            None => text.paragraph(parts![strong(parts!["thread → ", what]), " is decided in the kernel"]),
        }
    }
    for buffer in buffers.iter().filter(|b| matches!(b.buffer, Buffer::Operand(_))).take(LIMIT) {
        for access in &buffer.accesses {
            let map = &access.access.elements.map;
            if map.is_mapped() && !map.results().is_empty() {
                add(map, parts![code(format!("%{}", buffer_name(operands, analysis, buffer.buffer)))]);
            }
        }
    }
    for (map, arrays) in maps {
        text.titled_map(strong(parts!["thread → ", Line::joined(arrays, ", ")]), &map);
    }
    text
}

/// The functions of a kernel that has several.
fn functions<'a>(context: &FileContext<'a>, id: KernelId<'a>) -> RichText {
    let mut text = RichText::default();
    let Some(partition) = context.kernel_partition(id).filter(|p| p.functions.len() > 1) else {
        return text;
    };
    text.line(strong(format!("{} functions", partition.functions.len())));
    for (i, function) in partition.functions.iter().take(LIMIT).enumerate() {
        let count = counted(function.ops.len() as u64, "instruction");
        let entry = if function.is_entry { ", the entry," } else { "" };
        let mut item = parts![code(&function.name), entry, " of ", count];
        let reason = explained(&function.reason);
        if !reason.is_empty() {
            item.push(": ");
            item.push(reason);
        }
        text.numbered_item(i + 1, item);
    }
    let omitted = partition.functions.len().saturating_sub(LIMIT);
    if omitted > 0 {
        text.space();
        text.line(format!("{omitted} more"));
    }
    text.space();
    text
}

/// `**loop** on h100-sxm · hero %t · grid 24576 × 128 threads · 12.6 MB`, and epilogues.
fn summary(analysis: &FusionAnalysis, device: &str, figures: Option<&KernelFigures>) -> RichText {
    let called = |op| code(format!("%{}", analysis.fused.name(op)));
    let mut facts = vec![parts![strong(analysis.emitter.name()), " on ", device]];
    match &analysis.emitter {
        Emitter::Elsewhere(elsewhere) => {
            facts.push(quoted(elsewhere.reason()).into());
            facts.extend(analysis.stated_launch().map(|launch| launched(&launch).into()));
            facts.extend(analysis.fused.block_config.as_deref().map(|config| quoted(config).into()));
        }
        _ => {
            facts.push(parts!["hero ", called(analysis.hero())]);
            facts.extend(analysis.launch().map(|launch| launched(&launch).into()));
        }
    }
    let shown = figures.into_iter().flat_map(|figures| [figures.traffic(), figures.time()]);
    let mut text = RichText::default();
    text.paragraph(Line::facts(facts.into_iter().chain(shown.map(Line::from))));
    if let Some(reason) = figures.and_then(|figures| figures.estimate.not_modelled) {
        text.paragraph(format!("the time is a lower bound, XLA's model has none: {reason}"));
    }
    let has_epilogue = matches!(
        analysis.emitter,
        Emitter::Transpose(_) | Emitter::PackedTranspose(_) | Emitter::Reduction(_) | Emitter::Concatenate(_)
    );
    let heroes = analysis.heroes.iter().zip(&analysis.fused.roots).take(LIMIT);
    for (&hero, &root) in heroes.filter(|(hero, root)| has_epilogue && hero != root) {
        text.paragraph(parts!["epilogue: from ", called(hero), " to ", called(root)]);
    }
    text
}

/// `reads %p: contiguous, 16 sectors per request (ideal 16), 1.05 MB`
pub(crate) fn memory(operands: &[String], analysis: &FusionAnalysis, buffer: &BufferTraffic) -> Line {
    let name = code(format!("%{}", buffer_name(operands, analysis, buffer.buffer)));
    let verb = if matches!(buffer.buffer, Buffer::Operand(_)) { "reads " } else { "writes " };
    if let Some(reason) = &buffer.unknown {
        return parts!["what it moves of ", name, " is not known: ", reason.to_string()];
    }
    let Some((best, worst)) = buffer.with_reuse() else {
        let mut line = parts![verb, name, ": not known where"];
        if let Some(note) = buffer.accesses.iter().find_map(|a| a.access.elements.note.as_deref()) {
            line.push(": ");
            line.push(quoted(note));
        }
        return line;
    };
    let pattern = buffer.pattern().map_or_else(String::new, |pattern| format!("{pattern}, "));
    let counts = buffer.judged().unwrap_or(best);
    let sectors = sectors(best, worst);
    let mut text = format!(
        ": {pattern}{sectors} per request (ideal {}), {} moved{} for {}",
        figure(counts.ideal_sectors_per_request()),
        bytes(counts.bytes_moved()),
        at_worst(buffer),
        bytes(counts.bytes_used)
    );
    if buffer.is_sampled() {
        text += ", sampled";
    }
    if buffer.is_predicted {
        let widths: Vec<String> = buffer.widths().iter().map(i64::to_string).collect();
        text += &format!(", {} B per thread", widths.join(" and "));
        if buffer.is_bulk() {
            text += &format!("; {BULK}");
        }
        text += &format!("; {PREDICTED}");
    }
    match (buffer.xla_coalesced.filter(|_| !buffer.is_predicted), buffer.is_coalesced()) {
        (Some(xla), Some(ours)) if xla != ours => {
            text += &format!(" — XLA's rule: {}coalesced", if xla { "" } else { "not " });
        }
        _ => {}
    }
    parts![verb, name, text]
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open;

    fn check(text: &str, expect: Expect) {
        let (analysis, file, offset) = open(text);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("a popup");
        let markdown = hover.markdown();
        let from = markdown.find("**loop**").or_else(|| markdown.find("**transpose**"));
        let until = markdown.find("**output →").unwrap_or(markdown.len());
        expect.assert_eq(&markdown[from.expect("a kernel")..until]);
    }

    const TRANSPOSE: &str = "HloModule m

fused {
  p = f32[64,64] parameter(0)
  e = f32[64,64] exponential(p)
  t = f32[64,64] transpose(e), dimensions={1,0}
  ROOT r = f32[64,64] negate(t)
}

ENTRY e {
  p = f32[64,64] parameter(0)
  ROOT $0f = f32[64,64] fusion(p), kind=kInput, calls=fused, metadata={op_name=\"jit(f)/neg\" source_file=\"/m/f.py\" source_line=3}
}
";

    /// The lines of a hover that editors show without scrolling.
    const FOLD: usize = 25;

    #[test]
    fn what_is_asked_first_is_above_the_fold() {
        let (analysis, file, offset) = open(TRANSPOSE);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("a popup").markdown();
        assert!(hover.starts_with("`jit(f)/neg` · "), "{hover}");
        let shown: Vec<&str> = hover.lines().take(FOLD).collect();
        for wanted in ["**transpose** on", "- reads", "- writes", "**output → `%p`**", "**thread → output**"]
        {
            assert!(shown.iter().any(|line| line.starts_with(wanted)), "{wanted}: {hover}");
        }
        assert!(!hover.contains("in [0, 0]"), "{hover}");
    }

    /// Both kernels are shorter than the launch interval, so there are no warnings: the hovers of the fusion
    /// and of the causing op show the waste.
    #[test]
    fn waste_of_short_kernels_is_shown_where_it_is_caused() {
        let check = |text: &str, op: &str, line: &str, cause: &str| {
            let (analysis, file, _) = open(text);
            let config = crate::CoalescingConfig::default();
            assert!(analysis.coalescing_warnings(file, &config, 9).expect("nobody cancels").shown.is_empty());
            let hover = |at: &str| {
                let at = text.find(at).expect("it is there") + "ROOT ".len();
                analysis.hover(file, at).expect("nobody cancels").expect("a popup").markdown()
            };
            let fusion = hover("ROOT fu");
            let shown = fusion.lines().find(|l| l.starts_with(&format!("- {line}")));
            assert!(shown.is_some_and(|shown| shown.contains(cause)), "{line} is not in\n{fusion}");
            let inside = hover(op);
            assert!(
                inside.contains(&format!("- in the kernel of `%fu`: {line}")),
                "{line} is not in\n{inside}"
            );
        };
        check(
            "\
HloModule m

f {
  p0 = f32[100000,4] parameter(0)
  p1 = s32[65536,1] parameter(1)
  ROOT g = f32[65536,1,4] gather(p0, p1), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
}

ENTRY e {
  x = f32[100000,4] parameter(0)
  rows = s32[65536,1] parameter(1)
  ROOT fu = f32[65536,1,4] fusion(x, rows), kind=kLoop, calls=f
}
",
            "ROOT g",
            "reads `%x`: gathered, 1 to 8 sectors per request (ideal 4), 2.1 MB moved at worst for 1.05 MB",
            "; cause: gather `%g`",
        );
        check(
            "\
HloModule m

f {
  p0 = f32[4096,6]{0,1} parameter(0)
  ROOT c = f32[4096,6]{1,0} copy(p0)
}

ENTRY e {
  x = f32[4096,6]{0,1} parameter(0)
  ROOT fu = f32[4096,6]{1,0} fusion(x), kind=kLoop, calls=f
}
",
            "ROOT c",
            "reads `%x`: irregular, 8 sectors per request (ideal 4), 197 kB moved for 98.3 kB",
            "; cause: its layout {0,1}, where `%c` has {1,0}",
        );
    }

    #[test]
    fn a_fusion_shows_its_kernel() {
        check(
            TRANSPOSE,
            expect![[r#"
                **transpose** on h100-sxm · hero `%t` · grid 4 × 128 threads, 4.22 kB shared · 32.8 kB · ≈ 0.2 µs

                epilogue: from `%t` to `%r`

                - reads `%p`: contiguous, 4 sectors per request (ideal 4), 16.4 kB moved for 16.4 kB
                - writes `%r`: contiguous, 4 sectors per request (ideal 4), 16.4 kB moved for 16.4 kB

            "#]],
        );
    }
}
