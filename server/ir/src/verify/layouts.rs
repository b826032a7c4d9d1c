//! Shapes on their own: bounds, layouts that are permutations, packed elements. In scheduled modules also that layouts
//! are equal where values are only passed on or changed in place. Source: `ShapeVerifier::CheckShape` and `InstructionVerifier` when layout sensitive.

use syntax::hlo::{AttributeKey, Opcode};

use super::{Subject, Verifier};
use crate::finding::{InstructionFinding, Part, Severity};
use crate::op_table::is_elementwise;
use crate::shape::{ArrayShape, Shape, UNBOUNDED};

impl Verifier<'_> {
    /// Errors in the shape of an instruction of any opcode.
    pub(super) fn check_shapes(&mut self) {
        // Shapes are shared: each is looked at once.
        let wrong: Vec<bool> = self.block.shapes.iter().map(|shape| wrong_in(shape).is_some()).collect();
        if !wrong.contains(&true) {
            return;
        }
        for (id, instruction) in self.block.parse.instructions.iter().enumerate() {
            let Some(shape) = instruction.shape.filter(|shape| wrong[shape.0 as usize]) else { continue };
            let Some((code, message)) = wrong_in(&self.block.shapes[shape.0 as usize]) else { continue };
            self.findings.push(InstructionFinding {
                instruction: id as u32,
                part: Part::Shape,
                severity: Severity::Error,
                code,
                message,
                shapes: None,
                related: Vec::new(),
                fix: None,
            });
        }
    }

    pub(super) fn check_layouts(&mut self, subject: &Subject<'_>) {
        let Some(declared) = subject.declared else { return };
        match subject.opcode {
            Opcode::Tuple => {
                let Some(elements) = declared.tuple_elements() else { return };
                for (i, (element, operand)) in elements.iter().zip(subject.operands).enumerate() {
                    self.expect_layout(subject, Part::Operand(i as u32), operand, element);
                }
            }
            Opcode::GetTupleElement => {
                let index = subject.attributes.int(AttributeKey::Index).unwrap_or(-1);
                if let Some(element) = subject.operands.first().and_then(|tuple| tuple.element_at(&[index])) {
                    self.expect_layout(subject, Part::Shape, declared, element);
                }
            }
            Opcode::While | Opcode::OptBarrier => {
                if let [operand] = subject.operands {
                    self.expect_layout(subject, Part::Shape, declared, operand);
                }
            }
            Opcode::Fusion | Opcode::Call => {
                let key = if subject.opcode == Opcode::Fusion {
                    AttributeKey::Calls
                } else {
                    AttributeKey::ToApply
                };
                let Some(called) = subject.attributes.computation(key).and_then(|c| self.called(c)) else {
                    return;
                };
                for (i, (operand, parameter)) in subject.operands.iter().zip(&called.parameters).enumerate() {
                    self.expect_layout(subject, Part::Operand(i as u32), operand, parameter);
                }
                self.expect_layout(subject, Part::Shape, declared, &called.result);
            }
            opcode if preserves_layout(opcode) => {
                for (i, operand) in subject.operands.iter().enumerate() {
                    let same_rank = operand.dims().len() == declared.dims().len();
                    if let (Shape::Array(_), Shape::Array(_), true) = (operand, declared, same_rank) {
                        self.expect_layout(subject, Part::Operand(i as u32), operand, declared);
                    }
                }
            }
            _ => {}
        }
    }

    fn expect_layout(&mut self, subject: &Subject<'_>, part: Part, actual: &Shape, expected: &Shape) {
        if !same_layout(actual, expected) {
            let what = match part {
                Part::Operand(i) => format!("operand {i} of {}", subject.opcode),
                _ => subject.opcode.to_string(),
            };
            let message = format!("expected {what} to have the layout of {expected}, but it is {actual}");
            self.error(subject, "layout", part, message);
        }
    }
}

/// Code and message.
fn wrong_in(shape: &Shape) -> Option<(&'static str, String)> {
    match shape {
        Shape::Array(array) => {
            if array.dims.contains(&UNBOUNDED) {
                return Some((
                    "unbounded-dimension",
                    format!("{array} has a dimension without bound, which XLA does not compile"),
                ));
            }
            let layout = array.layout.as_ref()?;
            (!is_permutation(array, &layout.minor_to_major))
                .then(|| ("layout", format!("the layout of {array} is no permutation of its dimensions")))
        }
        Shape::Tuple(elements) => elements.iter().find_map(wrong_in),
        Shape::Buffer(inner) => wrong_in(inner),
        _ => None,
    }
}

fn is_permutation(array: &ArrayShape, order: &[i64]) -> bool {
    let rank = array.rank();
    // Another length is the parser's affair, and descending is by far the most frequent.
    if order.len() != rank || order.iter().zip((0..rank as i64).rev()).all(|(&a, b)| a == b) {
        return true;
    }
    let mut seen = vec![false; rank];
    order.iter().all(|&dim| {
        let slot = usize::try_from(dim).ok().and_then(|dim| seen.get_mut(dim));
        slot.is_some_and(|slot| !std::mem::replace(slot, true))
    })
}

fn same_layout(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Array(a), Shape::Array(b)) => {
            if std::sync::Arc::ptr_eq(a, b) || a.rank() != b.rank() || a.rank() < 2 {
                return true;
            }
            let order = |array: &ArrayShape, i: usize| match &array.layout {
                Some(layout) => layout.minor_to_major.get(i).copied(),
                None => Some((array.rank() - 1 - i) as i64),
            };
            (0..a.rank()).all(|i| order(a, i) == order(b, i))
        }
        (Shape::Tuple(a), Shape::Tuple(b)) => a.iter().zip(b.iter()).all(|(a, b)| same_layout(a, b)),
        _ => true,
    }
}

/// Ops that must not change the layout of an operand with their rank.
/// Source: `LayoutAssignment::InstructionCanChangeLayout`.
pub fn preserves_layout(opcode: Opcode) -> bool {
    use Opcode::*;
    match opcode {
        Copy => false,
        Concatenate | Pad | Slice | DynamicSlice | DynamicUpdateSlice | Reverse | Map | ReduceWindow
        | Sort | SelectAndScatter | Scatter | TriangularSolve | Cholesky | Fft | SetDimensionSize | Topk
        | Scan => true,
        AllGather | AllReduce | AllToAll | CollectiveBroadcast | CollectivePermute | RaggedAllToAll
        | ReduceScatter => true,
        opcode => is_elementwise(opcode),
    }
}
