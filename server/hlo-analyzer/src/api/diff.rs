//! `diff`: what two compiles of a module have different.

use serde::Deserialize;
use serde_json::Value;

use super::error::{Answer, ApiError, ErrorKind};
use super::request::{Source, params};
use super::session::Session;
use crate::cli::input;
use crate::diff::{self, Diff, Side, json};

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
    let device = device.unwrap_or_else(|| session.default_device().to_owned());
    let device_after = device_after.as_ref().unwrap_or(&device);
    let (before, after) = (source(before, "before", &device)?, source(after, "after", device_after)?);
    let side = |source| Side::new(source).map_err(|error| ApiError::new(ErrorKind::InvalidParams, error));
    let (before, after) = (side(before)?, side(after)?);
    match Diff::new([&before, &after]) {
        Ok(diff) => Ok(json::json(&diff, top.unwrap_or(DEFAULT_TOP))),
        Err(errors) => Err(ApiError::new(ErrorKind::Parse, errors.join("; "))),
    }
}

fn source(source: Source, name: &str, device: &str) -> Result<diff::Source, ApiError> {
    let device = ide::Device::find(device)
        .map_err(|unknown| ApiError::new(ErrorKind::InvalidParams, unknown.to_string()))?;
    match (source.text, source.path) {
        (Some(text), path) => {
            Ok(diff::Source { name: path.unwrap_or_else(|| name.to_owned()), text, device })
        }
        (None, Some(path)) => {
            let text = input::read(std::path::Path::new(&path))
                .map_err(|error| ApiError::new(ErrorKind::NotFound, format!("{error:#}")))?;
            Ok(diff::Source { name: path, text, device })
        }
        (None, None) => {
            Err(ApiError::new(ErrorKind::InvalidParams, format!("\"{name}\" needs \"text\" or \"path\"")))
        }
    }
}
