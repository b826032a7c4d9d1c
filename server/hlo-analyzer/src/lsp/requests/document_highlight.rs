//! The uses of the name under the cursor, as highlights.

use ide::{Reference, ReferenceKind};
use tower_lsp::lsp_types::{self, DocumentHighlightKind, DocumentHighlightParams};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::bounds::MAX_PLACES;

pub(in crate::lsp) struct DocumentHighlight;

impl Request for DocumentHighlight {
    const METHOD: &'static str = "textDocument/documentHighlight";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = DocumentHighlightParams;
    type Found = Vec<Reference>;
    type Response = Option<Vec<lsp_types::DocumentHighlight>>;

    fn subject(params: &DocumentHighlightParams) -> Subject {
        Subject::at(&params.text_document_position_params)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &DocumentHighlightParams) -> Cancellable<Self::Found> {
        analysis.document_highlight(view.file, view.span.start)
    }

    fn respond(view: &View, _: DocumentHighlightParams, found: Self::Found) -> Result<Self::Response> {
        let highlight = |reference: Reference| lsp_types::DocumentHighlight {
            range: view.range(reference.range),
            kind: Some(match reference.kind {
                ReferenceKind::Write => DocumentHighlightKind::WRITE,
                ReferenceKind::Read | ReferenceKind::Argument => DocumentHighlightKind::READ,
            }),
        };
        let found = view.first_shown(MAX_PLACES, "highlights of a name", found);
        Ok(Some(found.into_iter().map(highlight).collect()))
    }
}
