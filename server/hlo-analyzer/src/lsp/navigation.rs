//! Navigation between names: type definitions, references, highlights, rename, call hierarchy.

use ide::{CallDirection, Change, ReferenceKind, RenameError};
use tower_lsp::jsonrpc::{Error, ErrorCode, Result};
use tower_lsp::lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyItem, CallHierarchyOutgoingCall, DocumentHighlight,
    DocumentHighlightKind, GotoDefinitionResponse, Location, PrepareRenameResponse, ReferenceParams,
    RenameParams, SymbolKind, TextDocumentPositionParams, WorkspaceEdit,
};

use super::handlers::Handlers;
use super::read::WhenEdited::{Refuse, Retry};
use super::read::{Route, Target};
use super::snapshot::View;
use super::to_proto::visible;

static TYPE_DEFINITION: Route = Route { method: "textDocument/typeDefinition", when_edited: Retry(8) };
static REFERENCES: Route = Route { method: "textDocument/references", when_edited: Retry(8) };
static HIGHLIGHT: Route = Route { method: "textDocument/documentHighlight", when_edited: Retry(8) };
static PREPARE_RENAME: Route = Route { method: "textDocument/prepareRename", when_edited: Retry(8) };
// A rename is refused, not retried, if the text has changed since the user saw it.
static RENAME: Route = Route { method: "textDocument/rename", when_edited: Refuse };
static CALL_HIERARCHY: Route = Route { method: "textDocument/prepareCallHierarchy", when_edited: Retry(8) };
static INCOMING_CALLS: Route = Route { method: "callHierarchy/incomingCalls", when_edited: Retry(8) };
static OUTGOING_CALLS: Route = Route { method: "callHierarchy/outgoingCalls", when_edited: Retry(8) };

/// `RequestFailed` of LSP 3.17: the request was valid but cannot be carried out.
const REQUEST_FAILED: i64 = -32803;

/// The result, nothing, or the reason for the refusal.
pub(super) type Refusable<T> = Option<std::result::Result<T, RenameError>>;

pub(super) fn or_refused<T>(answer: Result<Refusable<T>>) -> Result<Option<T>> {
    match answer? {
        Some(Ok(done)) => Ok(Some(done)),
        Some(Err(RenameError(reason))) => {
            Err(Error { code: ErrorCode::ServerError(REQUEST_FAILED), message: reason.into(), data: None })
        }
        None => Ok(None),
    }
}

impl Handlers {
    pub(super) fn type_definition(
        &self,
        at: TextDocumentPositionParams,
    ) -> impl Future<Output = Result<Option<GotoDefinitionResponse>>> {
        self.ask(
            &TYPE_DEFINITION,
            at.text_document.uri,
            Target::At(at.position),
            |analysis, view| analysis.goto_type_definition(view.file, view.span.start),
            |view, targets| view.definitions(targets),
        )
    }

    pub(super) fn references_to(
        &self,
        params: ReferenceParams,
    ) -> impl Future<Output = Result<Option<Vec<Location>>>> {
        let at = params.text_document_position;
        let with_definition = params.context.include_declaration;
        self.ask(
            &REFERENCES,
            at.text_document.uri,
            Target::At(at.position),
            move |analysis, view| analysis.references(view.file, view.span.start, with_definition),
            |view, found| Some(found.into_iter().map(|r| view.location(r.range)).collect()),
        )
    }

    pub(super) fn highlights(
        &self,
        at: TextDocumentPositionParams,
    ) -> impl Future<Output = Result<Option<Vec<DocumentHighlight>>>> {
        self.ask(
            &HIGHLIGHT,
            at.text_document.uri,
            Target::At(at.position),
            |analysis, view| analysis.document_highlight(view.file, view.span.start),
            |view, found| {
                let highlight = |r: ide::Reference| DocumentHighlight {
                    range: view.range(r.range),
                    kind: Some(match r.kind {
                        ReferenceKind::Write => DocumentHighlightKind::WRITE,
                        ReferenceKind::Read | ReferenceKind::Argument => DocumentHighlightKind::READ,
                    }),
                };
                Some(found.into_iter().map(highlight).collect())
            },
        )
    }

    pub(super) fn name_to_rename(
        &self,
        at: TextDocumentPositionParams,
    ) -> impl Future<Output = Result<Refusable<PrepareRenameResponse>>> {
        self.ask(
            &PREPARE_RENAME,
            at.text_document.uri,
            Target::At(at.position),
            |analysis, view| analysis.prepare_rename(view.file, view.span.start),
            |view, found| {
                Some(found.map(|range| PrepareRenameResponse::RangeWithPlaceholder {
                    placeholder: view.text.byte_slice(range.clone()).to_string(),
                    range: view.range(range),
                }))
            },
        )
    }

    pub(super) fn rename_to(
        &self,
        params: RenameParams,
    ) -> impl Future<Output = Result<Refusable<WorkspaceEdit>>> {
        let at = params.text_document_position;
        let new_name = params.new_name;
        self.ask(
            &RENAME,
            at.text_document.uri,
            Target::At(at.position),
            move |analysis, view| analysis.rename(view.file, view.span.start, &new_name),
            |view, edits| Some(edits.map(|edits| view.workspace_edit(Change::Edits(edits)))),
        )
    }

    pub(super) fn call_item(
        &self,
        at: TextDocumentPositionParams,
    ) -> impl Future<Output = Result<Option<Vec<CallHierarchyItem>>>> {
        self.ask(
            &CALL_HIERARCHY,
            at.text_document.uri,
            Target::At(at.position),
            |analysis, view| analysis.prepare_call_hierarchy(view.file, view.span.start),
            |view, item| item.map(|item| vec![view.call_item(item)]),
        )
    }

    pub(super) fn callers(
        &self,
        item: CallHierarchyItem,
    ) -> impl Future<Output = Result<Option<Vec<CallHierarchyIncomingCall>>>> {
        self.ask(
            &INCOMING_CALLS,
            item.uri,
            Target::At(item.selection_range.start),
            |analysis, view| analysis.calls(view.file, view.span.start, CallDirection::Incoming),
            |view, calls| {
                let call = |call: ide::Call| CallHierarchyIncomingCall {
                    from: view.call_item(call.item),
                    from_ranges: call.from.into_iter().map(|range| view.range(range)).collect(),
                };
                Some(calls.into_iter().map(call).collect())
            },
        )
    }

    pub(super) fn callees(
        &self,
        item: CallHierarchyItem,
    ) -> impl Future<Output = Result<Option<Vec<CallHierarchyOutgoingCall>>>> {
        self.ask(
            &OUTGOING_CALLS,
            item.uri,
            Target::At(item.selection_range.start),
            |analysis, view| analysis.calls(view.file, view.span.start, CallDirection::Outgoing),
            |view, calls| {
                let call = |call: ide::Call| CallHierarchyOutgoingCall {
                    to: view.call_item(call.item),
                    from_ranges: call.from.into_iter().map(|range| view.range(range)).collect(),
                };
                Some(calls.into_iter().map(call).collect())
            },
        )
    }
}

impl View {
    fn call_item(&self, item: ide::CallItem) -> CallHierarchyItem {
        CallHierarchyItem {
            name: visible(item.name),
            kind: if item.is_entry { SymbolKind::MODULE } else { SymbolKind::FUNCTION },
            tags: None,
            detail: Some(item.detail).filter(|detail| !detail.is_empty()),
            uri: self.uri.clone(),
            range: self.range(item.range),
            selection_range: self.range(item.selection_range),
            data: None,
        }
    }
}
