//! `hlo-analyzer/compareStages`, "Compare with previous pass".

use ide::ComparedStages;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::{TextDocumentIdentifier, Url};

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::dump_folders::uri;

/// `{"title", "before": {"uri", "text"}, "after": {"uri", "text"}, "problem"}`; null for the first stage.
pub(in crate::lsp) struct CompareStages;

/// Texts of more bytes together are not sent.
const MAX_BYTES: usize = 48 << 20;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct CompareParams {
    text_document: TextDocumentIdentifier,
    /// An earlier stage of the folder; by default the one before.
    with: Option<Url>,
}

impl Request for CompareStages {
    const METHOD: &'static str = "hlo-analyzer/compareStages";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(4);
    type Params = CompareParams;
    type Found = Option<ComparedStages>;
    type Response = Value;

    fn subject(params: &CompareParams) -> Subject {
        Subject::Part(params.text_document.uri.clone(), Target::Folder)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, params: &CompareParams) -> Cancellable<Self::Found> {
        let with = params.with.as_ref().and_then(|uri| view.path_in_folder(uri));
        match view.path_in_folder(&params.text_document.uri) {
            Some(path) => analysis.compare_stages(&view.folder(), &path, with.as_deref()),
            None => Ok(None),
        }
    }

    fn respond(view: &View, _: CompareParams, found: Self::Found) -> Result<Value> {
        let Some(ComparedStages { title, paths, texts: [before, after], problem }) = found else {
            return Ok(Value::Null);
        };
        if before.len() + after.len() > MAX_BYTES {
            let message = format!("the two stages have more than {} MB of text", MAX_BYTES >> 20);
            return Err(tower_lsp::jsonrpc::Error::invalid_params(message));
        }
        let [one, other] = paths.map(|path| uri(&view.folder(), &path));
        Ok(json!({
            "title": title,
            "before": {"uri": one, "text": before},
            "after": {"uri": other, "text": after},
            "problem": problem,
        }))
    }
}
