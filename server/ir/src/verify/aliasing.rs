//! Results that share memory with operands, and custom calls that prescribe layouts.
//! Source: `hlo_verifier.cc` CheckAliasing, HandleFusion, HandleCustomCall.

use syntax::hlo::{AttributeKey, Opcode};

use super::{Subject, Verifier};
use crate::finding::Part;
use crate::header::aliases;
use crate::shape::Shape;

impl Verifier<'_> {
    pub(super) fn check_aliasing(&mut self, subject: &Subject<'_>) {
        if !matches!(subject.opcode, Opcode::Fusion | Opcode::CustomCall | Opcode::AsyncStart) {
            return;
        }
        let key = AttributeKey::OutputToOperandAliasing;
        let (Some(text), Some(declared)) = (subject.attributes.text(key), subject.declared) else { return };
        let skips = subject
            .attributes
            .text(AttributeKey::FrontendAttributes)
            .is_some_and(|text| text.contains("xla_skip_custom_call_alias_shape_check"));
        // Operands of an async op may be bound later: its computation has them all.
        let is_async = subject.opcode == Opcode::AsyncStart;
        let called = subject.attributes.computation(AttributeKey::Calls).filter(|_| is_async);
        let called = called.and_then(|callee| self.called(callee));
        for alias in aliases(text) {
            let number = usize::try_from(alias.parameter).ok();
            let bound = number.and_then(|i| subject.operands.get(i).copied());
            let operand = bound.or_else(|| called.as_ref().and_then(|called| called.parameters.get(number?)));
            if operand.is_none() && is_async && called.is_none() {
                continue;
            }
            let message = match (
                declared.element_at(&alias.output),
                operand.and_then(|o| o.element_at(&alias.index)),
            ) {
                (None, _) => format!("{:?} is no element of the result, {declared}", alias.output),
                (_, None) => match operand {
                    None => format!("there is no operand {}", alias.parameter),
                    Some(operand) => {
                        format!("{:?} is no element of operand {}, {operand}", alias.index, alias.parameter)
                    }
                },
                (Some(result), Some(operand)) if !skips && !inside(result).is_compatible(inside(operand)) => {
                    format!("expected the operand's {operand} where the result is {result}")
                }
                _ => continue,
            };
            return self.error(subject, "aliasing", Part::Value(key), message);
        }
    }
}

/// Custom calls turn arrays into buffers and back.
fn inside(shape: &Shape) -> &Shape {
    match shape {
        Shape::Buffer(inner) => inner,
        other => other,
    }
}
