//! `fusion`: the kernel of a fusion before code generation.

use ide::{FusionError, FusionQuery, Launch};
use indexing_map::{IndexingMap, print_map};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::{bare, params, print_style};
use super::session::Session;

#[derive(Deserialize, Default)]
#[serde(default)]
struct FusionParams {
    instruction: String,
    computation: Option<String>,
    syntax: Option<String>,
}

pub fn fusion(session: &mut Session, value: &Value) -> Answer {
    let p: FusionParams = params(value)?;
    let style = print_style(p.syntax.as_deref())?;
    let query =
        FusionQuery { instruction: bare(&p.instruction), computation: p.computation.as_deref().map(bare) };
    session.use_device(value)?;
    let reply = session.with_source(value, |analysis, file| analysis.fusion_kernel(file, &query))?;
    let reply = reply.map_err(refused)?;
    let map = |map: &IndexingMap| json!({"map": print_map(map, style)});
    let inputs = reply.thread_to_input.iter().map(|(hero, maps)| {
        let operands = maps.iter().map(|one| json!([map(one)])).collect::<Value>();
        (hero.clone(), operands)
    });
    let mut answer = json!({
        "emitter": reply.emitter,
        "hero": reply.hero,
        "launch": reply.launch.as_ref().map(launch),
        "thread_to_output": reply.thread_to_output.iter().map(|m| m.as_ref().map(map)).collect::<Value>(),
        "thread_to_input": Value::Object(inputs.collect::<Map<_, _>>()),
    });
    if reply.launch.is_some() && !reply.is_shared_known {
        answer["launch"]["shared_bytes"] = Value::Null;
    }
    if reply.launches.len() > 1 {
        answer["launches"] = reply.launches.iter().map(launch).collect();
    }
    if let Some(note) = reply.note {
        answer["note"] = note.into();
    }
    Ok(answer)
}

/// Converts the reason why there is no kernel to an API error.
pub(super) fn refused(error: FusionError) -> ApiError {
    match error {
        FusionError::NotFound(message) => ApiError::new(ErrorKind::NotFound, message),
        FusionError::NotEmitted(reason) => {
            ApiError::new(ErrorKind::Unsupported, format!("no kernel: {reason}"))
        }
    }
}

pub(super) fn launch(launch: &Launch) -> Value {
    json!({"grid": launch.grid, "block": launch.block, "shared_bytes": launch.shared_bytes})
}
