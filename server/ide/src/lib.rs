//! The editor features, in plain structs and byte offsets.
//!
//! Architecture Invariant: nothing here knows LSP, JSON or positions in UTF-16. The binary converts.
//!
//! Architecture Invariant: every [`Analysis`] method may be cancelled by the next edit and then returns
//! [`Cancelled`]; this is the only place where salsa's unwinding is caught.

mod analysis;
mod annotate;
mod brackets;
mod call_hierarchy;
mod code_actions;
mod code_lens;
mod compiles;
mod completion;
mod convert;
mod diagnostics;
mod document_links;
mod document_symbols;
mod evaluate;
mod evaluated_page;
mod evaluation_parameters;
mod file_context;
#[cfg(test)]
mod fixture;
mod folding_ranges;
mod formatting;
mod goto_definition;
mod hlo;
mod hover;
mod indexing_queries;
mod inlay_hints;
mod kernel;
mod language;
mod memory;
mod mlir;
mod optimize;
mod origins;
mod references;
mod rename;
mod rich_text;
mod selection_ranges;
mod semantic_tokens;
mod semantics;
mod signature_help;
mod source_location;
mod statistics;
mod symbol;
mod units;
mod warnings;
mod workspace_symbols;
mod xla_dump;

use std::ops::Range;

pub use ::compile::Entry as DumpEntry;
pub use ::memory::{
    Action as MemoryAction, Allocation, AllocationKind, Category, Column as UsageColumn,
    Devices as MemoryDevices, Difference as PlaceDifference, DumpedAssignment, Memory, Usage, ValuePlace,
    sum as sum_of_bytes,
};
pub use ::mlir::holds_hlo;
pub use analysis::{Analysis, AnalysisHost, CancellationHandle, Revision};
pub use call_hierarchy::{Call, CallDirection, CallItem};
pub use code_actions::access_pattern::ID as ACCESS_PATTERN_ACTION;
pub use code_actions::evaluate::ID as EVALUATE_ACTION;
pub use code_actions::show_fused::ID as SHOW_FUSED_ACTION;
pub use code_actions::show_kernel::{ID as SHOW_KERNEL_ACTION, ID_AS_TEXT as SHOW_KERNEL_AS_TEXT};
pub use code_actions::{Change, CodeAction, CodeActionKind, Wanted};
pub use code_lens::CodeLens;
pub use compiles::{
    ChangedFlag, ComparedStages, CompileDetails, CompileReport, CompileSummary, DumpSummary,
    InstructionHistory, InstructionStage, ListedStage, ListedThunk, Pipeline, ReportedChanges, ReportedThunk,
    StageCosts, StagePlace, StageRole, StageStep, StageSummary, StepDirection, ThunkLaunch,
};
pub use completion::{Completion, CompletionItem, CompletionKind};
pub use convert::{Conversion, NotConverted};
pub use db::compiles::{ListedFile, ReadDump};
pub use db::{FileId, KnownKernels, Language};
pub use diagnostics::Depth;
pub use document_links::DocumentLink;
pub use equivalence::{Difference as ValueDifference, Open as OpenValue, Verdict};
pub use eval::{Arguments, EvaluatedArray, Evaluation, Fill, Form};
pub use evaluate::{Evaluated, EvaluationQuery};
pub use evaluated_page::evaluated_page;
pub use evaluation_parameters::EvaluationParameter;
pub use folding_ranges::{Fold, FoldKind};
pub use gpu::{Counts, DEFAULT_DEVICE, Device, Launch, Pattern};
pub use hlo::completion::completion_documentation;
pub use hover::HoverConfig;
pub use indexing::{OpIndexing, OperandIndexing, Rules, RuntimeSource, SymbolicTile};
pub use indexing_queries::{Direction, IndexingKind, IndexingQuery, IndexingReply, QueryError};
pub use inlay_hints::{DomainHints, InlayHintsConfig};
pub use ir::{PrintOptions, TextTooLarge, UNKNOWN_WORD, print_fragment};
pub use kernel::access_pattern::svg::escaped as escaped_xml;
pub use kernel::access_pattern::{AccessPattern, AccessPatternQuery};
pub use kernel::coalescing_queries::BufferReply;
pub use kernel::coalescing_warnings::{CODE as UNCOALESCED, CoalescingConfig, PREDICTED};
pub use kernel::document::{KernelCode, KernelDocument, KernelInstruction, KernelOrigin, KernelParam};
pub use kernel::figures::{KernelFigures, duration, time_sign};
pub use kernel::functions::KernelFunction;
pub use kernel::fusion::{FusionError, FusionQuery, FusionReply};
pub use kernel::heaviest::{HeaviestKernels, HeavyKernel, bound};
pub use kernel::language::KernelLanguage;
pub use kernel::partition_queries::{PartitionedComputation, PartitionedFunction};
pub use kernel::shown_kernel::ShownKernel;
pub use kernel::tilings::{ConfigChange, ConfigFigures, TileConfig, Tiling, Tilings};
pub use kernel::xla_kernel::{ComparedArray, KernelComparison};
pub use language::language_of;
pub use memory::{
    AliveUntil, AliveValue, Collectives, MemoryAdvice, MemoryColumn, MemoryReport, MemoryStep,
    MemoryTimeline, NoMemory, devices_in_words, memory_picture, value_name,
};
pub use optimize::layouts::LAYOUT_ACTION;
pub use optimize::listed::{ListedPass, listed_passes};
pub use optimize::planned::FUSION as FUSION_PIPELINE;
pub use optimize::preview::Preview;
pub use optimize::shown::KernelMembers;
pub use optimize::source::SourceInstruction;
pub use optimize::{NotOptimized, OptimizeRequest, Optimized};
pub use origins::{
    BlamedCompile, BlamedInstruction, InstructionBlame, InstructionFuture, InstructionLineage,
    InstructionSources, Introducer, OriginSource, StableHloSource, StageBlame, StageLineage,
};
pub use passes::{Applied, Stop, Stopped};
pub use references::{Reference, ReferenceKind};
pub use rename::RenameError;
pub use rich_text::{Line, RichText, percent_encoded};
pub use semantic_tokens::{SemanticToken, TokenKind, TokenModifier, TokenModifiers};
pub use signature_help::{SignatureHelp, SignatureParameter};
pub use source_location::{FrameworkOp, SourceFrame};
pub use statistics::FileStatistics;
pub use units::{bytes, counted, shorten};
pub use warnings::{WarningsConfig, is_unnecessary};
pub use workspace_symbols::WorkspaceSymbol;
pub use xla_dump::dumped_beside_modules;

