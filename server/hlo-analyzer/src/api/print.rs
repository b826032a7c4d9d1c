//! `print`: the canonical text of a module or of a grammar fragment.

use ide::{Depth, PrintOptions, Severity};
use serde::Deserialize;
use serde_json::{Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::parse::{fragment_errors, fragment_of};
use super::request::params;
use super::session::Session;

#[derive(Deserialize, Default)]
#[serde(default)]
struct PrintParams {
    entry: Option<String>,
    text: Option<String>,
    options: Options,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Options {
    preset: Option<String>,
    percent: Option<bool>,
    operand_shapes: Option<bool>,
    operand_names: Option<bool>,
    metadata: Option<bool>,
    backend_config: Option<bool>,
    program_shape: Option<bool>,
    control_dependencies: Option<bool>,
    large_constants: Option<bool>,
    canonical_names: Option<bool>,
    full_bodies: Option<bool>,
    compact_gte: Option<bool>,
}

impl Options {
    /// The preset, overridden by the request's other options. Without a preset everything is printed.
    fn print_options(&self) -> Result<PrintOptions, ApiError> {
        let mut options = match self.preset.as_deref() {
            None => PrintOptions::lossless(),
            Some("default") => PrintOptions::dump(),
            Some("short_parsable") => PrintOptions::short_parsable(),
            Some("canonical") => PrintOptions::canonical(),
            Some(other) => {
                return Err(ApiError::new(ErrorKind::InvalidParams, format!("unknown preset: {other}")));
            }
        };
        for (slot, asked) in [
            (&mut options.percent, self.percent),
            (&mut options.operand_shapes, self.operand_shapes),
            (&mut options.operand_names, self.operand_names),
            (&mut options.metadata, self.metadata),
            (&mut options.backend_config, self.backend_config),
            (&mut options.program_shape, self.program_shape),
            (&mut options.control_dependencies, self.control_dependencies),
            (&mut options.large_constants, self.large_constants),
            (&mut options.canonical_names, self.canonical_names),
            (&mut options.full_bodies, self.full_bodies),
            (&mut options.compact_gte, self.compact_gte),
        ] {
            *slot = asked.unwrap_or(*slot);
        }
        Ok(options)
    }
}

pub fn print(session: &mut Session, value: &Value) -> Answer {
    let p: PrintParams = params(value)?;
    let options = p.options.print_options()?;
    if let Some(entry) = p.entry.as_deref().filter(|e| *e != "module") {
        let text = p.text.as_deref().unwrap_or_default();
        let fragment = fragment_of(entry)?;
        if let Some(first) = fragment_errors(fragment, text).into_iter().next() {
            return Err(ApiError::in_text(
                &ropey::Rope::from_str(text),
                first.span.range().start,
                first.message,
            ));
        }
        let printed = ide::print_fragment(text, fragment, options.metadata);
        let printed = printed.ok_or_else(|| ApiError::new(ErrorKind::Parse, format!("no {entry}")))?;
        return Ok(json!({"text": printed}));
    }
    let (found, printed, rope) = session.with_source(value, |analysis, file| {
        let found = analysis.diagnostics_to(file, Depth::Parser, usize::MAX)?;
        let is_broken = found.shown.iter().any(|d| d.severity == Severity::Error);
        let printed = if is_broken { Ok(String::new()) } else { analysis.print(file, &options)? };
        Ok((found, printed, analysis.text(file).clone()))
    })?;
    if let Some(first) = found.shown.into_iter().find(|d| d.severity == Severity::Error) {
        return Err(ApiError::in_text(&rope, first.range.start, first.message));
    }
    match printed {
        Ok(text) => Ok(json!({"text": text})),
        Err(too_large) => Err(ApiError::new(
            ErrorKind::Limit,
            format!("the printed text is larger than {} bytes", too_large.limit),
        )),
    }
}
