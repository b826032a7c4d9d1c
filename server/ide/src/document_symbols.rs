//! The outline of a file.

use crate::file_context::FileContext;
use crate::{DocumentSymbol, SymbolKind};

/// The outline of a text.
pub(crate) trait Outline {
    /// The outline, and the number of symbols beyond the limit.
    fn document_symbols(&self, _: &FileContext<'_>, _: usize) -> (Vec<DocumentSymbol>, usize) {
        (Vec::new(), 0)
    }
}

/// Adds a last child that reports the number of children omitted by the limit, if any.
pub(crate) fn note_omitted(symbol: &mut DocumentSymbol, omitted: usize) {
    if omitted == 0 {
        return;
    }
    let from = symbol.children.last().map_or(symbol.selection_range.end, |last| last.range.end);
    let range = from.min(symbol.range.end)..symbol.range.end;
    symbol.children.push(DocumentSymbol {
        name: format!("… {omitted} more"),
        detail: "not listed".to_owned(),
        kind: SymbolKind::Note,
        selection_range: range.start..range.start,
        range,
        children: Vec::new(),
    });
}
