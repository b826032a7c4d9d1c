//! `reshape-mover`: moves reshapes and transposes of operands behind elementwise ops, where they may meet their inverse.
//!
//! Source: XLA `hlo/transforms/simplifiers/reshape_mover.cc`.

use ir::is_elementwise;
use syntax::hlo::Opcode;

use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};
use crate::shapes::{inverse, is_identity, of_element, transposed, true_rank, unmodified_dims};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        for id in candidates(run.module, computation) {
            if let Some(rearrange) = first_rearrange(run.module, id) {
                let name = run.module[rearrange].name().to_owned();
                run.changed(id, format!("moved in front of %{name}"));
                sink(run.module, id, rearrange);
            }
        }
    }
    Ok(())
}

/// The ops behind which operands move: all users of such an operand are among them.
fn candidates(module: &Module, computation: ComputationId) -> Vec<InstructionId> {
    let mut candidates = module.instructions(computation);
    candidates.retain(|&id| is_candidate(module, id));
    let mut is_one = rustc_hash::FxHashSet::from_iter(candidates.iter().copied());
    loop {
        let before = is_one.len();
        for &id in &candidates {
            for &operand in module[id].operands() {
                cancel::tick();
                let users = module[operand].users();
                if is_rearrange(module, operand)
                    && is_one.contains(&id)
                    && !users.iter().all(|user| is_one.contains(user))
                {
                    users.iter().for_each(|user| _ = is_one.remove(user));
                }
            }
        }
        if is_one.len() == before {
            candidates.retain(|id| is_one.contains(id));
            return candidates;
        }
    }
}

fn is_candidate(module: &Module, id: InstructionId) -> bool {
    if !is_elementwise(module[id].opcode()) || module[id].has_control_dependencies() {
        return false;
    }
    let dims = module[id].dims();
    if module[id].operands().iter().any(|&operand| module[operand].dims() != dims) {
        return false;
    }
    let Some(rearrange) = first_rearrange(module, id) else { return false };
    module[id].operands().iter().all(|&operand| match is_rearrange(module, operand) {
        true => is_equivalent(module, operand, rearrange),
        false => is_trivial(module, operand, rearrange),
    })
}

fn is_rearrange(module: &Module, id: InstructionId) -> bool {
    matches!(module[id].opcode(), Opcode::Reshape | Opcode::Transpose)
}

fn is_equivalent(module: &Module, a: InstructionId, b: InstructionId) -> bool {
    let source = |id| module[module.operand(id, 0)].dims();
    module[a].opcode() == module[b].opcode()
        && module[a].dims() == module[b].dims()
        && match module[a].opcode() {
            Opcode::Transpose => module[a].dimensions() == module[b].dimensions(),
            _ => source(a) == source(b),
        }
}

/// The first operand that is rearranged from what cannot easily have another shape.
fn first_rearrange(module: &Module, id: InstructionId) -> Option<InstructionId> {
    let mut operands = module[id].operands().iter().copied();
    operands.find(|&operand| {
        is_rearrange(module, operand) && !is_trivial(module, module.operand(operand, 0), operand)
    })
}

/// Whether an instruction can as well have the shape that `rearrange` starts from.
fn is_trivial(module: &Module, id: InstructionId, rearrange: InstructionId) -> bool {
    let source = module.operand(rearrange, 0);
    let is_reshape = module[rearrange].opcode() == Opcode::Reshape;
    let dimensions = module[rearrange].dimensions();
    if is_reshape && module[rearrange].shape() == module[source].shape()
        || !is_reshape && is_identity(dimensions)
    {
        return true;
    }
    match module[id].opcode() {
        Opcode::Constant => true,
        Opcode::Rng => module[id].users().len() == 1,
        Opcode::Broadcast => {
            let of = module[id].dimensions();
            let operand = module[module.operand(id, 0)].dims();
            if !of.is_sorted() {
                return false;
            }
            if is_reshape {
                true_rank(operand) <= 1
                    || unmodified_dims(module[rearrange].dims(), module[source].dims(), of).is_some()
            } else {
                of.iter().map(|&dim| dimensions[dim as usize]).is_sorted()
            }
        }
        _ => false,
    }
}

/// An instruction with the shape that `rearrange` starts from.
fn undo(module: &mut Module, rearrange: InstructionId, operand: InstructionId) -> InstructionId {
    let parent = module[operand].parent();
    let source = module[module.operand(rearrange, 0)].dims().to_vec();
    let Some(shape) = of_element(module[operand].shape(), &source) else { return operand };
    let new = match module[rearrange].opcode() {
        Opcode::Reshape => {
            if *module[operand].shape() == shape {
                return operand;
            }
            if module[operand].opcode() == Opcode::Reshape
                && *module[module.operand(operand, 0)].shape() == shape
            {
                return module.operand(operand, 0);
            }
            NewOp::new(Opcode::Reshape, shape, &[operand])
        }
        _ if is_identity(module[rearrange].dimensions()) => return operand,
        _ => {
            let dimensions = inverse(module[rearrange].dimensions());
            let shape = transposed(module[operand].shape(), &dimensions).unwrap_or(shape);
            NewOp::new(Opcode::Transpose, shape, &[operand]).dimensions(&dimensions)
        }
    };
    let new = module.add(parent, new);
    module.inherit_metadata(new, operand);
    new
}

fn sink(module: &mut Module, id: InstructionId, rearrange: InstructionId) {
    let source = module[module.operand(rearrange, 0)].dims().to_vec();
    let operands = module[id].operands().to_vec();
    let operands: Vec<InstructionId> =
        operands.into_iter().map(|operand| undo(module, rearrange, operand)).collect();
    let parent = module[id].parent();
    let moved = module.add_copy(parent, id, &operands);
    if let Some(shape) = of_element(module[id].shape(), &source) {
        module.set_shape(moved, shape);
    }
    module.attributes_mut(moved).remove(syntax::hlo::AttributeKey::Sharding);
    let shape = module[id].shape().clone();
    let dimensions = module[rearrange].dimensions().to_vec();
    let behind = match module[rearrange].opcode() {
        Opcode::Reshape => NewOp::new(Opcode::Reshape, shape, &[moved]),
        _ => NewOp::new(Opcode::Transpose, shape, &[moved]).dimensions(&dimensions),
    };
    module.replace_with_new(id, behind);
}
