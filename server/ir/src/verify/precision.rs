//! Floating operands of one op have one type, unless the op converts.
//! Source: `ShapeVerifier::CheckMixedPrecisionOperands`, without allow_mixed_precision.

use syntax::hlo::{AttributeKey, ElementType, Opcode};

use super::{Subject, Verifier};
use crate::element_type::ElementTypeExt;
use crate::finding::{Part, Severity};
use crate::infer::Called;
use crate::op_table::op_info;
use crate::shape::Shape;

impl Verifier<'_> {
    pub(super) fn check_precision(&mut self, subject: &Subject<'_>) {
        self.check_floating(subject);
        if matches!(subject.opcode, Opcode::Reduce | Opcode::ReduceWindow) {
            self.check_reducer_types(subject);
        }
    }

    fn check_floating(&mut self, subject: &Subject<'_>) {
        let Some((part, message)) = mixed_operands(subject.opcode, subject.operands, subject.declared) else {
            return;
        };
        self.error(subject, MIXED, part, message);
        // Each array of a variadic scatter is combined with updates of its own type.
        if let (Opcode::Scatter, Some(finding)) = (subject.opcode, self.findings.last_mut()) {
            finding.severity = Severity::Warning;
        }
    }

    fn check_reducer_types(&mut self, subject: &Subject<'_>) {
        let reducer = subject.attributes.computation(AttributeKey::ToApply).and_then(|c| self.called(c));
        if let Some((part, message)) = reducer.and_then(|called| mixed_reducer(subject.operands, &called)) {
            self.error(subject, MIXED, part, message);
        }
    }
}

/// XLA's compilers refuse it: they do not tell the verifier to let mixed precision pass.
const MIXED: &str = "mixed-precision";

/// The operand whose floating-point type differs from the others', of an op that requires equal types.
pub(super) fn mixed_operands(
    opcode: Opcode,
    operands: &[&Shape],
    declared: Option<&Shape>,
) -> Option<(Part, String)> {
    if op_info(opcode).mixes_precision {
        return None;
    }
    let mut floats = operands.iter().enumerate().filter_map(|(i, operand)| Some((i, floating(operand)?)));
    let (first, other) = floats.next()?;
    let (i, element) = floats.find(|&(_, element)| element != other)?;
    // The result says which of two types is wrong.
    let is_of_result = declared.and_then(floating) == Some(element);
    let part = Part::Operand(if is_of_result { first } else { i } as u32);
    Some((part, format!("operands of {opcode} mix {other} and {element}")))
}

/// The first operand whose type differs from that of its reducer parameter.
pub(super) fn mixed_reducer(operands: &[&Shape], called: &Called) -> Option<(Part, String)> {
    let mut pairs = operands.iter().zip(&called.parameters).enumerate();
    let (i, (operand, parameter)) = pairs.find(|(_, (o, parameter))| o.element() != parameter.element())?;
    let message = format!(
        "expected operand {i} to have the type of {parameter}, parameter {i} of to_apply, but it is {operand}"
    );
    Some((Part::Operand(i as u32), message))
}

/// The first floating type in a shape.
fn floating(shape: &Shape) -> Option<ElementType> {
    match shape {
        Shape::Tuple(elements) => elements.iter().find_map(floating),
        other => other.element().filter(|element| element.is_floating()),
    }
}
