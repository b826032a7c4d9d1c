//! `hlo-analyzer/previewSource`: the instructions of the text that a line of a preview comes from.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::preview_tab::{PreviewTab, RenderedPreview};

pub(in crate::lsp) struct PreviewSource;

#[derive(Deserialize)]
pub(in crate::lsp) struct SourceParams {
    uri: PreviewTab,
    /// A line of the preview, from 0.
    line: usize,
}

impl Request for PreviewSource {
    const METHOD: &'static str = "hlo-analyzer/previewSource";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = SourceParams;
    type Found = RenderedPreview;
    type Response = Value;

    fn subject(params: &SourceParams) -> Subject {
        params.uri.subject(Target::Document)
    }

    fn run(snapshot: &Snapshot, params: &SourceParams) -> Cancellable<Self::Found> {
        snapshot.render_preview(&params.uri)
    }

    fn respond(view: &View, params: SourceParams, rendered: Self::Found) -> Result<Self::Response> {
        let line = params.line.checked_sub(rendered.first);
        let sources = line.zip(rendered.preview.as_ref()).map(|(line, preview)| preview.sources_of(line));
        let sources = sources.into_iter().flatten().map(|source| {
            json!({
                "instruction": source.name,
                "range": view.range(source.range.clone()),
                "selectionRange": view.range(source.name_range.clone()),
            })
        });
        Ok(json!({"uri": view.uri, "sources": sources.collect::<Value>()}))
    }
}
