//! Bodies of functions: registers, variables, labels and instructions.

use super::parse::{Instruction, MAX_DEPTH, Operand, Parsed, Parser, Statement};
use super::problem::Place;
use super::tokens::Token;

impl<'a> Parser<'a> {
    pub(crate) fn body(&mut self) -> Parsed<Vec<Statement<'a>>> {
        let mut statements = Vec::new();
        let mut depth = 0u32;
        loop {
            let place = self.tokens.place;
            match self.tokens.token {
                Token::Mark(b'}') => {
                    self.tokens.next()?;
                    if depth == 0 {
                        return Ok(statements);
                    }
                    depth -= 1;
                    statements.push(Statement::Close);
                }
                Token::Mark(b'{') => {
                    self.tokens.next()?;
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(self.tokens.problem("blocks nest too deep"));
                    }
                    statements.push(Statement::Open);
                }
                Token::Mark(b';') => _ = self.tokens.next()?,
                Token::Name(".reg") => self.registers(&mut statements)?,
                Token::Name(".shared" | ".local" | ".param") => {
                    statements.push(Statement::Variable(self.variable()?));
                    self.expect(b';')?;
                }
                Token::Name(".pragma") => {
                    self.tokens.next()?;
                    self.anything()?;
                    self.expect(b';')?;
                }
                Token::Name(".loc") => self.rest_of_line(place.line)?,
                Token::Mark(b'@') => {
                    self.tokens.next()?;
                    let is_negated = self.eat(b'!')?;
                    let guard = Some((self.name()?, is_negated));
                    let opcode = self.name()?;
                    statements.push(Statement::Instruction(self.instruction(guard, opcode, place)?));
                }
                Token::Name(name) => {
                    self.tokens.next()?;
                    if self.eat(b':')? {
                        statements.push(Statement::Label(name, place));
                    } else {
                        statements.push(Statement::Instruction(self.instruction(None, name, place)?));
                    }
                }
                Token::End => return Err(self.tokens.problem("the function does not end")),
                _ => return Err(self.tokens.problem("expected an instruction")),
            }
        }
    }

    fn registers(&mut self, statements: &mut Vec<Statement<'a>>) -> Parsed<()> {
        self.tokens.next()?;
        let kind = self.name()?.trim_start_matches('.');
        loop {
            let place = self.tokens.place;
            let name = self.name()?;
            let mut count = None;
            if self.eat(b'<')? {
                let number = u32::try_from(self.integer()?).ok().filter(|&n| n <= 1 << 20);
                count = Some(number.ok_or_else(|| self.tokens.problem("too many registers"))?);
                self.expect(b'>')?;
            }
            statements.push(Statement::Registers { kind, name, count, place });
            if !self.eat(b',')? {
                return self.expect(b';');
            }
        }
    }

    fn instruction(
        &mut self,
        guard: Option<(&'a str, bool)>,
        opcode: &'a str,
        place: Place,
    ) -> Parsed<Instruction<'a>> {
        let mut operands = Vec::new();
        if !self.eat(b';')? {
            loop {
                operands.push(self.operand(0)?);
                if !self.eat(b',')? {
                    break;
                }
            }
            self.expect(b';')?;
        }
        Ok(Instruction { guard, opcode, operands, place })
    }

    fn operand(&mut self, depth: u32) -> Parsed<Operand<'a>> {
        match self.tokens.token {
            Token::Mark(open @ (b'{' | b'(')) if depth < 2 => {
                self.tokens.next()?;
                let close = if open == b'{' { b'}' } else { b')' };
                let mut list = Vec::new();
                while !self.eat(close)? {
                    list.push(self.operand(depth + 1)?);
                    if self.tokens.token != Token::Mark(close) {
                        self.expect(b',')?;
                    }
                }
                Ok(Operand::List(list))
            }
            Token::Mark(b'[') => {
                self.tokens.next()?;
                let base = match self.tokens.token {
                    Token::Name(_) => Some(self.name()?),
                    _ => None,
                };
                let mut offset = if base.is_none() { self.integer()? as i64 } else { 0 };
                if self.eat(b'+')? {
                    offset = offset.wrapping_add(self.integer()? as i64);
                } else if let Token::Integer(value) = self.tokens.token {
                    self.tokens.next()?;
                    offset = offset.wrapping_add(value as i64);
                }
                self.expect(b']')?;
                Ok(Operand::Address(base, offset))
            }
            Token::Mark(b'!') => {
                self.tokens.next()?;
                Ok(Operand::Not(self.name()?))
            }
            Token::Name(name) => {
                self.tokens.next()?;
                match self.eat(b'|')? {
                    true => Ok(Operand::Pair(name, self.name()?)),
                    false => Ok(Operand::Name(name)),
                }
            }
            Token::Integer(value) => self.tokens.next().map(|_| Operand::Integer(value)),
            Token::Single(bits) => self.tokens.next().map(|_| Operand::Single(bits)),
            Token::Double(bits) => self.tokens.next().map(|_| Operand::Double(bits)),
            _ => Err(self.tokens.problem("expected an operand")),
        }
    }
}
