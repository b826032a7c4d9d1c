//! The features for MLIR text. None needs a registered dialect: ops of unknown dialects are read like all
//! others.
//!
//! The implementation of [`Semantics`], and what MLIR alone has.

mod brackets;
mod calls;
pub(crate) mod coalescing_warnings;
pub(crate) mod code_actions;
pub(crate) mod completion;
pub(crate) mod context;
pub(crate) mod diagnostics;
pub(crate) mod document_symbols;
mod evaluate;
mod folding_ranges;
pub(crate) mod formatting;
pub(crate) mod hover;
pub(crate) mod indexing_map_hover;
pub(crate) mod indexing_queries;
pub(crate) mod inlay_hints;
pub(crate) mod kernels;
pub(crate) mod map_notes;
pub(crate) mod map_text;
pub(crate) mod names;
mod new_names;
pub(crate) mod op_maps_hover;
mod selection_ranges;
pub(crate) mod semantic_tokens;
pub(crate) mod source_location;
pub(crate) mod workspace_symbols;

#[cfg(test)]
mod in_pieces;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::call_hierarchy::{CallDirection, CallItem};
use crate::code_actions::Provider;
use crate::code_actions::convert::Target;
use crate::convert::Conversion;
use crate::diagnostics::Depth;
use crate::file_context::FileContext;
use crate::hover::HoverConfig;
use crate::indexing_queries::{IndexingQuery, IndexingReply, QueryError};
use crate::inlay_hints::InlayHintsConfig;
use crate::kernel::access_pattern::Accessing;
use crate::kernel::coalescing_warnings::CoalescingConfig;
use crate::kernel::document::{KernelDocument, ShownKernel};
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::language::KernelLanguage;
use crate::kernel::launched::LaunchedKernel;
use crate::semantics::{Calls, Findings, Kernels, Modules, Names, Reading, Semantics, Typing};
use crate::symbol::{Defined, Function, Name, Occurrence, Symbol};
use crate::workspace_symbols::SymbolPlace;
use crate::{
    CodeLens, Completion, Diagnostic, Diagnostics, DocumentSymbol, FileStatistics, Hover, InlayHint,
    RenameError, SemanticToken, SourceFrame, TextEdit, TextRange, WorkspaceSymbol,
};

/// The language MLIR.
pub(crate) struct Mlir;

impl Names for Mlir {
    fn source_frames(
        &self,
        context: &FileContext<'_>,
        offset: usize,
    ) -> Option<(TextRange, Vec<SourceFrame>)> {
        source_location::frames_at(context, offset)
    }

    fn text<'a>(&self, context: &FileContext<'a>, piece: usize) -> &'a str {
        &context.mlir_piece(piece).text
    }

    fn name_at(&self, context: &FileContext<'_>, offset: usize) -> Option<Name> {
        names::name_at(context, offset)
    }

    fn occurrences(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Occurrence> {
        names::occurrences(context, symbol)
    }

    fn definitions(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Defined> {
        names::defined(context, symbol)
    }

    fn find_name(&self, context: &FileContext<'_>, name: &str) -> Option<usize> {
        context.find_value(name)
    }

    fn why_no_name(&self, _: &FileContext<'_>, _: usize) -> RenameError {
        new_names::why_no_name()
    }

    fn check_occurrences(&self, _: &Name, occurrences: &[Occurrence]) -> Result<(), RenameError> {
        new_names::check_occurrences(occurrences)
    }

    fn check_new_name(
        &self,
        context: &FileContext<'_>,
        symbol: &Symbol,
        _: &[Occurrence],
        new: &str,
    ) -> Result<(), RenameError> {
        new_names::check_new_name(context, symbol, new)
    }
}

impl Calls for Mlir {
    fn function_named(&self, context: &FileContext<'_>, symbol: &Symbol) -> Option<Function> {
        calls::function_named(context, symbol)
    }

    fn function_around(&self, context: &FileContext<'_>, offset: usize) -> Option<Function> {
        calls::function_around(context, offset)
    }

    fn call_item(&self, context: &FileContext<'_>, function: Function) -> Option<CallItem> {
        calls::call_item(context, function)
    }

    fn calls(
        &self,
        context: &FileContext<'_>,
        function: Function,
        direction: CallDirection,
    ) -> Vec<(Function, TextRange)> {
        calls::calls(context, function, direction)
    }
}

impl Reading for Mlir {
    fn statistics(&self, context: &FileContext<'_>) -> FileStatistics {
        module_statistics(context)
    }

    fn document_symbols(&self, context: &FileContext<'_>, limit: usize) -> (Vec<DocumentSymbol>, usize) {
        document_symbols::document_symbols(context, limit)
    }

    fn symbols(&self, context: &FileContext<'_>, _: bool, found: &mut dyn FnMut(&str, bool, SymbolPlace)) {
        workspace_symbols::symbols(context, found);
    }

    fn workspace_symbol(&self, context: &FileContext<'_>, place: SymbolPlace) -> Option<WorkspaceSymbol> {
        workspace_symbols::workspace_symbol(context, place)
    }

    fn tokens_in(&self, context: &FileContext<'_>, piece: usize, range: Range<usize>) -> Vec<SemanticToken> {
        semantic_tokens::tokens_in(context, piece, range)
    }

    fn hover(&self, context: &FileContext<'_>, offset: usize, config: &HoverConfig) -> Option<Hover> {
        hover::hover(context, offset, config)
    }

    fn inlay_hints_in(
        &self,
        context: &FileContext<'_>,
        piece: usize,
        range: &TextRange,
        config: &InlayHintsConfig,
    ) -> Vec<InlayHint> {
        inlay_hints::inlay_hints_in(context, piece, range, config)
    }

    fn code_lens_places(&self, context: &FileContext<'_>, kernels: bool, limit: usize) -> Vec<TextRange> {
        kernels::code_lens_places(context, kernels, limit)
    }

    fn code_lens(&self, context: &FileContext<'_>, offset: usize) -> Option<CodeLens> {
        kernels::code_lens(context, offset)
    }

    fn notes_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<(usize, String)> {
        map_notes::notes_in(context, piece)
    }
}

impl Findings for Mlir {
    fn diagnostics_in(&self, context: &FileContext<'_>, piece: usize, depth: Depth) -> Vec<Diagnostic> {
        diagnostics::diagnostics_in(context, piece, depth)
    }

    fn coalescing_warnings(
        &self,
        context: &FileContext<'_>,
        config: &CoalescingConfig,
        limit: usize,
    ) -> Diagnostics {
        coalescing_warnings::coalescing_warnings(context, config, limit)
    }
}

impl Typing for Mlir {
    fn completion(&self, context: &FileContext<'_>, offset: usize) -> Completion {
        completion::completion(context, offset)
    }

    fn formatting_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<TextEdit> {
        formatting::formatting_in(context, piece)
    }

    fn action_providers(&self) -> &'static [Provider] {
        code_actions::PROVIDERS
    }
}

