//! `coalescing`: the memory traffic of a kernel's reads and writes, per array.

use ide::{BufferReply, FusionQuery, PREDICTED};
use indexing_map::{PrintStyle, print_map};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::Answer;
use super::fusion::refused;
use super::request::{bare, params, print_style};
use super::session::Session;

#[derive(Deserialize, Default)]
#[serde(default)]
struct CoalescingParams {
    instruction: String,
    computation: Option<String>,
    tile_sizes: Option<Vec<i64>>,
    syntax: Option<String>,
}

pub fn coalescing(session: &mut Session, value: &Value) -> Answer {
    let p: CoalescingParams = params(value)?;
    let style = print_style(p.syntax.as_deref())?;
    let query =
        FusionQuery { instruction: bare(&p.instruction), computation: p.computation.as_deref().map(bare) };
    session.use_device(value)?;
    let reply = session
        .with_source(value, |analysis, file| analysis.coalescing(file, &query, p.tile_sizes.as_deref()))?;
    let buffers = reply.map_err(refused)?;
    let of = |is_result: bool| {
        let some = buffers.iter().filter(move |b| b.is_result == is_result);
        some.map(|b| described(b, style)).collect::<Value>()
    };
    Ok(json!({"operands": of(false), "results": of(true)}))
}

/// The JSON keys of an array's figures.
const FIGURES: [&str; 6] = [
    "requests",
    "sectors_per_request",
    "ideal_sectors_per_request",
    "bytes_used",
    "bytes_moved",
    "efficiency",
];

/// The figures describe the best case, with one request per instruction. Where they depend on runtime
/// variables, `worst` has the worst case. `judged` has the figures that hovers and warnings show.
fn described(buffer: &BufferReply, style: PrintStyle) -> Value {
    let mut answer = json!({
        "name": buffer.name,
        "xla_coalesced": buffer.xla_coalesced,
        "coalesced": buffer.coalesced,
        "map": buffer.maps.first().map(|map| print_map(map, style)),
        "exact": buffer.is_exact,
    });
    let figures = |answer: &mut Value, counts: &ide::Counts| {
        answer["requests"] = counts.requests.into();
        answer["sectors_per_request"] = counts.sectors_per_request().into();
        answer["ideal_sectors_per_request"] = counts.ideal_sectors_per_request().into();
        answer["bytes_used"] = counts.bytes_used.into();
        answer["bytes_moved"] = counts.bytes_moved().into();
        answer["efficiency"] = counts.efficiency().into();
    };
    if buffer.is_predicted {
        answer["predicted"] = buffer.best.is_some().then_some(PREDICTED).into();
        answer["bytes_per_thread"] = buffer.widths.clone().into();
        answer["bulk"] = buffer.is_bulk.into();
    }
    match &buffer.best {
        Some(best) => figures(&mut answer, best),
        // The keys stay, with null, so that unknown figures do not look like zeros.
        None => {
            let why = buffer.unknown.as_deref().unwrap_or("which elements it touches is known at run time");
            answer["unknown"] = why.into();
            for name in FIGURES {
                answer[name] = Value::Null;
            }
        }
    }
    if let Some(worst) = buffer.worst.filter(|worst| Some(*worst) != buffer.best) {
        let mut other = json!({});
        figures(&mut other, &worst);
        answer["worst"] = other;
    }
    if let Some(judged) = &buffer.judged {
        let mut other = json!({});
        figures(&mut other, judged);
        answer["judged"] = other;
    }
    if let Some(pattern) = buffer.pattern {
        answer["pattern"] = pattern.to_string().into();
    }
    if let Some(rate) = buffer.tiled_efficiency {
        answer["tiled_efficiency"] = rate.into();
    }
    if buffer.maps.len() > 1 {
        answer["maps"] = buffer.maps.iter().map(|map| print_map(map, style)).collect();
    }
    answer
}
