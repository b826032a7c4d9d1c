//! All requests of the server, and how each responds when the text changes during its computation.
//!
//! Architecture Invariant: the first statement of a handler posts to the mailbox, and nothing before it
//! waits. Messages therefore take effect in the order in which they arrive; see `in_order.rs`.

use std::sync::Arc;

use ide::{Analysis, Cancellable, HoverConfig, Wanted};
use serde_json::Value;
use tower_lsp::LanguageServer;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::request::{GotoTypeDefinitionParams, GotoTypeDefinitionResponse};
use tower_lsp::lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem,
    CallHierarchyOutgoingCall, CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams, CodeAction,
    CodeActionParams, CodeActionResponse, CodeLens, CodeLensParams, CompletionItem, CompletionParams,
    CompletionResponse, DidChangeConfigurationParams, DidChangeTextDocumentParams,
    DidCloseTextDocumentParams, DidOpenTextDocumentParams, DocumentFormattingParams, DocumentHighlight,
    DocumentHighlightParams, DocumentLink, DocumentLinkParams, DocumentOnTypeFormattingParams,
    DocumentRangeFormattingParams, DocumentSymbolParams, DocumentSymbolResponse, ExecuteCommandParams,
    FoldingRange, FoldingRangeParams, GotoDefinitionParams, GotoDefinitionResponse, Hover, HoverParams,
    InitializeParams, InitializeResult, InlayHint, InlayHintParams, Location, PrepareRenameResponse,
    ReferenceParams, RenameParams, SelectionRange, SelectionRangeParams, SemanticTokensDeltaParams,
    SemanticTokensFullDeltaResult, SemanticTokensParams, SemanticTokensRangeParams,
    SemanticTokensRangeResult, SemanticTokensResult, SignatureHelp, SignatureHelpParams, SymbolInformation,
    TextDocumentPositionParams, TextEdit, Url, WorkspaceEdit, WorkspaceSymbolParams,
};

use super::capabilities::{ClientProfile, DISABLE_WARNING};
use super::code_actions::Unresolved;
use super::completion;
use super::mailbox::{Event, Mailbox};
use super::read::WhenEdited::{Refuse, Retry};
use super::read::{self, Route, Target};
use super::semantic_tokens::TokenCache;
use super::snapshot::View;
use super::{kernel_uri, navigation, workspace_folders};

static HOVER: Route = Route { method: "textDocument/hover", when_edited: Retry(8) };
static DEFINITION: Route = Route { method: "textDocument/definition", when_edited: Retry(8) };
static DOCUMENT_SYMBOL: Route = Route { method: "textDocument/documentSymbol", when_edited: Retry(32) };
static CODE_ACTION: Route = Route { method: "textDocument/codeAction", when_edited: Retry(8) };
static CODE_ACTION_RESOLVE: Route = Route { method: "codeAction/resolve", when_edited: Refuse };
static FORMATTING: Route = Route { method: "textDocument/formatting", when_edited: Refuse };
static RANGE_FORMATTING: Route = Route { method: "textDocument/rangeFormatting", when_edited: Refuse };
static ON_TYPE_FORMATTING: Route = Route { method: "textDocument/onTypeFormatting", when_edited: Refuse };
static COMPLETION: Route = Route { method: "textDocument/completion", when_edited: Retry(8) };
static SIGNATURE_HELP: Route = Route { method: "textDocument/signatureHelp", when_edited: Retry(8) };
static INLAY_HINT: Route = Route { method: "textDocument/inlayHint", when_edited: Retry(32) };

/// Outlines with more entries are cut: no editor shows them usefully, and some freeze.
const MAX_SYMBOLS: usize = 20_000;

pub(super) struct Handlers {
    pub(super) mailbox: Mailbox,
    pub(super) tokens: Arc<TokenCache>,
}

impl Handlers {
    /// Posts a request and returns the future of its response. Not `async`, so that it has posted when it
    /// returns.
    pub(super) fn ask<V: Send + 'static, T: Default + Send + 'static>(
        &self,
        route: &'static Route,
        uri: Url,
        target: Target,
        query: impl FnMut(&Analysis, &View) -> Cancellable<V> + Send + 'static,
        convert: impl FnOnce(&View, V) -> T + Send + 'static,
    ) -> impl Future<Output = Result<T>> {
        let (read, answer) = read::read(route, uri, target, query, convert);
        self.mailbox.post(Event::Read(read));
        answer
    }
}

#[tower_lsp::async_trait]
impl LanguageServer for Handlers {
    async fn initialize(&self, params: InitializeParams) -> Result<InitializeResult> {
        let client = ClientProfile::new(&params.capabilities);
        let welcome = client.welcome();
        let roots = workspace_folders::roots(&params);
        self.mailbox.post(Event::Initialize(client, params.initialization_options, roots));
        Ok(welcome)
    }