impl Kernels for Mlir {
    fn why_no_kernels(&self) -> &'static str {
        kernels::NOT_COMPILED
    }

    fn has_more_kernels_than(&self, context: &FileContext<'_>, count: usize) -> bool {
        coalescing_warnings::has_more_kernels_than(context, count)
    }

    fn default_kernel(&self, context: &FileContext<'_>) -> Result<String, &'static str> {
        kernels::named::default_kernel(context)
    }

    fn shown_kernel(&self, context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
        kernels::shown_kernel(context, offset)
    }

    fn kernel_document(
        &self,
        context: &FileContext<'_>,
        query: &FusionQuery,
        language: KernelLanguage,
    ) -> Result<KernelDocument, FusionError> {
        kernels::kernel_document(context, query, language)
    }

    fn kernel_lines(
        &self,
        context: &FileContext<'_>,
        _: &FusionQuery,
        document: &KernelDocument,
        offset: usize,
    ) -> Vec<Range<usize>> {
        kernels::kernel_lines(context, document, offset)
    }

    fn launched<'a>(
        &self,
        context: &FileContext<'a>,
        query: &FusionQuery,
    ) -> Result<LaunchedKernel<'a>, FusionError> {
        kernels::hover::launched(context, query)
    }

    fn launched_in<'a>(&self, context: &FileContext<'a>, range: &TextRange) -> Option<LaunchedKernel<'a>> {
        kernels::hover::launched_at(context, range.start)
    }

    fn accessing_at<'a>(&self, context: &FileContext<'a>, offset: usize) -> Option<Accessing<'a>> {
        kernels::hover::launched_at(context, offset).map(Accessing::from)
    }
}

impl Modules for Mlir {
    fn indexing(
        &self,
        context: &FileContext<'_>,
        query: &IndexingQuery,
    ) -> Result<IndexingReply, QueryError> {
        indexing_queries::indexing(context, query)
    }

    fn convert(&self, context: &FileContext<'_>) -> Conversion {
        crate::convert::to_hlo(context)
    }

    fn converts_to(&self, context: &FileContext<'_>) -> Option<Target> {
        crate::code_actions::convert::holds_hlo_ops(context).then_some(crate::code_actions::convert::HLO)
    }
}

impl Semantics for Mlir {}

/// Functions count as computations, ops as instructions.
fn module_statistics(context: &FileContext<'_>) -> FileStatistics {
    let module = context.mlir_module();
    let pieces = context.view.file.pieces(context.db).iter();
    FileStatistics {
        module: module.name.clone(),
        computations: module.functions,
        instructions: pieces.map(|&piece| *db::mlir_ops(context.db, piece)).sum(),
        pieces: context.pieces(),
    }
}
