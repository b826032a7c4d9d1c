//! `evaluate`: what a computation answers, by the reference interpreter.

use serde::Deserialize;
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::{bare, params};
use super::session::Session;

#[derive(Deserialize, Default)]
#[serde(default)]
struct EvaluateParams {
    computation: Option<String>,
    instruction: Option<String>,
    inputs: Vec<String>,
}

pub fn evaluate(session: &mut Session, value: &Value) -> Answer {
    let p: EvaluateParams = params(value)?;
    let (computation, instruction) = (p.computation.as_deref().map(bare), p.instruction.as_deref().map(bare));
    let reply = session.with_source(value, |analysis, file| {
        analysis.evaluate(file, computation.as_deref(), instruction.as_deref(), &p.inputs)
    })?;
    let outputs = reply.map_err(|why| {
        let kind = match why.0.as_str() {
            w if w.starts_with("no ") => ErrorKind::NotFound,
            w if w.starts_with("input ") || w.contains("parameter") => ErrorKind::InvalidParams,
            w if w.contains("too m") || w.contains("too large") || w.contains("too deep") => ErrorKind::Limit,
            _ => ErrorKind::Unsupported,
        };
        ApiError::new(kind, why.0)
    })?;
    Ok(json!({"outputs": outputs}))
}
