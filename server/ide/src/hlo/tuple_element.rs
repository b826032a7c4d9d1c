//! Finds the element of a tuple: through `tuple`, through ops that forward tuples, and in called
//! computations.

use ir::Opcode;
use syntax::hlo::{AttributeKey, OperandKind, ValueNode};

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;

/// The largest number of steps; recursive computations would never end.
const MAX_STEPS: u32 = 64;

/// The instruction whose result is element `index` of `tuple`, if the text determines it.
pub(crate) fn element(
    context: &FileContext<'_>,
    tuple: InstructionRef,
    index: usize,
) -> Option<InstructionRef> {
    follow(context, tuple, vec![index], 0)
}

/// The element that a `get-tuple-element` extracts.
pub(crate) fn element_taken(context: &FileContext<'_>, at: InstructionRef) -> Option<InstructionRef> {
    let tuple = context.definition(at, 0)?;
    element(context, tuple, element_index(context, at)?)
}

/// `index=` of a `get-tuple-element`.
fn element_index(context: &FileContext<'_>, at: InstructionRef) -> Option<usize> {
    let block = context.block(at.piece);
    let instruction = block.instruction(at.id);
    if instruction.opcode != Some(Opcode::GetTupleElement) {
        return None;
    }
    let index = block.parse.attributes_of(instruction).iter().find(|a| a.key == Some(AttributeKey::Index))?;
    match index.value {
        ValueNode::Int(n) => usize::try_from(n).ok(),
        _ => None,
    }
}

/// `path` lists the indices of nested elements, the outermost last.
fn follow(
    context: &FileContext<'_>,
    at: InstructionRef,
    mut path: Vec<usize>,
    steps: u32,
) -> Option<InstructionRef> {
    if steps >= MAX_STEPS {
        return None;
    }
    let Some(&index) = path.last() else { return Some(at) };
    let block = context.block(at.piece);
    let instruction = block.instruction(at.id);
    let operand = |n: usize| -> Option<(InstructionRef, Vec<usize>)> {
        let (written, _) = block.operands_of(at.id).nth(n)?;
        let taken = match written.kind {
            OperandKind::Element { start, len } => block.parse.ints(start, len),
            _ => &[],
        };
        let taken = taken.iter().rev().map(|&n| usize::try_from(n).ok()).collect::<Option<Vec<_>>>()?;
        Some((context.definition(at, n)?, taken))
    };
    let (next, path) = match instruction.opcode? {
        Opcode::Tuple => {
            path.pop();
            let (next, taken) = operand(index)?;
            path.extend(taken);
            (next, path)
        }
        Opcode::GetTupleElement => {
            path.push(element_index(context, at)?);
            (operand(0)?.0, path)
        }
        Opcode::OptBarrier | Opcode::Copy | Opcode::Domain | Opcode::AddDependency => (operand(0)?.0, path),
        Opcode::Fusion | Opcode::Call | Opcode::While => {
            let callee = |key: AttributeKey| {
                let attributes = block.parse.attributes_of(instruction);
                match attributes.iter().find(|a| a.key == Some(key))?.value {
                    ValueNode::Computation(name) => context.callee(at, name.of(&block.text)),
                    _ => None,
                }
            };
            let keys = [AttributeKey::Calls, AttributeKey::ToApply, AttributeKey::Body];
            (context.result_of(keys.into_iter().find_map(callee)?)?, path)
        }
        // The op itself computes several results: a variadic reduce, a custom call.
        _ => return Some(at),
    };
    follow(context, next, path, steps + 1)
}
