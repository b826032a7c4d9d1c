//! What is shown around the text of a file: popups, hints, outlines, colours, links, lenses.

use super::Analysis;
use crate::locate::FileContext;
use crate::*;

impl Analysis {
    pub fn hover(&self, file: FileId, offset: usize) -> Cancellable<Option<Hover>> {
        self.hover_with(file, offset, &HoverConfig::default())
    }

    pub fn hover_with(
        &self,
        file: FileId,
        offset: usize,
        config: &HoverConfig,
    ) -> Cancellable<Option<Hover>> {
        self.of_language(
            file,
            |context| hover::hover(&context, offset, config),
            |context| mlir::hover::hover(&context, offset, config),
        )
    }

    pub fn inlay_hints(
        &self,
        file: FileId,
        range: TextRange,
        config: &InlayHintsConfig,
    ) -> Cancellable<Vec<InlayHint>> {
        self.of_language(
            file,
            |context| inlay_hints::inlay_hints(&context, range.clone(), config),
            |context| mlir::inlay_hints::inlay_hints(&context, range.clone(), config),
        )
    }

    /// The outline, and how many symbols the limit left out.
    pub fn document_symbols(&self, file: FileId, limit: usize) -> Cancellable<(Vec<DocumentSymbol>, usize)> {
        self.of_language(
            file,
            |context| document_symbols::document_symbols(&context, limit),
            |context| mlir::document_symbols::document_symbols(&context, limit),
        )
    }

    /// Of all open files, the best first, and how many the limit left out.
    pub fn workspace_symbols(
        &self,
        query: &str,
        limit: usize,
    ) -> Cancellable<(Vec<(FileId, WorkspaceSymbol)>, usize)> {
        self.catch(|db| {
            let mut files: Vec<_> =
                self.views.iter().map(|(&id, view)| (id, FileContext::new(db, view))).collect();
            files.sort_by_key(|(id, _)| *id);
            workspace_symbols::workspace_symbols(&files, query, limit)
        })
    }

    /// The folds, at most `limit`, the outer ones first to stay.
    pub fn folding_ranges(&self, file: FileId, limit: usize) -> Cancellable<Vec<Fold>> {
        self.of_language(
            file,
            |context| folding_ranges::folding_ranges(&context, limit),
            |context| mlir::folding_ranges::folding_ranges(&context, limit),
        )
    }

    /// From the token at `offset` outwards to the whole file, each range larger than the one before.
    pub fn selection_ranges(&self, file: FileId, offset: usize) -> Cancellable<Vec<TextRange>> {
        self.of_language(
            file,
            |context| selection_ranges::selection_ranges(&context, offset),
            |context| mlir::selection_ranges::selection_ranges(&context, offset),
        )
    }

    /// The tokens that overlap `range`, in order and apart; nothing where there are more than `limit`.
    pub fn semantic_tokens(
        &self,
        file: FileId,
        range: TextRange,
        limit: usize,
    ) -> Cancellable<Option<Vec<SemanticToken>>> {
        self.of_language(
            file,
            |context| semantic_tokens::semantic_tokens(&context, &range, limit),
            |context| mlir::semantic_tokens::semantic_tokens(&context, &range, limit),
        )
    }

    /// Mentions of source files in metadata, at most `limit`.
    pub fn document_links(&self, file: FileId, limit: usize) -> Cancellable<Vec<DocumentLink>> {
        self.of_language(
            file,
            |context| document_links::document_links(&context, limit),
            |context| mlir::source_location::document_links(&context, limit),
        )
    }

    /// A place per computation and per kernel; what is said there is for [`Analysis::code_lens`] to tell.
    pub fn code_lens_places(&self, file: FileId, kernels: bool, limit: usize) -> Cancellable<Vec<TextRange>> {
        self.of_language(
            file,
            |context| code_lens::code_lens_places(&context, kernels, limit),
            |context| mlir::kernels::code_lens_places(&context, kernels, limit),
        )
    }

    /// What is known of the computation or the kernel whose name is at `offset`.
    pub fn code_lens(&self, file: FileId, offset: usize) -> Cancellable<Option<CodeLens>> {
        self.of_language(
            file,
            |context| code_lens::code_lens(&context, offset),
            |context| mlir::kernels::code_lens(&context, offset),
        )
    }
}
