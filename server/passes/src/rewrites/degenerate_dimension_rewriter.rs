//! `degenerate-dimension-rewriter`: computes elementwise ops without dimensions of size 1, and reshapes the result.
//!
//! The source is not public: the rules follow what XLA's dumps show.

use ir::is_elementwise;
use syntax::hlo::Opcode;

use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};
use crate::shapes::of_element;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.post_order(computation) {
            if is_candidate(run.module, id) {
                run.changed(id, "computed without dimensions of size 1");
                rewrite(run.module, id);
            }
        }
    }
    Ok(())
}

fn is_candidate(module: &Module, id: InstructionId) -> bool {
    let instruction = &module[id];
    let dims = instruction.dims();
    !instruction.is_removed()
        && is_elementwise(instruction.opcode())
        && instruction.shape().is_static()
        && dims.contains(&1)
        && !instruction.operands().is_empty()
        && instruction.operands().iter().all(|&operand| module[operand].dims() == dims)
        && !instruction.has_control_dependencies()
}

fn rewrite(module: &mut Module, id: InstructionId) {
    let dims: Vec<i64> = module[id].dims().iter().copied().filter(|&size| size != 1).collect();
    let parent = module[id].parent();
    let mut operands: Vec<InstructionId> = Vec::new();
    for operand in module[id].operands().to_vec() {
        // The same operand twice stays one.
        let known = module[id].operands().iter().position(|&other| other == operand);
        let known = known.and_then(|at| operands.get(at)).copied();
        operands.push(known.unwrap_or_else(|| without_degenerate(module, operand, &dims)));
    }
    let Some(shape) = of_element(module[id].shape(), &dims) else { return };
    let new = module.add_copy(parent, id, &operands);
    module.set_shape(new, shape);
    let back = NewOp::new(Opcode::Reshape, module[id].shape().clone(), &[new]);
    module.replace_with_new(id, back);
}

/// The value with these dimensions.
fn without_degenerate(module: &mut Module, id: InstructionId, dims: &[i64]) -> InstructionId {
    let parent = module[id].parent();
    let Some(shape) = of_element(module[id].shape(), dims) else { return id };
    match module[id].opcode() {
        Opcode::Broadcast if module[module.operand(id, 0)].dims().is_empty() => {
            let scalar = module.operand(id, 0);
            module.add(parent, NewOp::new(Opcode::Broadcast, shape, &[scalar]).dimensions(&[]))
        }
        Opcode::Reshape => {
            let source = module.operand(id, 0);
            match *module[source].shape() == shape {
                true => source,
                false => module.add(parent, NewOp::new(Opcode::Reshape, shape, &[source])),
            }
        }
        _ => module.add(parent, NewOp::new(Opcode::Reshape, shape, &[id])),
    }
}
