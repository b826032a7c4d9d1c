//! What features ask of a text's language. Each language implements [`Semantics`] once; features are written
//! over it, and none asks which language a file has.

use std::ops::Range;

use eval::{Arguments, Form};

use crate::call_hierarchy::{CallDirection, CallItem};
use crate::code_actions::Provider;
use crate::code_actions::convert::Target;
use crate::convert::Conversion;
use crate::diagnostics::Depth;
use crate::evaluate::{Evaluated, EvaluationQuery};
use crate::evaluation_parameters::EvaluationParameter;
use crate::hover::HoverConfig;
use crate::indexing_queries::{IndexingQuery, IndexingReply, QueryError};
use crate::inlay_hints::InlayHintsConfig;
use crate::kernel::access_pattern::Accessing;
use crate::kernel::coalescing_warnings::CoalescingConfig;
use crate::kernel::document::{KernelDocument, ShownKernel};
use crate::kernel::fusion::{FusionError, FusionQuery};
use crate::kernel::language::KernelLanguage;
use crate::kernel::launched::LaunchedKernel;
use crate::locate::FileContext;
use crate::symbol::{Defined, Function, Name, Occurrence, Symbol};
use crate::warnings::WarningsConfig;
use crate::workspace_symbols::SymbolPlace;
use crate::{
    CodeLens, Completion, Diagnostic, Diagnostics, DocumentLink, DocumentSymbol, FileStatistics, Fold, Hover,
    InlayHint, NavigationTarget, RenameError, SemanticToken, SignatureHelp, TextEdit, TextRange,
    WorkspaceSymbol,
};

