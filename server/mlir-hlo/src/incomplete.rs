//! What one language says and the other does not.

use text::Span;

/// A part of the text that the result does not say, or says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incomplete {
    /// Where, in its piece.
    pub span: Span,
    /// What is missing, and why.
    pub what: String,
}
