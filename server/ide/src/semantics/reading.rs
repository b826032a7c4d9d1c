//! What is shown of a text: outlines, colours, folds, hovers, hints, lenses, links.

use std::ops::Range;

use crate::file_context::FileContext;
use crate::hover::HoverConfig;
use crate::inlay_hints::InlayHintsConfig;
use crate::workspace_symbols::SymbolPlace;
use crate::{
    CodeLens, DocumentSymbol, FileStatistics, Hover, InlayHint, SemanticToken, TextRange, WorkspaceSymbol,
};

/// What is shown of a text: outlines, colours, folds, hovers, hints, lenses, links.
pub(crate) trait Reading {
    /// The counts of the file.
    fn statistics(&self, context: &FileContext<'_>) -> FileStatistics;

    /// The outline, and the number of symbols beyond the limit.
    fn document_symbols(&self, _: &FileContext<'_>, _: usize) -> (Vec<DocumentSymbol>, usize) {
        (Vec::new(), 0)
    }

    /// Calls `found` with each computation or function, and with each instruction if wanted: its name, whether
    /// it is a computation or function, and its place.
    fn symbols(&self, _: &FileContext<'_>, _: bool, _: &mut dyn FnMut(&str, bool, SymbolPlace)) {}

    /// The symbol at a place that [`Self::symbols`] gave; `None` for a place of another language.
    fn workspace_symbol(&self, _: &FileContext<'_>, _: SymbolPlace) -> Option<WorkspaceSymbol> {
        None
    }

    /// The tokens of a piece that overlap `range`, in bytes of the piece, in order and disjoint; tokens beside
    /// the range may be among them.
    fn tokens_in(&self, _: &FileContext<'_>, _: usize, _: Range<usize>) -> Vec<SemanticToken> {
        Vec::new()
    }

    /// The hover at `offset`.
    fn hover(&self, _: &FileContext<'_>, _: usize, _: &HoverConfig) -> Option<Hover> {
        None
    }

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

    /// Where lenses are, at most `limit`; of kernels only if `kernels`.
    fn code_lens_places(&self, _: &FileContext<'_>, _: bool, _: usize) -> Vec<TextRange> {
        Vec::new()
    }

    /// The lens of the name at `offset`.
    fn code_lens(&self, _: &FileContext<'_>, _: usize) -> Option<CodeLens> {
        None
    }

    /// Lines about the kernels and maps of a piece, each with the line that it follows.
    fn notes_in(&self, _: &FileContext<'_>, _: usize) -> Vec<(usize, String)> {
        Vec::new()
    }
}