    async fn execute_command(&self, params: ExecuteCommandParams) -> Result<Option<Value>> {
        if params.command == DISABLE_WARNING {
            let code = params.arguments.first().and_then(|code| code.as_str().map(str::to_owned));
            let Some(code) = code else {
                return Err(Error::invalid_params(format!("{DISABLE_WARNING} takes the code of a warning")));
            };
            self.mailbox.post(Event::DisableWarning(code));
            return Ok(None);
        }
        self.execute(params).await
    }

    async fn shutdown(&self) -> Result<()> {
        Ok(())
    }

    async fn did_change_configuration(&self, params: DidChangeConfigurationParams) {
        self.mailbox.post(Event::Configure(params.settings));
    }

    async fn did_open(&self, params: DidOpenTextDocumentParams) {
        self.mailbox.post(Event::Open(params));
    }

    async fn did_change(&self, params: DidChangeTextDocumentParams) {
        self.mailbox.post(Event::Change(params));
    }

    async fn did_close(&self, params: DidCloseTextDocumentParams) {
        self.mailbox.post(Event::Close(params.text_document.uri));
    }

    async fn hover(&self, params: HoverParams) -> Result<Option<Hover>> {
        let at = params.text_document_position_params;
        if at.text_document.uri.scheme() == kernel_uri::SCHEME {
            return self.hover_in_kernel(at).await;
        }
        self.ask(
            &HOVER,
            at.text_document.uri,
            Target::At(at.position),
            |analysis, view| {
                let config = HoverConfig { readable_variables: view.session.settings.readable_variables };
                analysis.hover_with(view.file, view.span.start, &config)
            },
            |view, hover| hover.map(|hover| view.hover(hover)),
        )
        .await
    }

    async fn goto_definition(&self, params: GotoDefinitionParams) -> Result<Option<GotoDefinitionResponse>> {
        let at = params.text_document_position_params;
        if at.text_document.uri.scheme() == kernel_uri::SCHEME {
            return self.definition_in_kernel(at).await;
        }
        self.ask(
            &DEFINITION,
            at.text_document.uri,
            Target::At(at.position),
            |analysis, view| analysis.goto_definition(view.file, view.span.start),
            |view, targets| view.definitions(targets),
        )
        .await
    }

    async fn document_symbol(&self, params: DocumentSymbolParams) -> Result<Option<DocumentSymbolResponse>> {
        self.ask(
            &DOCUMENT_SYMBOL,
            params.text_document.uri,
            Target::Document,
            |analysis, view| analysis.document_symbols(view.file, MAX_SYMBOLS),
            |view, (symbols, omitted)| {
                if omitted > 0 {
                    tracing::info!("the outline of {} leaves out {omitted} symbols", view.uri);
                }
                Some(view.document_symbols(symbols))
            },
        )
        .await
    }

    async fn inlay_hint(&self, params: InlayHintParams) -> Result<Option<Vec<InlayHint>>> {
        self.ask(
            &INLAY_HINT,
            params.text_document.uri,
            Target::Range(params.range),
            |analysis, view| {
                analysis.inlay_hints(view.file, view.span.clone(), &view.session.settings.inlay_hints())
            },
            |view, hints| Some(hints.into_iter().map(|hint| view.inlay_hint(hint)).collect()),
        )
        .await
    }

    async fn goto_type_definition(
        &self,
        params: GotoTypeDefinitionParams,
    ) -> Result<Option<GotoTypeDefinitionResponse>> {
        self.type_definition(params.text_document_position_params).await
    }

    async fn references(&self, params: ReferenceParams) -> Result<Option<Vec<Location>>> {
        self.references_to(params).await
    }

    async fn document_highlight(
        &self,
        params: DocumentHighlightParams,
    ) -> Result<Option<Vec<DocumentHighlight>>> {
        self.highlights(params.text_document_position_params).await
    }

    async fn prepare_rename(
        &self,
        params: TextDocumentPositionParams,
    ) -> Result<Option<PrepareRenameResponse>> {
        navigation::or_refused(self.name_to_rename(params).await)
    }

    async fn rename(&self, params: RenameParams) -> Result<Option<WorkspaceEdit>> {
        navigation::or_refused(self.rename_to(params).await)
    }

    async fn prepare_call_hierarchy(
        &self,
        params: CallHierarchyPrepareParams,
    ) -> Result<Option<Vec<CallHierarchyItem>>> {
        self.call_item(params.text_document_position_params).await
    }

