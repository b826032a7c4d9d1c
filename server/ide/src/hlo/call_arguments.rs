//! The operand of a call that is passed for a parameter of the called computation.

use ir::{Opcode, Parameters, op_info};
use syntax::Span;
use syntax::hlo::{AttributeKey, OperandKind, ValueNode};

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;

/// An operand at a call of the parameter's computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Argument {
    pub(crate) call: InstructionRef,
    /// The operand's name.
    pub(crate) span: Span,
}

/// The operands passed for `parameter(n)` at all calls of its computation, in text order.
pub(crate) fn arguments(context: &FileContext<'_>, at: InstructionRef) -> Vec<Argument> {
    let Some(number) = context.block(at.piece).parameter_number(at.id) else { return Vec::new() };
    let number = number as usize;
    let Some(computation) = context.computation_index(at) else { return Vec::new() };
    let mut found = Vec::new();
    let calls = db::call_graph(context.db, context.view.file).incoming(computation);
    for of_piece in calls.chunk_by(|a, b| a.piece == b.piece) {
        crate::analysis::check_cancelled(context.db);
        let block = context.block(of_piece[0].piece);
        let names: Vec<Span> = block.callees().map(|(_, span)| span).collect();
        for call in of_piece {
            let Some(&name) = names.get(call.nth as usize) else { continue };
            let instruction = block.instruction(call.instruction);
            let attributes = block.parse.attributes_of(instruction);
            let holds = |a: &&syntax::hlo::Attribute| a.value_span.contains(name.start as usize);
            let Some(attribute) = attributes.iter().find(holds) else { continue };
            // In a list of branches, the index in the list.
            let branch = match attribute.value {
                ValueNode::Computations { start, len } => {
                    block.parse.spans(start, len).partition_point(|s| s.start < name.start)
                }
                _ => 0,
            };
            let operands = block.parse.operands_of(instruction);
            let number_of = |(opcode, key)| operand_of(opcode, key, branch, operands.len(), number);
            let Some(operand) = instruction.opcode.zip(attribute.key).and_then(number_of) else { continue };
            let written = &operands[operand];
            if matches!(written.kind, OperandKind::Name | OperandKind::Element { .. }) {
                let call = InstructionRef { piece: call.piece, id: call.instruction };
                found.push(Argument { call, span: written.name });
            }
        }
    }
    found
}

/// The index of the operand passed for parameter `number` of the computation given by attribute `key`, as a
/// whole or element by element. Source: `hlo_verifier.cc`, which compares their shapes.
fn operand_of(
    opcode: Opcode,
    key: AttributeKey,
    branch: usize,
    operands: usize,
    number: usize,
) -> Option<usize> {
    let half = operands / 2;
    let operand = match op_info(opcode).parameters {
        Parameters::None => return None,
        Parameters::Operands => number,
        Parameters::Branch if number > 0 => return None,
        Parameters::Branch if key == AttributeKey::FalseComputation => 2,
        Parameters::Branch => branch + 1,
        Parameters::Reduction if number < half => half + number,
        Parameters::Reduction => number - half,
        Parameters::Update if number < half => number,
        Parameters::Update => number + 1,
        Parameters::Comparison => number / 2,
        Parameters::Combination => 0,
    };
    (operand < operands).then_some(operand)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_for_operands() {
        use AttributeKey::{BranchComputations, Calls, FalseComputation, ToApply};
        let of = |opcode, key, branch, operands| -> Vec<Option<usize>> {
            (0..4).map(|n| operand_of(opcode, key, branch, operands, n)).collect()
        };
        assert_eq!(of(Opcode::Fusion, Calls, 0, 2), [Some(0), Some(1), None, None]);
        assert_eq!(of(Opcode::Reduce, ToApply, 0, 4), [Some(2), Some(3), Some(0), Some(1)]);
        assert_eq!(of(Opcode::Scatter, ToApply, 0, 5), [Some(0), Some(1), Some(3), Some(4)]);
        assert_eq!(of(Opcode::Sort, ToApply, 0, 2), [Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!(of(Opcode::Conditional, BranchComputations, 1, 3), [Some(2), None, None, None]);
        assert_eq!(of(Opcode::Conditional, FalseComputation, 0, 3), [Some(2), None, None, None]);
        assert_eq!(of(Opcode::SelectAndScatter, AttributeKey::Select, 0, 3), [None; 4]);
    }
}
