//! `tilings`: other tile sizes for a fusion for Triton, and what they cost.

use ide::{ConfigChange, FusionQuery, Tiling};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::Answer;
use super::fusion::refused;
use super::request::{bare, params};
use super::session::Session;

#[derive(Deserialize, Default)]
#[serde(default)]
struct TilingsParams {
    instruction: String,
    computation: Option<String>,
    /// Of the result; behind them those of the dimensions that dots contract.
    tiles: Option<Vec<i64>>,
    warps: Option<i64>,
    stages: Option<i64>,
}

pub fn tilings(session: &mut Session, value: &Value) -> Answer {
    let p: TilingsParams = params(value)?;
    let query =
        FusionQuery { instruction: bare(&p.instruction), computation: p.computation.as_deref().map(bare) };
    let change = ConfigChange { tiles: p.tiles, warps: p.warps, stages: p.stages };
    session.use_device(value)?;
    let found = session.with_source(value, |analysis, file| analysis.tilings(file, &query, &change))?;
    let found = found.map_err(refused)?;
    Ok(json!({
        "instruction": found.instruction,
        "device": found.device,
        "configs": found.configs.iter().map(config).collect::<Value>(),
        "no_search": found.no_search,
        "text": found.text(),
    }))
}

fn config(tiling: &Tiling) -> Value {
    let config = &tiling.config;
    let mut answer = json!({
        "tiles": config.result,
        "contracted": config.contracted,
        "warps": config.warps,
        "stages": config.stages,
        "is_stated": tiling.is_stated,
        "is_asked": tiling.is_asked,
        "rank": tiling.rank,
    });
    match &tiling.figures {
        Err(why) => answer["refused"] = json!(why),
        Ok(figures) => {
            answer["blocks"] = json!(figures.blocks);
            answer["masked"] = json!(figures.masked);
            answer["shared_bytes"] = json!(figures.shared_bytes);
            answer["sum_registers"] = json!(figures.sum_registers);
            answer["blocks_per_core"] = json!(figures.blocks_per_core);
            answer["sectors_per_request"] = json!(figures.sectors_per_request);
            answer["bytes"] = json!(figures.bytes());
            answer["exec_us"] = json!(figures.time.as_ref().ok().map(|time| time.exec_us));
            answer["no_time"] = json!(figures.time.as_ref().err());
        }
    }
    answer
}
