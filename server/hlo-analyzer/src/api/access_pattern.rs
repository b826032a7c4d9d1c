//! `access_pattern`: the addresses that the lanes of one warp access in an array, as a picture and as text.

use ide::{AccessPattern, AccessPatternQuery};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::{bare, params};
use super::session::Session;

/// Indices count from 0 and are clamped to the last valid one.
#[derive(Deserialize, Default)]
#[serde(default)]
struct AccessPatternParams {
    instruction: String,
    array: Option<usize>,
    block: i64,
    warp: i64,
    iteration: i64,
}

pub fn access_pattern(session: &mut Session, value: &Value) -> Answer {
    let p: AccessPatternParams = params(value)?;
    let name = bare(&p.instruction);
    let query = AccessPatternQuery { array: p.array, block: p.block, warp: p.warp, iteration: p.iteration };
    session.use_device(value)?;
    let pattern =
        session.with_source(value, |analysis, file| match analysis.find_instruction(file, &name)? {
            Some(at) => analysis.access_pattern(file, at, &query),
            None => Ok(None),
        })?;
    let none = || ApiError::new(ErrorKind::NotFound, format!("{name} is no kernel whose accesses are known"));
    Ok(described(&pattern.ok_or_else(none)?))
}

/// The object that the server's request `hlo-analyzer/accessPattern` also returns.
pub fn described(pattern: &AccessPattern) -> Value {
    json!({
        "title": pattern.title,
        "summary": pattern.summary,
        "arrays": pattern.arrays,
        "array": pattern.array,
        "blocks": pattern.blocks,
        "warps": pattern.warps,
        "iterations": pattern.iterations,
        "block": pattern.block,
        "warp": pattern.warp,
        "iteration": pattern.iteration,
        "svg": pattern.svg,
        "text": pattern.text,
    })
}
