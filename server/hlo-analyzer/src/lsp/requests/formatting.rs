//! Format a document.

use tower_lsp::lsp_types::{DocumentFormattingParams, TextEdit};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct Formatting;

impl Request for Formatting {
    const METHOD: &'static str = "textDocument/formatting";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = DocumentFormattingParams;
    type Found = Vec<ide::TextEdit>;
    type Response = Option<Vec<TextEdit>>;

    fn subject(params: &DocumentFormattingParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &DocumentFormattingParams) -> Cancellable<Self::Found> {
        analysis.formatting(view.file, view.span.clone())
    }

    fn respond(view: &View, _: DocumentFormattingParams, found: Self::Found) -> Result<Self::Response> {
        Ok(Some(view.text_edits(found)))
    }
}
