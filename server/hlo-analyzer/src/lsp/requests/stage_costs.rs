//! `hlo-analyzer/stageCosts`: kernels, bytes and time of a stage.

use ide::StageCosts as Costs;
use serde_json::{Value, json};

use super::{Cancellable, DocumentParams, Request, Result, Snapshot, Subject, Target, View, WhenEdited};

/// `{"launches", "bytes", "total_us", "summary", "change"}`; null before fusion.
pub(in crate::lsp) struct StageCosts;

impl Request for StageCosts {
    const METHOD: &'static str = "hlo-analyzer/stageCosts";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = DocumentParams;
    type Found = Option<Costs>;
    type Response = Value;

    fn subject(params: &DocumentParams) -> Subject {
        Subject::Part(params.text_document.uri.clone(), Target::Folder)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, params: &DocumentParams) -> Cancellable<Option<Costs>> {
        match view.path_in_folder(&params.text_document.uri) {
            Some(path) => analysis.stage_costs(&view.folder(), &path),
            None => Ok(None),
        }
    }

    fn respond(_: &View, _: DocumentParams, costs: Option<Costs>) -> Result<Value> {
        Ok(costs.map_or(Value::Null, |Costs { launches, bytes, total_us, text, change }| {
            json!({"launches": launches, "bytes": bytes, "total_us": total_us, "summary": text, "change": change})
        }))
    }
}
