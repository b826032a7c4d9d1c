//! A lexer that produces tokens on demand. There is no token array, because the extent of a number or an
//! identifier depends on what follows it (`name:`, `key=`, `1x2`, `b01f_01io->b01f`).

use memchr::{memchr, memchr2, memchr3};

use super::line_forms::ends_open_string;
use super::numbers::{decimal, digits_end, dim_labels, dxd, nan_payload, pad};
use super::vocabulary::ElementType;
use crate::Span;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    End,
    /// A byte that starts no token, or an unterminated string or comment.
    Bad,
    Equal,
    Comma,
    Colon,
    Star,
    Question,
    Hash,
    Plus,
    Tilde,
    LeftSquare,
    RightSquare,
    LeftBrace,
    RightBrace,
    LeftParen,
    RightParen,
    Dots,
    Arrow,
    LessEqual,
    /// `%name`, or `name` directly followed by `:`, which is consumed.
    Name,
    /// `key` directly followed by `=`, which is consumed.
    AttributeName,
    Ident,
    ElementType(ElementType),
    Int,
    Decimal,
    DxD,
    Pad,
    DimLabels,
    String,
}

/// Bytes that continue an identifier: `[a-zA-Z0-9_.-]`.
static IDENT: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        table[byte] = b.is_ascii_alphanumeric() || b == b'_' || b == b'.' || b == b'-';
        byte += 1;
    }
    table
};

static NO_IDENT: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = !IDENT[byte];
        byte += 1;
    }
    table
};

pub(crate) fn is_ident_byte(byte: u8) -> bool {
    IDENT[byte as usize]
}

pub(crate) fn is_ident_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// The current token and its surroundings. Cheap to copy, so rewinding is an assignment.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'a> {
    pub(crate) text: &'a str,
    /// The offset where the next token is searched.
    at: usize,
    pub(crate) token: Token,
    /// The token without its sigils: no `%`, no quotes, no following `:` or `=`.
    pub(crate) span: Span,
    /// The first byte of the token, sigil included.
    pub(crate) start: usize,
    /// The end of the previous token, or [`Self::origin`] if there is none.
    pub(crate) previous_end: usize,
    /// The offset where lexing began.
    pub(crate) origin: usize,
    /// Whether no comment ends in the rest of the text, so that every `/*` is ordinary text.
    no_comment_ends: bool,
}

impl<'a> Lexer<'a> {
    pub(crate) fn new(text: &'a str, at: usize) -> Self {
        let mut lexer = Lexer {
            text,
            at,
            token: Token::End,
            span: Span::new(at, at),
            start: at,
            previous_end: at,
            origin: at,
            no_comment_ends: false,
        };
        lexer.bump();
        lexer.previous_end = at;
        lexer
    }

    /// Continues at byte `at`.
    pub(crate) fn jump(&mut self, at: usize) {
        let at = at.min(self.text.len());
        (self.at, self.origin) = (at, at);
        self.bump();
        self.previous_end = at;
    }

    /// Continues after `end`, as if the bytes up to there were one token.
    pub(crate) fn jump_behind(&mut self, end: usize) {
        self.at = end;
        self.bump();
    }

