//! `diff`: what two compiles of a module have different.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::error::{Answer, ApiError, ErrorKind};
use super::request::{Source, params};
use super::session::Session;
use crate::cli::input;
use crate::diff::{self, Diff, Side, json};
use crate::dumps::device_of_stage;

/// The default number of kernels.
const DEFAULT_TOP: usize = 50;

#[derive(Deserialize)]
struct DiffParams {
    before: Source,
    after: Source,
    /// Of both modules.
    device: Option<String>,
    /// Of the second one, where it differs.
    device_after: Option<String>,
    top: Option<usize>,
}

pub fn diff(session: &Session, value: &Value) -> Answer {
    let DiffParams { before, after, device, device_after, top } = params(value)?;
    let device_after = device_after.as_deref().or(device.as_deref());
    let default = session.default_device();
    let before = source(before, "before", device.as_deref(), default)?;
    let after = source(after, "after", device_after, default)?;
    let side = |source| Side::new(source).map_err(|error| ApiError::new(ErrorKind::InvalidParams, error));
    let (before, after) = (side(before)?, side(after)?);
    match Diff::new([&before, &after]) {
        Ok(diff) => Ok(json::json(&diff, top.unwrap_or(DEFAULT_TOP))),
        Err(errors) => Err(ApiError::new(ErrorKind::Parse, errors.join("; "))),
    }
}

/// One of the two compiles, for the device that the request names, else that of its dump folder, else the default.
fn source(source: Source, name: &str, device: Option<&str>, default: &str) -> Result<diff::Source, ApiError> {
    let dumped = || device_of_stage(Path::new(source.path.as_deref()?));
    let named = |name: &str| {
        ide::Device::find(name)
            .map_err(|unknown| ApiError::new(ErrorKind::InvalidParams, unknown.to_string()))
    };
    let device = match device {
        Some(name) => named(name)?,
        None => dumped().map_or_else(|| named(default), Ok)?,
    };
    match (source.text, source.path) {
        (Some(text), path) => {
            Ok(diff::Source { name: path.unwrap_or_else(|| name.to_owned()), text, device })
        }
        (None, Some(path)) => {
            let text = input::read(Path::new(&path))
                .map_err(|error| ApiError::new(ErrorKind::NotFound, format!("{error:#}")))?;
            Ok(diff::Source { name: path, text, device })
        }
        (None, None) => {
            Err(ApiError::new(ErrorKind::InvalidParams, format!("\"{name}\" needs \"text\" or \"path\"")))
        }
    }
}
