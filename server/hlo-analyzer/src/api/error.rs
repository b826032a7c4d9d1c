use ropey::Rope;
use serde::Serialize;
use serde_json::Value;
use text::PositionEncoding;
use text::position::position;

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

    /// An error of the text of a request, `offset` bytes from its start.
    pub fn in_text(text: &Rope, offset: usize, message: impl Into<String>) -> ApiError {
        let at = position(text, offset, PositionEncoding::Utf8);
        ApiError {
            line: Some(at.line + 1),
            column: Some(at.column + 1),
            ..ApiError::new(ErrorKind::Parse, message)
        }
    }
}

pub type Answer = Result<Value, ApiError>;