    pub(crate) fn text_of(&self) -> &'a str {
        self.span.of(self.text)
    }

    /// The end of the current token, sigils included.
    pub(crate) fn end(&self) -> usize {
        self.at
    }

    /// The whole current token, sigils included.
    pub(crate) fn full_span(&self) -> Span {
        Span::new(self.start, self.at.max(self.start))
    }

    pub(crate) fn bump(&mut self) {
        self.previous_end = self.at;
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        loop {
            match bytes.get(at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
                Some(b'/') => match self.comment(at) {
                    Some(end) => at = end,
                    None => {
                        let len = if bytes.get(at + 1) == Some(&b'*') { 2 } else { 1 };
                        return self.set(Token::Bad, at, at, at + len);
                    }
                },
                _ => break,
            }
        }
        let Some(&byte) = bytes.get(at) else {
            return self.set(Token::End, at, at, at);
        };
        if is_ident_start(byte) {
            return self.identifier(at);
        }
        let one = |token| (token, 1);
        let (token, len) = match byte {
            b'%' => return self.percent_name(at),
            b'"' | b'\'' => return self.string(at),
            b'0'..=b'9' | b'-' => return self.number(at),
            b'=' => one(Token::Equal),
            b',' => one(Token::Comma),
            b':' => one(Token::Colon),
            b'*' => one(Token::Star),
            b'?' => match dim_labels(bytes, at) {
                Some(end) => (Token::DimLabels, end - at),
                None => one(Token::Question),
            },
            b'#' => one(Token::Hash),
            b'+' => one(Token::Plus),
            b'~' => one(Token::Tilde),
            b'[' => one(Token::LeftSquare),
            b']' => one(Token::RightSquare),
            b'{' => one(Token::LeftBrace),
            b'}' => one(Token::RightBrace),
            b'(' => one(Token::LeftParen),
            b')' => one(Token::RightParen),
            b'.' if bytes[at..].starts_with(b"...") => (Token::Dots, 3),
            b'.' if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) => return self.number(at),
            b'<' if bytes.get(at + 1) == Some(&b'=') => (Token::LessEqual, 2),
            _ => (Token::Bad, char_len(self.text, at)),
        };
        self.set(token, at, at, at + len);
    }

    /// Returns the end of the comment at `at`. The text is searched only once for the end of an unclosed one.
    #[cold]
    fn comment(&mut self, at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let is_block = bytes.get(at + 1) == Some(&b'*');
        if is_block && self.no_comment_ends {
            return None;
        }
        let end = skip_comment(bytes, at);
        self.no_comment_ends |= is_block && end.is_none();
        end
    }

    fn set(&mut self, token: Token, start: usize, inner: usize, end: usize) {
        self.token = token;
        self.start = start;
        self.span = Span::new(inner, end);
        self.at = end;
    }

    fn percent_name(&mut self, at: usize) {
        let bytes = self.text.as_bytes();
        match bytes.get(at + 1) {
            Some(&b) if is_ident_start(b) || b == b'%' => {
                let end = ident_end(bytes, at + 2);
                self.set(Token::Name, at, at + 1, end);
            }
            _ => self.set(Token::Bad, at, at, at + 1),
        }
    }

    fn identifier(&mut self, at: usize) {
        let bytes = self.text.as_bytes();
        let end = ident_end(bytes, at + 1);
        match bytes.get(end) {
            Some(b':') => {
                self.set(Token::Name, at, at, end);
                self.at = end + 1;
                return;
            }
            Some(b'=') => {
                self.set(Token::AttributeName, at, at, end);
                self.at = end + 1;
                return;
            }
            _ => {}
        }
        let word = &self.text[at..end];
        // Element types have at most 14 bytes; the check spares instruction names the long comparison.
        if word.len() <= 14
            && let Some(element) = ElementType::from_name(word)
        {
            return self.set(Token::ElementType(element), at, at, end);
        }
        if matches!(bytes[at], b'b' | b'f')
            && let Some(end) = dim_labels(bytes, at)
        {
            return self.set(Token::DimLabels, at, at, end);
        }
        match word {
            "inf" => self.set(Token::Decimal, at, at, end),
            "nan" => {
                let end = nan_payload(bytes, end);
                self.set(Token::Decimal, at, at, end);
            }
            _ => self.set(Token::Ident, at, at, end),
        }
    }

    /// An unclosed string is a bad token up to the end of its first line.
    fn string(&mut self, at: usize) {
        let Ok(end) = string_end(self.text, at) else {
            let bytes = self.text.as_bytes();
            let end = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |n| at + n);
            return self.set(Token::Bad, at, at, end);
        };
        self.set(Token::String, at, at + 1, end - 1);
        self.at = end;
    }

    fn number(&mut self, at: usize) {
        let bytes = self.text.as_bytes();
        let digits_from = at + usize::from(bytes[at] == b'-');
        let digits = digits_end(bytes, digits_from);
        // The common case first: digits that do not continue as one of the longer forms.
        if digits > digits_from
            && !matches!(bytes.get(digits), Some(b'.' | b'e' | b'E' | b'x' | b'_' | b'b' | b'f' | b'?'))
        {
            return self.set(Token::Int, at, at, digits);
        }
        if let Some(end) = decimal(bytes, digits_from) {
            return self.set(Token::Decimal, at, at, end);
        }
        if let Some(end) = dim_labels(bytes, at) {
            return self.set(Token::DimLabels, at, at, end);
        }
        if digits > digits_from {
            if let Some(end) = if digits_from == at { dxd(bytes, at) } else { None } {
                return self.set(Token::DxD, at, at, end);
            }
            if let Some(end) = pad(bytes, at) {
                return self.set(Token::Pad, at, at, end);
            }
            return self.set(Token::Int, at, at, digits);
        }
        let rest = &bytes[at..];
        if rest.starts_with(b"->") {
            self.set(Token::Arrow, at, at, at + 2);
        } else if rest.starts_with(b"-inf") {
            self.set(Token::Decimal, at, at, at + 4);
        } else if rest.starts_with(b"-nan") {
            self.set(Token::Decimal, at, at, nan_payload(bytes, at + 4));
        } else {
            self.set(Token::Bad, at, at, at + 1);
        }
    }

    /// Returns the end of the balanced dictionary that starts at the current `{` (strings are skipped), or
    /// `None` if it is not closed in this text. Source: `HloLexer::LexJsonDict`.
    pub(crate) fn balanced_braces(&self) -> Option<usize> {
        let bytes = self.text.as_bytes();
        let mut depth = 0usize;
        let mut at = self.start;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'{' => depth += 1,
                b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                b'"' => at = string_end(self.text, at).ok()? - 1,
                _ => {}
            }
            at += 1;
        }
        None
    }
}

