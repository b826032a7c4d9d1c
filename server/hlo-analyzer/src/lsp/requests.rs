//! The requests: one file each, one trait, one table.
//!
//! A request posts itself to the mailbox as a read, gets a snapshot from the main loop, computes on the pool and
//! responds. A new one needs a file in `requests/`, a row in the table below, and for a standard one the
//! capability in `capabilities.rs`.

mod access_pattern;
mod code_action;
mod code_action_resolve;
mod code_lens;
mod code_lens_resolve;
mod compare_stages;
mod compile_details;
mod compile_source;
mod compiles;
mod completion;
mod completion_item_resolve;
mod convert;
mod declaration;
mod definition;
mod diagnostic;
mod document_highlight;
mod document_link;
mod document_symbol;
mod evaluate;
mod folding_range;
mod formatting;
mod go_to;
mod heaviest_kernels;
mod hover;
mod implementation;
mod incoming_calls;
mod inlay_hint;
mod instruction_stages;
mod kernel_content;
mod kernel_functions;
mod kernel_lines;
mod kernel_members;
mod kernel_source;
mod linked_editing_range;
mod memory_advice;
mod memory_timeline;
mod on_type_formatting;
mod open_kernel;
mod outgoing_calls;
mod passes;
mod prepare_call_hierarchy;
mod prepare_rename;
mod preview_content;
mod preview_lines;
mod preview_source;
mod range_formatting;
mod references;
mod rename;
mod selection_range;
mod semantic_tokens_delta;
mod semantic_tokens_full;
mod semantic_tokens_range;
mod show_kernel;
mod show_preview;
mod signature_help;
mod stage_changes;
mod stage_costs;
mod step_stage;
mod test_diagnostics;
mod test_panic;
mod test_sleep;
mod test_text;
mod text_document_content;
mod type_definition;
mod workspace_diagnostic;
mod workspace_symbol;

use ide::Cancellable;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{
    self, CompletionItem, DidChangeConfigurationParams, DidChangeTextDocumentParams,
    DidChangeWatchedFilesParams, DidChangeWorkspaceFoldersParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, ExecuteCommandParams, InitializeParams,
    InitializeResult, InitializedParams, TextDocumentIdentifier, TextDocumentPositionParams, Url,
};
use tower_lsp::{LanguageServer, LspServiceBuilder};

use super::handlers::{Handlers, serve_requests};
use super::kernel_tab::KernelTab;
use super::kernel_uri;
use super::mailbox::Event;
use super::read::{IsReady, Target, WhenEdited};
use super::snapshot::{Snapshot, View};

pub(super) use compile_source::{CompileSource, Source};
pub(super) use open_kernel::OpenKernel;
pub(super) use test_panic::before_query;
pub(super) use text_document_content::{Refresh, RefreshParams};

serve_requests! {
    standard {
        hover: hover::Hover;
        goto_definition: definition::Definition;
        goto_declaration: declaration::Declaration;
        goto_implementation: implementation::Implementation;
        goto_type_definition: type_definition::TypeDefinition;
        references: references::References;
        document_highlight: document_highlight::DocumentHighlight;
        linked_editing_range: linked_editing_range::LinkedEditingRange;
        prepare_rename: prepare_rename::PrepareRename;
        rename: rename::Rename;
        prepare_call_hierarchy: prepare_call_hierarchy::PrepareCallHierarchy;
        incoming_calls: incoming_calls::IncomingCalls;
        outgoing_calls: outgoing_calls::OutgoingCalls;
        document_symbol: document_symbol::DocumentSymbol;
        symbol: workspace_symbol::WorkspaceSymbol;
        folding_range: folding_range::FoldingRange;
        selection_range: selection_range::SelectionRange;
        semantic_tokens_full: semantic_tokens_full::SemanticTokensFull;
        semantic_tokens_full_delta: semantic_tokens_delta::SemanticTokensDelta;
        semantic_tokens_range: semantic_tokens_range::SemanticTokensRange;
        document_link: document_link::DocumentLink;
        code_lens: code_lens::CodeLens;
        code_lens_resolve: code_lens_resolve::CodeLensResolve, or code_lens_resolve::untitled;
        inlay_hint: inlay_hint::InlayHint;
        code_action: code_action::CodeAction;
        code_action_resolve: code_action_resolve::CodeActionResolve, or std::convert::identity;
        diagnostic: diagnostic::Diagnostic, or diagnostic::nothing;
        workspace_diagnostic: workspace_diagnostic::WorkspaceDiagnostic, or workspace_diagnostic::nothing;
        completion: completion::Completion;
        signature_help: signature_help::SignatureHelp;
        formatting: formatting::Formatting;
        range_formatting: range_formatting::RangeFormatting;
        on_type_formatting: on_type_formatting::OnTypeFormatting;
    }
    // Described in server/docs/protocol.md.
    custom {
        access_pattern::AccessPattern;
        compare_stages::CompareStages;
        compile_details::CompileDetails;
        compiles::Compiles;
        convert::Convert;
        evaluate::Evaluate;
        heaviest_kernels::HeaviestKernels;
        instruction_stages::InstructionStages;
        kernel_content::KernelContent;
        kernel_functions::KernelFunctions;
        kernel_lines::KernelLines;
        kernel_members::KernelMembers;
        kernel_source::KernelSource;
        memory_advice::MemoryAdvice;
        memory_timeline::MemoryTimeline;
        passes::Passes;
        preview_content::PreviewContent;
        preview_lines::PreviewLines;
        preview_source::PreviewSource;
        show_kernel::ShowKernel;
        show_preview::ShowPreview;
        stage_changes::StageChanges;
        stage_costs::StageCosts;
        step_stage::StepStage;
        // Of LSP 3.18.
        text_document_content::TextDocumentContent;
    }
    // With these the project's tests bring the real server into rare states. They exist only if the environment
    // variable HLO_ANALYZER_TEST_HOOKS is 1.
    test {
        test_diagnostics::TestDiagnostics;
        test_panic::TestPanic;
        test_sleep::TestSleep;
        test_text::TestText;
    }
}

