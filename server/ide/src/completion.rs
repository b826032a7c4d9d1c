//! The items that complete the text at the cursor.

use crate::TextRange;
use crate::file_context::FileContext;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Completion {
    pub items: Vec<CompletionItem>,
    /// Whether a longer prefix would offer more.
    pub is_incomplete: bool,
}

/// The largest number of names offered.
const LIMIT: usize = 200;

impl Completion {
    /// Adds items until there are [`LIMIT`].
    pub(crate) fn add(&mut self, items: impl IntoIterator<Item = CompletionItem>) {
        for item in items {
            if self.is_full() {
                self.is_incomplete = true;
                return;
            }
            self.items.push(item);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.items.len() >= LIMIT
    }
}

/// What completes a text.
pub(crate) trait Completions {
    /// The completions at `offset`.
    fn completion(&self, _: &FileContext<'_>, _: usize) -> Completion {
        Completion::default()
    }
}

/// Whether `typed` is a subsequence of `name`, ignoring case, as editors match.
pub(crate) fn matches(typed: &str, name: &str) -> bool {
    let mut letters = name.chars().map(|c| c.to_ascii_lowercase());
    typed.chars().all(|t| letters.any(|c| c == t.to_ascii_lowercase()))
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

impl CompletionItem {
    /// An item that inserts its label.
    pub(crate) fn new(label: &str, kind: CompletionKind, replace: TextRange) -> CompletionItem {
        CompletionItem {
            label: label.to_owned(),
            kind,
            detail: String::new(),
            replace,
            insert: label.to_owned(),
            snippet: None,
            filter: label.to_owned(),
            sort: label.to_owned(),
            documentation: None,
        }
    }
}
