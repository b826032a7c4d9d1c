//! `[ROOT] name = [shape] opcode(operands)[, attribute=value]…`

use super::lexer::Token;
use super::line_forms::looks_like_instruction;
use super::parser::{Parsed, Parser};
use super::suggestions::unknown;
use super::tree::{Attribute, Instruction, InstructionId, ValueNode};
use super::vocabulary::{AttributeKey, ElementType, Opcode};
use crate::Span;

impl Parser<'_> {
    pub(crate) fn instruction(&mut self) -> Parsed {
        let start = self.lexer.start;
        let is_root = self.eat_word("ROOT");
        // The name may be omitted in a text that consists of one instruction.
        let is_nameless = self.is_bare && !is_root && self.can_be_shape();
        if !is_nameless && self.at(Token::AttributeName) {
            let word = self.lexer.text_of();
            let message = format!("a space is missing before '=': {word}= is the name of an attribute");
            self.error_at(self.lexer.full_span(), message);
            return Err(super::parser::Reported);
        }
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

    /// Whether this instruction ends too early and another one follows on its own line. Thus a half-typed
    /// instruction invalidates only its own line.
    pub(super) fn is_at_next_instruction(&self) -> bool {
        let between = self.text.as_bytes().get(self.lexer.previous_end..self.lexer.start).unwrap_or_default();
        between.contains(&b'\n') && looks_like_instruction(self.text, self.lexer.start)
    }

    pub(super) fn push(&mut self, mut instruction: Instruction, is_broken: bool) -> InstructionId {
        instruction.is_broken = is_broken;
        instruction.span.end = self.lexer.previous_end.max(instruction.name.end as usize) as u32;
        let id = self.out.instructions.len() as InstructionId;
        // The id of the instruction is not yet set in the inline bodies found inside it.
        for (computation, ..) in &self.inline_bodies {
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

    pub(super) fn shape_and_opcode(&mut self, instruction: &mut Instruction) -> Parsed {
        if self.is_at_next_instruction() {
            return self.fail("expects a result shape and an opcode");
        }
        if self.can_be_shape() {
            let from = self.lexer.start;
            instruction.shape = Some(self.shape()?);
            instruction.shape_span = Span::new(from, self.lexer.previous_end);
        }
        if !self.at(Token::Ident) || self.is_at_next_instruction() {
            return self.fail("expects opcode");
        }
        let word = self.lexer.text_of();
        let Some(opcode) = Opcode::from_name(word).or_else(|| async_sugar(word)) else {
            // Possibly a newer opcode of XLA. Its shape cannot be inferred, so it must be written.
            if instruction.shape.is_some() && self.text.as_bytes().get(self.lexer.end()) == Some(&b'(') {
                let message = unknown("opcode", word, Opcode::ALL.iter().map(|o| o.name()));
                self.unknown_at(self.lexer.span, message);
                instruction.opcode_span = self.lexer.span;
                self.lexer.bump();
                return Ok(());
            }
            let is_shape =
                instruction.shape.is_none() && self.text.as_bytes().get(self.lexer.end()) == Some(&b'[');
            return self.fail(match is_shape {
                true => unknown("element type", word, ElementType::ALL.iter().map(|e| e.name())),
                false => unknown("opcode", word, Opcode::ALL.iter().map(|o| o.name())),
            });
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

    fn attributes(&mut self, instruction: &mut Instruction) -> Parsed {
        // Attributes of other instructions cannot come in between: inline bodies are parsed later.
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
            if self.is_at_next_instruction() {
                return self.fail("expects the attribute's value");
            }
            let from = self.lexer.start;
            let value = match key {
                Some(key) => {
                    if self.out.attributes[first..].iter().any(|a| a.key == Some(key)) {
                        self.error_at(key_span, format!("attribute {key} is given twice"));
                    }
                    let opcode = instruction.opcode;
                    self.kept_if_unknown(|p| p.attribute_value(key, opcode))?
                }
                None => {
                    let name = key_span.of(self.text);
                    let message = unknown("attribute", name, AttributeKey::ALL.iter().map(|k| k.name()));
                    self.unknown_at(key_span, message);
                    self.skip_value()?;
                    ValueNode::Text
                }
            };
            let value_span = Span::new(from, self.lexer.previous_end);
            self.out.attributes.push(Attribute { key, key_span, value, value_span });
            instruction.attributes.1 += 1;
        }
        Ok(())
    }
}

pub(super) fn blank(name: Span, start: usize) -> Instruction {
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
    // These ops have their own async opcodes, without an update.
    let is_dedicated =
        matches!(wrapped, "all-gather" | "all-reduce" | "collective-permute" | "copy" | "recv" | "send");
    Opcode::from_name(wrapped).filter(|_| !is_dedicated).map(|_| opcode)
}
