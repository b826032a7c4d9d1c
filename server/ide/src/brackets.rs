//! Pairs of brackets, and the other tokens around them, as folds and selections need them.

use syntax::Span;

use crate::file_context::FileContext;

/// A token of either language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Token {
    /// In the piece.
    pub(crate) span: Span,
    pub(crate) kind: TokenKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenKind {
    /// An opening bracket.
    Open(u8),
    /// A closing bracket, by the opening one.
    Close(u8),
    Comment,
    /// A name, a number, a string or a keyword.
    Word,
    /// Other punctuation.
    Sign,
    /// The border of two independent parts of a file.
    Split,
}

/// The tokens of a text.
pub(crate) trait Tokens {
    /// Calls `found` with each token of a part of a piece, in order.
    fn tokens(&self, _: &FileContext<'_>, _piece: usize, _within: Span, _found: &mut dyn FnMut(Token)) {}
}

/// The brackets that are open while tokens are read.
#[derive(Default)]
pub(crate) struct Brackets {
    open: Vec<(u8, u32)>,
}

impl Brackets {
    /// The pair that the token closes, from the opening bracket to the closing one, both included. A closing
    /// bracket without its opening one is ignored.
    pub(crate) fn pair(&mut self, token: &Token) -> Option<Span> {
        match token.kind {
            TokenKind::Open(bracket) => self.open.push((bracket, token.span.start)),
            TokenKind::Close(bracket) => {
                let (_, start) = self.open.pop_if(|(open, _)| *open == bracket)?;
                return Some(Span { start, end: token.span.end });
            }
            TokenKind::Split => self.open.clear(),
            TokenKind::Comment | TokenKind::Word | TokenKind::Sign => {}
        }
        None
    }
}
