//! Go to declaration: from an instruction of a compile to what it was before optimizations; in the first stage, and in
//! other files, to the source lines that led to it.

use ide::{SourceFrame, StagePlace, TextRange};
use tower_lsp::lsp_types::request::{GotoDeclarationParams, GotoDeclarationResponse};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct Declaration;

impl Request for Declaration {
    const METHOD: &'static str = "textDocument/declaration";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = GotoDeclarationParams;
    type Found = Found;
    type Response = Option<GotoDeclarationResponse>;

    fn subject(params: &GotoDeclarationParams) -> Subject {
        Subject::at(&params.text_document_position_params)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &GotoDeclarationParams) -> Cancellable<Self::Found> {
        let targets = analysis.goto_declaration(view.file, view.span.start)?;
        if !targets.is_empty() {
            return Ok(Found::Stages(targets));
        }
        Ok(Found::Source(analysis.source_frames(view.file, view.span.start)?))
    }

    fn respond(view: &View, _: GotoDeclarationParams, found: Found) -> Result<Self::Response> {
        Ok(match found {
            Found::Stages(targets) => view.stage_targets(&targets),
            Found::Source(frames) => frames.and_then(|(origin, frames)| view.source_lines(origin, &frames)),
        })
    }
}

pub(in crate::lsp) enum Found {
    Stages(Vec<StagePlace>),
    /// The opcode or location at the cursor, and the source lines that led to it.
    Source(Option<(TextRange, Vec<SourceFrame>)>),
}