/// A request that a snapshot of the analysis answers.
///
/// [`Request::run`] computes on the database, which the next edit waits for; [`Request::respond`] runs after the
/// database is released. An edit cancels `run` and, by [`Request::WHEN_EDITED`], starts it again on the new text.
pub(super) trait Request: 'static {
    /// The method's name in messages, for example `textDocument/hover`.
    const METHOD: &'static str;
    const WHEN_EDITED: WhenEdited;
    type Params: DeserializeOwned + Send + 'static;
    /// The result in the terms of `ide`.
    type Found: Send + 'static;
    /// The result in the terms of LSP.
    type Response: Send + 'static;

    /// The part of a document to which [`View::span`] refers.
    fn subject(params: &Self::Params) -> Subject;

    /// Computes the result. Runs again after each edit that cancels it.
    fn run(snapshot: &Snapshot, params: &Self::Params) -> Cancellable<Self::Found>;

    /// Whether the response may be sent, or waits for the next change of a document, the settings or a folder.
    fn is_ready(_: &Self::Found) -> IsReady {
        IsReady::Yes
    }

    /// Converts the result.
    ///
    /// # Errors
    /// The request is valid but cannot be carried out.
    fn respond(view: &View, params: Self::Params, found: Self::Found) -> Result<Self::Response>;
}

/// What a request is about.
pub(super) enum Subject {
    Part(Url, Target),
    /// No document, so there is nothing to compute.
    Nothing,
    /// The parameters cannot be understood; the message says why.
    Invalid(String),
}

impl Subject {
    fn document(document: &TextDocumentIdentifier) -> Subject {
        Subject::Part(document.uri.clone(), Target::Document)
    }

    fn at(at: &TextDocumentPositionParams) -> Subject {
        Subject::position(&at.text_document, at.position)
    }

    /// A position in a document, or in a tab of a kernel: then its whole document.
    fn in_document_or_kernel(at: &TextDocumentPositionParams) -> Subject {
        let uri = &at.text_document.uri;
        if uri.scheme() != kernel_uri::SCHEME {
            return Subject::at(at);
        }
        match KernelTab::try_from(uri.clone()) {
            Ok(tab) => tab.subject(Target::Document),
            Err(why) => Subject::Invalid(why.to_owned()),
        }
    }

    fn position(document: &TextDocumentIdentifier, at: lsp_types::Position) -> Subject {
        Subject::Part(document.uri.clone(), Target::At(at))
    }

    fn range(document: &TextDocumentIdentifier, range: lsp_types::Range) -> Subject {
        Subject::Part(document.uri.clone(), Target::Range(range))
    }

    /// All open documents.
    fn workspace() -> Subject {
        // The main loop does not look at the URI.
        let uri = Url::from_directory_path("/").unwrap_or_else(|()| unreachable!("/ is an absolute path"));
        Subject::Part(uri, Target::Workspace)
    }
}

/// Parameters of requests about a document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentParams {
    text_document: TextDocumentIdentifier,
}

/// Parameters of requests about a position.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PositionParams {
    text_document: TextDocumentIdentifier,
    position: lsp_types::Position,
}
