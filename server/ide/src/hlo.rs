//! HLO text: the implementation of [`Semantics`], and what HLO alone has.

mod brackets;
pub(crate) mod call_arguments;
pub(crate) mod calls;
pub(crate) mod code_actions;
pub(crate) mod code_lens;
pub(crate) mod completion;
pub(crate) mod definitions;
pub(crate) mod diagnostics;
mod document_links;
pub(crate) mod document_symbols;
mod evaluate;
pub(crate) mod executions;
mod folding_ranges;
pub(crate) mod formatting;
pub(crate) mod hover;
pub(crate) mod indexing_queries;
pub(crate) mod inlay_hints;
pub(crate) mod instructions;
pub(crate) mod locate;
pub(crate) mod map_notes;
pub(crate) mod maps;
pub(crate) mod names;
pub(crate) mod new_names;
pub(crate) mod print_module;
pub(crate) mod reference;
pub(crate) mod repairs;
pub(crate) mod scope;
mod selection_ranges;
pub(crate) mod semantic_tokens;
pub(crate) mod signature_help;
pub(crate) mod source_location;
pub(crate) mod statistics;
pub(crate) mod tuple_element;
pub(crate) mod type_definitions;
pub(crate) mod warnings;
pub(crate) mod workspace_symbols;

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
use crate::warnings::WarningsConfig;
use crate::workspace_symbols::SymbolPlace;
use crate::{
    CodeLens, Completion, Diagnostic, Diagnostics, DocumentSymbol, FileStatistics, Hover, InlayHint,
    NavigationTarget, RenameError, SemanticToken, SignatureHelp, SourceFrame, TextEdit, TextRange,
    WorkspaceSymbol,
};

/// The language HLO.
pub(crate) struct Hlo;

impl Names for Hlo {
    fn source_frames(
        &self,
        context: &FileContext<'_>,
        offset: usize,
    ) -> Option<(TextRange, Vec<SourceFrame>)> {
        source_location::frames_at(context, offset)
    }

