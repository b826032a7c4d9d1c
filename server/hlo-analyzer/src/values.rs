//! Values in JSON: parameters of evaluation requests, and their results.

use ide::{Arguments, Evaluated, EvaluatedArray, Evaluation, Fill, Form, evaluated_page};
use serde::Deserialize;
use serde_json::{Value, json};

/// Members of a request, from any interface.
#[derive(Deserialize)]
#[serde(try_from = "Members")]
pub struct ValueParams {
    pub arguments: Arguments,
    pub form: Form,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Members {
    /// Literals of parameters, by number; blank where not needed or filled.
    inputs: Vec<String>,
    /// The fill of all other parameters: one of [`Fill::NAMES`].
    fill: Option<String>,
    /// The seed of random values.
    seed: u64,
    /// Whether to return a summary of rows instead of literals.
    summary: bool,
}

impl TryFrom<Members> for ValueParams {
    type Error = String;

    /// The error names the unknown word.
    fn try_from(members: Members) -> Result<ValueParams, String> {
        let fill = members.fill.map(|name| fill(&name, members.seed)).transpose()?;
        let form = if members.summary { Form::Summary } else { Form::Literal };
        Ok(ValueParams { arguments: Arguments { literals: members.inputs, fill }, form })
    }
}

fn fill(name: &str, seed: u64) -> Result<Fill, String> {
    Fill::from_name(name, seed)
        .ok_or_else(|| format!("unknown fill: {name}; it is one of {}", Fill::NAMES.join(", ")))
}

/// `notes`, `shapes` with a type per array, and `outputs` with a literal per array; a summary has `text`
/// instead of `outputs`.
pub fn answer(evaluated: &Evaluated, evaluation: &Evaluation, arguments: &Arguments, form: Form) -> Value {
    let arrays = &evaluation.arrays;
    let shapes: Vec<&str> = arrays.iter().map(|array| array.shape.as_str()).collect();
    match form {
        Form::Literal => {
            let literal = |array: &EvaluatedArray| array.values.as_deref().unwrap_or_default().to_owned();
            json!({"shapes": shapes, "notes": evaluation.notes, "outputs": arrays.iter().map(literal).collect::<Vec<_>>()})
        }
        Form::Summary => {
            json!({"shapes": shapes, "notes": evaluation.notes, "text": evaluated_page(evaluated, arguments)})
        }
    }
}
