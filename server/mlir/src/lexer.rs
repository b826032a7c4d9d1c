//! Tokens of MLIR text. A dense payload of any length is one token.
//!
//! Source of the character classes: `mlir/lib/AsmParser/Lexer.cpp`.

use memchr::{memchr, memchr2, memchr3};
use text::{Span, SyntaxError};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// `stablehlo.add`, `return`, `tensor`, `f32`, and the text after a number in `4x8xf32`.
    Word,
    /// `%name`, with the `#1` of a result pack.
    Value,
    /// `^bb0`
    Block,
    /// `@name` or `@"any name"`
    Symbol,
    /// `#map`, `#stablehlo.conv`
    AttributeName,
    /// `!array`, `!stablehlo.token`
    TypeName,
    Number,
    String,
    /// A whole `{-# … #-}`.
    Resources,
    /// A `// -----` line.
    Split,
    Comment,
    OpenParen,
    CloseParen,
    OpenSquare,
    CloseSquare,
    OpenAngle,
    CloseAngle,
    OpenBrace,
    CloseBrace,
    Comma,
    Colon,
    /// `::`
    Path,
    Equal,
    /// `->`
    Arrow,
    /// Any other punctuation: `-`, `+`, `*`, `?`, `>=`, `...` and so on.
    Sign,
    /// Text that is not valid in MLIR.
    Bad,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    pub span: Span,
    pub kind: TokenKind,
    /// Whether only blanks precede it on its line.
    pub is_first: bool,
}

/// The tokens of `text[from..to]`, with comments if `comments` is set. Split lines are always included.
///
/// `to` must be a token boundary; a token that crosses it ends there.
pub fn tokens(text: &str, from: usize, to: usize, comments: bool) -> (Vec<Token>, Vec<SyntaxError>) {
    let (tokens, errors, _) = read(text, from, to, comments, false);
    (tokens, errors)
}

/// [`tokens`] without comments. `resources_stay_open` says whether unterminated resources precede the range;
/// the last result says whether they do at its end.
pub(crate) fn tokens_behind(
    text: &str,
    from: usize,
    to: usize,
    resources_stay_open: bool,
) -> (Vec<Token>, Vec<SyntaxError>, bool) {
    read(text, from, to, false, resources_stay_open)
}

/// Appends tokens to `all`. The flag and the result are those of [`tokens_behind`].
pub(crate) fn tokens_into(
    text: &str,
    range: std::ops::Range<usize>,
    resources_stay_open: bool,
    all: &mut Vec<Token>,
) -> bool {
    let Some(window) = text.get(..range.end) else { return resources_stay_open };
    let mut lexer = Lexer {
        text: window,
        bytes: window.as_bytes(),
        at: range.start.min(range.end),
        is_first: true,
        comments: false,
        resources_stay_open,
        tokens: std::mem::take(all),
        errors: Vec::new(),
    };
    lexer.run();
    *all = lexer.tokens;
    lexer.resources_stay_open
}

fn read(
    text: &str,
    from: usize,
    to: usize,
    comments: bool,
    resources_stay_open: bool,
) -> (Vec<Token>, Vec<SyntaxError>, bool) {
    let to = to.min(text.len());
    let from = from.min(to);
    let Some(window) = text.get(..to) else { return (Vec::new(), Vec::new(), resources_stay_open) };
    let mut lexer = Lexer {
        text: window,
        bytes: window.as_bytes(),
        at: from,
        is_first: true,
        comments,
        resources_stay_open,
        tokens: Vec::with_capacity((to - from) / 5),
        errors: Vec::new(),
    };
    lexer.run();
    (lexer.tokens, lexer.errors, lexer.resources_stay_open)
}

struct Lexer<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    is_first: bool,
    comments: bool,
    /// The end of some resources was not found, so the search is not repeated for the next ones.
    resources_stay_open: bool,
    tokens: Vec<Token>,
    errors: Vec<SyntaxError>,
}

fn is_word_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || b == b'_'
}

/// Character classes: words, names after a sigil, digits.
const WORD: u8 = 1;
const SUFFIX: u8 = 2;
const DIGIT: u8 = 4;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut b = 0;
    while b < 256 {
        let letter = b as u8;
        if letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'$' | b'.') {
            classes[b] |= WORD | SUFFIX;
        }
        if letter == b'-' {
            classes[b] |= SUFFIX;
        }
        if letter.is_ascii_digit() {
            classes[b] |= DIGIT;
        }
        b += 1;
    }
    classes
};

