//! Passes of XLA as code actions: at one instruction, or everywhere in its computation.
//!
//! Which passes change which instructions is known per text ([`Rewrites`]). An edit is computed when it is asked for: the pass runs on
//! the module, and what it changed is cut into groups that can be applied on their own.

mod difference;
mod edits;
mod entry_layout;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use db::Language;
use passes::{InstructionId, Module};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use self::difference::Difference;
use self::edits::edits;
pub(crate) use self::edits::{computation_text, instruction_text};
use super::known::KnownOptimized;
use super::planned::{FUSION, Totals, change_in_words};
use super::shown::is_unfused;
use super::source::{SourceInstruction, SourceModule, innermost};
use super::{NotOptimized, OptimizeRequest};
use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::file_context::FileContext;
use crate::units::{counted, shorten};
use crate::{AnalysisHost, TextEdit, TextRange};

/// Passes that rewrite some instructions and leave the rest of the module alone, most frequent first. Not those that fuse, choose
/// layouts, insert copies, or rename and annotate everything.
const LOCAL: &[&str] = &[
    "algsimp",
    "cse",
    "dce",
    "reshape-mover",
    "tuple-simplifier",
    "degenerate-dimension-rewriter",
    "constant_folding",
    "call-inliner",
    "zero_sized_hlo_elimination",
    "simplify-conditional",
    "simplify-fp-conversions",
    "convert-mover",
    "simplify-sorts",
    "slice-sinker",
    "transpose-folding",
    "dot_decomposer",
    "dot_dimension_merger",
    "gather_simplifier",
    "scatter_simplifier",
    "scatter-slice-simplifier",
    "batched_gather_scatter_normalizer",
    "select_and_scatter_expander",
    "reduce-decomposer",
    "reduction-degenerate-dim-remover",
    "reduction-dimension-grouper",
    "reduction-splitter",
    "tree-reduction-rewriter",
    "dynamic-dimension-simplifier",
    "triangular-solve-rewriter",
    "variadic-op-splitter",
    "cse_barrier_expander",
    "move_copy_to_users",
];

/// Texts of more bytes have no rewrites: each pass takes about a second.
const MAX_BYTES: usize = 8 << 20;
/// The largest text, in bytes, for which actions state the time before and after: it is fused once for each.
const TIMED_BYTES: usize = 12_000;
/// Actions with their time at one place.
const MAX_TIMED: usize = 8;
const MAX_TITLE: usize = 120;

const AT: &str = "rewrite-";
const EVERYWHERE: &str = "rewrite-everywhere-";

