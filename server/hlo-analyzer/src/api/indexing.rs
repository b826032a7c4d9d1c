//! `indexing`, `grouped_indexing`, `epilogue_indexing`: indexing maps of named instructions.

use ide::{Direction, IndexingKind, IndexingQuery, IndexingReply, OperandIndexing, Rules, RuntimeSource};
use indexing_map::{PrintStyle, print_map};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::{bare, params, print_style};
use super::session::Session;

#[derive(Deserialize, Default)]
#[serde(default)]
struct IndexingParams {
    instruction: String,
    computation: Option<String>,
    direction: Option<String>,
    index: usize,
    physical_layout: bool,
    simplify: Option<bool>,
    syntax: Option<String>,
    instructions: Vec<String>,
    root: Option<String>,
}

impl IndexingParams {
    fn query(&self, kind: IndexingKind) -> IndexingQuery {
        IndexingQuery {
            instruction: bare(&self.instruction),
            computation: self.computation.as_deref().map(bare),
            kind,
            simplify: self.simplify.unwrap_or(true),
            rules: Rules::Xla,
        }
    }
}

pub fn indexing(session: &mut Session, value: &Value) -> Answer {
    let p: IndexingParams = params(value)?;
    let direction = match p.direction.as_deref() {
        None | Some("output_to_input") => Direction::OutputToInput,
        Some("input_to_output") => Direction::InputToOutput,
        Some(other) => {
            return Err(ApiError::new(ErrorKind::InvalidParams, format!("unknown direction: {other}")));
        }
    };
    let kind = IndexingKind::One { direction, index: p.index, physical_layout: p.physical_layout };
    answer(session, value, &p, kind)
}

pub fn grouped(session: &mut Session, value: &Value) -> Answer {
    let p: IndexingParams = params(value)?;
    let instructions = p.instructions.iter().map(|name| bare(name)).collect();
    let kind = IndexingKind::Grouped { instructions, index: p.index };
    answer(session, value, &p, kind)
}

pub fn epilogue(session: &mut Session, value: &Value) -> Answer {
    let p: IndexingParams = params(value)?;
    let root = bare(p.root.as_deref().unwrap_or_default());
    let kind = IndexingKind::Epilogue { root };
    answer(session, value, &p, kind)
}

fn answer(session: &mut Session, value: &Value, p: &IndexingParams, kind: IndexingKind) -> Answer {
    let style = print_style(p.syntax.as_deref())?;
    let query = p.query(kind);
    let reply = session.with_source(value, |analysis, file| {
        let reply = analysis.indexing(file, &query)?;
        // The map that hovers show, where it is more precise than XLA's.
        let exact = match &reply {
            Ok(IndexingReply::Operands(_)) => {
                analysis.indexing(file, &IndexingQuery { rules: Rules::Exact, ..query.clone() })?.ok()
            }
            _ => None,
        };
        Ok(reply.map(|reply| (reply, exact)))
    })?;
    let (reply, exact) = reply.map_err(|e| ApiError::new(ErrorKind::NotFound, e.0))?;
    let list = |accesses: &[OperandIndexing]| accesses.iter().map(|a| access(a, style)).collect::<Value>();
    Ok(match reply {
        IndexingReply::Operands(maps) => {
            let mut answer = json!({"operands": maps.operands.iter().map(|a| list(a)).collect::<Value>()});
            if let Some(IndexingReply::Operands(exact)) = exact
                && exact != maps
            {
                answer["exact"] = exact.operands.iter().map(|a| list(a)).collect::<Value>();
            }
            answer
        }
        IndexingReply::ByInstruction(by_name) => {
            let by_name: Map<String, Value> = by_name.into_iter().map(|(name, a)| (name, list(&a))).collect();
            json!({"by_instruction": by_name})
        }
        IndexingReply::Map(map) => access(&map, style),
    })
}

fn access(access: &OperandIndexing, style: PrintStyle) -> Value {
    let mut object = Map::new();
    object.insert("map".into(), print_map(&access.map, style).into());
    if !access.runtime_variables.is_empty() {
        let variables = access.runtime_variables.iter().enumerate().map(|(i, variable)| {
            let source = match &variable.source {
                RuntimeSource::Operand(operand) => format!("operand {operand}"),
                RuntimeSource::Op { name, .. } => name.to_string(),
                RuntimeSource::Extent { array, dimension } => format!("dimension {dimension} of {array}"),
            };
            json!({"name": format!("rt{i}"), "source": source, "map": print_map(&variable.map, style)})
        });
        object.insert("runtime_variables".into(), variables.collect());
    }
    if let Some(replica) = &access.replica_id_map {
        object.insert("replica_id_map".into(), print_map(replica, style).into());
    }
    if let Some(note) = &access.note {
        object.insert("note".into(), note.to_string().into());
    }
    Value::Object(object)
}
