//! Parsing of maps and expressions, with the exact byte offset of errors.

mod expr;

use std::fmt;

use smallvec::SmallVec;

use crate::expr::Expr;
use crate::interval::Interval;
use crate::map::{IndexingMap, Variable};
use crate::text::attribute::MapAttribute;

/// Why a text is not a map or expression, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Byte offset into the text; at most its length.
    pub offset: usize,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}", self.message, self.offset)
    }
}

impl std::error::Error for ParseError {}

/// The deepest nesting of parentheses, minus signs, `min` and `max`.
const MAX_NESTING: usize = 200;
/// The largest number of variables of a map: flat ids stay far from [`Expr::TOO_LARGE`].
const MAX_VARIABLES: usize = 1 << 16;

/// Parses the form that [`crate::print_map`] writes, in either style:
/// `(d0)[s0]{rt0} -> (d0 + s0, rt0), domain: …`.
///
/// The domain repeats all variables in declared order, followed by any constraints. It is omitted if there
/// are no variables. `floordiv`, `floorDiv` and `/` are synonyms, as are `ceildiv` and `ceilDiv`.
/// `KNOWN EMPTY`, `unknown indexing` and `UNDEFINED` are maps too.
///
/// Older forms are accepted as well: a line break instead of a comma in the domain and before it,
/// `is_simplified: true` at the end, and, below a runtime variable, the instruction and the map that it comes
/// from, which are dropped. Attributes are accepted too, see [`MapAttribute`].
pub fn parse_map(text: &str) -> Result<IndexingMap, ParseError> {
    match MapAttribute::read(text) {
        Some(attribute) => parse_body(&attribute.body)
            .map_err(|error| ParseError { offset: attribute.place(error.offset), ..error }),
        None => parse_body(text),
    }
}

fn parse_body(text: &str) -> Result<IndexingMap, ParseError> {
    match text.trim() {
        "KNOWN EMPTY" => return Ok(IndexingMap::known_empty(0, 0, 0)),
        "unknown indexing" | "UNDEFINED" => return Ok(IndexingMap::undefined()),
        _ => {}
    }
    let mut p = Parser::new(text, Names::Declared(SmallVec::new()));
    p.map()
}

/// Parses one expression whose variables are written `v3` or `d3` (flat id 3).
pub fn parse_expr(text: &str) -> Result<Expr, ParseError> {
    whole_expr(Parser::new(text, Names::Flat))
}

/// Parses one expression over these variable names; flat ids are positions.
pub fn parse_expr_with(text: &str, names: &[&str]) -> Result<Expr, ParseError> {
    whole_expr(Parser::new(text, Names::Declared(names.iter().copied().collect())))
}

fn whole_expr(mut p: Parser<'_>) -> Result<Expr, ParseError> {
    let start = p.at;
    let e = p.sum()?;
    p.end()?;
    if e.is_too_large() {
        return Err(ParseError { offset: start, message: TOO_LARGE.to_owned() });
    }
    Ok(e)
}

const FLAG: &str = "is_simplified";

const TOO_LARGE: &str = "the expression is too large";