/// The token kinds of characters that are tokens whatever follows them.
static SIGNS: [Option<TokenKind>; 256] = {
    let mut signs = [None; 256];
    signs[b'(' as usize] = Some(TokenKind::OpenParen);
    signs[b')' as usize] = Some(TokenKind::CloseParen);
    signs[b'[' as usize] = Some(TokenKind::OpenSquare);
    signs[b']' as usize] = Some(TokenKind::CloseSquare);
    signs[b'}' as usize] = Some(TokenKind::CloseBrace);
    signs[b',' as usize] = Some(TokenKind::Comma);
    let others = b"+*?|;&$'~`";
    let mut at = 0;
    while at < others.len() {
        signs[others[at] as usize] = Some(TokenKind::Sign);
        at += 1;
    }
    signs
};

fn is_in(b: u8, class: u8) -> bool {
    CLASSES[b as usize] & class != 0
}

/// The position after the characters of a class.
fn while_in(bytes: &[u8], at: usize, class: u8) -> usize {
    let mut at = at;
    while bytes.get(at).is_some_and(|&b| is_in(b, class)) {
        at += 1;
    }
    at
}

impl Lexer<'_> {
    fn run(&mut self) {
        let bytes = self.bytes;
        while let Some(&b) = bytes.get(self.at) {
            let start = self.at;
            match b {
                b' ' | b'\t' | 0x0b | 0x0c => self.at += 1,
                b'\n' | b'\r' => {
                    cancel::tick();
                    self.is_first = true;
                    self.at += 1;
                }
                b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    self.push(TokenKind::Word, start, while_in(bytes, start + 1, WORD));
                }
                b'%' => self.value(start),
                _ => match SIGNS[b as usize] {
                    Some(kind) => self.push(kind, start, start + 1),
                    None => self.token(b),
                },
            }
        }
    }

    fn push(&mut self, kind: TokenKind, start: usize, end: usize) {
        self.tokens.push(Token { span: Span::new(start, end), kind, is_first: self.is_first });
        self.is_first = false;
        self.at = end;
    }

    fn peek(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn while_in(&self, at: usize, class: u8) -> usize {
        while_in(self.bytes, at, class)
    }

    /// A token that needs more than its first byte.
    fn token(&mut self, b: u8) {
        use TokenKind::*;
        let start = self.at;
        let one = |lexer: &mut Self, kind| lexer.push(kind, start, start + 1);
        match b {
            b'0'..=b'9' => {
                let end = self.number(start);
                self.push(Number, start, end);
            }
            b'^' | b'#' | b'!' => self.prefixed(b),
            b'"' => {
                let end = self.string(start);
                self.push(String, start, end);
            }
            b'@' => {
                let end = match self.peek(1) {
                    b'"' => self.string(start + 1),
                    next if is_word_start(next) => self.while_in(start + 2, WORD),
                    _ => return self.bad(start, "a symbol needs a name after @"),
                };
                self.push(Symbol, start, end);
            }
            b'/' if self.peek(1) == b'/' => self.comment(start),
            b'{' if self.bytes[start..].starts_with(b"{-#") => self.resources(start),
            b'{' => one(self, OpenBrace),
            b'<' if self.peek(1) == b'=' => self.push(Sign, start, start + 2),
            b'<' => one(self, OpenAngle),
            b'>' if self.peek(1) == b'=' => self.push(Sign, start, start + 2),
            b'>' => one(self, CloseAngle),
            b':' if self.peek(1) == b':' => self.push(Path, start, start + 2),
            b':' => one(self, Colon),
            b'=' if matches!(self.peek(1), b'=' | b'>') => self.push(Sign, start, start + 2),
            b'=' => one(self, Equal),
            b'-' if self.peek(1) == b'>' => self.push(Arrow, start, start + 2),
            b'.' if self.bytes[start..].starts_with(b"...") => self.push(Sign, start, start + 3),
            b'-' | b'/' | b'.' => one(self, Sign),
            _ => self.bad(start, "this sign has no meaning in MLIR"),
        }
    }

    /// Reports one error for a run of bad characters; text in another format would give thousands.
    fn bad(&mut self, start: usize, message: &str) {
        let len = self.text.get(start..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        let end = start + len;
        match self.tokens.last_mut().filter(|last| last.kind == TokenKind::Bad && !self.is_first) {
            Some(last) if last.span.end as usize == start => {
                last.span.end = end as u32;
                if let Some(error) = self.errors.last_mut() {
                    error.span.end = end as u32;
                }
                self.at = end;
            }
            _ => {
                self.errors.push(SyntaxError { span: Span::new(start, end), message: message.to_owned() });
                self.push(TokenKind::Bad, start, end);
            }
        }
    }

    fn number(&self, start: usize) -> usize {
        // `0x4xf32` is a dimension list: it is hexadecimal only if no `x` follows.
        if self.bytes[start] == b'0' && self.peek(1) == b'x' && self.peek(2).is_ascii_hexdigit() {
            let end =
                start + 2 + self.bytes[start + 2..].iter().take_while(|b| b.is_ascii_hexdigit()).count();
            if !self.bytes.get(end).is_some_and(|&b| is_in(b, WORD)) {
                return end;
            }
        }
        let mut end = self.while_in(start, DIGIT);
        if self.bytes.get(end) == Some(&b'.') {
            end = self.while_in(end + 1, DIGIT);
            if matches!(self.bytes.get(end), Some(b'e' | b'E')) {
                let sign = usize::from(matches!(self.bytes.get(end + 1), Some(b'+' | b'-')));
                if self.bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
                    end = self.while_in(end + 1 + sign, DIGIT);
                }
            }
        }
        end
    }

    /// `%name` and `%0`, with their result index.
    fn value(&mut self, start: usize) {
        let bytes = self.bytes;
        let next = bytes.get(start + 1).copied().unwrap_or(0);
        let class = if next.is_ascii_digit() { DIGIT } else { SUFFIX };
        let end = while_in(bytes, start + 1, class);
        // A name that ends in `-` may be followed by the rest of an arrow.
        if end == start + 1 || bytes[end - 1] == b'-' {
            return self.prefixed(b'%');
        }
        let behind = match bytes.get(end) {
            Some(b'#') => while_in(bytes, end + 1, DIGIT),
            _ => end,
        };
        self.push(TokenKind::Value, start, if behind > end + 1 { behind } else { end });
    }

    fn prefixed(&mut self, prefix: u8) {
        let start = self.at;
        let next = self.peek(1);
        let end = match next {
            b'0'..=b'9' => self.while_in(start + 1, DIGIT),
            // `#-}` ends resources; without a start it is a stray character.
            b'-' if prefix == b'#' && self.peek(2) == b'}' => start + 1,
            _ if is_in(next, SUFFIX) => self.while_in(start + 1, SUFFIX),
            _ => start + 1,
        };
        // A name does not end in the `-` of an arrow.
        let end = match self.bytes.get(end) {
            Some(b'>') if end > start + 2 && self.bytes[end - 1] == b'-' => end - 1,
            _ => end,
        };
        if end == start + 1 {
            // In some dialects `#` and `!` open a body without a name.
            return match prefix {
                b'#' | b'!' => self.push(TokenKind::Sign, start, end),
                b'%' => self.bad(start, "a value needs a name after %"),
                _ => self.bad(start, "a block needs a name after ^"),
            };
        }
        let kind = match prefix {
            b'%' => TokenKind::Value,
            b'^' => TokenKind::Block,
            b'#' => TokenKind::AttributeName,
            _ => TokenKind::TypeName,
        };
        let end = match kind {
            TokenKind::Value if self.bytes.get(end) == Some(&b'#') => {
                let behind = self.while_in(end + 1, DIGIT);
                if behind > end + 1 { behind } else { end }
            }
            _ => end,
        };
        self.push(kind, start, end);
    }

    /// The end of the string that starts at `start`. An unterminated string ends with its line.
    fn string(&mut self, start: usize) -> usize {
        let mut at = start + 1;
        while let Some(n) = self.bytes.get(at..).and_then(|rest| memchr3(b'"', b'\\', b'\n', rest)) {
            match self.bytes[at + n] {
                b'"' => return at + n + 1,
                b'\n' => {
                    at += n;
                    break;
                }
                // An escaped character belongs to the string, even a quote; a line end does not.
                _ => at += n + 1 + usize::from(!matches!(self.bytes.get(at + n + 1), None | Some(b'\n'))),
            }
        }
        let mut end = match self.bytes.get(at) {
            Some(b'\n') => at,
            _ => self.bytes.len(),
        };
        if end > start + 1 && self.bytes[end - 1] == b'\r' {
            end -= 1;
        }
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        self.errors.push(SyntaxError {
            span: Span::new(start, end),
            message: "this string is not closed on its line".to_owned(),
        });
        end
    }

    fn comment(&mut self, start: usize) {
        let end = memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |n| start + n);
        let is_split = self.is_first && is_split_line(&self.text[start..end]);
        if is_split || self.comments {
            let is_first = self.is_first;
            self.push(if is_split { TokenKind::Split } else { TokenKind::Comment }, start, end);
            // The token after a comment is on a new line anyway.
            self.is_first = is_first;
        }
        self.at = end;
    }

    fn resources(&mut self, start: usize) {
        let mut at = start + 3;
        while let Some(n) = memchr2(b'"', b'#', &self.bytes[at..]).filter(|_| !self.resources_stay_open) {
            at += n;
            if self.bytes[at] == b'"' {
                let errors = self.errors.len();
                at = self.string(at);
                if self.errors.len() > errors {
                    self.errors.truncate(errors);
                    break;
                }
            } else if self.bytes[at..].starts_with(b"#-}") {
                return self.push(TokenKind::Resources, start, at + 3);
            } else {
                at += 1;
            }
        }
        self.resources_stay_open = true;
        let end = memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |n| start + n);
        self.errors.push(SyntaxError {
            span: Span::new(start, start + 3),
            message: "these resources are not closed by #-}".to_owned(),
        });
        self.push(TokenKind::Bad, start, end);
    }
}

