//! Tokens of PTX text with their positions.

use crate::{Error, ErrorKind, Position};

/// One token. Names may contain dots after the first letter (`ld.global.nc.v2.b32`, `%tid.x`) and keep their
/// percent sign.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Token<'a> {
    /// `add.s32`, `%r1`, `$L__BB0_2`, `_`, `.reg`.
    Name(&'a str),
    /// An integer, including its minus sign.
    Integer(u64),
    /// `0f3F800000`.
    Single(u32),
    /// `0d3FF0000000000000`, and decimals with a point.
    Double(u64),
    /// `"nounroll"`.
    String,
    Mark(u8),
    End,
}

/// A token stream with one token of lookahead.
pub(crate) struct Tokens<'a> {
    text: &'a str,
    offset: usize,
    /// The start of the current token.
    start: usize,
    line: u32,
    line_start: usize,
    /// The current token and its position.
    pub(crate) token: Token<'a>,
    pub(crate) at: Position,
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.' | b'%')
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(text: &'a str) -> Result<Tokens<'a>, Error> {
        let at = Position { line: 1, column: 1 };
        let mut tokens = Tokens { text, offset: 0, start: 0, line: 1, line_start: 0, token: Token::End, at };
        tokens.advance()?;
        Ok(tokens)
    }

    /// The text of the current token.
    pub(crate) fn text(&self) -> &'a str {
        self.text.get(self.start..self.offset).unwrap_or_default()
    }

    /// Returns the current token and advances.
    pub(crate) fn next(&mut self) -> Result<Token<'a>, Error> {
        let token = self.token;
        self.advance()?;
        Ok(token)
    }

    pub(crate) fn error(&self, message: impl Into<String>) -> Error {
        Error::new(ErrorKind::Syntax, self.at, message)
    }

    fn skip(&mut self) -> Result<(), Error> {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.offset) {
            if byte == b'\n' {
                self.line = self.line.saturating_add(1);
                self.line_start = self.offset + 1;
            } else if byte == b'/' && bytes.get(self.offset + 1) == Some(&b'/') {
                while bytes.get(self.offset + 1).is_some_and(|&b| b != b'\n') {
                    self.offset += 1;
                }
            } else if byte == b'/' && bytes.get(self.offset + 1) == Some(&b'*') {
                self.mark();
                self.offset += 2;
                while bytes.get(self.offset..self.offset + 2).is_some_and(|two| two != b"*/") {
                    if bytes[self.offset] == b'\n' {
                        self.line = self.line.saturating_add(1);
                        self.line_start = self.offset + 1;
                    }
                    self.offset += 1;
                }
                if self.offset + 2 > bytes.len() {
                    return Err(self.error("this comment does not end"));
                }
                self.offset += 1;
            } else if !byte.is_ascii_whitespace() {
                break;
            }
            self.offset += 1;
        }
        Ok(())
    }

    fn mark(&mut self) {
        let column = self.text.get(self.line_start..self.offset).map_or(0, |t| t.chars().count());
        self.at = Position { line: self.line, column: column as u32 + 1 };
    }

    fn advance(&mut self) -> Result<(), Error> {
        self.skip()?;
        self.mark();
        let bytes = self.text.as_bytes();
        let Some(&first) = bytes.get(self.offset) else {
            self.token = Token::End;
            return Ok(());
        };
        let start = self.offset;
        self.start = start;
        let is_negative = first == b'-' && bytes.get(start + 1).is_some_and(u8::is_ascii_digit);
        if first.is_ascii_digit() || is_negative {
            self.offset += usize::from(is_negative);
            let from = self.offset;
            while bytes.get(self.offset).is_some_and(|&b| b.is_ascii_alphanumeric() || b == b'.') {
                self.offset += 1;
            }
            let number = number(&self.text[from..self.offset], is_negative);
            self.token = number.ok_or_else(|| self.error("this is no number"))?;
        } else if is_name(first) {
            while bytes.get(self.offset).is_some_and(|&b| is_name(b)) || self.is_double_colon() {
                self.offset += if self.is_double_colon() { 2 } else { 1 };
            }
            self.token = Token::Name(&self.text[start..self.offset]);
        } else if first == b'"' {
            self.offset += 1;
            while bytes.get(self.offset).is_some_and(|&b| b != b'"' && b != b'\n') {
                self.offset += 1;
            }
            if bytes.get(self.offset) != Some(&b'"') {
                return Err(self.error("this text does not end"));
            }
            self.offset += 1;
            self.token = Token::String;
        } else if first.is_ascii() {
            self.offset += 1;
            self.token = Token::Mark(first);
        } else {
            return Err(self.error("a character that PTX does not have"));
        }
        Ok(())
    }

    /// `::` inside a name, as in `ld.param::entry.b64`.
    fn is_double_colon(&self) -> bool {
        let rest = &self.text.as_bytes()[self.offset..];
        rest.starts_with(b"::") && rest.get(2).is_some_and(u8::is_ascii_alphanumeric)
    }
}

