//! `hlo-analyzer/heaviestKernels`: a module's kernels by time, as a list in which the user picks one.

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::TextDocumentIdentifier;
use tower_lsp::{LanguageServer, LspServiceBuilder};

use super::handlers::Handlers;
use super::read::{Route, Target, WhenEdited};
use crate::api::kernels::heaviest_kernels;

static HEAVIEST_KERNELS: Route =
    Route { method: "hlo-analyzer/heaviestKernels", when_edited: WhenEdited::Refuse };

/// The default number of kernels: as many as a user reads.
const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 5_000;

pub(super) fn register(service: LspServiceBuilder<Handlers>) -> LspServiceBuilder<Handlers>
where
    Handlers: LanguageServer,
{
    service.custom_method(HEAVIEST_KERNELS.method, Handlers::heaviest_kernels)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    text_document: TextDocumentIdentifier,
    limit: Option<usize>,
}

impl Handlers {
    /// Lists kernels like `check --format json`, with LSP ranges, and as `markdown` for clients without a
    /// list view.
    async fn heaviest_kernels(&self, params: Params) -> Result<Value> {
        let limit = params.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        self.ask(
            &HEAVIEST_KERNELS,
            params.text_document.uri,
            Target::Document,
            move |analysis, view| analysis.heaviest_kernels(view.file, limit),
            |view, report| {
                let mut answer = heaviest_kernels(&report, &|range| json!(view.range(range.clone())));
                answer["markdown"] = json!(report.markdown());
                answer
            },
        )
        .await
    }
}
