//! All uses of a name.

use ide::Reference;
use tower_lsp::lsp_types::{Location, ReferenceParams};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::bounds::MAX_PLACES;

pub(in crate::lsp) struct References;

impl Request for References {
    const METHOD: &'static str = "textDocument/references";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = ReferenceParams;
    type Found = Vec<Reference>;
    type Response = Option<Vec<Location>>;

    fn subject(params: &ReferenceParams) -> Subject {
        Subject::at(&params.text_document_position)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, params: &ReferenceParams) -> Cancellable<Self::Found> {
        let with_definition = params.context.include_declaration;
        analysis.references(view.file, view.span.start, with_definition)
    }

    fn respond(view: &View, _: ReferenceParams, found: Self::Found) -> Result<Self::Response> {
        let found = view.first(MAX_PLACES, "references", found);
        Ok(Some(found.into_iter().map(|reference| view.location(reference.range)).collect()))
    }
}
