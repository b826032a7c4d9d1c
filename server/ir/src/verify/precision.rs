//! Floating operands of one op have one type, unless the op converts.
//! Source: `ShapeVerifier::CheckMixedPrecisionOperands`, without allow_mixed_precision.

use syntax::hlo::{AttributeKey, ElementType, Opcode};

use super::{Subject, Verifier};
use crate::element_type::ElementTypeExt;
use crate::finding::{Part, Severity};
use crate::infer::is_never_mixed;
use crate::shape::Shape;

impl Verifier<'_> {
    pub(super) fn check_precision(&mut self, subject: &Subject<'_>) {
        if is_never_mixed(subject.opcode) {
            self.check_floating(subject);
        }
        if matches!(subject.opcode, Opcode::Reduce | Opcode::ReduceWindow) {
            self.check_reducer_types(subject);
        }
    }

    fn check_floating(&mut self, subject: &Subject<'_>) {
        if subject.operands.len() < 2 {
            return;
        }
        let mut seen: Option<(usize, ElementType)> = None;
        for (i, operand) in subject.operands.iter().enumerate() {
            let Some(element) = floating(operand) else { continue };
            match seen {
                None => seen = Some((i, element)),
                Some((first, other)) if other != element => {
                    // The result tells which of two types is the stranger.
                    let result = subject.declared.and_then(floating);
                    let part = if result == Some(element) {
                        Part::Operand(first as u32)
                    } else {
                        Part::Operand(i as u32)
                    };
                    let message = format!("operands of {} mix {other} and {element}", subject.opcode);
                    self.mixed(subject, part, message);
                    // Each array of a variadic scatter is combined with updates of its own type.
                    if let (Opcode::Scatter, Some(finding)) = (subject.opcode, self.findings.last_mut()) {
                        finding.severity = Severity::Warning;
                    }
                    return;
                }
                Some(_) => {}
            }
        }
    }

    /// XLA's compilers refuse it: they do not tell the verifier to let mixed precision pass.
    fn mixed(&mut self, subject: &Subject<'_>, part: Part, message: String) {
        self.error(subject, "mixed-precision", part, message);
    }

    /// Operands have the very types of the reducer's parameters.
    fn check_reducer_types(&mut self, subject: &Subject<'_>) {
        let Some(called) = subject.attributes.computation(AttributeKey::ToApply).and_then(|c| self.called(c))
        else {
            return;
        };
        for (i, (operand, parameter)) in subject.operands.iter().zip(&called.parameters).enumerate() {
            if operand.element() != parameter.element() {
                let message = format!(
                    "expected operand {i} to have the type of {parameter}, parameter {i} of to_apply, but it is {operand}"
                );
                return self.mixed(subject, Part::Operand(i as u32), message);
            }
        }
    }
}

/// The first floating type in a shape.
fn floating(shape: &Shape) -> Option<ElementType> {
    match shape {
        Shape::Tuple(elements) => elements.iter().find_map(floating),
        other => other.element().filter(|element| element.is_floating()),
    }
}
