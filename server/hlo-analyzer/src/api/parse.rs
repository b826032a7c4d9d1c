//! `parse` and `verify`: all diagnostics of a text. Lines and columns count from 1; columns count bytes.

use ide::{Depth, Diagnostic, Severity};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use syntax::SyntaxError;
use syntax::hlo::{Fragment, parse_fragment};
use text::PositionEncoding;
use text::position::position;

use super::error::{Answer, ApiError, ErrorKind};
use super::request::params;
use super::session::Session;

/// Errors beyond this number are counted but not listed.
const MAX_ERRORS: usize = 1000;

#[derive(Deserialize, Default)]
#[serde(default)]
struct ParseParams {
    entry: Option<String>,
    text: Option<String>,
}

#[derive(Serialize)]
struct ReportedError {
    message: String,
    code: &'static str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

pub fn parse(session: &mut Session, value: &Value, depth: Depth) -> Answer {
    let p: ParseParams = params(value)?;
    if let Some(entry) = p.entry.as_deref().filter(|e| *e != "module") {
        return fragment(entry, p.text.as_deref().unwrap_or_default());
    }
    let (found, statistics, rope) = session.with_source(value, |analysis, file| {
        Ok((
            analysis.diagnostics_to(file, depth, MAX_ERRORS)?,
            analysis.statistics(file)?,
            analysis.text(file).clone(),
        ))
    })?;
    let errors: Vec<_> = found.shown.iter().filter(|d| is_refused(d)).map(|d| report(&rope, d)).collect();
    Ok(json!({
        "ok": errors.is_empty(),
        "errors": errors,
        "omitted": found.omitted,
        "module": statistics.module,
        "computations": statistics.computations,
        "instructions": statistics.instructions,
    }))
}

/// Whether the XLA version of this vocabulary rejects the text. These methods reproduce that version, so this
/// includes names that a later version may have added.
fn is_refused(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error || diagnostic.code == ide::UNKNOWN_WORD
}

fn report(rope: &ropey::Rope, diagnostic: &Diagnostic) -> ReportedError {
    let start = position(rope, diagnostic.range.start, PositionEncoding::Utf8);
    let end = position(rope, diagnostic.range.end, PositionEncoding::Utf8);
    ReportedError {
        message: diagnostic.message.clone(),
        code: diagnostic.code,
        line: start.line + 1,
        column: start.column + 1,
        end_line: end.line + 1,
        end_column: end.column + 1,
    }
}

/// The grammar fragment named `entry`.
pub fn fragment_of(entry: &str) -> Result<Fragment, ApiError> {
    Fragment::from_name(entry).ok_or_else(|| {
        ApiError::new(ErrorKind::Unsupported, format!("parsing a {entry} on its own is not supported"))
    })
}

/// The syntax errors of `text` parsed as one `fragment`.
pub fn fragment_errors(fragment: Fragment, text: &str) -> Vec<SyntaxError> {
    let parse = parse_fragment(text, fragment).0;
    [parse.errors, parse.unknown].concat()
}

/// Parses a grammar fragment on its own, for example a shape.
fn fragment(entry: &str, text: &str) -> Answer {
    let fragment = fragment_of(entry)?;
    let rope = ropey::Rope::from_str(text);
    let errors: Vec<_> = fragment_errors(fragment, text)
        .into_iter()
        .map(|e| {
            report(
                &rope,
                &Diagnostic {
                    range: e.span.range(),
                    severity: Severity::Error,
                    code: "syntax",
                    message: e.message,
                    related: Vec::new(),
                    is_of_parser: true,
                    fix: None,
                },
            )
        })
        .collect();
    Ok(json!({"ok": errors.is_empty(), "errors": errors, "module": "", "computations": 0, "instructions": 0}))
}
