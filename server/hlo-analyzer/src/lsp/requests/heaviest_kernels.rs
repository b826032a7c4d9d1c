//! `hlo-analyzer/heaviestKernels`: a module's kernels by time, as a list in which the user picks one.

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::TextDocumentIdentifier;

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::api::kernels::heaviest_kernels;

/// Lists kernels like `check --format json`, with LSP ranges, and as `markdown` for clients without a list view.
pub(in crate::lsp) struct HeaviestKernels;

/// The default number of kernels: as many as a user reads.
const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 5_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct HeaviestKernelsParams {
    text_document: TextDocumentIdentifier,
    limit: Option<usize>,
}

impl Request for HeaviestKernels {
    const METHOD: &'static str = "hlo-analyzer/heaviestKernels";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = HeaviestKernelsParams;
    type Found = ide::HeaviestKernels;
    type Response = Value;

    fn subject(params: &HeaviestKernelsParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        params: &HeaviestKernelsParams,
    ) -> Cancellable<Self::Found> {
        let limit = params.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        analysis.heaviest_kernels(view.file, limit)
    }

    fn respond(view: &View, _: HeaviestKernelsParams, report: Self::Found) -> Result<Self::Response> {
        let mut answer = heaviest_kernels(&report, &|range| json!(view.range(range.clone())));
        answer["markdown"] = json!(report.markdown());
        Ok(answer)
    }
}
