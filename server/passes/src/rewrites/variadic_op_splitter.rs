//! `variadic-op-splitter`: splits concatenations of more operands than a kernel may have.
//!
//! Source: XLA `backends/gpu/transforms/variadic_op_splitter.cc`.

use std::sync::Arc;

use ir::Shape;
use syntax::hlo::Opcode;

use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};

/// The maximum number of operands of a concatenation.
const MAX_OPERANDS: usize = 128;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.instructions(computation) {
            let instruction = &run.module[id];
            let count = instruction.operands().len();
            if instruction.opcode() == Opcode::Concatenate && count > MAX_OPERANDS {
                run.changed(id, format!("split: it has {count} operands, more than {MAX_OPERANDS}"));
                split(run.module, id);
            }
        }
    }
    Ok(())
}

fn split(module: &mut Module, id: InstructionId) {
    let mut operands = module[id].operands().to_vec();
    while operands.len() > 1 {
        let parts: Vec<Vec<InstructionId>> = operands.chunks(MAX_OPERANDS).map(<[_]>::to_vec).collect();
        operands = Vec::new();
        for (number, part) in parts.into_iter().enumerate() {
            // What does not fill a concatenation is left to the next round.
            match number > 0 && part.len() < MAX_OPERANDS {
                true => operands.extend(part),
                false => operands.push(concatenate(module, id, &part)),
            }
        }
    }
    module.replace(id, operands[0]);
}

/// A concatenation of some operands of `whole`.
fn concatenate(module: &mut Module, whole: InstructionId, part: &[InstructionId]) -> InstructionId {
    let dim = module[whole].dimensions().first().and_then(|&dim| usize::try_from(dim).ok()).unwrap_or(0);
    let size = part.iter().filter_map(|&operand| module[operand].dims().get(dim)).sum();
    let mut shape = module[whole].shape().clone();
    if let Shape::Array(array) = &mut shape
        && let Some(of_dim) = Arc::make_mut(array).dims.get_mut(dim)
    {
        *of_dim = size;
    }
    let mut new = NewOp::new(Opcode::Concatenate, shape, part);
    new.attributes = module[whole].attributes().clone();
    module.add(module[whole].parent(), new)
}
