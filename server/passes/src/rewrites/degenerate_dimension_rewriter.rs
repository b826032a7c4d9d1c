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
        && dims.iter().any(|&size| size != 1)
        && !instruction.operands().is_empty()
        && instruction.operands().iter().all(|&operand| module[operand].dims() == dims)
        && instruction.operands().iter().all(|&operand| loses_dimensions(module[operand].opcode()))
        && !instruction.has_control_dependencies()
}

/// Whether a value of this opcode loses its dimensions of size 1 at no cost.
fn loses_dimensions(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Broadcast | Opcode::Constant | Opcode::Gather | Opcode::Iota | Opcode::Reshape)
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
        Opcode::Broadcast if keeps_units_out(module, id) => {
            let source = module.operand(id, 0);
            let all = module[id].dims();
            // What the kept dimensions become.
            let kept = |dim: &i64| all[..*dim as usize].iter().filter(|&&size| size != 1).count() as i64;
            let dims: Vec<i64> = module[id].dimensions().iter().map(kept).collect();
            module.add(parent, NewOp::new(Opcode::Broadcast, shape, &[source]).dimensions(&dims))
        }
        Opcode::Reshape => {
            let source = module.operand(id, 0);
            // Whatever its layout.
            match module[source].dims() == dims {
                true => source,
                false => module.add(parent, NewOp::new(Opcode::Reshape, shape, &[source])),
            }
        }
        _ => module.add(parent, NewOp::new(Opcode::Reshape, shape, &[id])),
    }
}

/// Whether no dimension of a broadcast's operand becomes one of size 1.
fn keeps_units_out(module: &Module, id: InstructionId) -> bool {
    let size = |dim: &i64| usize::try_from(*dim).ok().and_then(|dim| module[id].dims().get(dim));
    module[id].dimensions().iter().all(|dim| size(dim).is_some_and(|&size| size != 1))
}
