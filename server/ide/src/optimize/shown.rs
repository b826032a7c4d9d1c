//! What hints, lenses, hovers and colours show of the kernels that a module would become.

use std::sync::Arc;

use db::Language;

use super::known::KnownOptimized;
use super::planned::{FUSION, PlannedKernels};
use super::{NotOptimized, preview::Preview};
use crate::file_context::FileContext;
use crate::rich_text::{Line, RichText, code, file_link, parts, quoted, strong};
use crate::symbol::Symbol;
use crate::units::bytes;
use crate::{CodeLens, Hover, InlayHint, TextRange};

/// Members of a kernel that a hover lists.
const MAX_MEMBERS: usize = 12;
/// What passes did to an instruction that a hover lists.
const MAX_CHANGES: usize = 6;

/// Passes that change names alone.
const RENAMING: &[&str] = &["rename-instructions", "rename_fusions", "sanitize-constant-names"];

/// The instructions of the text that go into one kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelMembers {
    /// From 1.
    pub number: usize,
    /// The number of kernels of the module.
    pub count: usize,
    /// `kernel 7 of 23: loop fusion with 12 others, ≈ 31 µs`
    pub title: String,
    /// The instructions, in the order of the text.
    pub members: Vec<TextRange>,
}

/// Whether the kernels of the text are not decided yet: it has code that XLA fuses, and no fusion.
pub(crate) fn is_unfused(context: &FileContext<'_>) -> bool {
    let (db, file) = (context.db, context.view.file);
    match file.language(db) {
        Language::Hlo => {
            let module = context.module();
            !module.computations.is_empty()
                && !db::has_fusions(db, file).contains(&true)
                && !db::is_of_cpu(db, file)
                && !module.settings(0).is_some_and(|settings| settings.is_scheduled)
        }
        Language::Mlir => {
            (0..context.pieces()).any(|piece| db::mlir_holds_hlo_ops(db, context.piece_input(piece)))
        }
    }
}

fn planned(context: &FileContext<'_>, known: &KnownOptimized) -> Option<Arc<PlannedKernels>> {
    is_unfused(context).then(|| known.planned(context).ok())?
}

/// A hint per instruction of a range: `→ kernel 7 of 23: loop fusion with 12 others, ≈ 31 µs`.
pub(crate) fn hints(context: &FileContext<'_>, known: &KnownOptimized, range: &TextRange) -> Vec<InlayHint> {
    let Some(planned) = planned(context, known) else { return Vec::new() };
    let mut hints: Vec<InlayHint> = Vec::new();
    for (index, source) in planned.preview.sources().iter().enumerate() {
        cancel::tick();
        let Some(source) = source.as_ref().filter(|s| s.hint >= range.start && s.hint <= range.end) else {
            continue;
        };
        let label = match planned.of(index as u32) {
            [] => continue,
            [only] => format!("→ {}", planned.in_words(*only)),
            several => {
                let numbers: Vec<String> = several.iter().map(|kernel| (kernel + 1).to_string()).collect();
                format!("→ kernels {} of {}", numbers.join(", "), planned.kernels.len())
            }
        };
        // An op of StableHLO that is several instructions has the hint of the last one.
        hints.retain(|hint| hint.offset != source.hint);
        let tooltip = Some(how(&planned));
        hints.push(InlayHint { offset: source.hint, label, tooltip });
    }
    hints.sort_by_key(|hint| hint.offset);
    hints
}

/// By what the kernels were found.
fn how(planned: &PlannedKernels) -> Line {
    match &planned.why_fusion_alone {
        None => parts!["as XLA's passes make it (", code(planned.pipeline), ")"],
        Some(why) => parts!["by ", code(FUSION), " alone: ", quoted(why)],
    }
}

/// The lens above the entry: `after fusion: 180 → 23 kernels · ≈ 2.1 ms → 410 µs · 98 MB → 12 MB`.
pub(crate) fn lens(context: &FileContext<'_>, known: &KnownOptimized) -> Option<CodeLens> {
    let range = lens_place(context)?;
    let title = match known.planned(context) {
        Ok(planned) => {
            let alone =
                if planned.why_fusion_alone.is_some() { "after fusion alone" } else { "after fusion" };
            format!("{alone}: {}", planned.totals())
        }
        Err(NotOptimized::Invalid { .. } | NotOptimized::NoEntry) => return None,
        Err(why) => format!("no kernels: {why}"),
    };
    Some(CodeLens { range, title, time: None, callers: Vec::new(), is_kernel: false })
}

