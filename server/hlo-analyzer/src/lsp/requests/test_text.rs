//! The text in the analysis.

use serde_json::Value;

use super::{Cancellable, DocumentParams, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct TestText;

impl Request for TestText {
    const METHOD: &'static str = "hlo-analyzer/test/text";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(100);
    type Params = DocumentParams;
    type Found = String;
    type Response = Value;

    fn subject(params: &DocumentParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &DocumentParams) -> Cancellable<Self::Found> {
        Ok(analysis.text(view.file).to_string())
    }

    fn respond(_: &View, _: DocumentParams, text: Self::Found) -> Result<Self::Response> {
        Ok(Value::String(text))
    }
}
