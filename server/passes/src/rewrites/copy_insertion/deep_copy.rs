//! Copies of arrays in a value.

use ir::Shape;
use syntax::hlo::Opcode;

use crate::module::{InstructionId, Module, NewOp};

/// A copy of a value, and the copies of its arrays by their paths.
pub(super) struct DeepCopy {
    pub(super) whole: InstructionId,
    pub(super) arrays: Vec<(Vec<i64>, InstructionId)>,
}

/// Copies the arrays of a value whose paths are wanted.
/// Source: `HloComputation::DeepCopyInstruction`.
pub(super) fn deep_copy(
    module: &mut Module,
    id: InstructionId,
    is_wanted: &dyn Fn(&[i64]) -> bool,
) -> DeepCopy {
    let mut arrays = Vec::new();
    let whole = copy_at(module, id, &mut Vec::new(), is_wanted, &mut arrays);
    DeepCopy { whole, arrays }
}

/// Recurses into tuples, whose depth the parser bounds.
fn copy_at(
    module: &mut Module,
    id: InstructionId,
    path: &mut Vec<i64>,
    is_wanted: &dyn Fn(&[i64]) -> bool,
    arrays: &mut Vec<(Vec<i64>, InstructionId)>,
) -> InstructionId {
    let parent = module[id].parent();
    let shape = module[id].shape().clone();
    match &shape {
        Shape::Tuple(elements) => {
            let mut copies = Vec::with_capacity(elements.len());
            for index in 0..elements.len() as i64 {
                let element = module.add_element(id, index);
                path.push(index);
                copies.push(recursion::grow(|| copy_at(module, element, path, is_wanted, arrays)));
                path.pop();
            }
            module.add_tuple(parent, &copies)
        }
        _ if shape.as_array().is_some() && is_wanted(path) => {
            let copy = module.add(parent, NewOp::new(Opcode::Copy, shape, &[id]));
            arrays.push((path.clone(), copy));
            copy
        }
        _ => id,
    }
}
