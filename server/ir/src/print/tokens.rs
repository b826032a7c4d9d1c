//! The tokens of an attribute's value that is kept as text: enough to write it in canonical form.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token<'a> {
    /// A name or a number, of letters, digits and `_ . - + %`.
    Word(&'a str),
    /// Quotes included.
    String(&'a str),
    Punctuation(char),
}

/// Comments and blanks are skipped. Any text has tokens.
#[derive(Debug, Clone, Copy)]
pub struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub fn new(text: &'a str) -> Tokens<'a> {
        Tokens { text, at: 0 }
    }

    /// The end of the token that came last.
    pub fn end(&self) -> usize {
        self.at
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        let bytes = self.text.as_bytes();
        let start = behind_blanks(self.text, self.at);
        let mut at = start;
        let first = self.text[at..].chars().next()?;
        at += first.len_utf8();
        let token = if is_word(first) {
            while at < bytes.len() && is_word(char::from(bytes[at])) {
                at += 1;
            }
            // The payload of a NaN belongs to it.
            if self.text[start..at].ends_with("nan") && self.text[at..].starts_with("(0x") {
                at += self.text[at..].find(')').map_or(0, |n| n + 1);
            }
            Token::Word(&self.text[start..at])
        } else if first == '"' || first == '\'' {
            while at < bytes.len() && bytes[at] != first as u8 {
                at += if bytes[at] == b'\\' { 2 } else { 1 };
            }
            at = (at + 1).min(bytes.len());
            // A broken text may end after a backslash.
            while !self.text.is_char_boundary(at) {
                at += 1;
            }
            Token::String(&self.text[start..at])
        } else {
            Token::Punctuation(first)
        };
        self.at = at;
        Some(token)
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+' | '%')
}

fn behind_blanks(text: &str, mut at: usize) -> usize {
    loop {
        let rest = &text[at..];
        let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        at = text.len() - trimmed.len();
        if trimmed.starts_with("/*")
            && let Some(end) = trimmed[2..].find("*/")
        {
            at += end + 4;
        } else if trimmed.starts_with("//") {
            at += trimmed.find('\n').unwrap_or(trimmed.len());
        } else {
            return at;
        }
    }
}

/// The parts of a list, at the commas outside of brackets and strings, without comments in front; none of a blank
/// text.
pub fn split_top_level(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut depth = 0usize;
    let mut start = 0;
    let part = |start: usize, end: usize| text[behind_blanks(text, start).min(end)..end].trim();
    let mut tokens = Tokens::new(text);
    while let Some(token) = tokens.next() {
        match token {
            Token::Punctuation('(' | '{' | '[') => depth += 1,
            Token::Punctuation(')' | '}' | ']') => depth = depth.saturating_sub(1),
            Token::Punctuation(',') if depth == 0 => {
                parts.push(part(start, tokens.end() - 1));
                start = tokens.end();
            }
            _ => {}
        }
    }
    let last = part(start, text.len());
    if !last.is_empty() || !parts.is_empty() {
        parts.push(last);
    }
    parts
}

/// The part from the bracket at the start of `text` to the one that closes it, and what follows.
pub fn bracketed(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    let mut tokens = Tokens::new(text);
    while let Some(token) = tokens.next() {
        match token {
            Token::Punctuation('(' | '{' | '[') => depth += 1,
            Token::Punctuation(')' | '}' | ']') => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return Some(text.split_at(tokens.end()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_split_at_their_own_commas() {
        assert_eq!(split_top_level("a, /*1*/{b, c} /*,*/, \"x,y\""), ["a", "{b, c} /*,*/", "\"x,y\""]);
        assert_eq!(split_top_level(" "), Vec::<&str>::new());
        assert_eq!(bracketed("{a={}} rest"), Some(("{a={}}", " rest")));
        let words: Vec<_> = Tokens::new("-nan(0x7f), 'it\\'s' é").collect();
        assert_eq!(
            words,
            [
                Token::Word("-nan(0x7f)"),
                Token::Punctuation(','),
                Token::String("'it\\'s'"),
                Token::Punctuation('é')
            ]
        );
    }
}