/// Returns the end of the string that starts at `at`, closing quote included. It may contain line breaks. The
/// string is unclosed if, before its quote, a line starts an instruction, a computation or a module, or ends
/// a body, so that a half-typed string does not swallow the lines below. The error is the start of that line,
/// or the end of the text.
pub(crate) fn string_end(text: &str, at: usize) -> Result<usize, usize> {
    let bytes = text.as_bytes();
    let quote = bytes[at];
    let mut end = at + 1;
    loop {
        let rest = bytes.get(end..).unwrap_or_default();
        end += memchr3(quote, b'\\', b'\n', rest).ok_or(bytes.len())?;
        match bytes[end] {
            // An escaped line break ends a line too.
            b'\\' => end += if bytes.get(end + 1) == Some(&b'\n') { 1 } else { 2 },
            b'\n' => {
                end += 1;
                if ends_open_string(text, end) {
                    return Err(end);
                }
            }
            _ => return Ok(end + 1),
        }
    }
}

/// Returns the end of the comment at `at`, or `None` if there is none or it is not closed.
pub(crate) fn skip_comment(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at + 1)? {
        b'/' => Some(memchr2(b'\n', b'\r', &bytes[at..]).map_or(bytes.len(), |n| at + n)),
        b'*' => {
            let mut end = at + 2;
            loop {
                end += memchr(b'*', bytes.get(end..)?)? + 1;
                if bytes.get(end) == Some(&b'/') {
                    return Some(end + 1);
                }
            }
        }
        _ => None,
    }
}

fn char_len(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
}

pub(crate) fn ident_end(bytes: &[u8], at: usize) -> usize {
    find(bytes, at, &NO_IDENT)
}

/// Returns the offset of the first byte at or after `at` that is in the table, or the end. Four bytes share a
/// branch.
#[inline]
pub(crate) fn find(bytes: &[u8], mut at: usize, table: &[bool; 256]) -> usize {
    while let Some(&[a, b, c, d]) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let of = |byte: u8| table[usize::from(byte)];
        if of(a) | of(b) | of(c) | of(d) {
            break;
        }
        at += 4;
    }
    while bytes.get(at).is_some_and(|&b| !table[usize::from(b)]) {
        at += 1;
    }
    at
}

