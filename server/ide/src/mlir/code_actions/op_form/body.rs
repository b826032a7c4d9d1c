//! The tokens of an op.

use mlir::{Token, TokenKind};

/// The text after the name of an op, read from left to right.
pub(super) struct Body<'t> {
    pub(super) text: &'t str,
    pub(super) all: &'t [Token],
    pub(super) at: usize,
}

impl<'t> Body<'t> {
    pub(super) fn kind(&self) -> Option<TokenKind> {
        self.all.get(self.at).map(|t| t.kind)
    }

    pub(super) fn kind_at(&self, ahead: usize) -> Option<TokenKind> {
        self.all.get(self.at + ahead).map(|t| t.kind)
    }

    pub(super) fn word(&self) -> &'t str {
        self.all.get(self.at).map_or("", |t| t.span.of(self.text))
    }

    /// For example `word =`.
    pub(super) fn clause(&mut self, word: &str) -> Option<()> {
        (self.eat(TokenKind::Word)? == word).then_some(())?;
        self.eat(TokenKind::Equal).map(|_| ())
    }

    /// A bracketed group, including its brackets.
    pub(super) fn group(&mut self) -> Option<&'t str> {
        let first = self.at;
        let mut depth = 0usize;
        for at in first..self.all.len() {
            match self.all[at].kind {
                TokenKind::OpenParen
                | TokenKind::OpenSquare
                | TokenKind::OpenAngle
                | TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseParen
                | TokenKind::CloseSquare
                | TokenKind::CloseAngle
                | TokenKind::CloseBrace => depth = depth.checked_sub(1)?,
                _ => {}
            }
            if depth == 0 {
                return (at > first).then(|| {
                    self.at = at + 1;
                    self.between(first, at + 1)
                });
            }
        }
        None
    }

    /// The text before the colon that precedes the types.
    pub(super) fn up_to_types(&mut self) -> Option<&'t str> {
        let first = self.at;
        while self.kind()? != TokenKind::Colon {
            if self.group().is_none() {
                self.at += 1;
            }
        }
        (self.at > first).then(|| self.between(first, self.at))
    }

    pub(super) fn eat(&mut self, kind: TokenKind) -> Option<&'t str> {
        let token = self.all.get(self.at).filter(|t| t.kind == kind)?;
        self.at += 1;
        Some(token.span.of(self.text))
    }

    /// For example `%a, %b`.
    pub(super) fn values(&mut self) -> Option<Vec<&'t str>> {
        let mut found = Vec::new();
        while let Some(value) = self.eat(TokenKind::Value) {
            found.push(value);
            if self.eat(TokenKind::Comma).is_none() {
                return Some(found);
            }
        }
        found.is_empty().then_some(found)
    }

    /// `{…}`, if present.
    pub(super) fn dictionary(&mut self) -> Option<&'t str> {
        let first = self.at;
        if self.kind() != Some(TokenKind::OpenBrace) {
            return Some("");
        }
        let mut depth = 0;
        while let Some(kind) = self.kind() {
            self.at += 1;
            match kind {
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace if depth == 1 => return Some(self.between(first, self.at)),
                TokenKind::CloseBrace => depth -= 1,
                _ => {}
            }
        }
        None
    }

    pub(super) fn between(&self, first: usize, behind: usize) -> &'t str {
        let start = self.all[first].span.start as usize;
        &self.text[start..self.all[behind - 1].span.end as usize]
    }

    /// The text after a colon, to the end.
    pub(super) fn types(&mut self) -> Option<&'t str> {
        self.eat(TokenKind::Colon)?;
        (self.at < self.all.len()).then(|| self.between(self.at, self.all.len()))
    }
}
