//! Hints with the domain of a map: `⟨d0 ≤ 9, s0 ≤ 19⟩`.

use indexing::{OpIndexing, OperandIndexing, Rules};
use indexing_map::{IndexingMap, PrintStyle, domain_short, print_map};
use ir::{Op, Opcode, Shape};

use crate::file_context::FileContext;
use crate::units::shorten;
use crate::{InlayHint, TextRange};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InlayHintsConfig {
    pub domains: DomainHints,
    /// Show where a fused computation is partitioned into functions.
    pub splits: bool,
    /// Show the bytes in use at each instruction of a scheduled module.
    pub memory: bool,
}

/// The instructions that get a hint with the domain of their map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DomainHints {
    Off,
    /// Those whose map adds information to the result shape: reductions, windows, gathers, pads, reshapes.
    Informative,
    /// Every instruction that reads its operands by index.
    All,
}

/// The largest number of characters of a hint.
pub(crate) const LIMIT: usize = 80;

/// The hints in a text.
pub(crate) trait InlayHints {
    /// The hints of a piece that are in `range`, in any order.
    fn inlay_hints_in(
        &self,
        _: &FileContext<'_>,
        _: usize,
        _: &TextRange,
        _: &InlayHintsConfig,
    ) -> Vec<InlayHint> {
        Vec::new()
    }
}

/// The hints in `range`, in text order.
pub(crate) fn inlay_hints(
    context: &FileContext<'_>,
    range: &TextRange,
    config: &InlayHintsConfig,
) -> Vec<InlayHint> {
    let semantics = context.semantics();
    let mut hints = Vec::new();
    for piece in context.pieces_in(range) {
        // No query may run per instruction, so check here whether an edit cancels the loop.
        crate::analysis::check_cancelled(context.db);
        hints.extend(semantics.inlay_hints_in(context, piece, range, config));
    }
    hints.sort_by_key(|hint| hint.offset);
    hints
}

/// The hint of an op with these maps: its domain, or the map's results for a reshape that regroups
/// dimensions.
pub(crate) fn domain_hint(
    opcode: Opcode,
    shape: &Shape,
    maps: &OpIndexing,
    wanted: DomainHints,
) -> Option<String> {
    let accesses = || maps.operands.iter().flatten().map(|access| &access.map).filter(|map| map.is_mapped());
    if wanted != DomainHints::All && accesses().all(|map| repeats_shape(map, shape)) {
        let regroups = matches!(opcode, Opcode::Reshape | Opcode::Bitcast);
        let map = accesses().next().filter(|_| regroups)?;
        let is_regrouped =
            map.results().iter().any(|result| result.as_var().is_none() && result.as_const().is_none());
        return is_regrouped.then(|| in_brackets(&format!("reads [{}]", results_text(map))));
    }
    let label = domain_label(opcode, maps)?;
    (!label.is_empty()).then(|| in_brackets(&label))
}

/// The maps behind a hint: those that the hover shows. XLA has none for some ops, such as sorts.
pub(crate) fn hinted_maps(op: &Op, maps: impl Fn(Rules) -> OpIndexing) -> OpIndexing {
    // Only hovers analyse called computations, and what a custom call reads is seldom known.
    let is_call = matches!(
        op.opcode,
        Opcode::Call | Opcode::Conditional | Opcode::CustomCall | Opcode::AsyncStart | Opcode::While
    );
    maps(if is_call { Rules::Xla } else { Rules::Exact })
}

/// A short text of the domain of an instruction's maps: of the widest one, or for concatenations the domain
/// of each part. Empty for single elements.
fn domain_label(opcode: Opcode, maps: &OpIndexing) -> Option<String> {
    let of = |access: &OperandIndexing| domain_short(&access.map, PrintStyle::Floordiv);
    if opcode != Opcode::Concatenate {
        return widest_access(maps).map(of);
    }
    let mut parts: Vec<String> =
        maps.operands.iter().flatten().filter(|a| a.map.is_mapped()).map(of).collect();
    parts.dedup();
    Some(parts.join(" | "))
}

/// The access that determines the instruction's domain: the one with the most range and runtime variables
/// among those with a map.
fn widest_access(maps: &OpIndexing) -> Option<&OperandIndexing> {
    let mapped = maps.operands.iter().flatten().filter(|a| a.map.is_mapped() && a.map.num_dims() > 0);
    let extent =
        |a: &&OperandIndexing| (!a.map.results().is_empty(), a.map.num_ranges() + a.map.num_runtime());
    // In ties the first: operand 0 is the main one.
    mapped.rev().max_by_key(extent)
}

/// Distinct brackets separate a hint from the surrounding operands and attributes.
pub(crate) fn in_brackets(label: &str) -> String {
    format!("⟨{}⟩", shorten(label, LIMIT))
}

/// Whether the domain is exactly the index space of the result.
fn repeats_shape(map: &IndexingMap, shape: &Shape) -> bool {
    let Shape::Array(array) = shape else { return false };
    let ends = array.dims.iter().map(|size| size.saturating_sub(1));
    map.num_ranges() + map.num_runtime() == 0
        && map.constraints().is_empty()
        && map.dims().iter().map(|dim| (dim.bounds.lower, dim.bounds.upper)).eq(ends.map(|end| (0, end)))
}

fn results_text(map: &IndexingMap) -> String {
    let text = print_map(map, PrintStyle::Floordiv);
    let results = text.split_once(" -> (").map_or("", |(_, rest)| rest);
    results.split_once("), domain").map_or(results.trim_end_matches(')'), |(results, _)| results).to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{DomainHints, InlayHintsConfig};
    use crate::fixture::open;

    /// A text with its hints between « and ».
    fn hinted(text: &str, config: &InlayHintsConfig) -> String {
        let (analysis, file, _) = open(text);
        let hints = analysis.inlay_hints(file, 0..text.len(), config).expect("nobody cancels");
        let (mut shown, mut from) = (String::new(), 0);
        for hint in hints {
            shown += &format!("{} «{}»", &text[from..hint.offset], hint.label);
            from = hint.offset;
        }
        shown + &text[from..]
    }

    fn without_hints(text: &str) -> String {
        let mut parts = text.split(" «");
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |text, part| text + part.split_once('»').map_or(part, |(_, rest)| rest))
    }

    /// Blocks of the page that start with "```hlo,hints" have the hints of the default settings; "```hlo,hints,memory" has
    /// those of memory. `UPDATE_EXPECT=1` writes them anew.
    #[test]
    fn the_page_shows_real_hints() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/book/inlay_hints.md");
        let written = std::fs::read_to_string(&page).expect("the page is there");
        let mut parts = written.split("```hlo,hints");
        let mut real = parts.next().unwrap_or_default().to_owned();
        let mut blocks = 0;
        for part in parts {
            let (kind, rest) = part.split_once('\n').expect("the block has lines");
            let (block, rest) = rest.split_once("```").expect("the block ends");
            let memory = kind == ",memory";
            let domains = if memory { DomainHints::Off } else { DomainHints::Informative };
            let config = InlayHintsConfig { domains, splits: true, memory };
            let hinted = hinted(&without_hints(block), &config);
            assert!(hinted.contains('«'), "no hint in {hinted}");
            real += &format!("```hlo,hints{kind}\n{hinted}```{rest}");
            blocks += 1;
        }
        assert_eq!(blocks, 3);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&page, &real).expect("the page is written");
        } else {
            assert_eq!(written, real);
        }
    }
}
