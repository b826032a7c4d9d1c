//! `hlo-analyzer/passes`: the passes and pipelines of XLA that previews can show.

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::TextDocumentIdentifier;

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

/// `[{"name", "kind": "pass" or "pipeline", "sentence"}]`, pipelines first.
pub(in crate::lsp) struct Passes;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct PassesParams {
    text_document: TextDocumentIdentifier,
}

impl Request for Passes {
    const METHOD: &'static str = "hlo-analyzer/passes";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = PassesParams;
    type Found = ();
    type Response = Value;

    fn subject(params: &PassesParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(_: &Snapshot, _: &PassesParams) -> Cancellable<()> {
        Ok(())
    }

    fn respond(_: &View, _: PassesParams, (): ()) -> Result<Value> {
        let rows = ide::listed_passes().into_iter().map(|pass| {
            let kind = if pass.is_pipeline { "pipeline" } else { "pass" };
            json!({"name": pass.name, "kind": kind, "sentence": pass.sentence})
        });
        Ok(rows.collect())
    }
}
