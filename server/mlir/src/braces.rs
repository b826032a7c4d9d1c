//! Classifies positions by a few tokens around them.

use crate::lexer::{Token, TokenKind};
use crate::words::{is_dotted, is_function_like, is_hungry_word, is_short_op, is_terminator, last_segment};

/// The tokens of a piece, with stateless queries.
pub(crate) struct Tokens<'t> {
    pub(crate) text: &'t str,
    pub(crate) all: Vec<Token>,
}

/// What a `{` opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Brace {
    Region,
    Dictionary,
    /// `{}`, which may be either.
    Empty,
}

impl<'t> Tokens<'t> {
    pub(crate) fn kind(&self, at: usize) -> Option<TokenKind> {
        self.all.get(at).map(|t| t.kind)
    }

    pub(crate) fn word(&self, at: usize) -> &'t str {
        match self.all.get(at) {
            Some(token) => token.span.of(self.text),
            None => "",
        }
    }

    pub(crate) fn is_first(&self, at: usize) -> bool {
        self.all.get(at).is_some_and(|t| t.is_first)
    }

    /// Whether the text cannot end after this token: what follows belongs to it.
    pub(crate) fn is_hungry(&self, at: usize) -> bool {
        match self.kind(at) {
            Some(
                TokenKind::Comma
                | TokenKind::Colon
                | TokenKind::Equal
                | TokenKind::Arrow
                | TokenKind::Path
                | TokenKind::OpenParen
                | TokenKind::OpenSquare
                | TokenKind::OpenAngle,
            ) => true,
            Some(TokenKind::Sign) => matches!(self.word(at), "*" | "+" | "-"),
            Some(TokenKind::Word) => is_hungry_word(self.word(at)),
            _ => false,
        }
    }

    /// The token of the op name whose results start at `at`: `%a, %b:2 = name`.
    pub(crate) fn name_behind_results(&self, at: usize) -> Option<usize> {
        let mut i = at;
        loop {
            if self.kind(i) != Some(TokenKind::Value) {
                return None;
            }
            i += 1;
            if self.kind(i) == Some(TokenKind::Colon) && self.kind(i + 1) == Some(TokenKind::Number) {
                i += 2;
            }
            match self.kind(i) {
                Some(TokenKind::Comma) => i += 1,
                Some(TokenKind::Equal) => return Some(i + 1),
                _ => return None,
            }
        }
    }

    /// Whether results followed by an op start here, without doubt; not so for the `%i = %c0` of a loop.
    pub(crate) fn is_results(&self, at: usize) -> bool {
        let Some(name) = self.name_behind_results(at) else { return false };
        match self.kind(name) {
            Some(TokenKind::String) => self.kind(name + 1) == Some(TokenKind::OpenParen),
            Some(TokenKind::Word) => {
                let word = self.word(name);
                is_dotted(word) || is_short_op(word)
            }
            _ => false,
        }
    }

    /// Whether a word is an op name whatever precedes it.
    fn is_unmistakable(&self, at: usize) -> bool {
        let word = self.word(at);
        let is_next = |kinds: &[TokenKind]| self.kind(at + 1).is_some_and(|k| kinds.contains(&k));
        if is_function_like(word) {
            return is_next(&[TokenKind::Symbol, TokenKind::Word, TokenKind::String]);
        }
        matches!(last_segment(word), "return" | "yield") && !is_next(&[TokenKind::Equal, TokenKind::Comma])
    }

    /// Whether an op starts here, inside brackets that should be closed by now.
    pub(crate) fn starts_op_in_brackets(&self, at: usize) -> bool {
        if !self.is_first(at) || at == 0 {
            return false;
        }
        let is_fed = !self.is_hungry(at - 1) && self.kind(at - 1) != Some(TokenKind::OpenBrace);
        match self.all[at].kind {
            TokenKind::Value => self.is_results(at),
            TokenKind::String => is_fed && self.kind(at + 1) == Some(TokenKind::OpenParen),
            TokenKind::Word => {
                let takes_operands = matches!(
                    self.kind(at + 1),
                    Some(TokenKind::Value | TokenKind::Symbol | TokenKind::String)
                );
                self.is_unmistakable(at) || is_fed && is_dotted(self.word(at)) && takes_operands
            }
            _ => false,
        }
    }

    /// Whether a statement starts here, after one without open brackets.
    pub(crate) fn starts_statement(&self, at: usize, is_top: bool) -> bool {
        let Some(token) = self.all.get(at) else { return true };
        if at == 0 {
            return true;
        }
        let is_next = |kind| self.kind(at + 1) == Some(kind);
        let is_fed = || !self.is_hungry(at - 1);
        match token.kind {
            // In a list of values only the first is checked, because each check runs to the end of the list.
            TokenKind::Value => (token.is_first || is_fed()) && self.is_results(at),
            TokenKind::String => token.is_first && is_next(TokenKind::OpenParen) && is_fed(),
            TokenKind::Word if token.is_first => {
                let word = self.word(at);
                let is_name = is_dotted(word) || is_short_op(word);
                self.is_unmistakable(at) || (is_name && !is_next(TokenKind::Equal) && is_fed())
            }
            // For two ops on one line: only a terminator is certain.
            TokenKind::Word => {
                let word = self.word(at);
                let is_return = word == "return" && is_next(TokenKind::Value);
                let ends_block = || is_terminator(word) && is_dotted(word) && !is_next(TokenKind::Equal);
                (is_return || ends_block()) && is_fed()
            }
            TokenKind::Block => {
                let is_label = is_next(TokenKind::Colon) || is_next(TokenKind::OpenParen);
                let goes_on = matches!(
                    self.kind(at - 1),
                    Some(TokenKind::Comma | TokenKind::OpenSquare | TokenKind::OpenParen)
                );
                token.is_first && is_label && !goes_on
            }
            TokenKind::AttributeName | TokenKind::TypeName => {
                is_top && token.is_first && is_next(TokenKind::Equal)
            }
            TokenKind::Resources => is_top,
            _ => false,
        }
    }

    /// Whether an entry of a dictionary starts here: `name = `, `name,`, `name}`.
    pub(crate) fn starts_entry(&self, at: usize) -> bool {
        let goes_on = matches!(
            self.kind(at + 1),
            Some(TokenKind::Equal | TokenKind::Comma | TokenKind::Colon | TokenKind::CloseBrace)
        );
        matches!(self.kind(at), Some(TokenKind::Word | TokenKind::String)) && goes_on
    }

    /// What the brace at `at` opens, by its contents.
    pub(crate) fn brace(&self, at: usize) -> Brace {
        let next = at + 1;
        let behind = self.kind(next + 1);
        match self.kind(next) {
            Some(TokenKind::CloseBrace) => Brace::Empty,
            Some(TokenKind::Value | TokenKind::Block) => Brace::Region,
            Some(TokenKind::String) if behind == Some(TokenKind::OpenParen) => Brace::Region,
            Some(TokenKind::Word) => self.brace_before_word(at, behind),
            _ => Brace::Dictionary,
        }
    }

    fn brace_before_word(&self, at: usize, behind: Option<TokenKind>) -> Brace {
        let next = at + 1;
        let word = self.word(next);
        let is_op_line = is_dotted(word) && self.is_first(next);
        let is_region = match behind {
            Some(TokenKind::Equal | TokenKind::Comma) => false,
            Some(TokenKind::Colon) => is_op_line,
            Some(TokenKind::CloseBrace) => {
                is_terminator(word) && is_dotted(word)
                    || word == "return"
                    || is_op_line && (at == 0 || self.word(at - 1) != "attributes")
            }
            _ => is_dotted(word) || is_short_op(word),
        };
        if is_region { Brace::Region } else { Brace::Dictionary }
    }
}
