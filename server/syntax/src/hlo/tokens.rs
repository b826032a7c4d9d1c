//! All tokens and comments of a text, for features that depend on the text rather than its meaning: colours,
//! folds, selections. The parser does not use this; it requests one token at a time from the lexer and never
//! sees comments.

use super::lexer::{Lexer, Token, skip_comment};
use crate::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenClass {
    /// `// …` up to the end of its line, or `/* … */`, which may have several lines.
    Comment,
    /// A string with its quotes.
    String,
    Number,
    /// `f32`
    ElementType,
    /// `%name`, or `name` before a colon.
    Name,
    /// `key` before `=`.
    AttributeName,
    /// `b01f_01io->b01f`
    DimLabels,
    Word,
    /// One of `{}()[]`.
    Bracket(u8),
    /// Other punctuation.
    Sign,
    /// Text that starts no token: an unclosed string or comment.
    Bad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextToken {
    pub class: TokenClass,
    /// Includes `%` and quotes, but not the `=` or `:` after a name.
    pub span: Span,
}

/// Returns the tokens of `text` from byte `start`, which is at a token's start or whitespace, to `end`. A
/// token that crosses `end` is the last one.
pub fn tokens(text: &str, start: usize, end: usize) -> impl Iterator<Item = TextToken> {
    let end = end.min(text.len());
    Tokens { text, lexer: Lexer::new(text, start.min(end)), gap: start.min(end), end }
}

struct Tokens<'a> {
    text: &'a str,
    lexer: Lexer<'a>,
    /// Only whitespace and comments lie between this offset and the lexer's token.
    gap: usize,
    end: usize,
}

impl Iterator for Tokens<'_> {
    type Item = TextToken;

    fn next(&mut self) -> Option<TextToken> {
        let bytes = self.text.as_bytes();
        while self.gap < self.lexer.start.min(self.end) {
            if bytes[self.gap] == b'/'
                && let Some(end) = skip_comment(bytes, self.gap)
            {
                let span = Span::new(self.gap, end);
                self.gap = end;
                return Some(TextToken { class: TokenClass::Comment, span });
            }
            self.gap += 1;
        }
        if self.lexer.start >= self.end {
            return None;
        }
        let inner = self.lexer.span;
        let class = match self.lexer.token {
            Token::End => return None,
            Token::Bad => TokenClass::Bad,
            Token::String => TokenClass::String,
            Token::Int | Token::Decimal | Token::DxD | Token::Pad => TokenClass::Number,
            Token::ElementType(_) => TokenClass::ElementType,
            Token::Name => TokenClass::Name,
            Token::AttributeName => TokenClass::AttributeName,
            Token::DimLabels => TokenClass::DimLabels,
            Token::Ident => TokenClass::Word,
            Token::LeftBrace
            | Token::RightBrace
            | Token::LeftParen
            | Token::RightParen
            | Token::LeftSquare
            | Token::RightSquare => TokenClass::Bracket(bytes[self.lexer.start]),
            _ => TokenClass::Sign,
        };
        let end = if class == TokenClass::String { self.lexer.end() } else { inner.end as usize };
        let span = Span::new(self.lexer.start, end);
        self.gap = self.lexer.end();
        self.lexer.bump();
        Some(TextToken { class, span })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(TokenClass, &str)]) {
        let found: Vec<_> = tokens(text, 0, text.len()).map(|t| (t.class, t.span.of(text))).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn comments_and_sigils_belong_to_tokens() {
        use TokenClass::*;
        check(
            "%a = f32[2] /*x*/ b(c), k=\"s\", p: // end",
            &[
                (Name, "%a"),
                (Sign, "="),
                (ElementType, "f32"),
                (Bracket(b'['), "["),
                (Number, "2"),
                (Bracket(b']'), "]"),
                (Comment, "/*x*/"),
                (Word, "b"),
                (Bracket(b'('), "("),
                (Word, "c"),
                (Bracket(b')'), ")"),
                (Sign, ","),
                (AttributeName, "k"),
                (String, "\"s\""),
                (Sign, ","),
                (Name, "p"),
                (Comment, "// end"),
            ],
        );
    }

    /// Tokens are in order and do not overlap; between them are only whitespace and the sign after a name.
    #[test]
    fn nothing_is_lost() {
        for text in
            ["a\u{e9}b %", "/* open", "\"open\nx", "%a=%b:c=/*1*//*2*/3//", "{[(\u{1F600})]}", "a == b <= c"]
        {
            let mut at = 0;
            for token in tokens(text, 0, text.len()) {
                let between = &text[at..token.span.start as usize];
                assert!(between.trim_matches([' ', '\n', '=', ':']).is_empty(), "{text:?}: {between:?}");
                assert!(!token.span.is_empty(), "{text:?}");
                at = token.span.end as usize;
            }
            assert!(text[at..].trim_matches([' ', '\n', '=', ':']).is_empty(), "{text:?}");
        }
    }
}
