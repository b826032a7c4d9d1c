//! Format what was just typed.

use tower_lsp::lsp_types::{DocumentOnTypeFormattingParams, TextEdit};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct OnTypeFormatting;

impl Request for OnTypeFormatting {
    const METHOD: &'static str = "textDocument/onTypeFormatting";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = DocumentOnTypeFormattingParams;
    type Found = Vec<ide::TextEdit>;
    type Response = Option<Vec<TextEdit>>;

    fn subject(params: &DocumentOnTypeFormattingParams) -> Subject {
        Subject::at(&params.text_document_position)
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        params: &DocumentOnTypeFormattingParams,
    ) -> Cancellable<Self::Found> {
        let typed = params.ch.chars().next().unwrap_or('\n');
        analysis.on_type_formatting(view.file, view.span.start, typed)
    }

    fn respond(view: &View, _: DocumentOnTypeFormattingParams, found: Self::Found) -> Result<Self::Response> {
        Ok(Some(view.text_edits(found)))
    }
}
