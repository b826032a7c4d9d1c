//! The items that complete the text at the cursor.

use crate::TextRange;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    pub items: Vec<CompletionItem>,
    /// Whether a longer prefix would offer more.
    pub is_incomplete: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionKind {
    Opcode,
    Attribute,
    Value,
    Instruction,
    Computation,
    Type,
    Keyword,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionItem {
    pub label: String,
    pub kind: CompletionKind,
    /// One line beside the label: a shape, a summary.
    pub detail: String,
    /// The bytes to replace.
    pub replace: TextRange,
    /// The replacement.
    pub insert: String,
    /// The replacement with placeholders, such as `${1:lhs}`, for a client that supports snippets.
    pub snippet: Option<String>,
    /// The text that the typed word is matched against.
    pub filter: String,
    /// The sort key.
    pub sort: String,
    /// The key for [`completion_documentation`](crate::completion_documentation).
    pub documentation: Option<String>,
}
