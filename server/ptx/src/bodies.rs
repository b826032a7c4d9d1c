//! Parses bodies of functions: registers, variables, labels and instructions.

use crate::parse::{Parsed, Parser, unsupported};
use crate::tokens::Token;
use crate::{Guard, Instruction, Opcode, Operand, Position, Statement, Type};

/// The limit on the nesting of blocks.
const MAX_DEPTH: u32 = 64;

/// The statements of a body, and their positions.
type Body<'a> = (Vec<Statement<&'a str>>, Vec<Position>);

impl<'a> Parser<'a> {
    /// A body after its opening brace.
    pub(crate) fn body(&mut self) -> Parsed<Body<'a>> {
        let (mut statements, mut positions) = (Vec::new(), Vec::new());
        let mut depth = 0u32;
        loop {
            let at = self.tokens.at;
            match self.tokens.token {
                Token::Mark(b'}') => {
                    self.tokens.next()?;
                    if depth == 0 {
                        return Ok((statements, positions));
                    }
                    depth -= 1;
                    statements.push(Statement::Close);
                }
                Token::Mark(b'{') => {
                    depth += 1;
                    if depth > MAX_DEPTH {
                        return Err(self.tokens.error("blocks nest too deep"));
                    }
                    self.tokens.next()?;
                    statements.push(Statement::Open);
                }
                Token::Mark(b';') => _ = self.tokens.next()?,
                Token::Name(".reg") => self.registers(&mut statements, &mut positions)?,
                Token::Name(".shared" | ".local" | ".param") => {
                    statements.push(Statement::Variable(self.variable(None)?));
                    self.expect(b';')?;
                }
                Token::Name(".pragma") => self.pragma()?,
                Token::Name(".loc") => self.rest_of_line(at.line)?,
                Token::Mark(b'@') => {
                    self.tokens.next()?;
                    let is_negated = self.eat(b'!')?;
                    let guard = Some(Guard { name: self.name()?, is_negated });
                    let opcode = self.name()?;
                    statements.push(Statement::Instruction(self.instruction(guard, opcode, at)?));
                }
                Token::Name(name) => {
                    self.tokens.next()?;
                    if self.eat(b':')? {
                        statements.push(Statement::Label(name));
                    } else {
                        statements.push(Statement::Instruction(self.instruction(None, name, at)?));
                    }
                }
                Token::End => return Err(self.tokens.error("the function does not end")),
                _ => return Err(self.tokens.error("expected an instruction")),
            }
            positions.resize(statements.len(), at);
        }
    }

    fn registers(
        &mut self,
        statements: &mut Vec<Statement<&'a str>>,
        positions: &mut Vec<Position>,
    ) -> Parsed<()> {
        self.tokens.next()?;
        let ty = self.register_type()?;
        loop {
            positions.push(self.tokens.at);
            let name = self.name()?;
            let mut count = None;
            if self.eat(b'<')? {
                let number = u32::try_from(self.integer()?).ok().filter(|&n| n <= 1 << 20);
                count = Some(number.ok_or_else(|| self.tokens.error("too many registers"))?);
                self.expect(b'>')?;
            }
            statements.push(Statement::Registers { ty, name, count });
            if !self.eat(b',')? {
                return self.expect(b';');
            }
        }
    }

    fn register_type(&mut self) -> Parsed<Type> {
        let at = self.tokens.at;
        let word = self.name()?;
        let ty = word.strip_prefix('.').and_then(Type::find);
        ty.ok_or_else(|| unsupported(at, format!("registers of type {word}")))
    }

    fn instruction(
        &mut self,
        guard: Option<Guard<&'a str>>,
        opcode: &'a str,
        at: Position,
    ) -> Parsed<Instruction<&'a str>> {
        let known = Opcode::find(opcode);
        let opcode =
            known.ok_or_else(|| unsupported(at, format!("the instruction {opcode} is not known")))?;
        let mut operands = Vec::new();
        if !self.eat(b';')? {
            operands.push(self.operand(0)?);
            while self.eat(b',')? {
                operands.push(self.operand(0)?);
            }
            self.expect(b';')?;
        }
        Ok(Instruction { guard, opcode, operands })
    }

    fn operand(&mut self, depth: u32) -> Parsed<Operand<&'a str>> {
        match self.tokens.token {
            Token::Mark(b'{') if depth < 2 => Ok(Operand::Vector(self.list(b'}', depth)?)),
            Token::Mark(b'(') if depth < 2 => Ok(Operand::Arguments(self.list(b')', depth)?)),
            Token::Mark(b'[') => {
                self.tokens.next()?;
                let base = match self.tokens.token {
                    Token::Name(_) => Some(self.name()?),
                    _ => None,
                };
                if let Some(map) = base
                    && depth < 2
                    && self.eat(b',')?
                {
                    if self.tokens.token != Token::Mark(b'{') {
                        return Err(self.tokens.error("expected coordinates in braces"));
                    }
                    let coordinates = self.list(b'}', depth)?;
                    self.expect(b']')?;
                    return Ok(Operand::Tensor { map, coordinates });
                }
                let mut offset = if base.is_none() { self.integer()? as i64 } else { 0 };
                if self.eat(b'+')? {
                    offset = offset.wrapping_add(self.integer()? as i64);
                } else if let Token::Integer(value) = self.tokens.token {
                    self.tokens.next()?;
                    offset = offset.wrapping_add(value as i64);
                }
                self.expect(b']')?;
                Ok(Operand::Address { base, offset })
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
            Token::Integer(value) => self.tokens.next().map(|_| Operand::Integer(value as i64)),
            Token::Single(bits) => self.tokens.next().map(|_| Operand::Single(bits)),
            Token::Double(bits) => self.tokens.next().map(|_| Operand::Double(bits)),
            _ => Err(self.tokens.error("expected an operand")),
        }
    }

    /// The operands between the current token and `close`.
    fn list(&mut self, close: u8, depth: u32) -> Parsed<Vec<Operand<&'a str>>> {
        self.tokens.next()?;
        let mut list = Vec::new();
        while !self.eat(close)? {
            list.push(self.operand(depth + 1)?);
            if self.tokens.token != Token::Mark(close) {
                self.expect(b',')?;
            }
        }
        Ok(list)
    }
}
