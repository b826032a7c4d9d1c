//! Folding ranges of a file.

use crate::TextRange;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldKind {
    Computation,
    /// `HloModule …` and each of the tables below it.
    Header,
    /// Brackets of an attribute, a constant or an operand list.
    Brackets,
    Comment,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// From a byte of the line that stays visible to the last hidden byte; always several lines. A closing
    /// bracket on a line of its own stays visible.
    pub range: TextRange,
    pub kind: FoldKind,
}
