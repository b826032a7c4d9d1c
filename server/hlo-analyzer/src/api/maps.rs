//! `map` and `expr`: parse, call the map engine, print.

use indexing_map::{
    Expr, IndexingMap, MapAttribute, ParseError, PrintStyle, SimplifyMode, parse_expr, parse_map, print_map,
};
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::print_style;

fn invalid(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorKind::InvalidParams, message)
}

/// A parse error with the position where parsing stops.
fn unparsable(text: &str, error: ParseError) -> ApiError {
    let before = &text.as_bytes()[..error.offset.min(text.len())];
    let line = before.iter().filter(|b| **b == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|b| **b != b'\n').count() + 1;
    ApiError { line: Some(line), column: Some(column), ..ApiError::new(ErrorKind::Parse, error.message) }
}

/// The largest number of boxes that the emptiness proof examines.
const EMPTINESS_BUDGET: usize = 20_000;

pub fn map(params: &Value) -> Answer {
    let style = style(params)?;
    let mut m = map_param(params, "map")?;
    // A map given as an attribute is also printed as one.
    let attribute = MapAttribute::read(text_param(params, "map")?);
    let answer = |m: &IndexingMap| {
        let mut a = json!({ "map": print_map(m, style) });
        if let Some(attribute) = &attribute {
            a["attribute"] = attribute.with_map(m).into();
        }
        a
    };
    Ok(match text_param(params, "op")? {
        "print" => answer(&m),
        "simplify" => {
            let mode = match params.get("mode").and_then(Value::as_str) {
                Some("preserve") => SimplifyMode::Preserve,
                _ => SimplifyMode::Replace,
            };
            let outcome = m.simplify(mode);
            let mut a = answer(&m);
            a["changed"] = json!(outcome.changed);
            a["bound_reached"] = json!(outcome.bound_reached);
            a
        }
        "compose" => {
            let second = map_param(params, "with")?;
            if m.is_mapped() && second.is_mapped() && m.results().len() != second.num_dims() {
                return Err(invalid(format!(
                    "`map` has {} results, `with` has {} dimensions",
                    m.results().len(),
                    second.num_dims()
                )));
            }
            // Maps known to be empty are printed without counts.
            let composed = if m.is_known_empty() && !second.is_undefined()
                || second.is_known_empty() && !m.is_undefined()
            {
                IndexingMap::known_empty(0, 0, 0)
            } else {
                m.compose(&second)
            };
            answer(&composed)
        }
        "rescale_symbols" => {
            m.rescale_symbols();
            answer(&m)
        }
        "remove_unused_symbols" => {
            let removed = m.remove_unused_symbols();
            let mut a = answer(&m);
            a["removed"] = json!(removed);
            a
        }
        "remove_unused_vars" => {
            let removed = m.remove_unused_vars();
            let mut a = answer(&m);
            a["removed"] = json!(removed);
            a
        }
        "is_known_empty" => {
            let known = m.is_known_empty()
                || m.clone().simplified(SimplifyMode::Replace).prove_empty(EMPTINESS_BUDGET) == Some(true);
            json!({ "value": known })
        }
        "range" => {
            let ranges: Vec<[i64; 2]> = m.result_ranges().into_iter().map(|r| [r.lower, r.upper]).collect();
            json!({ "ranges": ranges })
        }
        "evaluate" => {
            let point = args(params)?;
            if m.is_mapped() && point.len() != m.variables().len() {
                return Err(invalid(format!("{} args for {} variables", point.len(), m.variables().len())));
            }
            json!({ "value": m.evaluate(&point) })
        }
        other => return Err(invalid(format!("unknown op `{other}`"))),
    })
}

pub fn expr(params: &Value) -> Answer {
    let style = style(params)?;
    let text = text_param(params, "expr")?;
    let e: Expr = parse_expr(text).map_err(|e| unparsable(text, e))?;
    Ok(match text_param(params, "op")? {
        "print" => json!({ "expr": e.to_text(style) }),
        "canonicalize" => json!({ "expr": e.canonicalize().to_text(style) }),
        "evaluate" => json!({ "value": e.evaluate(&args(params)?) }),
        other => return Err(invalid(format!("unknown op `{other}`"))),
    })
}

fn style(params: &Value) -> Result<PrintStyle, ApiError> {
    print_style(params.get("syntax").and_then(Value::as_str))
}

fn text_param<'a>(params: &'a Value, key: &str) -> Result<&'a str, ApiError> {
    params.get(key).and_then(Value::as_str).ok_or_else(|| invalid(format!("`{key}` must be a string")))
}

fn map_param(params: &Value, key: &str) -> Result<IndexingMap, ApiError> {
    let text = text_param(params, key)?;
    parse_map(text).map_err(|e| unparsable(text, e))
}

fn args(params: &Value) -> Result<Vec<i64>, ApiError> {
    params
        .get("args")
        .and_then(Value::as_array)
        .and_then(|a| a.iter().map(Value::as_i64).collect())
        .ok_or_else(|| invalid("`args` must be a list of integers"))
}
