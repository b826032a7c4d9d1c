use serde::Serialize;
use serde_json::Value;

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    Parse,
    NotFound,
    Unsupported,
    InvalidParams,
    /// The request exceeds a limit; the message names it.
    Limit,
    Internal,
}

#[derive(Debug, Clone, Serialize)]
pub struct ApiError {
    pub kind: ErrorKind,
    pub message: String,
    /// Line and column count from 1; columns count bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl ApiError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ApiError {
        ApiError { kind, message: message.into(), line: None, column: None }
    }
}

pub type Answer = Result<Value, ApiError>;
