//! `hlo-analyzer/accessPattern`: which bytes a warp of a kernel touches.

use ide::AccessPatternQuery;
use serde::Deserialize;
use serde_json::Value;
use tower_lsp::lsp_types::{Position, TextDocumentIdentifier};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::api::described_access_pattern;

pub(in crate::lsp) struct AccessPattern;

/// Indices count from 0 and are clamped to the last valid one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct AccessPatternParams {
    text_document: TextDocumentIdentifier,
    position: Position,
    array: Option<usize>,
    #[serde(default)]
    block: i64,
    #[serde(default)]
    warp: i64,
    #[serde(default)]
    iteration: i64,
}

impl Request for AccessPattern {
    const METHOD: &'static str = "hlo-analyzer/accessPattern";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = AccessPatternParams;
    type Found = Option<ide::AccessPattern>;
    type Response = Value;

    fn subject(params: &AccessPatternParams) -> Subject {
        Subject::position(&params.text_document, params.position)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, params: &AccessPatternParams) -> Cancellable<Self::Found> {
        let query = AccessPatternQuery {
            array: params.array,
            block: params.block,
            warp: params.warp,
            iteration: params.iteration,
        };
        analysis.access_pattern(view.file, view.span.start, &query)
    }

    fn respond(_: &View, _: AccessPatternParams, found: Self::Found) -> Result<Self::Response> {
        Ok(found.map_or(Value::Null, |pattern| described_access_pattern(&pattern)))
    }
}