/// Bytes from the start of the document.
pub type TextRange = Range<usize>;

/// One replacement of `range` (bytes of the text before this edit) by `insert`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextEdit {
    pub range: TextRange,
    pub insert: String,
}

/// The analysis was cancelled because the text changed ([`Cancelled::PendingWrite`]) or because its own token
/// was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelled {
    PendingWrite,
    Local,
}
pub type Cancellable<T> = Result<T, Cancelled>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
    Information,
    Hint,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    pub range: TextRange,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    pub range: TextRange,
    pub severity: Severity,
    /// Stable kebab-case name: `syntax`, `unknown-operand`, …
    pub code: &'static str,
    pub message: String,
    pub related: Vec<Related>,
    /// Whether XLA's parser reports it; otherwise its verifier does.
    pub is_of_parser: bool,
    pub fix: Option<QuickFix>,
}

/// The one change that repairs a diagnostic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuickFix {
    /// `set the result shape to f32[8,16]`
    pub title: String,
    pub edits: Vec<TextEdit>,
}

/// The diagnostics up to the requested number, and the number of the others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagnostics {
    pub shown: Vec<Diagnostic>,
    /// Number of errors and warnings beyond the limit.
    pub omitted: usize,
    /// Number of hints beyond the limit.
    pub omitted_hints: usize,
}

/// The hover's text and the range it describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hover {
    pub range: TextRange,
    pub text: RichText,
}

impl Hover {
    /// The text as Markdown.
    pub fn markdown(&self) -> String {
        self.text.markdown()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlayHint {
    /// The byte offset after which the hint is shown.
    pub offset: usize,
    pub label: String,
    pub tooltip: Option<Line>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SymbolKind {
    Computation,
    Entry,
    Parameter,
    Constant,
    Instruction,
    /// The number of symbols omitted by a limit; not a symbol of the text.
    Note,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentSymbol {
    pub name: String,
    /// The result shape, shown dimmed.
    pub detail: String,
    pub kind: SymbolKind,
    pub range: TextRange,
    pub selection_range: TextRange,
    pub children: Vec<DocumentSymbol>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NavigationTarget {
    /// The token at the cursor.
    pub origin: TextRange,
    /// The whole definition, and its name. Same file.
    pub range: TextRange,
    pub selection_range: TextRange,
}
