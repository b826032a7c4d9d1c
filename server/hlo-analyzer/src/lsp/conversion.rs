//! The custom request `hlo-analyzer/convert`, "Convert to StableHLO" and "Convert to HLO".

use ide::Language;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::LspServiceBuilder;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::TextDocumentIdentifier;

use super::handlers::Handlers;
use super::read::{Route, Target, WhenEdited};

static CONVERT: Route = Route { method: "hlo-analyzer/convert", when_edited: WhenEdited::Retry(4) };

pub(super) fn register(service: LspServiceBuilder<Handlers>) -> LspServiceBuilder<Handlers> {
    service.custom_method(CONVERT.method, Handlers::convert)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConvertParams {
    text_document: TextDocumentIdentifier,
}

impl Handlers {
    /// `{"language", "text", "incomplete": [{"range", "message"}]}`: the module in the other language.
    /// `range` refers to the document and is null where unknown.
    async fn convert(&self, params: ConvertParams) -> Result<Value> {
        self.ask(
            &CONVERT,
            params.text_document.uri,
            Target::Document,
            |analysis, view| analysis.convert(view.file),
            |view, conversion| {
                let language = match conversion.language {
                    Language::Hlo => "hlo",
                    Language::Mlir => "mlir",
                };
                let incomplete = conversion.incomplete.iter().map(|missing| {
                    json!({"range": missing.range.clone().map(|range| view.range(range)), "message": missing.what})
                });
                let incomplete: Value = incomplete.collect();
                json!({"language": language, "text": conversion.document(), "incomplete": incomplete})
            },
        )
        .await
    }
}
