//! The source files named in a text. The caller checks which of them exist: this module reads no files.

use crate::TextRange;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentLink {
    pub range: TextRange,
    /// The unescaped path: absolute, or relative to a root that the program's author chose.
    pub path: String,
    /// Counted from 1.
    pub line: Option<u32>,
}
