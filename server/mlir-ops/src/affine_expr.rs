//! Affine expressions as MLIR writes them: `d0 * 4 + s0 floordiv 2`, `%i + symbol(%n)`.

use std::fmt;

use indexing_map::Expr;

/// What is wrong in the text of a map, set or expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoAffineText {
    ExpectedSign(&'static str),
    Expected(&'static str),
    /// A value that the op does not have.
    UnknownValue(Box<str>),
    /// A name that the map does not declare.
    NoVariable(Box<str>),
    /// Text after the end of the map.
    Trailing,
    TooLarge,
    TooDeep,
    /// More results, constraints or variables than are read.
    TooMany(&'static str),
    /// An attribute that is not a map.
    NoMap(Box<str>),
    /// The message of the parser of indexing maps.
    IndexingMap(Box<str>),
}

impl fmt::Display for NoAffineText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAffineText::ExpectedSign(sign) => write!(f, "`{sign}` is expected"),
            NoAffineText::Expected(what) => write!(f, "{what} is expected"),
            NoAffineText::UnknownValue(name) => write!(f, "{name} is not known"),
            NoAffineText::NoVariable(name) => write!(f, "{name} is none of its variables"),
            NoAffineText::Trailing => f.write_str("unexpected text after its end"),
            NoAffineText::TooLarge => f.write_str("the expression is too large"),
            NoAffineText::TooDeep => f.write_str("the expression is nested too deeply"),
            NoAffineText::TooMany(what) => write!(f, "it has too many {what}"),
            NoAffineText::NoMap(text) => write!(f, "{text} is no map"),
            NoAffineText::IndexingMap(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for NoAffineText {}

/// The deepest nesting of parentheses and minus signs.
const MAX_NESTING: usize = 100;

/// Reads the signs, names and expressions of a text in sequence.
pub struct AffineReader<'t> {
    text: &'t str,
    at: usize,
    nesting: usize,
}

/// Resolves a name to an expression.
pub type Lookup<'a> = dyn FnMut(&str) -> Option<Expr> + 'a;

impl<'t> AffineReader<'t> {
    pub fn new(text: &'t str) -> AffineReader<'t> {
        AffineReader { text, at: 0, nesting: 0 }
    }

    fn rest(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    pub fn eat(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        self.at += if found { sign.len() } else { 0 };
        found
    }

    pub fn expect(&mut self, sign: &'static str) -> Result<(), NoAffineText> {
        if self.eat(sign) { Ok(()) } else { Err(NoAffineText::ExpectedSign(sign)) }
    }

    pub fn end(&mut self) -> Result<(), NoAffineText> {
        match self.rest() {
            "" => Ok(()),
            _ => Err(NoAffineText::Trailing),
        }
    }

    /// The name of a variable, or of a value with its `%` and its `#1`.
    pub fn name(&mut self) -> Option<&'t str> {
        let rest = self.rest();
        let is_value = rest.starts_with('%');
        let is_letter = |c: char| {
            c.is_ascii_alphanumeric()
                || matches!(c, '_' | '$' | '.')
                || is_value && matches!(c, '-' | '#' | '%')
        };
        let len = rest.find(|c: char| !is_letter(c)).unwrap_or(rest.len());
        let is_number = rest.starts_with(|c: char| c.is_ascii_digit());
        if len == 0 || is_number {
            return None;
        }
        self.at += len;
        Some(&rest[..len])
    }

    fn word(&mut self, word: &str) -> bool {
        let rest = self.rest();
        let found = rest
            .strip_prefix(word)
            .is_some_and(|behind| !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
        self.at += if found { word.len() } else { 0 };
        found
    }

    pub fn number(&mut self) -> Option<i64> {
        let rest = self.rest();
        let len = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..len].parse().ok()?;
        self.at += len;
        Some(number)
    }

    /// `e + e - e`. Products bind tighter; all operators are left-associative.
    pub fn sum(&mut self, lookup: &mut Lookup<'_>) -> Result<Expr, NoAffineText> {
        let mut left = self.product(lookup)?;
        loop {
            // `->` is not a minus.
            if self.rest().starts_with("->") {
                break;
            } else if self.eat("+") {
                left = left + self.product(lookup)?;
            } else if self.eat("-") {
                left = left - self.product(lookup)?;
            } else {
                break;
            }
        }
        if left.is_too_large() { Err(NoAffineText::TooLarge) } else { Ok(left) }
    }

    fn product(&mut self, lookup: &mut Lookup<'_>) -> Result<Expr, NoAffineText> {
        let mut left = self.operand(lookup)?;
        loop {
            left = match () {
                () if self.eat("*") => left * self.operand(lookup)?,
                () if self.word("mod") => left.modulo(self.operand(lookup)?),
                () if self.word("floordiv") => left.floor_div(self.operand(lookup)?),
                () if self.word("ceildiv") => left.ceil_div(self.operand(lookup)?),
                () => return Ok(left),
            };
        }
    }

    fn operand(&mut self, lookup: &mut Lookup<'_>) -> Result<Expr, NoAffineText> {
        if self.nesting == MAX_NESTING {
            return Err(NoAffineText::TooDeep);
        }
        if self.eat("(") {
            self.nesting += 1;
            let inner = recursion::grow(|| self.sum(lookup));
            self.nesting -= 1;
            let inner = inner?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.eat("-") {
            self.nesting += 1;
            let inner = recursion::grow(|| self.operand(lookup));
            self.nesting -= 1;
            return Ok(inner? * -1);
        }
        if let Some(number) = self.number() {
            return Ok(Expr::Const(number));
        }
        if self.word("symbol") {
            self.expect("(")?;
            let name = self.name().ok_or(NoAffineText::Expected("the name of a value"))?;
            self.expect(")")?;
            return lookup(name).ok_or_else(|| NoAffineText::UnknownValue(name.into()));
        }
        let name = self.name().ok_or(NoAffineText::Expected("a number, a name or ("))?;
        lookup(name).ok_or_else(|| NoAffineText::NoVariable(name.into()))
    }
}

/// The names of a map's variables. Flat ids are positions, dimensions first.
pub(crate) struct Names<'a> {
    pub(crate) dims: &'a [String],
    pub(crate) symbols: &'a [String],
}

impl Names<'_> {
    pub(crate) fn find(&self, name: &str) -> Option<Expr> {
        self.dims.iter().chain(self.symbols).position(|n| n == name).map(Expr::var)
    }
}
