//! `(operand, operand)`: names, names with shapes, whole instructions, and the numbers and literals of
//! parameters and constants.

use super::instruction::blank;
use super::lexer::{Token, ident_end, is_ident_start, skip_comment};
use super::parser::{Parsed, Parser, is_reserved};
use super::tree::{Instruction, Operand, OperandKind};
use super::vocabulary::{ElementType, Opcode};
use crate::Span;

impl Parser<'_> {
    /// Parses the operands in parentheses. On failure, operands already parsed are dropped.
    pub(super) fn operand_list(&mut self, instruction: &mut Instruction) -> Parsed {
        let opcode = instruction.opcode;
        let mut first = self.out.operands.len();
        instruction.operands = (first as u32, 0);
        if !self.at(Token::LeftParen) {
            return self.fail(match opcode {
                Some(Opcode::Parameter) => "expects '(' before parameter number",
                Some(Opcode::Constant) => "expects '(' before constant literal",
                _ => "expects '(' at the beginning of operands",
            });
        }
        self.lexer.bump();
        let from = self.lexer.start;
        match opcode {
            Some(Opcode::Parameter) => {
                let number = self.int()?;
                if number < 0 {
                    self.error_at(
                        Span::new(from, self.lexer.previous_end),
                        "a parameter number is not negative",
                    );
                    return Err(super::parser::Reported);
                }
                instruction.argument = Span::new(from, self.lexer.previous_end);
                return self.expect(Token::RightParen, "expects ')' after parameter number");
            }
            Some(Opcode::Constant) => {
                let shape = instruction.shape;
                self.literal_of(shape)?;
                instruction.argument = Span::new(from, self.lexer.previous_end);
                return self.expect(Token::RightParen, "expects ')' after constant literal");
            }
            _ => {}
        }
        if let Some(end) = self.printed_operands(from) {
            self.lexer.jump_behind(end);
        } else {
            self.out.operands.truncate(first);
            match opcode {
                Some(_) => self.written_operands(&mut first)?,
                None => self.operands_of_unknown(&mut first)?,
            }
        }
        instruction.argument = Span::new(from, self.lexer.start);
        let end = self.expect(Token::RightParen, "expects ')' at the end of operands");
        if end.is_err() {
            self.out.operands.truncate(first);
        }
        instruction.operands = (first as u32, (self.out.operands.len() - first) as u32);
        end
    }

    /// Parses `%a, b, /*index=2*/%c)` in the form that XLA prints, and returns the offset of the parenthesis.
    /// Any other form is left to the grammar.
    fn printed_operands(&mut self, mut at: usize) -> Option<usize> {
        let bytes = self.text.as_bytes();
        loop {
            let has_sigil = bytes.get(at) == Some(&b'%');
            let start = at + usize::from(has_sigil);
            if !is_ident_start(*bytes.get(start)?) {
                return None;
            }
            let end = ident_end(bytes, start + 1);
            if !has_sigil && !is_plain_name(&self.text[start..end]) {
                return None;
            }
            self.out.operands.push(Operand {
                name: Span::new(start, end),
                shape: None,
                kind: OperandKind::Name,
                span: Span::new(at, end),
            });
            match bytes.get(end)? {
                b')' => return Some(end),
                b',' => at = end + 1,
                _ => return None,
            }
            at += usize::from(bytes.get(at) == Some(&b' '));
            if bytes.get(at) == Some(&b'/') {
                at = skip_comment(bytes, at)?;
            }
        }
    }

    fn written_operands(&mut self, first: &mut usize) -> Parsed {
        loop {
            if !self.missing_operand() && !self.at(Token::RightParen) {
                let Ok(operand) = self.operand(first) else {
                    self.out.operands.truncate(*first);
                    return Err(super::parser::Reported);
                };
                self.out.operands.push(operand);
            }
            if !self.eat(Token::Comma) {
                return Ok(());
            }
        }
    }

    /// Parses the operands of an unknown opcode. If they have a form of their own, the content of the
    /// parentheses is kept as text.
    fn operands_of_unknown(&mut self, first: &mut usize) -> Parsed {
        let start = self.lexer;
        let out = &self.out;
        let (errors, warnings, unknown) = (out.errors.len(), out.warnings.len(), out.unknown.len());
        let (instructions, attributes) = (out.instructions.len(), out.attributes.len());
        let before = *first;
        if self.written_operands(first).is_ok() && self.at(Token::RightParen) {
            return Ok(());
        }
        *first = before;
        self.out.errors.truncate(errors);
        self.out.warnings.truncate(warnings);
        self.out.unknown.truncate(unknown);
        self.out.operands.truncate(before);
        self.out.instructions.truncate(instructions);
        self.out.attributes.truncate(attributes);
        self.lexer = start;
        while !matches!(self.lexer.token, Token::RightParen) {
            self.skip_token("expects ')' at the end of operands")?;
        }
        Ok(())
    }

    /// Warns about a missing operand that XLA's parser skips silently: nothing, an element type, or an opcode
    /// in place of an operand. The warning matters because the operands after it move up.
    fn missing_operand(&mut self) -> bool {
        let ends = || {
            let mut look = self.lexer;
            look.bump();
            matches!(look.token, Token::Comma | Token::RightParen)
        };
        let (span, message) = match self.lexer.token {
            Token::Comma => {
                (Span::new(self.lexer.previous_end, self.lexer.start), "an operand is missing here")
            }
            Token::ElementType(_) if self.text.as_bytes().get(self.lexer.end()) != Some(&b'[') && ends() => {
                (self.lexer.span, "an element type is no operand: XLA skips it (write %name)")
            }
            _ => return false,
        };
        self.warning_at(span, message);
        if !self.at(Token::Comma) {
            self.lexer.bump();
        }
        true
    }

    /// Parses an operand. `first` is the index of the list's first operand; the list moves after the operands
    /// of a nested instruction.
    fn operand(&mut self, first: &mut usize) -> Parsed<Operand> {
        if self.is_at_next_instruction() {
            return self.fail("expects name of an operand, or ')'");
        }
        let start = self.lexer.start;
        let mut shape = None;
        if self.can_be_shape() {
            shape = Some(self.shape()?);
            let ends = matches!(self.lexer.token, Token::Comma | Token::RightParen);
            if self.is_bare && ends {
                let end = self.lexer.previous_end;
                return Ok(Operand {
                    name: Span::new(end, end),
                    shape,
                    kind: OperandKind::ShapeOnly,
                    span: Span::new(start, end),
                });
            }
        }
        if self.at(Token::Ident) && !matches!(self.text.as_bytes().get(self.lexer.end()), Some(b',' | b')')) {
            let mut look = self.lexer;
            look.bump();
            if look.token == Token::LeftParen {
                let before = self.out.operands.split_off(*first);
                let operand = self.nested(|p| p.nested_instruction(start, shape));
                *first = self.out.operands.len();
                self.out.operands.extend(before);
                return operand;
            }
        }
        if !matches!(self.lexer.token, Token::Ident | Token::Name) {
            return self.fail("expects name of an operand");
        }
        let name = self.name()?;
        let mut kind = OperandKind::Name;
        let path = self.out.ints.len();
        while self.eat(Token::Hash) {
            let index = self.int()?;
            self.out.ints.push(index);
            kind = OperandKind::Element { start: path as u32, len: (self.out.ints.len() - path) as u32 };
        }
        Ok(Operand { name, shape, kind, span: Span::new(start, self.lexer.previous_end) })
    }

    /// `add(max(x, y), z)`: no name, no attributes.
    fn nested_instruction(&mut self, start: usize, shape: Option<super::tree::ShapeId>) -> Parsed<Operand> {
        let mut inner = blank(Span::new(self.lexer.start, self.lexer.start), start);
        inner.is_nested = true;
        inner.shape = shape;
        self.shape_and_opcode(&mut inner)?;
        inner.name = inner.opcode_span;
        self.operand_list(&mut inner)?;
        inner.attributes = (self.out.attributes.len() as u32, 0);
        let id = self.push(inner, false);
        let span = Span::new(start, self.lexer.previous_end);
        Ok(Operand { name: inner.opcode_span, shape, kind: OperandKind::Nested(id), span })
    }
}

/// Whether the lexer would produce an identifier here, and the grammar accept it as a name.
fn is_plain_name(word: &str) -> bool {
    !is_reserved(word) && ElementType::from_name(word).is_none() && !matches!(word, "inf" | "nan")
}
