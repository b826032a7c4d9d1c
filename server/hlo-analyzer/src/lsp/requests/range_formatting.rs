//! Format a range.

use tower_lsp::lsp_types::{DocumentRangeFormattingParams, TextEdit};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct RangeFormatting;

impl Request for RangeFormatting {
    const METHOD: &'static str = "textDocument/rangeFormatting";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = DocumentRangeFormattingParams;
    type Found = Vec<ide::TextEdit>;
    type Response = Option<Vec<TextEdit>>;

    fn subject(params: &DocumentRangeFormattingParams) -> Subject {
        Subject::range(&params.text_document, params.range)
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        _: &DocumentRangeFormattingParams,
    ) -> Cancellable<Self::Found> {
        analysis.formatting(view.file, view.span.clone())
    }

    fn respond(view: &View, _: DocumentRangeFormattingParams, found: Self::Found) -> Result<Self::Response> {
        Ok(Some(view.text_edits(found)))
    }
}
