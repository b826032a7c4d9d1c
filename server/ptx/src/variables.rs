//! Parses declarations of variables, with their extents and initial values.

use crate::parse::{Parsed, Parser, unsupported};
use crate::tokens::Token;
use crate::{Error, ErrorKind, Linkage, Space, Type, Variable};

impl<'a> Parser<'a> {
    /// The part from the state space on: `.param .u64 .ptr .align 16 name`,
    /// `.global .align 4 .b8 name[8] = {1, 2}`.
    pub(crate) fn variable(&mut self, linkage: Option<Linkage>) -> Parsed<Variable<&'a str>> {
        let word = self.name()?;
        let Some(space) = word.strip_prefix('.').and_then(Space::find) else {
            return Err(self.tokens.error(format!("`{word}` is no state space")));
        };
        let (mut align, mut ty, mut vector) = (None, None, 1);
        let (mut is_pointer, mut target) = (false, None);
        while let Token::Name(word) = self.tokens.token
            && let Some(word) = word.strip_prefix('.')
        {
            match word {
                "align" => {
                    self.tokens.next()?;
                    align = Some(self.integer()?);
                    continue;
                }
                "v2" => vector = 2,
                "v4" => vector = 4,
                "ptr" => is_pointer = true,
                "global" | "shared" | "const" | "local" => target = Space::find(word),
                _ => {
                    ty = Type::find(word).filter(|ty| ty.bits().is_some());
                    if ty.is_none() {
                        return Err(self.tokens.error(format!("`.{word}` is no type")));
                    }
                }
            }
            self.tokens.next()?;
        }
        let at = self.tokens.at;
        let ty = ty.ok_or_else(|| self.tokens.error("the type of the variable is missing"))?;
        if align.is_some_and(|align| !align.is_power_of_two() || align > 1 << 20) {
            return Err(Error::new(ErrorKind::Syntax, at, "an alignment is a power of two"));
        }
        let name = self.name()?;
        let mut size = 16u64;
        let mut extents = Vec::new();
        while self.eat(b'[')? {
            let extent = if self.tokens.token == Token::Mark(b']') { None } else { Some(self.integer()?) };
            let checked = size.checked_mul(extent.unwrap_or(0));
            size = checked.ok_or_else(|| self.tokens.error("too large"))?;
            extents.push(extent);
            self.expect(b']')?;
        }
        let initial = if self.eat(b'=')? { self.initial(ty)? } else { Vec::new() };
        Ok(Variable { name, linkage, space, vector, ty, is_pointer, target, align, extents, initial, at })
    }

    /// A number, or numbers in braces.
    fn initial(&mut self, ty: Type) -> Parsed<Vec<u64>> {
        let mut values = Vec::new();
        let is_list = self.eat(b'{')?;
        loop {
            let at = self.tokens.at;
            values.push(match (self.tokens.next()?, ty) {
                (Token::Double(bits), Type::F32) => u64::from((f64::from_bits(bits) as f32).to_bits()),
                (Token::Integer(value) | Token::Double(value), _) => value,
                (Token::Single(bits), _) => u64::from(bits),
                _ => return Err(unsupported(at, "an initial value that is no number".to_owned())),
            });
            if !is_list || !self.eat(b',')? {
                break;
            }
        }
        if is_list {
            self.expect(b'}')?;
        }
        Ok(values)
    }
}
