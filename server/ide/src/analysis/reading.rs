//! Features for reading a file: hovers, hints, outlines, colours, links, lenses.

use super::Analysis;
use crate::file_context::FileContext;
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
        self.with_file(file, |context| context.semantics().hover(&context, offset, config))
    }

    pub fn inlay_hints(
        &self,
        file: FileId,
        range: TextRange,
        config: &InlayHintsConfig,
    ) -> Cancellable<Vec<InlayHint>> {
        self.with_file(file, |context| inlay_hints::inlay_hints(&context, &range, config))
    }

    /// The outline, and the number of symbols beyond the limit.
    pub fn document_symbols(&self, file: FileId, limit: usize) -> Cancellable<(Vec<DocumentSymbol>, usize)> {
        self.with_file(file, |context| context.semantics().document_symbols(&context, limit))
    }

    /// Symbols of all open files, best match first, and the number beyond the limit.
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

    /// At most `limit` folding ranges, keeping the outer ones.
    pub fn folding_ranges(&self, file: FileId, limit: usize) -> Cancellable<Vec<Fold>> {
        self.with_file(file, |context| folding_ranges::folding_ranges(&context, limit))
    }

    /// The token at `offset` and its enclosing ranges up to the whole file, each larger than the last.
    pub fn selection_ranges(&self, file: FileId, offset: usize) -> Cancellable<Vec<TextRange>> {
        self.with_file(file, |context| selection_ranges::selection_ranges(&context, offset))
    }

    /// The tokens that overlap `range`, in order and disjoint; `None` if there are more than `limit`.
    pub fn semantic_tokens(
        &self,
        file: FileId,
        range: TextRange,
        limit: usize,
    ) -> Cancellable<Option<Vec<SemanticToken>>> {
        self.with_file(file, |context| semantic_tokens::semantic_tokens(&context, &range, limit))
    }

    /// At most `limit` references to source files in metadata.
    pub fn document_links(&self, file: FileId, limit: usize) -> Cancellable<Vec<DocumentLink>> {
        self.with_file(file, |context| document_links::document_links(&context, limit))
    }

    /// The positions of a lens per computation and per kernel; [`Analysis::code_lens`] computes their titles.
    pub fn code_lens_places(&self, file: FileId, kernels: bool, limit: usize) -> Cancellable<Vec<TextRange>> {
        self.with_file(file, |context| context.semantics().code_lens_places(&context, kernels, limit))
    }

    /// The lens of the computation or kernel whose name is at `offset`; with the peak of a computation if `memory`, which plans
    /// the memory of a scheduled module.
    pub fn code_lens(&self, file: FileId, offset: usize, memory: bool) -> Cancellable<Option<CodeLens>> {
        self.with_file(file, |context| context.semantics().code_lens(&context, offset, memory))
    }

    /// Plans the memory of a scheduled module, for hovers and lenses.
    pub fn prepare_memory(&self, file: FileId) -> Cancellable<()> {
        self.with_file(file, |context| memory::prepare(&context))
    }
}
