//! `hlo-analyzer/showPreview`: the documents of a module after passes.

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::TextDocumentIdentifier;

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::preview_tab::{PreviewTab, RenderedPreview};
use crate::lsp::preview_uri::{Part, PreviewUri};

/// `{"uri", "before", "after", "title", "stopped", "problem"}`: the URI of the module, those of the sides of a diff, and why the
/// module is not that after all passes.
pub(in crate::lsp) struct ShowPreview;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct ShowPreviewParams {
    text_document: TextDocumentIdentifier,
    passes: Vec<String>,
    #[serde(default)]
    pipeline: String,
    until: Option<String>,
}

impl ShowPreviewParams {
    fn preview(&self, part: Part) -> PreviewUri {
        PreviewUri {
            file: self.text_document.uri.clone(),
            passes: self.passes.clone(),
            pipeline: self.pipeline.clone(),
            until: self.until.clone(),
            part,
        }
    }
}

impl Request for ShowPreview {
    const METHOD: &'static str = "hlo-analyzer/showPreview";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = ShowPreviewParams;
    type Found = RenderedPreview;
    type Response = Value;

    fn subject(params: &ShowPreviewParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(snapshot: &Snapshot, params: &ShowPreviewParams) -> Cancellable<RenderedPreview> {
        let preview = params.preview(Part::Module);
        snapshot.render_preview(&PreviewTab { uri: preview.uri(), preview })
    }

    fn respond(_: &View, params: ShowPreviewParams, found: RenderedPreview) -> Result<Value> {
        Ok(json!({
            "uri": params.preview(Part::Module).uri(),
            "before": params.preview(Part::Before).uri(),
            "after": params.preview(Part::After).uri(),
            "title": format!("after {}", params.passes.join(", ")),
            "stopped": found.stopped,
            "problem": found.problem,
        }))
    }
}