/// What local passes would do to a text.
///
/// Size: about 100 bytes per change.
#[derive(Debug, Default)]
pub(crate) struct Rewrites {
    sources: Vec<Option<SourceInstruction>>,
    /// By index of the instruction of the text: a pass, and what it does to it.
    by_source: FxHashMap<u32, Vec<(&'static str, String)>>,
    /// Computations of the module by their instructions.
    computation_of: Vec<Arc<str>>,
    /// By pass and computation, the number of changes.
    counts: FxHashMap<(&'static str, Arc<str>), usize>,
}

impl Rewrites {
    pub(crate) fn new(context: &FileContext<'_>) -> Result<Rewrites, NotOptimized> {
        if context.view.file.language(context.db) != Language::Hlo {
            return Ok(Rewrites::default());
        }
        if context.view.text.len_bytes() > MAX_BYTES {
            return Err(NotOptimized::TooLarge(MAX_BYTES));
        }
        let SourceModule { module, instructions: sources } = SourceModule::of(context)?;
        let mut rewrites = Rewrites { sources, ..Rewrites::default() };
        // An order that the text states is not kept by edits.
        if module.header.is_scheduled {
            return Ok(rewrites);
        }
        let mut names: FxHashMap<(&str, &str), u32> = FxHashMap::default();
        let mut computations: FxHashMap<&str, Arc<str>> = FxHashMap::default();
        for id in module.read_instructions() {
            let computation = module[module[id].parent()].name();
            let shared = computations.entry(computation).or_insert_with(|| computation.into());
            rewrites.computation_of.push(shared.clone());
            names.insert((computation, module[id].name()), Module::index(id) as u32);
        }
        for pass in LOCAL {
            let Some((_, changes)) = after(context, &module, pass) else { continue };
            for change in changes {
                let place = (change.computation.as_str(), change.instruction.as_str());
                let Some(&index) = names.get(&place) else { continue };
                let of_source = rewrites.by_source.entry(index).or_default();
                // Of what a pass does again and again, the first.
                if of_source.iter().any(|(known, _)| known == pass) {
                    continue;
                }
                of_source.push((pass, change.what));
                let computation = rewrites.computation_of[index as usize].clone();
                *rewrites.counts.entry((pass, computation)).or_default() += 1;
            }
        }
        Ok(rewrites)
    }
}

/// The module after one pass, and what that did; `None` if the pass stops.
fn after(context: &FileContext<'_>, module: &Module, pass: &str) -> Option<(Module, Vec<passes::Change>)> {
    cancel::check();
    let mut result = module.clone();
    let options = OptimizeRequest::of(&[pass]).options(context);
    let applied = passes::optimize(&mut result, &[pass], &options).ok()?;
    let changes: Vec<passes::Change> = applied.into_iter().flat_map(|applied| applied.changes).collect();
    (!changes.is_empty()).then_some((result, changes))
}

/// Offers what passes would do to the instruction at the start of `range`.
pub(crate) fn offer(
    context: &FileContext<'_>,
    known: &KnownOptimized,
    range: &TextRange,
    actions: &mut Actions<'_>,
) {
    if !actions.may_want(AT) {
        return;
    }
    let Ok(rewrites) = known.rewrites(context) else { return };
    let is_small = context.view.text.len_bytes() <= TIMED_BYTES;
    if actions.makes_all_changes() && !is_small {
        return;
    }
    let mut timed = 0;
    for index in innermost(&rewrites.sources, range.start) {
        let Some(source) = &rewrites.sources[index as usize] else { continue };
        let Some(computation) = rewrites.computation_of.get(index as usize) else { continue };
        for (pass, what) in rewrites.by_source.get(&index).into_iter().flatten() {
            let title = shorten(format!("{pass}: {} {what}", source.name), MAX_TITLE);
            let id = format!("{AT}{pass}");
            let mut offer = |id: String, title: String, is_everywhere: bool| {
                if !actions.wants(&id) {
                    return;
                }
                let rewrite = || rewritten(context, known, pass, index, is_everywhere);
                let (mut title, mut timed_rewrite) = (title, None);
                if is_small && timed < MAX_TIMED && !actions.is_about_one() {
                    timed += 1;
                    // What cannot be edited is not offered where that is known.
                    let Some(rewrite) = rewrite() else { return };
                    if let Some(gain) = gain(context, known, &rewrite.edits) {
                        title += &format!(" ({gain})");
                    }
                    timed_rewrite = Some(rewrite);
                }
                actions.offer(id, title, CodeActionKind::RefactorRewrite, || {
                    Some(timed_rewrite.or_else(rewrite)?.checked(&known.source(context).ok()?.module))
                });
            };
            offer(id, title, false);
            let count = rewrites.counts.get(&(*pass, computation.clone())).copied().unwrap_or_default();
            if count > 1 {
                let title = format!("{pass}: everywhere in %{computation}");
                offer(format!("{EVERYWHERE}{pass}"), title, true);
            }
        }
    }
}

/// Edits that can be applied alone, and the module after them, which has no errors.
pub(crate) struct Rewrite {
    edits: Vec<TextEdit>,
    after: Module,
    effect: String,
}

impl Rewrite {
    /// `None` if the text has errors after the edits.
    fn new(context: &FileContext<'_>, edits: Vec<TextEdit>) -> Option<Rewrite> {
        let mut host = AnalysisHost::of_this_computation();
        let file = host.open("", Language::Hlo, &edited(context, &edits));
        let found = host.analysis().with_context(file, |context| SourceModule::of(context).ok());
        cancel::check();
        Some(Rewrite { edits, after: found.ok()??.module, effect: String::new() })
    }

    /// The edits with what a comparison of the values before and after them found.
    pub(crate) fn checked(self, before: &Module) -> Change {
        let verdict = equivalence::compare(before, &self.after);
        let check = match (verdict.differences.first(), verdict.open.first()) {
            (Some(difference), _) => difference.to_string(),
            (None, Some(open)) => format!("not checked: %{}: {}", open.instruction, open.reason),
            (None, None) => {
                format!("checked: all values are equal ({} compared)", counted(verdict.elements, "element"))
            }
        };
        let is_different = !verdict.differences.is_empty();
        Change::Checked { edits: self.edits, check, is_different, effect: self.effect }
    }

    /// With what it costs and gains, see [`Change::Checked`].
    pub(crate) fn with_effect(self, effect: String) -> Rewrite {
        Rewrite { effect, ..self }
    }
}

/// A pass at one instruction, or in all of its computation. `None` if its edits cannot be applied alone.
fn rewritten(
    context: &FileContext<'_>,
    known: &KnownOptimized,
    pass: &str,
    index: u32,
    is_everywhere: bool,
) -> Option<Rewrite> {
    let source = known.source(context).ok()?;
    let (result, _) = after(context, &source.module, pass)?;
    let target = source.module.read_instructions().nth(index as usize)?;
    let difference = Difference::new(&source.module, &result);
    let mut group: FxHashSet<InstructionId> = difference.group_of(target);
    if is_everywhere {
        let computation = source.module[target].parent();
        let all = source.module.instructions(computation).into_iter();
        all.for_each(|id| group.extend(difference.group_of(id)));
    }
    Rewrite::new(context, edits(context, &source, &result, &difference, &group)?)
}

/// The group of changes with an instruction, if its edits can be applied alone.
pub(crate) fn rewrite_of(
    context: &FileContext<'_>,
    source: &SourceModule,
    after: &Module,
    difference: &Difference,
    id: InstructionId,
) -> Option<Rewrite> {
    Rewrite::new(context, edits(context, source, after, difference, &difference.group_of(id))?)
}

/// All changes at once, those of the layouts in the header too.
pub(crate) fn rewrite_of_all(
    context: &FileContext<'_>,
    source: &SourceModule,
    after: &Module,
    difference: &Difference,
) -> Option<Rewrite> {
    let mut all = edits(context, source, after, difference, &difference.all())?;
    all.extend(entry_layout::edits(context, &source.module, after)?);
    Rewrite::new(context, all)
}

/// The text after edits that do not overlap.
fn edited(context: &FileContext<'_>, edits: &[TextEdit]) -> String {
    let text = context.view.text.to_string();
    let mut edits: Vec<&TextEdit> = edits.iter().collect();
    edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for edit in edits {
        out += text.get(at..edit.range.start).unwrap_or_default();
        out += &edit.insert;
        at = edit.range.end;
    }
    out + text.get(at..).unwrap_or_default()
}

/// The time of the module after fusion, without and with edits: `41 → 36 µs`. Fusion alone: XLA's whole pipeline does what its
/// passes do anyway. `None` if the time is not known.
fn gain(context: &FileContext<'_>, known: &KnownOptimized, edits: &[TextEdit]) -> Option<String> {
    let device = context.db.device_of(context.view.file);
    let before = after_fusion(context, known)?;
    let mut host = AnalysisHost::of_this_computation();
    host.use_device(device);
    let file = host.open("", Language::Hlo, &edited(context, edits));
    let after =
        host.analysis().with_context(file, |context| after_fusion(context, &KnownOptimized::default()));
    cancel::check();
    let after = after.ok()??;
    Some(change_in_words(before.us, after.us))
}

/// What the kernels of a module take once they are fused, which they may be.
fn after_fusion(context: &FileContext<'_>, known: &KnownOptimized) -> Option<Totals> {
    let device = context.db.device_of(context.view.file);
    if !is_unfused(context) {
        return Some(Totals::of_text(&context.view.text.to_string(), device));
    }
    let fused = known.preview(context, &OptimizeRequest::of(&[FUSION])).ok()?;
    fused.stopped.is_none().then(|| Totals::of_text(&fused.body, device))
}
