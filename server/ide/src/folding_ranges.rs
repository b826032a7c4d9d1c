//! Folding ranges of a file.

use crate::TextRange;
use crate::file_context::FileContext;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldKind {
    Computation,
    /// `HloModule …` and each of the tables below it.
    Header,
    /// Brackets of an attribute, a constant or an operand list.
    Brackets,
    Comment,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// From a byte of the line that stays visible to the last hidden byte; always several lines. A closing
    /// bracket on a line of its own stays visible.
    pub range: TextRange,
    pub kind: FoldKind,
}

/// In text order. A limit keeps bodies first, because they contain the rest.
pub(crate) fn folding_ranges(context: &FileContext<'_>, limit: usize) -> Vec<Fold> {
    let mut folds = context.semantics().folds(context, limit);
    folds.truncate(limit);
    folds.sort_by_key(|f| (f.range.start, std::cmp::Reverse(f.range.end)));
    folds.dedup_by_key(|f| f.range.start);
    folds
}
