//! The custom request `hlo-analyzer/evaluate`, "Evaluate instruction".

use ide::EvaluationParameter;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::LspServiceBuilder;
use tower_lsp::jsonrpc::{Error, Result};
use tower_lsp::lsp_types::{Position, TextDocumentIdentifier};

use super::handlers::Handlers;
use super::read::{Route, Target, WhenEdited};
use crate::values::{self, ValueParams};

static EVALUATE: Route = Route { method: "hlo-analyzer/evaluate", when_edited: WhenEdited::Retry(8) };

pub(super) fn register(service: LspServiceBuilder<Handlers>) -> LspServiceBuilder<Handlers> {
    service.custom_method(EVALUATE.method, Handlers::evaluate)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct EvaluateParams {
    text_document: TextDocumentIdentifier,
    position: Position,
    #[serde(flatten)]
    values: ValueParams,
}

impl Handlers {
    /// The members of [`values::answer`] or `reason`, with `instruction` and `parameters`: the parameters
    /// that the instruction depends on, each with a literal that the user may change. Null where there is no
    /// instruction.
    async fn evaluate(&self, params: EvaluateParams) -> Result<Value> {
        let (arguments, form) = params.values.read().map_err(Error::invalid_params)?;
        self.ask(
            &EVALUATE,
            params.text_document.uri,
            Target::At(params.position),
            move |analysis, view| {
                let parameters = analysis.evaluation_parameters(view.file, view.span.start)?;
                let evaluated = analysis.evaluate_at(view.file, view.span.start, &arguments, form)?;
                Ok(evaluated.map(|evaluated| {
                    let mut answer = match &evaluated.answer {
                        Ok(evaluation) => values::answer(&evaluated, evaluation, &arguments, form),
                        Err(why) => json!({"reason": why.0}),
                    };
                    answer["instruction"] = json!(evaluated.name);
                    answer["parameters"] = parameters.iter().map(parameter).collect();
                    answer
                }))
            },
            |_, answer| answer.unwrap_or(Value::Null),
        )
        .await
    }
}

fn parameter(p: &EvaluationParameter) -> Value {
    json!({"number": p.number, "name": p.name, "shape": p.shape, "sample": p.sample})
}