/// A language's answers. All are about one file, `context`, in this language.
pub(crate) trait Semantics {
    /// The text of a piece.
    fn text<'a>(&self, context: &FileContext<'a>, piece: usize) -> &'a str;

    /// The name at `offset`, if it refers to a definition.
    fn name_at(&self, context: &FileContext<'_>, offset: usize) -> Option<Name>;

    /// All occurrences of a symbol, including its definitions, in text order.
    fn occurrences(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Occurrence>;

    /// The definitions of a symbol; several if several modules of a file define it.
    fn definitions(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Defined>;

    /// The targets of a position that is no name.
    fn targets_beside_names(&self, context: &FileContext<'_>, offset: usize) -> Vec<NavigationTarget>;

    /// The operands that are passed for a parameter at calls, and so name the same value.
    fn passed_for(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<TextRange>;

    /// Why there is no name at `offset`, for the user.
    fn why_no_name(&self, context: &FileContext<'_>, offset: usize) -> RenameError;

    /// Whether all occurrences of a name are known and mean the same.
    fn check_occurrences(&self, name: &Name, occurrences: &[Occurrence]) -> Result<(), RenameError>;

    /// Whether `new`, without its sign, can be the name of a symbol at its occurrences.
    fn check_new_name(
        &self,
        context: &FileContext<'_>,
        symbol: &Symbol,
        occurrences: &[Occurrence],
        new: &str,
    ) -> Result<(), RenameError>;

    /// The function that a symbol names.
    fn function_named(&self, context: &FileContext<'_>, symbol: &Symbol) -> Option<Function>;

    /// The function that encloses `offset`.
    fn function_around(&self, context: &FileContext<'_>, offset: usize) -> Option<Function>;

    /// The function as an item of a call hierarchy.
    fn call_item(&self, context: &FileContext<'_>, function: Function) -> Option<CallItem>;

    /// The callers or callees of a function, each with the name of the called function at the call, in text
    /// order.
    fn calls(
        &self,
        context: &FileContext<'_>,
        function: Function,
        direction: CallDirection,
    ) -> Vec<(Function, TextRange)>;

    /// The counts of the file.
    fn statistics(&self, context: &FileContext<'_>) -> FileStatistics;

    /// The outline, and the number of symbols beyond the limit.
    fn document_symbols(&self, context: &FileContext<'_>, limit: usize) -> (Vec<DocumentSymbol>, usize);

    /// Calls `found` with each computation or function, and with each instruction if wanted: its name, whether
    /// it is a computation or function, and its place.
    fn symbols(
        &self,
        context: &FileContext<'_>,
        with_instructions: bool,
        found: &mut dyn FnMut(&str, bool, SymbolPlace),
    );

    /// The symbol at a place that [`Self::symbols`] gave; `None` for a place of another language.
    fn workspace_symbol(&self, context: &FileContext<'_>, place: SymbolPlace) -> Option<WorkspaceSymbol>;

    /// At most `limit` folding ranges, in text order.
    fn folding_ranges(&self, context: &FileContext<'_>, limit: usize) -> Vec<Fold>;

    /// The syntax elements that may contain `offset`, in any order.
    fn enclosing_ranges(&self, context: &FileContext<'_>, offset: usize) -> Vec<TextRange>;

    /// The tokens that overlap `range`, in order and disjoint; `None` if there are more than `limit`.
    fn semantic_tokens(
        &self,
        context: &FileContext<'_>,
        range: &TextRange,
        limit: usize,
    ) -> Option<Vec<SemanticToken>>;

    /// At most `limit` references to source files.
    fn document_links(&self, context: &FileContext<'_>, limit: usize) -> Vec<DocumentLink>;

    /// The offset of the definition of the first instruction or value called `name`, without `%`.
    fn find_name(&self, context: &FileContext<'_>, name: &str) -> Option<usize>;

    /// The hover at `offset`.
    fn hover(&self, context: &FileContext<'_>, offset: usize, config: &HoverConfig) -> Option<Hover>;

    /// The hints in `range`.
    fn inlay_hints(
        &self,
        context: &FileContext<'_>,
        range: TextRange,
        config: &InlayHintsConfig,
    ) -> Vec<InlayHint>;

    /// Where lenses are, at most `limit`; of kernels only if `kernels`.
    fn code_lens_places(&self, context: &FileContext<'_>, kernels: bool, limit: usize) -> Vec<TextRange>;

    /// The lens of the name at `offset`.
    fn code_lens(&self, context: &FileContext<'_>, offset: usize) -> Option<CodeLens>;

    /// The errors of a piece.
    fn diagnostics_in(&self, context: &FileContext<'_>, piece: usize, depth: Depth) -> Vec<Diagnostic>;

    /// The error of a file whose pieces have none, if it is empty of code.
    fn empty_file(&self, context: &FileContext<'_>) -> Option<Diagnostic>;

    /// Lines about the kernels and maps of a piece, each with the line that it follows.
    fn notes_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<(usize, String)>;

    /// Warnings about wasteful kernels.
    fn coalescing_warnings(
        &self,
        context: &FileContext<'_>,
        config: &CoalescingConfig,
        limit: usize,
    ) -> Diagnostics;

    /// Whether the file has more than `count` kernels.
    fn has_more_kernels_than(&self, context: &FileContext<'_>, count: usize) -> bool;

    /// The completions at `offset`.
    fn completion(&self, context: &FileContext<'_>, offset: usize) -> Completion;

    /// The operands and attributes of what is typed at `offset`.
    fn signature_help(&self, context: &FileContext<'_>, offset: usize) -> Option<SignatureHelp>;

    /// White-space edits that format the lines touched by `range`.
    fn formatting(&self, context: &FileContext<'_>, range: &TextRange) -> Vec<TextEdit>;

    /// The edits after `typed` was typed before `offset`.
    fn on_type_formatting(&self, context: &FileContext<'_>, offset: usize, typed: char) -> Vec<TextEdit>;

    /// The instruction or function whose kernel is used where none is named, or why there is none.
    fn default_kernel(&self, context: &FileContext<'_>) -> Result<String, &'static str>;

    /// The kernel that contains `offset`.
    fn shown_kernel(&self, context: &FileContext<'_>, offset: usize) -> Option<ShownKernel>;

    /// The kernel that a code action at `offset` shows: one whose document has content.
    fn offered_kernel(&self, context: &FileContext<'_>, offset: usize) -> Option<ShownKernel>;

    /// The document of a kernel.
    fn kernel_document(
        &self,
        context: &FileContext<'_>,
        query: &FusionQuery,
        language: KernelLanguage,
    ) -> Result<KernelDocument, FusionError>;

    /// Line ranges of a document's body that originate from the code at `offset`.
    fn kernel_lines(
        &self,
        context: &FileContext<'_>,
        query: &FusionQuery,
        document: &KernelDocument,
        offset: usize,
    ) -> Vec<Range<usize>>;

    /// The kernel selected by a query, with the operands' names in the text.
    fn launched<'a>(
        &self,
        context: &FileContext<'a>,
        query: &FusionQuery,
    ) -> Result<LaunchedKernel<'a>, FusionError>;

    /// The first kernel that is launched in `range`, or whose code contains its start.
    fn launched_in<'a>(&self, context: &FileContext<'a>, range: &TextRange) -> Option<LaunchedKernel<'a>>;

    /// The kernel whose accesses are shown at `offset`.
    fn accessing_at<'a>(&self, context: &FileContext<'a>, offset: usize) -> Option<Accessing<'a>>;

    /// Why no kernel of the file is known.
    fn why_no_kernels(&self) -> &'static str;

    /// The value of a computation, a function, or one of their instructions.
    fn evaluate(
        &self,
        context: &FileContext<'_>,
        query: &EvaluationQuery,
        arguments: &Arguments,
        form: Form,
    ) -> Evaluated;

    /// The value of the instruction at `offset`.
    fn evaluate_at(
        &self,
        context: &FileContext<'_>,
        offset: usize,
        arguments: &Arguments,
        form: Form,
    ) -> Option<Evaluated>;

    /// Whether [`Self::evaluate_at`] may have an answer. Cheap.
    fn has_value(&self, context: &FileContext<'_>, offset: usize) -> bool;

    /// The parameters that the value at `offset` depends on.
    fn evaluation_parameters(&self, context: &FileContext<'_>, offset: usize) -> Vec<EvaluationParameter>;

    /// Maps of one instruction.
    fn indexing(&self, context: &FileContext<'_>, query: &IndexingQuery)
    -> Result<IndexingReply, QueryError>;

    /// The file in the other language.
    fn convert(&self, context: &FileContext<'_>) -> Conversion;

    /// The providers of code actions, in the order in which editors show their actions.
    fn action_providers(&self) -> &'static [Provider];

    /// What [`Self::convert`] gives; `None` if there is nothing to convert.
    fn converts_to(&self, context: &FileContext<'_>) -> Option<Target>;

    /// Warnings about code that computes nothing new.
    fn warnings(&self, context: &FileContext<'_>, config: &WarningsConfig, limit: usize) -> Diagnostics;
}