/// Whether a comment splits a file into independent parts: `// -----`, the marker of `-split-input-file`,
/// where a longer rule of dashes counts only if the comment contains nothing else; and the head of a dump in
/// a log of passes, `// -----// IR Dump After Canonicalizer //----- //`.
pub(crate) fn is_split_line(comment: &str) -> bool {
    let Some(rest) = comment.strip_prefix("//") else { return false };
    let dashes = rest.trim_start_matches([' ', '\t']);
    let is_rule = dashes.trim_end().bytes().all(|b| b == b'-');
    dashes.starts_with("-----") && rest.len() > dashes.len() && (is_rule || is_dump_head(dashes))
}

fn is_dump_head(dashes: &str) -> bool {
    dashes.strip_prefix("-----//").is_some_and(|head| head.trim_start().starts_with("IR Dump "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        let (tokens, errors) = tokens(text, 0, text.len(), true);
        let mut shown: Vec<_> = tokens.iter().map(|t| format!("{:?}:{}", t.kind, t.span.of(text))).collect();
        shown.extend(errors.iter().map(|e| format!("error:{}", e.span.of(text))));
        assert_eq!(shown.join(" "), expect);
    }

    #[test]
    fn every_kind_of_token() {
        check("%a-b#12 ^bb0 @f::@\"x y\"", "Value:%a-b#12 Block:^bb0 Symbol:@f Path::: Symbol:@\"x y\"");
        check(
            "#map1 !t.x<4x?xf32>",
            "AttributeName:#map1 TypeName:!t.x OpenAngle:< Number:4 Word:x Sign:? Word:xf32 CloseAngle:>",
        );
        check(
            "tensor<0x4xf32> 0xFF 1.5e-3",
            "Word:tensor OpenAngle:< Number:0 Word:x4xf32 CloseAngle:> Number:0xFF Number:1.5e-3",
        );
        check("%a->%b", "Value:%a Arrow:-> Value:%b");
        check("d0 >= 0 == => ...", "Word:d0 Sign:>= Number:0 Sign:== Sign:=> Sign:...");
        check("{-# a: { \"#-}\" } #-} x", "Resources:{-# a: { \"#-}\" } #-} Word:x");
        check("// c\n// -----\nx", "Comment:// c Split:// ----- Word:x");
        let head = "// -----// IR Dump After CSE (cse) //----- //";
        check(&format!("{head}\nx"), &format!("Split:{head} Word:x"));
        check("//-----// x ------", "Comment://-----// x ------");
    }

    #[test]
    fn what_is_not_closed_costs_its_line() {
        check("\"abc\nx", "String:\"abc Word:x error:\"abc");
        check("\"a\\\"b\" x", "String:\"a\\\"b\" Word:x");
        check("{-# a\nx", "Bad:{-# a Word:x error:{-#");
        check("% \u{e9}\u{e9} x", "Bad:% Bad:\u{e9}\u{e9} Word:x error:% error:\u{e9}\u{e9}");
    }
}
