//! Values in JSON: what requests to evaluate say of parameters, and what they are answered.

use ide::{Arguments, Evaluated, EvaluatedArray, Evaluation, Fill, Form, evaluated_page};
use serde::Deserialize;
use serde_json::{Value, json};

/// Members of a request, whoever sends it.
#[derive(Deserialize, Default)]
#[serde(default)]
pub struct ValueParams {
    /// Literals of parameters, by number; blank where one is not needed or is filled.
    inputs: Vec<String>,
    /// What all other parameters hold: one of [`Fill::NAMES`].
    fill: Option<String>,
    /// Of random numbers.
    seed: u64,
    /// Rows of what is shown, in place of literals.
    summary: bool,
}

impl ValueParams {
    /// The error says which word is not known.
    pub fn read(self) -> Result<(Arguments, Form), String> {
        let fill = self.fill.map(|name| fill(&name, self.seed)).transpose()?;
        let form = if self.summary { Form::Summary } else { Form::Literal };
        Ok((Arguments { literals: self.inputs, fill }, form))
    }
}

fn fill(name: &str, seed: u64) -> Result<Fill, String> {
    Fill::from_name(name, seed)
        .ok_or_else(|| format!("unknown fill: {name}; it is one of {}", Fill::NAMES.join(", ")))
}

/// `notes`, `shapes`, a type per array, and `outputs`, a literal per array; in a summary `text` in place of `outputs`.
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
