//! Diagnostics as SARIF 2.1.0, which code hosts show beside the lines.

use ide::Severity;
use serde_json::{Value, json};
use text::PositionEncoding;
use text::position::position;

use super::check::Checked;

/// The complete log for `results`.
pub(super) fn log(results: Vec<Value>) -> Value {
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": env!("CARGO_PKG_NAME"),
                "version": env!("CARGO_PKG_VERSION"),
            }},
            "columnKind": "utf16CodeUnits",
            "results": results,
        }],
    })
}

/// One result per diagnostic of a file.
pub(super) fn results(checked: &Checked) -> Vec<Value> {
    let rope = ropey::Rope::from_str(&checked.text);
    let location = |range: &ide::TextRange| {
        let start = position(&rope, range.start, PositionEncoding::Utf16);
        let end = position(&rope, range.end, PositionEncoding::Utf16);
        json!({"physicalLocation": {
            "artifactLocation": {"uri": ide::percent_encoded(&checked.name)},
            "region": {
                "startLine": start.line + 1,
                "startColumn": start.column + 1,
                "endLine": end.line + 1,
                "endColumn": end.column + 1,
            },
        }})
    };
    let findings = checked.diagnostics.shown.iter();
    findings
        .map(|d| {
            let level = match d.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Information | Severity::Hint => "note",
            };
            let related: Vec<Value> = d
                .related
                .iter()
                .map(|r| {
                    let mut location = location(&r.range);
                    location["message"] = json!({"text": r.message});
                    location
                })
                .collect();
            json!({
                "ruleId": d.code,
                "level": level,
                "message": {"text": d.message},
                "locations": [location(&d.range)],
                "relatedLocations": related,
            })
        })
        .collect()
}
