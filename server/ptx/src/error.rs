//! Why a text is not read, and where.

use std::fmt;

/// A position in the text, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is malformed.
    Syntax,
    /// PTX may have it, but this crate does not.
    Unsupported,
}

/// Why a text is not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub kind: ErrorKind,
    pub at: Position,
    pub message: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, at: Position, message: impl Into<String>) -> Error {
        Error { kind, at, message: message.into() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.at.line, self.at.column, self.message)
    }
}

impl std::error::Error for Error {}
