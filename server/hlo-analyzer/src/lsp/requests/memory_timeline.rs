//! `hlo-analyzer/memoryTimeline`: the bytes in use over the schedule, and what is alive at the peak.

use ide::NoMemory;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::TextDocumentIdentifier;

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::api;

/// The timeline as `hlo-analyzer memory --json` describes it, with LSP ranges, and as `svg`. `{"reason"}` if the text has none.
pub(in crate::lsp) struct MemoryTimeline;

/// The default number of columns: those of a wide picture.
const DEFAULT_COLUMNS: usize = 900;
const MAX_COLUMNS: usize = 10_000;
/// The default number of values that are alive at the peak.
const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 5_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct MemoryTimelineParams {
    text_document: TextDocumentIdentifier,
    columns: Option<usize>,
    limit: Option<usize>,
}

impl Request for MemoryTimeline {
    const METHOD: &'static str = "hlo-analyzer/memoryTimeline";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = MemoryTimelineParams;
    type Found = std::result::Result<ide::MemoryTimeline, NoMemory>;
    type Response = Value;

    fn subject(params: &MemoryTimelineParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        params: &MemoryTimelineParams,
    ) -> Cancellable<Self::Found> {
        let columns = params.columns.unwrap_or(DEFAULT_COLUMNS).clamp(1, MAX_COLUMNS);
        let limit = params.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        analysis.memory_timeline(view.file, columns, limit)
    }

    fn respond(view: &View, _: MemoryTimelineParams, found: Self::Found) -> Result<Self::Response> {
        Ok(match found {
            Ok(timeline) => api::memory_timeline(&timeline, &|range| json!(view.range(range.clone()))),
            Err(reason) => json!({"reason": format!("the text {reason}")}),
        })
    }
}
