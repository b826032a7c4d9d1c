//! Reads the values of attributes that are kept as text.

use ir::{Token, Tokens};

/// A cursor over the tokens of a value.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'a> {
    tokens: std::iter::Peekable<Tokens<'a>>,
}

/// The value has another form than expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OtherForm;

pub(crate) type Scanned<T> = Result<T, OtherForm>;

impl<'a> Scanner<'a> {
    pub(crate) fn new(text: &'a str) -> Scanner<'a> {
        Scanner { tokens: Tokens::new(text).peekable() }
    }

    pub(crate) fn at(&mut self, c: char) -> bool {
        self.tokens.peek() == Some(&Token::Punctuation(c))
    }

    pub(crate) fn eat(&mut self, c: char) -> bool {
        self.tokens.next_if_eq(&Token::Punctuation(c)).is_some()
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        self.tokens.next_if(|token| matches!(token, Token::Word(own) if *own == word)).is_some()
    }

    pub(crate) fn expect(&mut self, c: char) -> Scanned<()> {
        if self.eat(c) { Ok(()) } else { Err(OtherForm) }
    }

    pub(crate) fn is_at_end(&mut self) -> bool {
        self.tokens.peek().is_none()
    }

    pub(crate) fn end(&mut self) -> Scanned<()> {
        if self.is_at_end() { Ok(()) } else { Err(OtherForm) }
    }

    pub(crate) fn is_at_word(&mut self) -> bool {
        matches!(self.tokens.peek(), Some(Token::Word(_)))
    }

    pub(crate) fn word(&mut self) -> Scanned<&'a str> {
        match self.tokens.next() {
            Some(Token::Word(word)) => Ok(word),
            _ => Err(OtherForm),
        }
    }

    pub(crate) fn int(&mut self) -> Scanned<i64> {
        self.word()?.parse().map_err(|_| OtherForm)
    }

    pub(crate) fn small_int(&mut self) -> Scanned<i32> {
        self.word()?.parse().map_err(|_| OtherForm)
    }

    pub(crate) fn float(&mut self) -> Scanned<f64> {
        self.word()?.parse().map_err(|_| OtherForm)
    }

    pub(crate) fn bool(&mut self) -> Scanned<bool> {
        match self.word()? {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err(OtherForm),
        }
    }

    /// A string in quotes of either kind, without its escapes.
    pub(crate) fn string(&mut self) -> Scanned<Vec<u8>> {
        match self.tokens.next() {
            Some(Token::String(text)) if text.len() >= 2 => Ok(ir::unescape(&text[1..text.len() - 1])),
            _ => Err(OtherForm),
        }
    }

    pub(crate) fn text(&mut self) -> Scanned<String> {
        String::from_utf8(self.string()?).map_err(|_| OtherForm)
    }

    /// Items with commas between, from `open` to `close`.
    pub(crate) fn list<T>(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Scanned<T>,
    ) -> Scanned<Vec<T>> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.eat(close) {
            cancel::tick();
            if !items.is_empty() {
                self.expect(',')?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// `{0,1}`
    pub(crate) fn ints(&mut self) -> Scanned<Vec<i64>> {
        self.list('{', '}', Self::int)
    }

    /// The next token if it is a string, a word, or everything in brackets, as text.
    pub(crate) fn balanced(&mut self) -> Scanned<String> {
        let mut out = String::new();
        let mut depth = 0usize;
        loop {
            match self.tokens.next().ok_or(OtherForm)? {
                Token::Punctuation(c) => {
                    match c {
                        '{' | '(' | '[' => depth += 1,
                        '}' | ')' | ']' => depth = depth.checked_sub(1).ok_or(OtherForm)?,
                        _ => {}
                    }
                    out.push(c);
                }
                Token::Word(text) | Token::String(text) => out.push_str(text),
            }
            if depth == 0 {
                return Ok(out);
            }
        }
    }
}

/// `1,2` between two brackets.
pub(crate) fn write_list(
    out: &mut String,
    open: char,
    close: char,
    items: impl IntoIterator<Item = impl std::fmt::Display>,
) {
    use std::fmt::Write as _;
    out.push(open);
    for (i, item) in items.into_iter().enumerate() {
        _ = write!(out, "{}{item}", if i > 0 { "," } else { "" });
    }
    out.push(close);
}

/// `"text"` with its escapes.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    ir::escape(&mut out, bytes);
    out.push('"');
    out
}
