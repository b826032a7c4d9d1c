//! The format of requests.

use indexing_map::PrintStyle;
use serde::Deserialize;
use serde_json::Value;

use super::error::{ApiError, ErrorKind};

#[derive(Deserialize)]
pub struct Request {
    #[serde(default)]
    pub id: Value,
    pub method: String,
    #[serde(default)]
    pub params: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Source {
    pub language: Option<String>,
    pub text: Option<String>,
    pub path: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
pub struct Device {
    pub device: Option<String>,
}

/// Parses `params` as `T`. A mismatch is the caller's error.
pub fn params<'a, T: Deserialize<'a>>(value: &'a Value) -> Result<T, ApiError> {
    T::deserialize(value).map_err(|e| ApiError::new(ErrorKind::InvalidParams, e.to_string()))
}

/// The print style for the `syntax` of a request.
pub fn print_style(syntax: Option<&str>) -> Result<PrintStyle, ApiError> {
    match syntax {
        None | Some("floordiv") => Ok(PrintStyle::Floordiv),
        Some("symbolic") => Ok(PrintStyle::Symbolic),
        Some(other) => Err(ApiError::new(ErrorKind::InvalidParams, format!("unknown syntax: {other}"))),
    }
}

/// The name without `%`, as the analysis stores it.
pub fn bare(name: &str) -> String {
    name.trim_start_matches('%').to_owned()
}
