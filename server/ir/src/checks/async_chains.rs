//! `async-start`, `async-update`, `async-done`: one operation in steps, whose steps must agree.

use syntax::Span;
use syntax::hlo::{AttributeKey, Instruction, InstructionId, Opcode, ValueNode};

use crate::block::OperandRef;
use crate::lower::Lowering;
use crate::shape::Shape;

impl<'a> Lowering<'a> {
    pub(super) fn check_async_chain(&mut self, at: InstructionId, opcode: Opcode) {
        let instruction = self.instruction(at);
        let span = instruction.opcode_span;
        if matches!(opcode, Opcode::AsyncStart | Opcode::AsyncUpdate) {
            let is_chain = |shape: &Shape| {
                let elements = shape.tuple_elements().unwrap_or_default();
                elements.len() >= 2 && elements[0].tuple_elements().is_some()
            };
            if let Some(shape) = self.shape_of(at).filter(|s| !is_chain(s)) {
                let message = format!("expected ((operands, …), result, …), but the shape is {shape}");
                return self.error("shape-mismatch", instruction.shape_span, message);
            }
        }
        if !matches!(opcode, Opcode::AsyncUpdate | Opcode::AsyncDone) {
            return;
        }
        if instruction.operands.1 == 0 {
            return self.error(
                "operand-count",
                span,
                format!("{opcode} needs the step before it as operand"),
            );
        }
        let Some(before) = self.step_before(instruction) else { return };
        if before.opcode == Some(Opcode::AsyncDone) {
            let message = format!("{opcode} follows async-start or async-update, but not async-done");
            return self.error("async-chain", span, message);
        }
        // The chain may lead through other instructions, and around loops: those are not followed.
        let mut start = before;
        while start.opcode == Some(Opcode::AsyncUpdate) {
            match self.step_before(start) {
                Some(before) => start = before,
                None => return,
            }
        }
        if start.opcode != Some(Opcode::AsyncStart) {
            return;
        }
        self.check_against_start(instruction, start);
    }

    /// The instruction of this block whose result the first operand is.
    fn step_before(&self, instruction: &Instruction) -> Option<&'a Instruction> {
        let (first, count) = instruction.operands;
        // One that is broken may have none.
        if count == 0 {
            return None;
        }
        match self.operand_target(first) {
            OperandRef::Local(id) => Some(self.instruction(id)),
            _ => None,
        }
    }

    fn check_against_start(&mut self, step: &Instruction, start: &Instruction) {
        let wrapped = |i: &Instruction| {
            let word = i.opcode_span.of(self.text);
            let op = word.rsplit_once('-').map_or("", |(op, _)| op);
            (op != "async").then_some(op)
        };
        if let (Some(here), Some(there)) = (wrapped(step), wrapped(start))
            && here != there
        {
            let message = format!("the chain started with {there}, but goes on with {here}");
            return self.error("async-chain", step.opcode_span, message);
        }
        let computation = |i: &Instruction| {
            self.attribute_of(i, AttributeKey::Calls).and_then(|(value, span)| match value {
                ValueNode::Computation(name) => Some((name.of(self.text), span)),
                _ => None,
            })
        };
        if let (Some((here, span)), Some((there, _))) = (computation(step), computation(start))
            && here != there
        {
            let message = format!("the chain calls {there}, but {here} is written here");
            return self.error("async-chain", span, message);
        }
        let thread = |i: &Instruction| {
            self.attribute_of(i, AttributeKey::AsyncExecutionThread).and_then(|(value, span)| match value {
                ValueNode::String(name) => Some((name.of(self.text), span)),
                _ => None,
            })
        };
        if let Some((here, span)) = thread(step) {
            let there = thread(start).map_or("main", |(name, _)| name);
            if here != there {
                let message = format!("the chain runs on thread {there}, but {here} is written here");
                self.error("async-chain", span, message);
            }
        }
    }

    fn attribute_of(&self, instruction: &Instruction, key: AttributeKey) -> Option<(ValueNode, Span)> {
        let attributes = self.parse.attributes_of(instruction).iter();
        attributes.clone().find(|a| a.key == Some(key)).map(|a| (a.value, a.value_span))
    }
}