enum Names<'a> {
    Flat,
    Declared(SmallVec<[&'a str; 12]>),
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    nesting: usize,
    names: Names<'a>,
}

type Parsed<T> = Result<T, ParseError>;

impl<'a> Parser<'a> {
    fn new(text: &'a str, names: Names<'a>) -> Self {
        let mut p = Parser { text, bytes: text.as_bytes(), at: 0, nesting: 0, names };
        p.skip_space();
        p
    }

    fn map(&mut self) -> Parsed<IndexingMap> {
        self.list(b'(', b')')?;
        let num_dims = self.declared();
        if self.peek() == b'[' {
            self.list(b'[', b']')?;
        }
        let num_symbols = self.declared();
        if self.peek() == b'{' {
            self.list(b'{', b'}')?;
        }
        let num_variables = self.declared();
        if !self.eat(b"->") {
            return self.fail("expected `->`");
        }
        self.expect(b'(')?;
        let mut results = Vec::new();
        if !self.eat(b")") {
            loop {
                results.push(self.limited_sum()?);
                if !self.eat(b",") {
                    break;
                }
            }
            self.expect(b')')?;
        }
        let mut variables = Vec::with_capacity(num_variables);
        let mut constraints = Vec::new();
        let has_comma = self.eat(b",");
        if self.word() == FLAG && num_variables == 0 {
            self.flag()?;
        } else if has_comma || self.word() == "domain" {
            if self.word() != "domain" {
                return self.fail("expected `domain`");
            }
            self.at += "domain".len();
            self.skip_space();
            self.expect(b':')?;
            for id in 0..num_variables {
                if id > 0 && !self.separator() {
                    return self.fail("expected `,`");
                }
                let name = self.declared_name(id);
                if self.word() != name {
                    return self.fail(format!("expected the bounds of `{name}`"));
                }
                self.at += name.len();
                self.skip_space();
                let bounds = self.bounds()?;
                let default = if id < num_dims {
                    is_default_name(name, "d", id)
                } else if id < num_symbols {
                    is_default_name(name, "s", id - num_dims)
                } else {
                    is_default_name(name, "rt", id - num_symbols)
                };
                variables.push(Variable { bounds, name: (!default).then(|| name.into()) });
                self.skip_source();
            }
            let mut first = num_variables == 0;
            while first || self.separator() {
                if self.word() == FLAG {
                    self.flag()?;
                    break;
                }
                if !first && self.at == self.bytes.len() {
                    break;
                }
                first = false;
                let expr = self.limited_sum()?;
                constraints.push((expr, self.bounds()?));
            }
        } else if num_variables > 0 {
            return self.fail("expected `, domain:` with the bounds of the variables");
        }
        self.end()?;
        let mut map =
            IndexingMap::from_flat(variables, num_dims as u32, (num_symbols - num_dims) as u32, results);
        for (expr, interval) in constraints {
            map.add_constraint(expr, interval);
        }
        Ok(map)
    }

    /// Parses a comma, or a line break followed by more text.
    fn separator(&mut self) -> bool {
        if self.eat(b",") {
            return true;
        }
        let before = self.text[..self.at].trim_end().len();
        self.at < self.bytes.len() && self.bytes[before..self.at].contains(&b'\n')
    }

    /// Parses `is_simplified: true`, which is ignored.
    fn flag(&mut self) -> Parsed<()> {
        self.at += FLAG.len();
        self.skip_space();
        self.expect(b':')?;
        let value = self.word();
        if !matches!(value, "true" | "false") {
            return self.fail("expected `true` or `false`");
        }
        self.at += value.len();
        self.skip_space();
        Ok(())
    }

    /// Skips `hlo: %i = s32[] parameter(1)` and the map on the next line.
    fn skip_source(&mut self) {
        while self.word() == "hlo" && self.text[self.at + 3..].trim_start().starts_with(':') {
            let rest = &self.text[self.at..];
            let mut behind = 0;
            for line in rest.split_inclusive('\n') {
                behind += line.len();
                if line.trim_start().starts_with('(') && line.contains("->") {
                    break;
                }
            }
            self.at += behind;
            self.skip_space();
        }
    }

    fn declared(&self) -> usize {
        if let Names::Declared(names) = &self.names { names.len() } else { 0 }
    }

    fn declared_name(&self, id: usize) -> &'a str {
        if let Names::Declared(names) = &self.names { names[id] } else { "" }
    }

    fn list(&mut self, open: u8, close: u8) -> Parsed<()> {
        self.expect(open)?;
        if self.peek() == close {
            self.at += 1;
            self.skip_space();
            return Ok(());
        }
        loop {
            let name = self.word();
            if name.is_empty() || is_reserved(name) {
                return self.fail("expected a variable name");
            }
            if let Names::Declared(names) = &mut self.names {
                if names.contains(&name) {
                    return self.fail(format!("`{name}` is declared twice"));
                }
                if names.len() >= MAX_VARIABLES {
                    return self.fail(format!("more than {MAX_VARIABLES} variables"));
                }
                names.push(name);
            }
            self.at += name.len();
            self.skip_space();
            if !self.eat(b",") {
                return self.expect(close);
            }
        }
    }

    /// Parses `in [l, u]`.
    fn bounds(&mut self) -> Parsed<Interval> {
        if self.word() != "in" {
            return self.fail("expected `in`");
        }
        self.at += 2;
        self.skip_space();
        self.expect(b'[')?;
        let lower = self.signed()?;
        self.expect(b',')?;
        let upper = self.signed()?;
        self.expect(b']')?;
        Ok(Interval::new(lower, upper))
    }

    fn signed(&mut self) -> Parsed<i64> {
        let start = self.at;
        let negative = self.eat(b"-");
        let magnitude = self.number()?;
        to_i64(negative, magnitude).ok_or_else(|| ParseError {
            offset: start,
            message: "the number does not fit 64 bits".to_owned(),
        })
    }

    /// Parses digits into a magnitude of at most 2^63.
    fn number(&mut self) -> Parsed<u64> {
        let start = self.at;
        let mut value = 0u64;
        while let Some(d) = self.bytes.get(self.at).filter(|b| b.is_ascii_digit()) {
            let next = value.checked_mul(10).and_then(|v| v.checked_add(u64::from(d - b'0')));
            let Some(next) = next.filter(|&v| v <= 1 << 63) else {
                self.at = start;
                return self.fail("the number does not fit 64 bits");
            };
            value = next;
            self.at += 1;
        }
        if self.at == start {
            return self.fail("expected a number");
        }
        self.skip_space();
        Ok(value)
    }

    /// The next byte, or 0 at the end.
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// The name at the cursor, not consumed; empty if there is none.
    fn word(&self) -> &'a str {
        let rest = &self.bytes[self.at..];
        if !rest.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_') {
            return "";
        }
        let is_in_name = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'_';
        let mut len = rest.iter().take_while(is_in_name).count();
        // XLA counts the loops of scans from below zero: `k_-1`.
        if rest[..len] == *b"k_" && rest.get(len) == Some(&b'-') {
            len += 1 + rest[len + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
        }
        &self.text[self.at..self.at + len]
    }

    fn eat(&mut self, token: &[u8]) -> bool {
        let found = self.bytes[self.at..].starts_with(token);
        if found {
            self.at += token.len();
            self.skip_space();
        }
        found
    }

    fn expect(&mut self, token: u8) -> Parsed<()> {
        if self.eat(&[token]) { Ok(()) } else { self.fail(format!("expected `{}`", token as char)) }
    }

    fn end(&self) -> Parsed<()> {
        if self.at == self.bytes.len() { Ok(()) } else { self.fail("unexpected text at the end") }
    }

    fn skip_space(&mut self) {
        while self.bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError { offset: self.at, message: message.into() })
    }
}

