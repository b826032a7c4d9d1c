//! `partition`: the functions into which fused computations are partitioned.

use ide::PartitionedComputation;
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::params;
use super::session::Session;

#[derive(Deserialize, Default)]
#[serde(default)]
struct PartitionParams {
    computation: Option<String>,
    force_roots: Vec<String>,
}

pub fn partition(session: &mut Session, value: &Value) -> Answer {
    let p: PartitionParams = params(value)?;
    let computation = p.computation.as_deref().map(|name| name.trim_start_matches('%'));
    let reply =
        session.with_source(value, |analysis, file| analysis.partition(file, computation, &p.force_roots))?;
    let computations = reply.map_err(|e| ApiError::new(ErrorKind::NotFound, e.0))?;
    Ok(json!({"computations": computations.iter().map(described).collect::<Value>()}))
}

fn described(computation: &PartitionedComputation) -> Value {
    let (functions, problem) = match &computation.functions {
        Ok(functions) => (functions.as_slice(), None),
        Err(why) => (&[][..], Some(why)),
    };
    let functions = functions.iter().map(|f| {
        json!({
            "name": f.name,
            "roots": f.roots,
            "instructions": f.instructions,
            "signature": f.signature,
            "is_entry": f.is_entry,
        })
    });
    json!({"name": computation.name, "functions": functions.collect::<Value>(), "problem": problem})
}
