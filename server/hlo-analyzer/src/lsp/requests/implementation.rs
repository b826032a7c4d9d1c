//! Go to implementation: from an instruction of a compile to what it became in the last stage.

use ide::StagePlace;
use tower_lsp::lsp_types::request::{GotoImplementationParams, GotoImplementationResponse};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct Implementation;

impl Request for Implementation {
    const METHOD: &'static str = "textDocument/implementation";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = GotoImplementationParams;
    type Found = Vec<StagePlace>;
    type Response = Option<GotoImplementationResponse>;

    fn subject(params: &GotoImplementationParams) -> Subject {
        Subject::at(&params.text_document_position_params)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &GotoImplementationParams) -> Cancellable<Self::Found> {
        analysis.goto_implementation(view.file, view.span.start)
    }

    fn respond(view: &View, _: GotoImplementationParams, found: Vec<StagePlace>) -> Result<Self::Response> {
        Ok(view.stage_targets(&found))
    }
}
