//! How many entries the lists of an instruction must have.

use syntax::Span;
use syntax::hlo::{AttributeKey, InstructionId, Opcode, ValueNode};

use crate::element_type::ElementTypeExt;
use crate::lower::Lowering;
use crate::print::split_top_level;
use crate::shape::Shape;

impl Lowering<'_> {
    pub(super) fn check_lists(&mut self, at: InstructionId, opcode: Opcode) {
        let instruction = self.instruction(at);
        let operands = self.operand_shapes(instruction);
        let first = operands.first().copied().flatten();
        let rank = first.and_then(Shape::as_array).map(|a| a.rank());
        let mut problems: Vec<(&'static str, Span, String)> = Vec::new();
        for attribute in self.parse.attributes_of(instruction) {
            let text = attribute.value_span.of(self.text);
            match (attribute.key, attribute.value) {
                (Some(AttributeKey::Dimensions), ValueNode::Ints { start, len }) => {
                    let given = self.parse.ints(start, len);
                    let problem = one_dimension(opcode, given, rank);
                    problems.extend(problem.map(|p| ("attribute-value", attribute.value_span, p)));
                }
                (Some(AttributeKey::OperandLayoutConstraints), _) => {
                    let given = list(text).len();
                    if given != operands.len() {
                        let count = operands.len();
                        let message = format!("{given} layout constraints for {count} operands");
                        problems.push(("attribute-value", attribute.value_span, message));
                    } else if let Some(found) = other_constraint(text, &operands) {
                        problems.push(("attribute-value", attribute.value_span, found));
                    }
                }
                (Some(AttributeKey::ParameterReplication), _) => {
                    let given = list(text).len();
                    let leaves = self.shape_of(at).map(leaves);
                    if let Some(leaves) = leaves.filter(|&leaves| leaves != given) {
                        let message = format!("{given} entries, but the parameter has {leaves} arrays");
                        problems.push(("attribute-value", attribute.value_span, message));
                    }
                }
                _ => {}
            }
        }
        let has = |key| self.parse.attributes_of(instruction).iter().any(|a| a.key == Some(key));
        if let Some(message) = first.and_then(|first| missing_dimensions(opcode, first, &has)) {
            problems.push(("missing-attribute", instruction.opcode_span, message));
        }
        if let (Opcode::Conditional, Some(branch)) = (opcode, first) {
            let is_selector = branch.as_array().is_some_and(|a| {
                let is_index = a.element.is_signed_integer() && a.element.bits() == Some(32);
                a.rank() == 0 && (is_index || a.element == syntax::hlo::ElementType::Pred)
            });
            if !is_selector {
                let message = format!(
                    "the first operand selects the branch: expected pred[] or s32[], but it is {branch}"
                );
                problems.push(("shape-mismatch", instruction.opcode_span, message));
            }
        }
        drop(operands);
        for (code, span, message) in problems {
            self.error(code, span, message);
        }
    }
}

/// A broadcast of a non-scalar needs `dimensions`.
pub(super) fn missing_dimensions(
    opcode: Opcode,
    operand: &Shape,
    has: &dyn Fn(AttributeKey) -> bool,
) -> Option<String> {
    let is_missing =
        opcode == Opcode::Broadcast && !operand.dims().is_empty() && !has(AttributeKey::Dimensions);
    is_missing.then(|| "broadcast needs the attribute dimensions: its operand is no scalar".to_owned())
}

/// Errors in `dimensions=` of an op that works along one dimension.
pub(super) fn one_dimension(opcode: Opcode, given: &[i64], rank: Option<usize>) -> Option<String> {
    use Opcode::*;
    let is_one = matches!(
        opcode,
        AllGather
            | AllGatherStart
            | ReduceScatter
            | AllToAll
            | Concatenate
            | GetDimensionSize
            | SetDimensionSize
            | Scan
            | Sort
    );
    if is_one && given.len() != 1 {
        return Some(format!("{opcode} works along one dimension, but {} are given", given.len()));
    }
    let dimension = *given.first().filter(|_| opcode == Scan)?;
    let is_inside = usize::try_from(dimension).is_ok_and(|d| rank.is_none_or(|rank| d < rank));
    (!is_inside).then(|| format!("there is no dimension {dimension}"))
}

/// A layout constraint is the shape of its operand with another layout.
fn other_constraint(text: &str, operands: &[Option<&Shape>]) -> Option<String> {
    list(text).into_iter().zip(operands).enumerate().find_map(|(i, (written, operand))| {
        let operand = (*operand)?;
        let constraint = Shape::from_text(written.trim())?;
        (!constraint.is_compatible(operand))
            .then(|| format!("layout constraint {i} is for {}, but operand {i} is {operand}", written.trim()))
    })
}

fn list(text: &str) -> Vec<&str> {
    split_top_level(text.trim().strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(text))
}

fn leaves(shape: &Shape) -> usize {
    match shape {
        Shape::Tuple(elements) => elements.iter().map(leaves).sum(),
        _ => 1,
    }
}
