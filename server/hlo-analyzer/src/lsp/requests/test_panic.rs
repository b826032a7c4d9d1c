//! A request that panics, or makes a query or a response panic.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;
use serde_json::Value;
use tower_lsp::lsp_types::TextDocumentIdentifier;

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct TestPanic;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct PanicParams {
    text_document: TextDocumentIdentifier,
    /// The n-th query that the database runs from now on panics, whoever asks; this request does not.
    in_query: Option<u64>,
    /// It panics after the database is released.
    #[serde(default)]
    in_response: bool,
}

/// The queries until one panics; 0 if none is to.
static QUERIES_LEFT: AtomicU64 = AtomicU64::new(0);

/// Called before each query of a server with test hooks.
pub(in crate::lsp) fn before_query() {
    let before = QUERIES_LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
    assert!(before != Ok(1), "a test asked for it");
}

impl Request for TestPanic {
    const METHOD: &'static str = "hlo-analyzer/test/panic";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = PanicParams;
    type Found = ();
    type Response = Value;

    fn subject(params: &PanicParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(_: &Snapshot, params: &PanicParams) -> Cancellable<()> {
        match params.in_query {
            Some(queries) => QUERIES_LEFT.store(queries, Ordering::Relaxed),
            None => assert!(params.in_response, "a test asked for it"),
        }
        Ok(())
    }

    fn respond(_: &View, params: PanicParams, (): ()) -> Result<Value> {
        assert!(!params.in_response, "a test asked for it");
        Ok(Value::Null)
    }
}
