//! `diff`: what two compiles have different.

use std::path::Path;

use super::answer::{Answer, Window};
use super::arguments::{Arguments, invalid};
use super::source::module;
use crate::api::{ApiError, ErrorKind, Session};
use crate::cli::input;
use crate::diff::{Diff, Side, Source, text};
use crate::dumps::device_of_stage;

/// Kernels, instructions and kinds that the text has; more are counted.
const TOP: usize = 200;

pub(super) fn diff(
    session: &mut Session,
    arguments: &Arguments,
    window: &Window,
) -> Result<Answer, ApiError> {
    let side = |name: &str| -> Result<Side, ApiError> {
        let path = module(arguments.required(name)?)?;
        let device = match (arguments.text("device"), device_of_stage(Path::new(&path))) {
            (None, Some(device)) => device,
            (named, _) => ide::Device::find(named.unwrap_or(session.default_device()))
                .map_err(|unknown| invalid(unknown.to_string()))?,
        };
        let text = input::read(Path::new(&path))
            .map_err(|error| ApiError::new(ErrorKind::NotFound, format!("{error:#}")))?;
        if let Some(what) = ide::dumped_beside_modules(&path, &text) {
            return Err(invalid(format!("{path} holds {what}, not HLO or MLIR")));
        }
        Side::new(Source { name: path, text, device }).map_err(invalid)
    };
    let (before, after) = (side("before")?, side("after")?);
    let diff =
        Diff::new([&before, &after]).map_err(|errors| ApiError::new(ErrorKind::Parse, errors.join("; ")))?;
    let report = text::text(&diff, TOP);
    let report: String =
        report.lines().filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect();
    // Both names are in the first line.
    let places = [&before, &after].map(|side| format!("{}:", side.name));
    let report = report.replace(&places[1], "line ").replace(&places[0], "line (before) ");
    let mut answer = Answer::new(Vec::new(), window.lines(&report));
    answer.notes.clone_from(&diff.errors);
    Ok(answer)
}
