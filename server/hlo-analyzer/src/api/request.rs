//! The shape of requests.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::{ApiError, ErrorKind};

/// Longest request line: a 40 MB module with every character escaped fits.
pub const MAX_REQUEST_BYTES: usize = 256 << 20;

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

/// Reads `params` as `T`; what does not fit is the caller's error.
pub fn params<T: DeserializeOwned>(value: &Value) -> Result<T, ApiError> {
    T::deserialize(value).map_err(|e| ApiError::new(ErrorKind::InvalidParams, e.to_string()))
}
