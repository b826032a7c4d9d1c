//! `hlo-analyzer/memoryAdvice`: what would lower the peak.

use ide::NoMemory;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::TextDocumentIdentifier;

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::api;

/// `{"advice"}` as `hlo-analyzer memory --json` has it, with LSP ranges. `{"reason"}` if the text has no plan. A request of its own,
/// because it plans the module many times.
pub(in crate::lsp) struct MemoryAdvice;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct MemoryAdviceParams {
    text_document: TextDocumentIdentifier,
}

impl Request for MemoryAdvice {
    const METHOD: &'static str = "hlo-analyzer/memoryAdvice";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = MemoryAdviceParams;
    type Found = std::result::Result<Vec<ide::MemoryAdvice>, NoMemory>;
    type Response = Value;

    fn subject(params: &MemoryAdviceParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &MemoryAdviceParams) -> Cancellable<Self::Found> {
        analysis.memory_advice(view.file)
    }

    fn respond(view: &View, _: MemoryAdviceParams, found: Self::Found) -> Result<Self::Response> {
        Ok(match found {
            Ok(advice) => {
                json!({"advice": api::memory_advice_at(&advice, &|range| json!(view.range(range.clone())))})
            }
            Err(reason) => json!({"reason": format!("the text {reason}")}),
        })
    }
}
