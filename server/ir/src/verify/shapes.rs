//! The declared result shape against the inferred one. Source: `ShapeVerifier::CheckShape`.

use std::sync::Arc;

use syntax::hlo::Opcode;

use super::{Subject, Verifier};
use crate::finding::{Anchor, Fix, InstructionFinding, Part, Severity};
use crate::shape::{ArrayShape, Layout, Shape};

impl Verifier<'_> {
    pub(super) fn compare(&mut self, subject: &Subject<'_>, inferred: &Shape) {
        let Some(declared) = subject.declared else { return };
        let Some(expected) = expected(declared, inferred) else { return };
        let id = subject.id;
        use Opcode::{AddDependency, AfterAll, Infeed, Outfeed, Recv, RecvDone, Send, SendDone};
        // XLA reads the shape that is written here and then takes its own.
        let is_ignored = matches!(
            subject.opcode,
            AfterAll | AddDependency | Send | SendDone | Recv | RecvDone | Infeed | Outfeed
        );
        let is_called = matches!(subject.opcode, Opcode::Call | Opcode::Fusion | Opcode::Conditional);
        let mut related = Vec::new();
        if is_called {
            let attributes = self.block.parse.attributes_of(subject.instruction);
            let keys = attributes.iter().filter(|a| {
                use syntax::hlo::ValueNode::{Computation, Computations, Inline};
                matches!(a.value, Computation(_) | Computations { .. } | Inline(_))
            });
            let root = keys.filter_map(|a| a.key).next();
            related.extend(
                root.map(|key| (Anchor::CalleeRoot(id, key, 0), "the called computation's root".to_owned())),
            );
        } else {
            let shown = subject.operands.len().min(3) as u32;
            related.extend((0..shown).map(|n| {
                (Anchor::Definition(id, n), format!("operand {n} is {}", subject.operands[n as usize]))
            }));
        }
        self.findings.push(InstructionFinding {
            instruction: id,
            part: Part::Shape,
            severity: if is_ignored { Severity::Warning } else { Severity::Error },
            code: "shape-mismatch",
            message: mismatch(subject.opcode, &expected, declared),
            fix: Some(Fix::replace(
                format!("set the result shape to {expected}"),
                Anchor::Part(id, Part::Shape),
                expected.to_string(),
            )),
            shapes: Some((expected, declared.clone())),
            related,
        });
    }
}

/// The shape to write instead of the declared one; `None` where they are compatible.
pub(super) fn expected(declared: &Shape, inferred: &Shape) -> Option<Shape> {
    (!declared.is_compatible(inferred)).then(|| in_layout(inferred, declared))
}

pub(super) fn mismatch(opcode: Opcode, expected: &Shape, declared: &Shape) -> String {
    format!("{opcode} makes {expected} here, but the shape is {declared}")
}

/// `shape` with the layouts of `like` where they fit; where they do not, row-major if `like` writes layouts.
fn in_layout(shape: &Shape, like: &Shape) -> Shape {
    match (shape, like) {
        (Shape::Array(array), _) => {
            let other = like.as_array();
            let layout = other.and_then(|other| other.layout.as_ref()).filter(|_| array.rank() > 0);
            let layout = layout.map(|layout| match other {
                Some(other) if other.rank() == array.rank() => layout.clone(),
                _ => Layout::row_major(array.rank()),
            });
            Shape::Array(Arc::new(ArrayShape { layout, ..ArrayShape::clone(array) }))
        }
        (Shape::Tuple(elements), Shape::Tuple(others)) => Shape::Tuple(
            elements
                .iter()
                .enumerate()
                .map(|(i, e)| others.get(i).map_or(e.clone(), |o| in_layout(e, o)))
                .collect(),
        ),
        (Shape::Tuple(elements), _) => Shape::Tuple(elements.iter().map(|e| in_layout(e, like)).collect()),
        _ => shape.clone(),
    }
}