/// Decodes the C escapes of a string's inner text.
pub fn unescape(inner: &str) -> String {
    if !inner.contains('\\') {
        return inner.to_owned();
    }
    let mut out = Vec::with_capacity(inner.len());
    let bytes = inner.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' || at + 1 == bytes.len() {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let byte = bytes[at + 1];
        at += 2;
        match byte {
            b'n' => out.push(b'\n'),
            b't' => out.push(b'\t'),
            b'r' => out.push(b'\r'),
            b'0'..=b'7' => {
                let mut value = u32::from(byte - b'0');
                for _ in 0..2 {
                    match bytes.get(at) {
                        Some(&d @ b'0'..=b'7') => value = value * 8 + u32::from(d - b'0'),
                        _ => break,
                    }
                    at += 1;
                }
                out.push(value as u8);
            }
            other => out.push(other),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[(Token, &str)]) {
        let mut lexer = Lexer::new(text, 0);
        for &(token, inner) in expect {
            assert_eq!((lexer.token, lexer.text_of()), (token, inner), "in {text:?}");
            lexer.bump();
        }
        assert_eq!(lexer.token, Token::End, "in {text:?}");
    }

    #[test]
    fn an_identifier_is_cut_by_what_follows_it() {
        check(
            "x = f32",
            &[(Token::Ident, "x"), (Token::Equal, "="), (Token::ElementType(ElementType::F32), "f32")],
        );
        check("x=1", &[(Token::AttributeName, "x"), (Token::Int, "1")]);
        check("x: %y.1-a", &[(Token::Name, "x"), (Token::Name, "y.1-a")]);
    }

    #[test]
    fn numbers_have_seven_forms() {
        check(
            "1 -1 1.5 1. .5 1e5 -2.5e-3",
            &[
                (Token::Int, "1"),
                (Token::Int, "-1"),
                (Token::Decimal, "1.5"),
                (Token::Decimal, "1."),
                (Token::Decimal, ".5"),
                (Token::Decimal, "1e5"),
                (Token::Decimal, "-2.5e-3"),
            ],
        );
        check(
            "3x3 0_1x-2_3 1_2_3 b01f_01io->b01f 0bf_i0o->0bf",
            &[
                (Token::DxD, "3x3"),
                (Token::Pad, "0_1x-2_3"),
                (Token::Pad, "1_2_3"),
                (Token::DimLabels, "b01f_01io->b01f"),
                (Token::DimLabels, "0bf_i0o->0bf"),
            ],
        );
        check(
            "inf -inf nan -nan nan(0x7fc0)",
            &[
                (Token::Decimal, "inf"),
                (Token::Decimal, "-inf"),
                (Token::Decimal, "nan"),
                (Token::Decimal, "-nan"),
                (Token::Decimal, "nan(0x7fc0)"),
            ],
        );
    }

    #[test]
    fn comments_vanish_and_strings_end() {
        check("/*index=5*/ a // b\n c", &[(Token::Ident, "a"), (Token::Ident, "c")]);
        check(r#""a\"b" 'c'"#, &[(Token::String, r#"a\"b"#), (Token::String, "c")]);
        check("\"two\n x = 1\" y", &[(Token::String, "two\n x = 1"), (Token::Ident, "y")]);
        check(
            "\"open\n x = f32[] y\"",
            &[
                (Token::Bad, "\"open"),
                (Token::Ident, "x"),
                (Token::Equal, "="),
                (Token::ElementType(ElementType::F32), "f32"),
                (Token::LeftSquare, "["),
                (Token::RightSquare, "]"),
                (Token::Ident, "y"),
                (Token::Bad, "\""),
            ],
        );
        check("\"open\n x", &[(Token::Bad, "\"open"), (Token::Ident, "x")]);
        check("/* open", &[(Token::Bad, "/*"), (Token::Ident, "open")]);
        assert_eq!(unescape(r#"a\"b\n\101"#), "a\"b\nA");
    }
}