fn to_i64(negative: bool, magnitude: u64) -> Option<i64> {
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

fn plain_number(digits: &str) -> Option<usize> {
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&n| n < MAX_VARIABLES)
}

fn is_default_name(name: &str, prefix: &str, position: usize) -> bool {
    name.strip_prefix(prefix).is_some_and(|digits| {
        plain_number(digits) == Some(position) && (digits == "0" || !digits.starts_with('0'))
    })
}

/// Whether `name` is a default name of any position, such as `d0` or `rt7`.
pub(super) fn is_default_of_any_kind(name: &str) -> bool {
    ["d", "s", "rt"].iter().any(|p| name.strip_prefix(p).and_then(plain_number).is_some())
}

/// Whether a variable may have this name so that the text still parses.
pub(super) fn is_name(name: &str) -> bool {
    let start = name.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
    let counter = name.strip_prefix("k_-").unwrap_or(name);
    start
        && counter.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !is_reserved(name)
        && !matches!(name, "min" | "max")
}

fn is_reserved(name: &str) -> bool {
    matches!(name, "mod" | "floordiv" | "floorDiv" | "ceildiv" | "ceilDiv" | "in" | "domain")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        match parse_map(text) {
            Ok(map) => assert_eq!(map.to_string(), expect),
            Err(e) => assert_eq!(e.to_string(), expect),
        }
    }

    #[test]
    fn accepts_both_spellings() {
        check(
            "(d0, d1) -> (d0 / 2, d0 floorDiv 3, d1 floordiv 4, d1 ceilDiv 5),\n  domain:\n d0 in[0,3],\n d1 in [ -4 , 4]",
            "(d0, d1) -> (d0 floordiv 2, d0 floordiv 3, d1 floordiv 4, d1 ceildiv 5), domain: d0 in [0, 3], d1 in [-4, 4]",
        );
    }

    #[test]
    fn keeps_names_that_are_not_the_default() {
        let text = "(d0, th_x)[range, s1]{rt0, x} -> (range - th_x), domain: d0 in [0, 9], th_x in [0, 9], range in [-9, 9], s1 in [0, 0], rt0 in [0, 1], x in [0, 1]";
        check(text, text);
    }

    #[test]
    fn other_states() {
        check(" KNOWN EMPTY\n", "KNOWN EMPTY");
        check("UNDEFINED", "unknown indexing");
        check("(d0) -> (), domain: d0 in [1, 0]", "KNOWN EMPTY");
        check("() -> (5)", "() -> (5)");
    }

    #[test]
    fn errors_say_where() {
        check("(d0) (d0)", "expected `->` at byte 5");
        check("(d0 -> (d0)", "expected `)` at byte 4");
        check("(d0) -> d0", "expected `(` at byte 8");
        check("(d0) -> (d1), domain: d0 in [0, 9]", "unknown variable `d1` at byte 9");
        check(
            "(d0, d1) -> (d0), domain: d1 in [0, 9], d0 in [0, 9]",
            "expected the bounds of `d0` at byte 26",
        );
        check("(d0) -> (d0)", "expected `, domain:` with the bounds of the variables at byte 12");
        check("(d0) -> (d0 + ), domain: d0 in [0, 9]", "expected an expression at byte 14");
        check(
            "(d0) -> (d0), domain: d0 in [0, 99999999999999999999]",
            "the number does not fit 64 bits at byte 32",
        );
        check("(d0, d0) -> (d0), domain: d0 in [0, 9]", "`d0` is declared twice at byte 5");
    }

    #[test]
    fn reads_what_xla_writes_around_a_map() {
        let plain = "(d0) -> (d0), domain: d0 in [0, 9]";
        check("(d0) -> (d0), domain: d0 in [0, 9], is_simplified: true", plain);
        check("(d0) -> (d0),\n domain: d0 in [0, 9],\n is_simplified : false ", plain);
        check(
            "(d0) -> (d0), domain: d0 in [0, 9], d0 in [2, 5], is_simplified:true",
            "(d0) -> (d0), domain: d0 in [2, 5]",
        );
        check("() -> (1), domain: is_simplified: true", "() -> (1)");
        check(
            "(d0) -> (d0), domain: d0 in [0, 9], is_simplified: 1",
            "expected `true` or `false` at byte 51",
        );
        check("(d0) -> (d0), domain: d0 in [0, 9], is_simplified true", "expected `:` at byte 50");
        check(
            "(d0) -> (d0), domain: d0 in [0, 9], is_simplified: true, d0 in [0, 1]",
            "unexpected text at the end at byte 55",
        );
        check(
            "(d0, d1) -> (d0),\n domain:\n d0 in [0, 9]\n d1 in [0, 3]\n d0 + d1 in [0, 4]\n",
            "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 3], d0 + d1 in [0, 4]",
        );
        // The loops of scans count from below zero.
        let scan = "(k_-1, k_12)[k_-20] -> (k_-1 - k_12 + k_-20), domain: k_-1 in [0, 3], k_12 in [0, 4], k_-20 in [0, 5]";
        check(scan, scan);
        // A runtime variable with the instruction that it is read from, and its map.
        let read = "(d0){rt0} -> (d0 + rt0),\n domain:\n d0 in [0, 9],\n rt0 in [0, 3]\n  hlo: %i = s32[] parameter(1)\n  (d0) -> ()\n";
        check(read, "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 3]");
    }

    #[test]
    fn numbers_of_64_bits_are_read() {
        let bounds = |lower: &str, upper: &str| format!("(d0) -> (d0), domain: d0 in [{lower}, {upper}]");
        for (lower, upper) in [("-9223372036854775808", "9223372036854775807"), ("-10", "1009")] {
            check(&bounds(lower, upper), &bounds(lower, upper));
        }
        check(&bounds("0", "9223372036854775808"), "the number does not fit 64 bits at byte 32");
        check(&bounds("-9223372036854775809", "0"), "the number does not fit 64 bits at byte 30");
    }

    #[test]
    fn depth_is_limited() {
        let deep = "(".repeat(100_000) + "v0";
        assert_eq!(parse_expr(&deep).unwrap_err().message, "nested deeper than 200");
        let long = "v0 + ".repeat(100_000) + "v0";
        assert_eq!(parse_expr(&long).unwrap_err().message, TOO_LARGE);
        let minus = "-".repeat(100_000) + "v0";
        assert!(parse_expr(&minus).is_err());
    }
}
