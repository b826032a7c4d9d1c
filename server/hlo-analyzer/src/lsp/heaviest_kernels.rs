//! `hlo-analyzer/heaviestKernels`: where the time of a module goes, for a list in which the user picks a kernel.

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

/// As many as somebody reads.
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
    /// As `check --format json` lists them, with LSP ranges, and with a page in `markdown` for clients without a list.
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
