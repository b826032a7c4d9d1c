//! `hlo-analyzer/previewContent`: the text of a preview, and the instructions that each line comes from.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::preview_tab::{PreviewTab, RenderedPreview};

pub(in crate::lsp) struct PreviewContent;

#[derive(Deserialize)]
pub(in crate::lsp) struct ContentParams {
    uri: PreviewTab,
}

impl Request for PreviewContent {
    const METHOD: &'static str = "hlo-analyzer/previewContent";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = ContentParams;
    type Found = RenderedPreview;
    type Response = Value;

    fn subject(params: &ContentParams) -> Subject {
        params.uri.subject(Target::Document)
    }

    fn run(snapshot: &Snapshot, params: &ContentParams) -> Cancellable<Self::Found> {
        snapshot.render_preview(&params.uri)
    }

    fn respond(_: &View, _: ContentParams, rendered: Self::Found) -> Result<Self::Response> {
        let lines = rendered.preview.iter().flat_map(|preview| {
            (0..preview.line_count()).filter_map(|line| {
                let sources = preview.sources_of(line);
                let names: Vec<&str> = sources.iter().map(|source| source.name.as_str()).collect();
                let line = rendered.first + line + 1;
                (!names.is_empty()).then(|| json!({"line": line, "instructions": names}))
            })
        });
        Ok(json!({
            "source_map": lines.collect::<Value>(),
            "stopped": rendered.stopped,
            "problem": rendered.problem,
            "text": &rendered.text,
        }))
    }
}
