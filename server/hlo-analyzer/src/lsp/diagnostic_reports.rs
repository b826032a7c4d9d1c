//! Diagnostics for clients that ask for them (`textDocument/diagnostic`, `workspace/diagnostic`).
//!
//! A client that asks is not sent them unasked, except for the tabs of kernels. Its result ids are hashes of what it was sent, so
//! the server keeps nothing for them.

use std::hash::{DefaultHasher, Hash, Hasher};

use ide::{Analysis, Cancellable};
use tower_lsp::lsp_types::{
    DiagnosticOptions, DiagnosticServerCapabilities, FullDocumentDiagnosticReport,
    UnchangedDocumentDiagnosticReport,
};

use super::diagnostics;
use super::preview_uri;
use super::snapshot::View;

/// The answer to a client that asks for the findings of a document.
pub(super) enum Report {
    Full(FullDocumentDiagnosticReport),
    Unchanged(UnchangedDocumentDiagnosticReport),
}

pub(super) fn capability() -> DiagnosticServerCapabilities {
    DiagnosticServerCapabilities::Options(DiagnosticOptions {
        identifier: Some(env!("CARGO_PKG_NAME").to_owned()),
        // A file of a dump folder is for the device of the folder; the server asks for a refresh when that changes.
        inter_file_dependencies: false,
        workspace_diagnostics: true,
        ..Default::default()
    })
}

/// The findings of a document. While a job analyses many kernels for the first time, those that need no kernels: the client is
/// asked to ask again at its end.
pub(super) fn find(analysis: &Analysis, view: &View) -> Cancellable<ide::Diagnostics> {
    if !preview_uri::has_findings(&view.uri) {
        return Ok(ide::Diagnostics::default());
    }
    let is_early = !view.has_all_diagnostics && view.session.client.pulls_diagnostics;
    match is_early && diagnostics::is_slow(analysis, view) {
        true => diagnostics::find(analysis, view),
        false => diagnostics::find_all(analysis, view, None),
    }
}

/// The report on what was found, shorter if the client has it.
pub(super) fn report(view: &View, found: ide::Diagnostics, previous: Option<&str>) -> Report {
    let items = diagnostics::to_proto(view, found).diagnostics;
    let mut hasher = DefaultHasher::new();
    serde_json::to_string(&items).unwrap_or_default().hash(&mut hasher);
    let id = format!("{:016x}", hasher.finish());
    match previous == Some(id.as_str()) {
        true => Report::Unchanged(UnchangedDocumentDiagnosticReport { result_id: id }),
        false => Report::Full(FullDocumentDiagnosticReport { result_id: Some(id), items }),
    }
}
