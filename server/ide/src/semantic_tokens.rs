//! The kinds of tokens, for highlighting.

use std::ops::Range;

use crate::TextRange;
use crate::file_context::FileContext;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum TokenKind {
    /// The name of the module.
    Module,
    Computation,
    /// An instruction, at its definition and its uses.
    Instruction,
    /// A parameter, at its definition and its uses.
    Parameter,
    Opcode,
    ElementType,
    AttributeName,
    EnumValue,
    Keyword,
    Number,
    String,
    Comment,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum TokenModifier {
    Declaration,
    /// A constant's name.
    Readonly,
    /// The opcode of one half of an asynchronous pair.
    Async,
    /// The entry computation.
    Entry,
}

/// A set of [`TokenModifier`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenModifiers(pub u32);

impl TokenModifiers {
    pub fn contains(self, modifier: TokenModifier) -> bool {
        self.0 & (1 << modifier as u8) != 0
    }

    #[must_use]
    pub(crate) fn with(self, modifier: TokenModifier, is_set: bool) -> TokenModifiers {
        TokenModifiers(self.0 | u32::from(is_set) << modifier as u8)
    }
}

impl TokenKind {
    pub const ALL: [TokenKind; 12] = [
        TokenKind::Module,
        TokenKind::Computation,
        TokenKind::Instruction,
        TokenKind::Parameter,
        TokenKind::Opcode,
        TokenKind::ElementType,
        TokenKind::AttributeName,
        TokenKind::EnumValue,
        TokenKind::Keyword,
        TokenKind::Number,
        TokenKind::String,
        TokenKind::Comment,
    ];
}

impl TokenModifier {
    pub const ALL: [TokenModifier; 4] =
        [TokenModifier::Declaration, TokenModifier::Readonly, TokenModifier::Async, TokenModifier::Entry];
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SemanticToken {
    /// A comment may have several lines.
    pub range: TextRange,
    pub kind: TokenKind,
    pub modifiers: TokenModifiers,
}

/// The colours of a text.
pub(crate) trait Highlighting {
    /// The tokens of a piece that overlap `range`, in bytes of the piece, in order and disjoint; tokens beside
    /// the range may be among them.
    fn tokens_in(&self, _: &FileContext<'_>, _: usize, _: Range<usize>) -> Vec<SemanticToken> {
        Vec::new()
    }
}

/// The tokens that overlap `range`, in order and disjoint. The cost is that of the pieces in the range.
/// `None` if there are more than `limit`, because highlighting only part of a text would be misleading.
pub(crate) fn semantic_tokens(
    context: &FileContext<'_>,
    range: &TextRange,
    limit: usize,
) -> Option<Vec<SemanticToken>> {
    let semantics = context.semantics();
    let mut found = Vec::new();
    for piece in context.pieces_in(range) {
        crate::analysis::check_cancelled(context.db);
        let start = context.view.starts[piece].offset;
        let local = range.start.saturating_sub(start)..range.end.saturating_sub(start);
        let tokens = semantics.tokens_in(context, piece, local).into_iter();
        found.extend(tokens.filter(|t| t.range.end > range.start && t.range.start < range.end));
        if found.len() > limit {
            return None;
        }
    }
    Some(found)
}
