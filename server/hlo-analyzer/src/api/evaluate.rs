//! `evaluate`: evaluates a computation with the reference interpreter.

use ide::EvaluationQuery;
use serde::Deserialize;
use serde_json::Value;

use super::error::{Answer, ApiError, ErrorKind};
use super::request::{bare, params};
use super::session::Session;
use crate::values::{self, ValueParams};

#[derive(Deserialize, Default)]
#[serde(default)]
struct EvaluateParams {
    computation: Option<String>,
    instruction: Option<String>,
}

pub fn evaluate(session: &mut Session, value: &Value) -> Answer {
    let p: EvaluateParams = params(value)?;
    let query = EvaluationQuery {
        computation: p.computation.as_deref().map(bare),
        instruction: p.instruction.as_deref().map(bare),
    };
    let ValueParams { arguments, form } = params(value)?;
    let evaluated =
        session.with_source(value, |analysis, file| analysis.evaluate(file, &query, &arguments, form))?;
    match &evaluated.answer {
        Ok(evaluation) => Ok(values::answer(&evaluated, evaluation, &arguments, form)),
        Err(why) => {
            let kind = match why.0.as_str() {
                w if w.starts_with("no ") => ErrorKind::NotFound,
                w if w.starts_with("input ") || w.contains("parameter") => ErrorKind::InvalidParams,
                w if w.contains("too m") || w.contains("too large") || w.contains("too deep") => {
                    ErrorKind::Limit
                }
                _ => ErrorKind::Unsupported,
            };
            Err(ApiError::new(kind, why.0.clone()))
        }
    }
}