fn number<'a>(word: &str, is_negative: bool) -> Option<Token<'a>> {
    let lower = word.to_ascii_lowercase();
    if let Some(digits) = lower.strip_prefix("0f").filter(|d| d.len() == 8) {
        let bits = u32::from_str_radix(digits, 16).ok()?;
        return Some(Token::Single(bits ^ (u32::from(is_negative) << 31)));
    }
    if let Some(digits) = lower.strip_prefix("0d").filter(|d| d.len() == 16) {
        let bits = u64::from_str_radix(digits, 16).ok()?;
        return Some(Token::Double(bits ^ (u64::from(is_negative) << 63)));
    }
    if lower.contains('.') {
        let value: f64 = lower.parse().ok()?;
        return Some(Token::Double(if is_negative { -value } else { value }.to_bits()));
    }
    let digits = lower.strip_suffix('u').unwrap_or(&lower);
    let value = if let Some(digits) = digits.strip_prefix("0x") {
        u64::from_str_radix(digits, 16).ok()?
    } else if let Some(digits) = digits.strip_prefix("0b") {
        u64::from_str_radix(digits, 2).ok()?
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(&digits[1..], 8).ok()?
    } else {
        digits.parse().ok()?
    };
    Some(Token::Integer(if is_negative { value.wrapping_neg() } else { value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_places() {
        let text = "add.s32 %r1, -2; // note\n/* long\n */ld.param::entry.b64 [x+0x10], 0f3F800000 \"t\"";
        let mut tokens = Tokens::new(text).unwrap();
        let mut seen = Vec::new();
        while tokens.token != Token::End {
            let at = tokens.at;
            seen.push((tokens.next().unwrap(), at.line, at.column));
        }
        let expected = [
            (Token::Name("add.s32"), 1, 1),
            (Token::Name("%r1"), 1, 9),
            (Token::Mark(b','), 1, 12),
            (Token::Integer(-2i64 as u64), 1, 14),
            (Token::Mark(b';'), 1, 16),
            (Token::Name("ld.param::entry.b64"), 3, 4),
            (Token::Mark(b'['), 3, 24),
            (Token::Name("x"), 3, 25),
            (Token::Mark(b'+'), 3, 26),
            (Token::Integer(16), 3, 27),
            (Token::Mark(b']'), 3, 31),
            (Token::Mark(b','), 3, 32),
            (Token::Single(0x3F80_0000), 3, 34),
            (Token::String, 3, 45),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn what_does_not_end_is_said() {
        for text in ["/* a", "\"a", "\"a\n\"", "09z", "é"] {
            let mut last = Tokens::new(text).map(|_| ());
            if let Ok(mut tokens) = Tokens::new(text) {
                while last.is_ok() && tokens.token != Token::End {
                    last = tokens.next().map(|_| ());
                }
            }
            assert!(last.is_err(), "{text}");
        }
    }
}