    fn text<'a>(&self, context: &FileContext<'a>, piece: usize) -> &'a str {
        &context.block(piece).text
    }

    fn name_at(&self, context: &FileContext<'_>, offset: usize) -> Option<Name> {
        names::name_at(context, offset)
    }

    fn occurrences(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Occurrence> {
        names::occurrences(context, symbol)
    }

    fn definitions(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Defined> {
        definitions::definition(context, symbol).into_iter().collect()
    }

    fn targets_beside_names(&self, context: &FileContext<'_>, offset: usize) -> Vec<NavigationTarget> {
        definitions::targets_beside_names(context, offset).unwrap_or_default()
    }

    fn passed_for(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<TextRange> {
        let Symbol::Instruction(at) = symbol else { return Vec::new() };
        let arguments = call_arguments::arguments(context, *at).into_iter();
        arguments.map(|argument| context.range(argument.call.piece, argument.span)).collect()
    }

    fn type_definitions(&self, context: &FileContext<'_>, offset: usize) -> Vec<NavigationTarget> {
        type_definitions::type_definitions(context, offset)
    }

    fn find_name(&self, context: &FileContext<'_>, name: &str) -> Option<usize> {
        context.find_instruction(None, name).map(|at| context.offset_of(at))
    }

    fn why_no_name(&self, context: &FileContext<'_>, offset: usize) -> RenameError {
        new_names::why_no_name(context, offset)
    }

    fn check_occurrences(&self, name: &Name, occurrences: &[Occurrence]) -> Result<(), RenameError> {
        new_names::check_occurrences(name, occurrences)
    }

    fn check_new_name(
        &self,
        context: &FileContext<'_>,
        symbol: &Symbol,
        occurrences: &[Occurrence],
        new: &str,
    ) -> Result<(), RenameError> {
        new_names::check_new_name(context, symbol, occurrences, new)
    }
}

impl Calls for Hlo {
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

impl Reading for Hlo {
    fn statistics(&self, context: &FileContext<'_>) -> FileStatistics {
        statistics::statistics(context)
    }

    fn document_symbols(&self, context: &FileContext<'_>, limit: usize) -> (Vec<DocumentSymbol>, usize) {
        document_symbols::document_symbols(context, limit)
    }

    fn symbols(
        &self,
        context: &FileContext<'_>,
        with_instructions: bool,
        found: &mut dyn FnMut(&str, bool, SymbolPlace),
    ) {
        workspace_symbols::symbols(context, with_instructions, found);
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
        code_lens::code_lens_places(context, kernels, limit)
    }

    fn code_lens(&self, context: &FileContext<'_>, offset: usize) -> Option<CodeLens> {
        code_lens::code_lens(context, offset)
    }

    fn notes_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<(usize, String)> {
        map_notes::notes_in(context, piece)
    }
}

impl Findings for Hlo {
    fn diagnostics_in(&self, context: &FileContext<'_>, piece: usize, depth: Depth) -> Vec<Diagnostic> {
        diagnostics::diagnostics_in(context, piece, depth)
    }

    fn empty_file(&self, context: &FileContext<'_>) -> Option<Diagnostic> {
        diagnostics::empty_file(context)
    }

    fn warnings(&self, context: &FileContext<'_>, config: &WarningsConfig, limit: usize) -> Diagnostics {
        warnings::warnings(context, config, limit)
    }

    fn coalescing_warnings(
        &self,
        context: &FileContext<'_>,
        config: &CoalescingConfig,
        limit: usize,
    ) -> Diagnostics {
        crate::kernel::coalescing_warnings::coalescing_warnings_of_launches(context, config, limit)
    }
}

impl Typing for Hlo {
    fn completion(&self, context: &FileContext<'_>, offset: usize) -> Completion {
        completion::completion(context, offset)
    }

    fn signature_help(&self, context: &FileContext<'_>, offset: usize) -> Option<SignatureHelp> {
        signature_help::signature_help(context, offset)
    }

    fn formatting_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<TextEdit> {
        formatting::formatting_in(context, piece)
    }

    fn on_type_formatting(&self, context: &FileContext<'_>, offset: usize, typed: char) -> Vec<TextEdit> {
        formatting::on_type_formatting(context, offset, typed)
    }

    fn action_providers(&self) -> &'static [Provider] {
        code_actions::PROVIDERS
    }
}

impl Kernels for Hlo {
    fn why_no_kernels(&self) -> &'static str {
        crate::kernel::heaviest::NOT_OPTIMIZED
    }

    fn has_more_kernels_than(&self, context: &FileContext<'_>, count: usize) -> bool {
        db::fused_computations(context.db, context.view.file).len() > count
    }

    fn default_kernel(&self, context: &FileContext<'_>) -> Result<String, &'static str> {
        crate::kernel::default_kernel::default_kernel(context)
    }

    fn shown_kernel(&self, context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
        crate::kernel::document::shown_kernel(context, offset)
    }

    fn offered_kernel(&self, context: &FileContext<'_>, offset: usize) -> Option<ShownKernel> {
        crate::code_actions::show_kernel::offered_kernel(context, offset)
    }

    fn kernel_document(
        &self,
        context: &FileContext<'_>,
        query: &FusionQuery,
        language: KernelLanguage,
    ) -> Result<KernelDocument, FusionError> {
        crate::kernel::document::kernel_document(context, query, language)
    }

    fn kernel_lines(
        &self,
        context: &FileContext<'_>,
        query: &FusionQuery,
        document: &KernelDocument,
        offset: usize,
    ) -> Vec<Range<usize>> {
        crate::kernel::follow::kernel_lines(context, query, document, offset)
    }

    fn launched<'a>(
        &self,
        context: &FileContext<'a>,
        query: &FusionQuery,
    ) -> Result<LaunchedKernel<'a>, FusionError> {
        LaunchedKernel::named(context, query)
    }

    fn launched_in<'a>(&self, context: &FileContext<'a>, range: &TextRange) -> Option<LaunchedKernel<'a>> {
        crate::kernel::access_pattern::launched_in(context, range)
    }

    fn accessing_at<'a>(&self, context: &FileContext<'a>, offset: usize) -> Option<Accessing<'a>> {
        crate::kernel::access_pattern::accessing_at(context, offset)
    }
}

impl Modules for Hlo {
    fn indexing(
        &self,
        context: &FileContext<'_>,
        query: &IndexingQuery,
    ) -> Result<IndexingReply, QueryError> {
        indexing_queries::indexing(context, query)
    }

    fn convert(&self, context: &FileContext<'_>) -> Conversion {
        crate::convert::to_stablehlo(context)
    }

    fn converts_to(&self, _: &FileContext<'_>) -> Option<Target> {
        Some(crate::code_actions::convert::STABLEHLO)
    }
}

impl Semantics for Hlo {}
