//! Custom requests about kernels: `hlo-analyzer/accessPattern` and `hlo-analyzer/kernelFunctions`.

use ide::{AccessPatternQuery, KernelFunction};
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::LspServiceBuilder;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{Position, TextDocumentIdentifier};

use super::handlers::Handlers;
use super::read::{Route, Target, WhenEdited};
use super::snapshot::View;
use crate::api::described_access_pattern;

static ACCESS_PATTERN: Route =
    Route { method: "hlo-analyzer/accessPattern", when_edited: WhenEdited::Retry(8) };
static KERNEL_FUNCTIONS: Route =
    Route { method: "hlo-analyzer/kernelFunctions", when_edited: WhenEdited::Retry(8) };

pub(super) fn register(service: LspServiceBuilder<Handlers>) -> LspServiceBuilder<Handlers> {
    service
        .custom_method(ACCESS_PATTERN.method, Handlers::access_pattern)
        .custom_method(KERNEL_FUNCTIONS.method, Handlers::kernel_functions)
}

/// Indices count from 0 and are clamped to the last valid one.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AccessPatternParams {
    text_document: TextDocumentIdentifier,
    position: Position,
    array: Option<usize>,
    #[serde(default)]
    block: i64,
    #[serde(default)]
    warp: i64,
    #[serde(default)]
    iteration: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct KernelFunctionsParams {
    text_document: TextDocumentIdentifier,
    position: Position,
}

impl Handlers {
    async fn access_pattern(&self, params: AccessPatternParams) -> Result<Value> {
        let query = AccessPatternQuery {
            array: params.array,
            block: params.block,
            warp: params.warp,
            iteration: params.iteration,
        };
        self.ask(
            &ACCESS_PATTERN,
            params.text_document.uri,
            Target::At(params.position),
            move |analysis, view| analysis.access_pattern(view.file, view.span.start, &query),
            |_, pattern| pattern.map_or(Value::Null, |pattern| described_access_pattern(&pattern)),
        )
        .await
    }

    async fn kernel_functions(&self, params: KernelFunctionsParams) -> Result<Value> {
        self.ask(
            &KERNEL_FUNCTIONS,
            params.text_document.uri,
            Target::At(params.position),
            |analysis, view| analysis.kernel_functions(view.file, view.span.start),
            |view, functions| functions.iter().map(|function| view.kernel_function(function)).collect(),
        )
        .await
    }
}

impl View {
    fn kernel_function(&self, function: &KernelFunction) -> Value {
        let lines: Vec<_> = function.lines.iter().map(|line| self.range(line.clone())).collect();
        json!({
            "number": function.number,
            "name": function.name,
            "reason": function.reason,
            "lines": lines,
        })
    }
}
