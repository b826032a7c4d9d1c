//! `hlo-analyzer/evaluate`, "Evaluate instruction".

use ide::EvaluationParameter;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::{Position, TextDocumentIdentifier};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::values::{self, ValueParams};

/// The members of [`values::answer`] or `reason`, with `instruction` and `parameters`: the parameters that the
/// instruction depends on, each with a literal that the user may change. Null where there is no instruction.
pub(in crate::lsp) struct Evaluate;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct EvaluateParams {
    text_document: TextDocumentIdentifier,
    position: Position,
    #[serde(flatten)]
    values: ValueParams,
}

impl Request for Evaluate {
    const METHOD: &'static str = "hlo-analyzer/evaluate";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = EvaluateParams;
    type Found = Option<Value>;
    type Response = Value;

    fn subject(params: &EvaluateParams) -> Subject {
        Subject::position(&params.text_document, params.position)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, params: &EvaluateParams) -> Cancellable<Self::Found> {
        let ValueParams { arguments, form } = &params.values;
        let parameters = analysis.evaluation_parameters(view.file, view.span.start)?;
        let evaluated = analysis.evaluate_at(view.file, view.span.start, arguments, *form)?;
        Ok(evaluated.map(|evaluated| {
            let mut answer = match &evaluated.answer {
                Ok(evaluation) => values::answer(&evaluated, evaluation, arguments, *form),
                Err(why) => json!({"reason": why.0}),
            };
            answer["instruction"] = json!(evaluated.name);
            answer["parameters"] = parameters.iter().map(parameter).collect();
            answer
        }))
    }

    fn respond(_: &View, _: EvaluateParams, found: Self::Found) -> Result<Self::Response> {
        Ok(found.unwrap_or(Value::Null))
    }
}

fn parameter(p: &EvaluationParameter) -> Value {
    json!({"number": p.number, "name": p.name, "shape": p.shape, "sample": p.sample})
}
