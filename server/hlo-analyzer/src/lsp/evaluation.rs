//! A request of ours, "Evaluate instruction": `hlo-analyzer/evaluate`.

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::LspServiceBuilder;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{Position, TextDocumentIdentifier};

use super::handlers::Handlers;
use super::read::{Route, Target, WhenEdited};

static EVALUATE: Route = Route { method: "hlo-analyzer/evaluate", when_edited: WhenEdited::Retry(8) };

pub(super) fn register(service: LspServiceBuilder<Handlers>) -> LspServiceBuilder<Handlers> {
    service.custom_method(EVALUATE.method, Handlers::evaluate)
}

/// `inputs`: literals of the parameters of the computation that the position is in, as far as they are needed; blank where not.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvaluateParams {
    text_document: TextDocumentIdentifier,
    position: Position,
    #[serde(default)]
    inputs: Vec<String>,
}

impl Handlers {
    /// `{"instruction", "outputs"}`, or `{"instruction", "reason"}` where it is not evaluated; null where no instruction is. With
    /// either `parameters`: those that the instruction depends on, each with a literal that the user may change.
    async fn evaluate(&self, params: EvaluateParams) -> Result<Value> {
        let inputs = params.inputs;
        self.ask(
            &EVALUATE,
            params.text_document.uri,
            Target::At(params.position),
            move |analysis, view| {
                let parameters = analysis.evaluation_parameters(view.file, view.span.start)?;
                Ok((analysis.evaluate_at(view.file, view.span.start, &inputs)?, parameters))
            },
            |_, (answer, parameters)| {
                let (name, answer) = match answer {
                    Some((name, answer)) => (name, answer),
                    None => return Value::Null,
                };
                let parameters = parameters.iter().map(
                    |p| json!({"number": p.number, "name": p.name, "shape": p.shape, "sample": p.sample}),
                );
                let parameters: Value = parameters.collect();
                match answer {
                    Ok(outputs) => json!({"instruction": name, "outputs": outputs, "parameters": parameters}),
                    Err(why) => json!({"instruction": name, "reason": why.0, "parameters": parameters}),
                }
            },
        )
        .await
    }
}
