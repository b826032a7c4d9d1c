//! The diagnostics that are published after a pause in typing.

use serde_json::{Value, json};

use super::{Cancellable, DocumentParams, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::diagnostics;

pub(in crate::lsp) struct TestDiagnostics;

impl Request for TestDiagnostics {
    const METHOD: &'static str = "hlo-analyzer/test/diagnostics";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(100);
    type Params = DocumentParams;
    type Found = ide::Diagnostics;
    type Response = Value;

    fn subject(params: &DocumentParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(snapshot: &Snapshot, _: &DocumentParams) -> Cancellable<Self::Found> {
        diagnostics::find_all(&snapshot.analysis, &snapshot.view, None)
    }

    fn respond(view: &View, _: DocumentParams, found: Self::Found) -> Result<Self::Response> {
        Ok(json!(diagnostics::to_proto(view, found).diagnostics))
    }
}