/// The name of the entry of a module whose kernels are not decided.
pub(crate) fn lens_place(context: &FileContext<'_>) -> Option<TextRange> {
    if !is_unfused(context) {
        return None;
    }
    match context.view.file.language(context.db) {
        Language::Hlo => {
            let module = context.module();
            let entry = module.entry_of(0)?;
            let segment = module.computations[entry].segments.first()?;
            let name = context.range(segment.piece, context.computation(*segment).name);
            Some(name).filter(|name| !name.is_empty())
        }
        Language::Mlir => (0..context.pieces()).find_map(|piece| {
            let read = context.mlir_piece(piece);
            let function = read.parse.ops.iter().find(|op| {
                let name = op.name.of(&read.text);
                mlir::is_function_like(name) && op.head.of(&read.text).contains("@main")
            })?;
            Some(context.range(piece, function.name))
        }),
    }
}

/// Adds to a hover which kernel its instruction goes into, and what passes did to it. `path` is that of the file, for links.
pub(crate) fn add_section(
    context: &FileContext<'_>,
    known: &KnownOptimized,
    offset: usize,
    path: Option<&str>,
    hover: &mut Hover,
) {
    let Some(planned) = planned(context, known) else { return };
    let sources = planned.preview.sources_at(subject(context, offset));
    let Some(name) = sources.last().and_then(|&at| planned.preview.source(at)).map(|s| s.name.clone()) else {
        return;
    };
    let mut kernels: Vec<usize> = sources.iter().flat_map(|&at| planned.of(at)).copied().collect();
    kernels.sort_unstable();
    kernels.dedup();
    let mut text = RichText::default();
    for &kernel in &kernels {
        let title = planned.in_words(kernel);
        let facts = [Line::from(title), bytes(planned.kernels[kernel].bytes).into()];
        text.paragraph(parts![strong("after XLA:"), " ", Line::facts(facts)]);
        let others = planned.kernels[kernel].members.iter().filter(|member| !sources.contains(member));
        let others: Vec<u32> = others.copied().collect();
        let named = others.iter().take(MAX_MEMBERS).filter_map(|&at| planned.preview.source(at));
        let links = named.map(|source| {
            let line = context.view.text.byte_to_line(source.range.start) + 1;
            let line = u32::try_from(line).ok();
            let link = path.and_then(|path| file_link(source.name.clone(), path, line));
            link.unwrap_or_else(|| code(source.name.clone()))
        });
        let links = Line::joined(links, ", ");
        let more = others.len().saturating_sub(MAX_MEMBERS);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        if !others.is_empty() {
            text.paragraph(parts!["with ", links, more]);
        }
    }
    for (pass, what) in changes_of(&planned.preview, &name) {
        text.item(parts![code(pass), ": ", quoted(what)]);
    }
    if text == RichText::default() {
        return;
    }
    if let Some(why) = &planned.why_fusion_alone {
        text.paragraph(parts!["Only fusion is shown: ", quoted(why)]);
    }
    text.space();
    hover.text.space();
    hover.text.append(text);
}

/// What passes say about an instruction of the text.
fn changes_of<'a>(preview: &'a Preview, name: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
    let bare = name.trim_start_matches('%');
    let all = preview.applied.iter().flat_map(|applied| applied.changes.iter().map(move |c| (applied, c)));
    let is_meant = |pass: &str| !RENAMING.contains(&pass);
    let own = all.filter(move |(applied, change)| change.instruction == bare && is_meant(&applied.pass));
    own.map(|(applied, change)| (applied.pass.as_str(), change.what.as_str())).take(MAX_CHANGES)
}

/// Where what the name at an offset refers to is defined; else the offset.
fn subject(context: &FileContext<'_>, offset: usize) -> usize {
    match context.semantics().name_at(context, offset).map(|name| name.symbol) {
        Some(Symbol::Instruction(at)) => context.offset_of(at),
        Some(Symbol::Value { piece, value }) => {
            context.range(piece, context.mlir_piece(piece).parse.values[value as usize].name).start
        }
        _ => offset,
    }
}

/// The kernels that the instruction at an offset goes into.
pub(crate) fn members(
    context: &FileContext<'_>,
    known: &KnownOptimized,
    offset: usize,
) -> Vec<KernelMembers> {
    let Some(planned) = planned(context, known) else { return Vec::new() };
    let sources = planned.preview.sources_at(offset);
    let mut kernels: Vec<usize> = sources.iter().flat_map(|&at| planned.of(at)).copied().collect();
    kernels.sort_unstable();
    kernels.dedup();
    let of = |kernel: usize| {
        let members = planned.kernels[kernel].members.iter();
        let mut ranges: Vec<TextRange> =
            members.filter_map(|&at| Some(planned.preview.source(at)?.range.clone())).collect();
        ranges.sort_by_key(|range| (range.start, range.end));
        ranges.dedup();
        KernelMembers {
            number: kernel + 1,
            count: planned.kernels.len(),
            title: planned.in_words(kernel),
            members: ranges,
        }
    };
    kernels.into_iter().map(of).collect()
}

/// Computes what hints, lenses and actions show. Returns whether hints and lenses show anything.
pub(crate) fn prepare(context: &FileContext<'_>, known: &KnownOptimized) -> bool {
    _ = known.rewrites(context);
    is_unfused(context) && known.planned(context).is_ok()
}
