//! The documents of a preview: their URIs and how they are rendered.
//!
//! A client that opens the URI of one with `textDocument/didOpen` is sent `hlo-analyzer/previewChanged` when its text changes; see
//! `jobs.rs`. Such a document is also one of HLO like any other.

use std::ops::Range;
use std::sync::Arc;

use ide::{Cancellable, NotOptimized, Preview};
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::Url;

use super::preview_uri::{Part, PreviewUri};
use super::read::Target;
use super::requests::Subject;
use super::snapshot::{Snapshot, View};

/// A document by its URI, which is parsed with the parameters of a request.
#[derive(Deserialize)]
#[serde(try_from = "Url")]
pub(super) struct PreviewTab {
    pub(super) uri: Url,
    pub(super) preview: PreviewUri,
}

impl TryFrom<Url> for PreviewTab {
    type Error = &'static str;

    fn try_from(uri: Url) -> Result<PreviewTab, &'static str> {
        match PreviewUri::parse(&uri) {
            Some(preview) => Ok(PreviewTab { uri, preview }),
            None => Err("this is no URI of a preview"),
        }
    }
}

impl PreviewTab {
    /// A part of the document that is optimized.
    pub(super) fn subject(&self, target: Target) -> Subject {
        Subject::Part(self.preview.file.clone(), target)
    }
}

/// The content of a document at one revision. Holds no part of the database.
pub(super) struct RenderedPreview {
    pub(super) text: String,
    /// The number of lines above the module.
    pub(super) first: usize,
    /// The preview whose lines lead to the text. `None` for the sides of a diff, and while the text has errors.
    pub(super) preview: Option<Arc<Preview>>,
    /// The pass at which the preview stopped.
    pub(super) stopped: Option<String>,
    /// Why the preview is not one of the text as it is.
    pub(super) problem: Option<String>,
}

impl RenderedPreview {
    /// Line ranges of the module as first and last line of the document, from 0.
    pub(super) fn shifted(&self, runs: &[Range<usize>]) -> Value {
        let shifted =
            |run: &Range<usize>| json!({"first": self.first + run.start, "last": self.first + run.end - 1});
        runs.iter().map(shifted).collect()
    }
}

impl Snapshot {
    /// A document of a preview of this snapshot's document. The previews of one text are computed once.
    pub(super) fn render_preview(&self, tab: &PreviewTab) -> Cancellable<RenderedPreview> {
        let shelf = &self.view.session.previews;
        let part = tab.preview.part;
        let reason = match self.analysis.preview(self.view.file, &tab.preview.request())? {
            Ok(preview) => {
                shelf.keep(&tab.uri, &preview);
                return Ok(rendered(&preview, part, None));
            }
            Err(reason) => problem(&self.view, &reason),
        };
        Ok(match shelf.last(&tab.uri) {
            Some(last) => rendered(&last, part, Some(reason)),
            None => RenderedPreview {
                text: format!("// no preview: {}\n", reason.replace(['\n', '\r'], " ")),
                first: 1,
                preview: None,
                stopped: None,
                problem: Some(reason),
            },
        })
    }
}

fn rendered(preview: &Arc<Preview>, part: Part, problem: Option<String>) -> RenderedPreview {
    let notes: Vec<String> = problem.iter().map(|problem| format!("not up to date: {problem}")).collect();
    let (text, first) = match (part, preview.compared()) {
        (Part::Module, _) | (_, None) => preview.text(&notes),
        (Part::Before, Some([before, _])) => (before.clone(), 0),
        (Part::After, Some([_, after])) => (after.clone(), 0),
    };
    RenderedPreview {
        text,
        first,
        preview: (part == Part::Module && problem.is_none()).then(|| preview.clone()),
        stopped: preview.stopped.as_ref().map(|stopped| stopped.pass.clone()),
        problem,
    }
}

/// The reason, with the line that it is about.
fn problem(view: &View, reason: &NotOptimized) -> String {
    let offset = match reason {
        NotOptimized::Invalid { offset, .. } => Some(*offset),
        NotOptimized::NotConverted { offset, .. } => *offset,
        _ => None,
    };
    match offset {
        Some(offset) => {
            let line = view.text.byte_to_line(offset.min(view.text.len_bytes())) + 1;
            format!("line {line}: {reason}")
        }
        None => reason.to_string(),
    }
}
