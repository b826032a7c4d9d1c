//! Values of the type `b(…)`: memory that is written in place, by one writer at a time.
//! Source: `hlo_verifier.cc` VerifyBuffers, VerifyCustomCallBuffers and the targets Pin, Unpin and CreateBuffer.

use syntax::hlo::{AttributeKey, Instruction, InstructionId, Opcode};

use super::Verifier;
use crate::attributes::AttributeView;
use crate::finding::{Anchor, InstructionFinding, Part, Severity};
use crate::header::aliases;
use crate::shape::Shape;

pub(super) fn holds_buffer(shape: &Shape) -> bool {
    match shape {
        Shape::Buffer(_) => true,
        Shape::Tuple(elements) => elements.iter().any(holds_buffer),
        _ => false,
    }
}

impl Verifier<'_> {
    pub(super) fn check_buffers(&mut self, id: InstructionId, instruction: &Instruction) {
        let Some(opcode) = instruction.opcode else { return };
        let (start, len) = instruction.operands;
        let mut operands = Vec::with_capacity(len as usize);
        for index in start..start + len {
            let Some(shape) = self.operand(index) else { return };
            operands.push(shape);
        }
        let Some(result) = self.block.shape(id) else { return };
        let makes = holds_buffer(result);
        let attributes =
            AttributeView::Parsed { text: &self.block.text, parse: &self.block.parse, instruction };
        if let (Opcode::CustomCall, Some((part, message))) =
            (opcode, wrong_in_custom_call(attributes, &operands, result))
        {
            return self.buffer_error(id, part, message, Vec::new());
        }
        // Calls of a stream pass on what they are given.
        let is_stream_call = || {
            let text = attributes.text(AttributeKey::FrontendAttributes);
            text.is_some_and(|text| text.contains("_xla_stream_annotation"))
        };
        if opcode == Opcode::Call && !is_stream_call() {
            if makes {
                let message = format!("call makes no buffer, but the shape is {result}");
                return self.buffer_error(id, Part::Shape, message, Vec::new());
            }
        } else if !may_hold_buffers(opcode)
            && opcode != Opcode::Fusion
            && let Some(i) = operands.iter().position(|operand| holds_buffer(operand))
        {
            let message = format!("{opcode} takes no buffers, but operand {i} is {}", operands[i]);
            return self.buffer_error(id, Part::Operand(i as u32), message, Vec::new());
        } else if makes && !may_hold_buffers(opcode) {
            let message = format!("{opcode} makes no buffer, but the shape is {result}");
            return self.buffer_error(id, Part::Shape, message, Vec::new());
        } else if makes && opcode == Opcode::Parameter && self.is_in_entry(id) {
            let message = format!("the entry takes no buffers, but the parameter is {result}");
            return self.buffer_error(id, Part::Shape, message, Vec::new());
        }
        if makes {
            self.check_writers(id);
        }
    }

    /// Of what uses a buffer as a whole at most one writes it or takes it back as an array.
    fn check_writers(&mut self, id: InstructionId) {
        let block = self.block;
        if !matches!(block.shape(id), Some(Shape::Buffer(_))) {
            return;
        }
        let writes = |&&user: &&InstructionId| {
            let instruction = block.instruction(user);
            match instruction.opcode {
                Some(Opcode::CustomCall) => true,
                Some(Opcode::DynamicUpdateSlice) => block
                    .operands_of(user)
                    .next()
                    .is_some_and(|(_, target)| target == crate::block::OperandRef::Local(id)),
                _ => false,
            }
        };
        let mut writers = block.users(id).iter().filter(writes);
        if let (Some(&first), Some(&second)) = (writers.next(), writers.next())
            && first != second
        {
            let message = format!(
                "{} is written twice, by {} and by {}",
                block.name(id),
                block.name(first),
                block.name(second)
            );
            let related = vec![
                (Anchor::Part(first, Part::Name), "the first writer".to_owned()),
                (Anchor::Part(second, Part::Name), "the second writer".to_owned()),
            ];
            self.buffer_error(id, Part::Name, message, related);
        }
    }

    fn is_in_entry(&self, id: InstructionId) -> bool {
        let computations = self.block.parse.computations.iter();
        computations.into_iter().any(|c| c.is_entry && c.instructions.contains(&id))
    }

    fn buffer_error(
        &mut self,
        id: InstructionId,
        part: Part,
        message: String,
        related: Vec<(Anchor, String)>,
    ) {
        self.findings.push(InstructionFinding {
            instruction: id,
            part,
            severity: Severity::Error,
            code: "buffer",
            message,
            shapes: None,
            related,
            fix: None,
        });
    }
}

/// Pin, Unpin and CreateBuffer, where no buffer is in sight.
pub(super) fn makes_or_ends_buffers(target: &str) -> bool {
    matches!(target, "CreateBuffer" | "Pin" | "Unpin")
}

fn may_hold_buffers(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        Parameter
            | While
            | Tuple
            | GetTupleElement
            | DynamicUpdateSlice
            | AsyncStart
            | AsyncUpdate
            | AsyncDone
            | Call
            | Conditional
            | CustomCall
    )
}

/// The three targets that make and end buffers, and all others, which only pass them through.
pub(super) fn wrong_in_custom_call(
    attributes: AttributeView<'_>,
    operands: &[&Shape],
    result: &Shape,
) -> Option<(Part, String)> {
    let text = attributes.text(AttributeKey::OutputToOperandAliasing);
    let aliased = text.map(aliases).unwrap_or_default();
    let is_buffer = |shape: &Shape| matches!(shape, Shape::Buffer(_));
    let target = attributes.text(AttributeKey::CustomCallTarget).unwrap_or_default();
    match target {
        "CreateBuffer" => {
            if !operands.is_empty() {
                return Some((Part::Operands, "CreateBuffer takes no operands".to_owned()));
            }
            return (!is_buffer(result))
                .then(|| (Part::Shape, format!("CreateBuffer makes a buffer, but the shape is {result}")));
        }
        "Pin" | "Unpin" => {
            let pins = target == "Pin";
            let (from, to) = if pins { ("an array", "a buffer") } else { ("a buffer", "an array") };
            let is_array = |shape: &Shape| matches!(shape, Shape::Array(_));
            let takes = |shape: &Shape| if pins { is_array(shape) } else { is_buffer(shape) };
            let makes = |shape: &Shape| if pins { is_buffer(shape) } else { is_array(shape) };
            if operands.len() != 1 || !takes(operands[0]) {
                return Some((Part::Operands, format!("{target} takes one operand, {from}")));
            }
            if !makes(result) {
                return Some((Part::Shape, format!("{target} makes {to}, but the shape is {result}")));
            }
            return (aliased.len() != 1).then(|| {
                let part = text.map_or(Part::Opcode, |_| Part::Value(AttributeKey::OutputToOperandAliasing));
                (part, format!("{target} needs output_to_operand_aliasing={{{{}}: (0, {{}})}}"))
            });
        }
        _ => {}
    }
    for (i, operand) in operands.iter().enumerate() {
        let is_passed = || aliased.iter().any(|alias| alias.parameter == i as i64);
        if is_buffer(operand) && !is_passed() {
            let message = format!(
                "operand {i} is a buffer: expected an entry of output_to_operand_aliasing that gives it to the result"
            );
            return Some((Part::Operand(i as u32), message));
        }
    }
    let is_from_operand = || aliased.iter().any(|alias| alias.output.is_empty());
    (is_buffer(result) && !is_from_operand()).then(|| {
        let message = format!(
            "the result is {result}: expected an operand that output_to_operand_aliasing gives to it"
        );
        (Part::Shape, message)
    })
}
