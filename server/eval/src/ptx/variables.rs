//! Declarations of variables, with their sizes and initial values.

use super::parse::{Parsed, Parser, Variable, bits_of};
use super::problem::Problem;
use super::tokens::Token;

impl<'a> Parser<'a> {
    /// The part from the state space on: `.param .u64 .ptr .align 16 name`,
    /// `.global .align 4 .b8 name[8] = {1, 2}`.
    pub(crate) fn variable(&mut self) -> Parsed<Variable<'a>> {
        let space = self.name()?.trim_start_matches('.');
        let (mut align, mut element, mut vector) = (0, 0, 1u64);
        while let Token::Name(word) = self.tokens.token
            && word.starts_with('.')
        {
            self.tokens.next()?;
            match word {
                ".align" => align = self.integer()?,
                ".v2" => vector = 2,
                ".v4" => vector = 4,
                ".ptr" | ".global" | ".shared" | ".const" | ".local" => (),
                _ => {
                    let bits = bits_of(&word[1..]);
                    element =
                        bits.ok_or_else(|| self.tokens.problem(format!("`{word}` is no type")))?.div_ceil(8);
                }
            }
        }
        let place = self.tokens.place;
        let name = self.name()?;
        let mut size = element.saturating_mul(vector);
        while self.eat(b'[')? {
            let count = if self.tokens.token == Token::Mark(b']') { 0 } else { self.integer()? };
            size = size.checked_mul(count).ok_or_else(|| self.tokens.problem("too large"))?;
            self.expect(b']')?;
        }
        let mut initial = Vec::new();
        if self.eat(b'=')? {
            let is_list = self.eat(b'{')?;
            loop {
                match self.tokens.next()? {
                    Token::Integer(value) | Token::Double(value) => initial.push(value),
                    Token::Single(bits) => initial.push(u64::from(bits)),
                    _ => {
                        return Err(Problem::new(
                            "ptx-unsupported",
                            place,
                            "an initial value that is no number",
                        ));
                    }
                }
                if !is_list || !self.eat(b',')? {
                    break;
                }
            }
            if is_list {
                self.expect(b'}')?;
            }
        }
        let align = if align == 0 { element.max(1) } else { align };
        if !align.is_power_of_two() || align > 1 << 20 {
            return Err(Problem::new("ptx-syntax", place, "an alignment is a power of two"));
        }
        Ok(Variable { name, space, align, element, size, initial, is_extern: false, place })
    }
}
