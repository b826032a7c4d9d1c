//! White-space edits.

use crate::file_context::FileContext;
use crate::{TextEdit, TextRange};

/// The format of a text.
pub(crate) trait Formatting {
    /// White-space edits that format a piece, in any order.
    fn formatting_in(&self, _: &FileContext<'_>, _: usize) -> Vec<TextEdit> {
        Vec::new()
    }

    /// The edits after `typed` was typed before `offset`.
    fn on_type_formatting(&self, _: &FileContext<'_>, _: usize, _: char) -> Vec<TextEdit> {
        Vec::new()
    }
}

/// The edits that format the lines touched by `range`, in order and disjoint.
pub(crate) fn formatting(context: &FileContext<'_>, range: &TextRange) -> Vec<TextEdit> {
    let semantics = context.semantics();
    let mut edits = Vec::new();
    for piece in context.pieces_in(range) {
        crate::analysis::check_cancelled(context.db);
        let of_piece = semantics.formatting_in(context, piece).into_iter();
        edits.extend(of_piece.filter(|e| e.range.start <= range.end && range.start <= e.range.end));
    }
    edits.sort_by_key(|e| (e.range.start, e.range.end));
    edits.dedup_by(|a, b| a.range.start < b.range.end || a == b);
    edits
}
