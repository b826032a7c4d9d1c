//! `hlo-analyzer/stepStage`: the instruction at a position after the next pass, or before the last one.

use ide::{StageStep, StepDirection};
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::{self, TextDocumentIdentifier};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

/// `{"uri", "range", "title", "note"}`; null if there is no such stage.
pub(in crate::lsp) struct StepStage;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct StepParams {
    text_document: TextDocumentIdentifier,
    position: lsp_types::Position,
    to: To,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "camelCase")]
enum To {
    Next,
    Previous,
}

impl Request for StepStage {
    const METHOD: &'static str = "hlo-analyzer/stepStage";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(4);
    type Params = StepParams;
    type Found = Option<StageStep>;
    type Response = Value;

    fn subject(params: &StepParams) -> Subject {
        Subject::position(&params.text_document, params.position)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, params: &StepParams) -> Cancellable<Self::Found> {
        let direction = match params.to {
            To::Next => StepDirection::Next,
            To::Previous => StepDirection::Previous,
        };
        analysis.step_stage(view.file, view.span.start, direction)
    }

    fn respond(view: &View, _: StepParams, found: Self::Found) -> Result<Value> {
        let Some(StageStep { place, title, note }) = found else { return Ok(Value::Null) };
        let (uri, range) = view.stage_place(&place);
        Ok(json!({"uri": uri, "range": range, "title": title, "note": note}))
    }
}
