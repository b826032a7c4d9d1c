//! `hlo-analyzer/previewLines`: the lines of a preview that the instruction at a position of the text became.

use std::ops::Range;

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::Position;

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::preview_tab::{PreviewTab, RenderedPreview};

pub(in crate::lsp) struct PreviewLines;

#[derive(Deserialize)]
pub(in crate::lsp) struct LinesParams {
    uri: PreviewTab,
    /// A position in the text.
    position: Position,
}

impl Request for PreviewLines {
    const METHOD: &'static str = "hlo-analyzer/previewLines";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = LinesParams;
    type Found = (RenderedPreview, Vec<Range<usize>>);
    type Response = Value;

    fn subject(params: &LinesParams) -> Subject {
        params.uri.subject(Target::At(params.position))
    }

    fn run(snapshot: &Snapshot, params: &LinesParams) -> Cancellable<Self::Found> {
        let rendered = snapshot.render_preview(&params.uri)?;
        let offset = snapshot.view.span.start;
        let runs = rendered.preview.as_ref().map(|preview| preview.lines_of(offset));
        Ok((rendered, runs.unwrap_or_default()))
    }

    fn respond(_: &View, _: LinesParams, (rendered, runs): Self::Found) -> Result<Self::Response> {
        Ok(json!({"lines": rendered.shifted(&runs)}))
    }
}
