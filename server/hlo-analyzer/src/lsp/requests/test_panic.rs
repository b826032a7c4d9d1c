//! A request that panics.

use serde_json::Value;

use super::{Cancellable, DocumentParams, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct TestPanic;

impl Request for TestPanic {
    const METHOD: &'static str = "hlo-analyzer/test/panic";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = DocumentParams;
    type Found = ();
    type Response = Value;

    fn subject(params: &DocumentParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(_: &Snapshot, _: &DocumentParams) -> Cancellable<Self::Found> {
        panic!("a test asked for it")
    }

    fn respond(_: &View, _: DocumentParams, (): Self::Found) -> Result<Self::Response> {
        Ok(Value::Null)
    }
}
