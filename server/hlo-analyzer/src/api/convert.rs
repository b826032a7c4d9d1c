//! `convert`: converts the module to the other language.

use serde_json::{Value, json};
use text::PositionEncoding;
use text::position::position;

use super::error::Answer;
use super::session::Session;

/// `{"text", "incomplete": [{"message", "line", "column"}]}`. Positions refer to the source and are omitted
/// where unknown.
pub fn convert(session: &mut Session, value: &Value) -> Answer {
    let (conversion, rope) = session
        .with_source(value, |analysis, file| Ok((analysis.convert(file)?, analysis.text(file).clone())))?;
    let incomplete = conversion.incomplete.into_iter().map(|missing| match missing.range {
        Some(range) => {
            let at = position(&rope, range.start, PositionEncoding::Utf8);
            json!({"message": missing.what, "line": at.line + 1, "column": at.column + 1})
        }
        None => json!({"message": missing.what}),
    });
    let incomplete: Value = incomplete.collect();
    Ok(json!({"text": conversion.text, "incomplete": incomplete}))
}
