//! `tile`: the tile of an operand that a tile of an output requires, from an instruction or from a map.

use ide::{Direction, IndexingKind, IndexingQuery, IndexingReply, SymbolicTile};
use indexing_map::{IndexingMap, parse_map};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::{bare, params, print_style};
use super::session::Session;

#[derive(Deserialize, Default)]
#[serde(default)]
struct TileParams {
    map: Option<String>,
    instruction: String,
    computation: Option<String>,
    operand: usize,
    /// The output's index.
    index: usize,
    tile_sizes: Option<Vec<i64>>,
    syntax: Option<String>,
}

pub fn tile(session: &mut Session, value: &Value) -> Answer {
    let p: TileParams = params(value)?;
    let style = print_style(p.syntax.as_deref())?;
    let map = match &p.map {
        Some(text) => parse_map(text).map_err(|e| ApiError::new(ErrorKind::Parse, e.message))?,
        None => map_of_operand(session, value, &p)?,
    };
    let Some(tile) = SymbolicTile::from_map(&map) else { return Ok(json!({ "tile": null })) };
    let runtime = tile.runtime_bounds().enumerate();
    let mut answer = json!({
        "offset_map": tile.offset_text(style),
        "size_map": tile.size_text(style),
        "stride_map": tile.stride_text(style),
        "rt_vars": runtime.map(|(i, b)| format!("s{i} in [{}, {}]", b.lower, b.upper)).collect::<Value>(),
        "constraints": if tile.constraint.is_always_satisfied() { String::new() } else { tile.constraint.to_string() },
    });
    if let Some(sizes) = &p.tile_sizes {
        let at = tile.at(sizes).ok_or_else(|| {
            invalid(format!("{} tile sizes for an output of rank {}", sizes.len(), map.num_dims()))
        })?;
        answer["offsets"] = json!(at.offsets);
        answer["sizes"] = json!(at.sizes);
        answer["strides"] = json!(at.strides);
        answer["is_tile"] = json!(at.is_tile);
    }
    Ok(answer)
}

/// The map of the first access from the instruction's output to the operand.
fn map_of_operand(session: &mut Session, value: &Value, p: &TileParams) -> Result<IndexingMap, ApiError> {
    let query = IndexingQuery {
        instruction: bare(&p.instruction),
        computation: p.computation.as_deref().map(bare),
        kind: IndexingKind::One {
            direction: Direction::OutputToInput,
            index: p.index,
            physical_layout: false,
        },
        // Tiles keep degenerate dimensions; `SymbolicTile` does its own simplification.
        simplify: false,
        rules: ide::Rules::Xla,
    };
    let reply = session.with_source(value, |analysis, file| analysis.indexing(file, &query))?;
    let IndexingReply::Operands(maps) = reply.map_err(|e| ApiError::new(ErrorKind::NotFound, e.0))? else {
        return Ok(IndexingMap::undefined());
    };
    let accesses = maps.operands.get(p.operand).ok_or_else(|| {
        invalid(format!("{} has {} operands, not operand {}", p.instruction, maps.operands.len(), p.operand))
    })?;
    Ok(accesses.first().map_or_else(IndexingMap::undefined, |access| access.map.clone()))
}

fn invalid(message: String) -> ApiError {
    ApiError::new(ErrorKind::InvalidParams, message)
}
