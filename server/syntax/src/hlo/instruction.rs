//! `[ROOT] name = [shape] opcode(operands)[, attribute=value]…`

use super::lexer::{Token, ident_end, is_ident_start, skip_comment};
use super::parser::{Parsed, Parser, is_reserved};
use super::tree::{Attribute, Instruction, InstructionId, Operand, OperandKind, Value};
use super::vocabulary::{AttributeKey, ElementType, Opcode};
use crate::Span;

impl Parser<'_> {
    pub(crate) fn instruction(&mut self) -> Parsed {
        let start = self.lexer.start;
        let is_root = self.eat_word("ROOT");
        // The name may be left out in a text that is one instruction.
        let is_nameless = self.is_bare && !is_root && self.can_be_shape();
        let name = if is_nameless { Span::new(start, start) } else { self.name()? };
        let mut instruction = blank(name, start);
        instruction.is_root = is_root;
        let equal =
            if is_nameless { Ok(()) } else { self.expect(Token::Equal, "expects '=' in instruction") };
        let result = match equal {
            Ok(()) => self.right_hand_side(&mut instruction),
            error => error,
        };
        self.push(instruction, result.is_err());
        result
    }

    fn push(&mut self, mut instruction: Instruction, is_broken: bool) -> InstructionId {
        instruction.is_broken = is_broken;
        instruction.span.end = self.lexer.previous_end.max(instruction.name.end as usize) as u32;
        let id = self.out.instructions.len() as InstructionId;
        // Inline bodies found on the way do not know their instruction yet.
        for (computation, _) in &self.inline_bodies {
            let kind = &mut self.out.computations[*computation as usize].kind;
            if *kind == super::tree::ComputationKind::Inline(InstructionId::MAX) {
                *kind = super::tree::ComputationKind::Inline(id);
            }
        }
        self.out.instructions.push(instruction);
        id
    }

    fn right_hand_side(&mut self, instruction: &mut Instruction) -> Parsed {
        self.shape_and_opcode(instruction)?;
        self.operand_list(instruction)?;
        self.attributes(instruction)
    }

    fn shape_and_opcode(&mut self, instruction: &mut Instruction) -> Parsed {
        if self.can_be_shape() {
            let from = self.lexer.start;
            instruction.shape = Some(self.shape()?);
            instruction.shape_span = Span::new(from, self.lexer.previous_end);
        }
        if !self.at(Token::Ident) {
            return self.fail("expects opcode");
        }
        let word = self.lexer.text_of();
        let Some(opcode) = Opcode::from_name(word).or_else(|| async_sugar(word)) else {
            return self.fail(format!("unknown opcode: {word}"));
        };
        instruction.opcode = Some(opcode);
        instruction.opcode_span = self.lexer.span;
        self.lexer.bump();
        if instruction.shape.is_none() && !opcode.shape_is_inferable() {
            self.error_at(
                instruction.opcode_span,
                format!("{opcode} needs a result shape: it cannot be inferred"),
            );
            return Err(super::parser::Reported);
        }
        Ok(())
    }

    /// Where it fails, what was read of the operands is left out.
    fn operand_list(&mut self, instruction: &mut Instruction) -> Parsed {
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
            self.written_operands(&mut first)?;
        }
        instruction.argument = Span::new(from, self.lexer.start);
        let end = self.expect(Token::RightParen, "expects ')' at the end of operands");
        if end.is_err() {
            self.out.operands.truncate(first);
        }
        instruction.operands = (first as u32, (self.out.operands.len() - first) as u32);
        end
    }

    /// Reads `%a, b, /*index=2*/%c)` as XLA prints it, and answers where the parenthesis is. Any other form is left to
    /// the grammar.
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

    /// What XLA's parser skips without a word where an operand should be: nothing, an element type, or an opcode.
    /// It is worth a warning, because the operands behind it move up.
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

    /// `first` is where the operands before this one are, which move behind those of a nested instruction.
    fn operand(&mut self, first: &mut usize) -> Parsed<Operand> {
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

    fn attributes(&mut self, instruction: &mut Instruction) -> Parsed {
        // Attributes hold no attributes of other instructions: inline bodies are parsed later.
        let first = self.out.attributes.len();
        instruction.attributes = (first as u32, 0);
        while self.at(Token::Comma) {
            self.lexer.bump();
            if !self.at(Token::AttributeName) {
                return self.fail("expects attribute name");
            }
            let key_span = self.lexer.span;
            let key = AttributeKey::from_name(self.lexer.text_of());
            self.lexer.bump();
            let from = self.lexer.start;
            let value = match key {
                Some(key) => {
                    if self.out.attributes[first..].iter().any(|a| a.key == Some(key)) {
                        self.error_at(key_span, format!("attribute {key} is given twice"));
                    }
                    self.attribute_value(key, instruction.opcode)?
                }
                None => {
                    let name = key_span.of(self.text);
                    self.error_at(key_span, format!("unexpected attribute \"{name}\""));
                    self.skip_value()?;
                    Value::Text
                }
            };
            let value_span = Span::new(from, self.lexer.previous_end);
            self.out.attributes.push(Attribute { key, key_span, value, value_span });
            instruction.attributes.1 += 1;
        }
        Ok(())
    }
}

/// Whether the lexer would read an identifier here, and the grammar a name.
fn is_plain_name(word: &str) -> bool {
    !is_reserved(word) && ElementType::from_name(word).is_none() && !matches!(word, "inf" | "nan")
}

fn blank(name: Span, start: usize) -> Instruction {
    Instruction {
        name,
        opcode: None,
        is_root: false,
        is_broken: false,
        is_nested: false,
        opcode_span: Span::default(),
        shape: None,
        shape_span: Span::default(),
        operands: (0, 0),
        attributes: (0, 0),
        argument: Span::default(),
        span: Span::new(start, start),
    }
}

/// `X-start`, `X-update`, `X-done` of an op without async opcodes of its own.
fn async_sugar(word: &str) -> Option<Opcode> {
    let (wrapped, opcode) = if let Some(op) = word.strip_suffix("-start") {
        (op, Opcode::AsyncStart)
    } else if let Some(op) = word.strip_suffix("-update") {
        (op, Opcode::AsyncUpdate)
    } else {
        (word.strip_suffix("-done")?, Opcode::AsyncDone)
    };
    // These have opcodes of their own, and no update.
    let is_dedicated =
        matches!(wrapped, "all-gather" | "all-reduce" | "collective-permute" | "copy" | "recv" | "send");
    Opcode::from_name(wrapped).filter(|_| !is_dedicated).map(|_| opcode)
}