    async fn incoming_calls(
        &self,
        params: CallHierarchyIncomingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyIncomingCall>>> {
        self.callers(params.item).await
    }

    async fn outgoing_calls(
        &self,
        params: CallHierarchyOutgoingCallsParams,
    ) -> Result<Option<Vec<CallHierarchyOutgoingCall>>> {
        self.callees(params.item).await
    }

    async fn symbol(&self, params: WorkspaceSymbolParams) -> Result<Option<Vec<SymbolInformation>>> {
        self.workspace_symbols(params.query).await
    }

    async fn folding_range(&self, params: FoldingRangeParams) -> Result<Option<Vec<FoldingRange>>> {
        self.folds(params.text_document.uri).await
    }

    async fn selection_range(&self, params: SelectionRangeParams) -> Result<Option<Vec<SelectionRange>>> {
        self.selections(params).await
    }

    async fn semantic_tokens_full(
        &self,
        params: SemanticTokensParams,
    ) -> Result<Option<SemanticTokensResult>> {
        self.tokens_full(params.text_document.uri).await
    }

    async fn semantic_tokens_full_delta(
        &self,
        params: SemanticTokensDeltaParams,
    ) -> Result<Option<SemanticTokensFullDeltaResult>> {
        self.tokens_delta(params).await
    }

    async fn semantic_tokens_range(
        &self,
        params: SemanticTokensRangeParams,
    ) -> Result<Option<SemanticTokensRangeResult>> {
        self.tokens_range(params).await
    }

    async fn document_link(&self, params: DocumentLinkParams) -> Result<Option<Vec<DocumentLink>>> {
        self.links(params.text_document.uri).await
    }

    async fn code_lens(&self, params: CodeLensParams) -> Result<Option<Vec<CodeLens>>> {
        self.lenses(params.text_document.uri).await
    }

    async fn code_lens_resolve(&self, params: CodeLens) -> Result<CodeLens> {
        self.resolve_lens(params).await
    }

    async fn code_action(&self, params: CodeActionParams) -> Result<Option<CodeActionResponse>> {
        let (range, only, found) = (params.range, params.context.only, params.context.diagnostics);
        self.ask(
            &CODE_ACTION,
            params.text_document.uri,
            Target::Range(range),
            |analysis, view| analysis.code_actions(view.file, view.span.clone(), view.wanted()),
            move |view, actions| {
                let range = view.range(view.span.clone());
                let mut actions = view.code_actions(actions, &found, only.as_deref(), range);
                actions.extend(view.disable_warnings(found, only.as_deref()));
                Some(actions)
            },
        )
        .await
    }

    /// Resolves the edit of an action if the text has not changed since; otherwise returns the action without
    /// an edit.
    async fn code_action_resolve(&self, action: CodeAction) -> Result<CodeAction> {
        let asked = action.data.clone().and_then(|data| serde_json::from_value::<Unresolved>(data).ok());
        let Some(Unresolved { uri, version, range, id }) = asked else { return Ok(action) };
        let resolved = self
            .ask(
                &CODE_ACTION_RESOLVE,
                uri,
                Target::Range(range),
                move |analysis, view| match view.version == version {
                    true => analysis.code_actions(view.file, view.span.clone(), Wanted::Change(&id)),
                    false => Ok(Vec::new()),
                },
                |view, actions| actions.into_iter().next().and_then(|action| view.code_action(action).edit),
            )
            .await?;
        Ok(CodeAction { edit: resolved, ..action })
    }

    async fn completion(&self, params: CompletionParams) -> Result<Option<CompletionResponse>> {
        let at = params.text_document_position;
        self.ask(
            &COMPLETION,
            at.text_document.uri,
            Target::At(at.position),
            |analysis, view| analysis.completion(view.file, view.span.start),
            |view, completion| Some(view.completion(completion)),
        )
        .await
    }

    async fn completion_resolve(&self, item: CompletionItem) -> Result<CompletionItem> {
        Ok(completion::resolved(item))
    }

    async fn signature_help(&self, params: SignatureHelpParams) -> Result<Option<SignatureHelp>> {
        let at = params.text_document_position_params;
        self.ask(
            &SIGNATURE_HELP,
            at.text_document.uri,
            Target::At(at.position),
            |analysis, view| analysis.signature_help(view.file, view.span.start),
            |view, help| help.map(|help| view.signature_help(help)),
        )
        .await
    }

    async fn formatting(&self, params: DocumentFormattingParams) -> Result<Option<Vec<TextEdit>>> {
        let uri = params.text_document.uri;
        self.ask(&FORMATTING, uri, Target::Document, format, edits).await
    }

    async fn range_formatting(&self, params: DocumentRangeFormattingParams) -> Result<Option<Vec<TextEdit>>> {
        let uri = params.text_document.uri;
        self.ask(&RANGE_FORMATTING, uri, Target::Range(params.range), format, edits).await
    }

    async fn on_type_formatting(
        &self,
        params: DocumentOnTypeFormattingParams,
    ) -> Result<Option<Vec<TextEdit>>> {
        let at = params.text_document_position;
        let typed = params.ch.chars().next().unwrap_or('\n');
        self.ask(
            &ON_TYPE_FORMATTING,
            at.text_document.uri,
            Target::At(at.position),
            move |analysis, view| analysis.on_type_formatting(view.file, view.span.start, typed),
            edits,
        )
        .await
    }
}

fn format(analysis: &Analysis, view: &View) -> Cancellable<Vec<ide::TextEdit>> {
    analysis.formatting(view.file, view.span.clone())
}

fn edits(view: &View, edits: Vec<ide::TextEdit>) -> Option<Vec<TextEdit>> {
    Some(edits.into_iter().map(|edit| view.text_edit(edit)).collect())
}
