//! `dynamic-dimension-simplifier`: removes reshapes, slices and converts that undo each other, as computations of dynamic sizes have.
//!
//! Source: XLA `hlo/transforms/simplifiers/dynamic_dimension_simplifier.cc`.

use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};

/// The value that an instruction is equal to.
type Rule = fn(&Module, InstructionId) -> Option<InstructionId>;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    join_concatenates(run);
    for rule in [sliced_concatenate as Rule, reshaped_broadcast, reshaped_twice, same_type, same_shape] {
        for computation in run.module.non_fusion_computations() {
            for id in run.module.post_order(computation) {
                if let Some(equal) = rule(run.module, id) {
                    run.changed(id, format!("replaced by %{}", run.module[equal].name()));
                    run.module.replace_all_uses(id, equal);
                }
            }
        }
    }
    Ok(())
}

fn join_concatenates(run: &mut Run<'_>) {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.post_order(computation) {
            let module = &*run.module;
            if module[id].is_removed() || module[id].opcode() != Opcode::Concatenate {
                continue;
            }
            let mut operands = Vec::new();
            for &operand in module[id].operands() {
                let of = &module[operand];
                match of.opcode() == Opcode::Concatenate && of.dimensions() == module[id].dimensions() {
                    true => operands.extend_from_slice(of.operands()),
                    false => operands.push(operand),
                }
            }
            if operands.len() != module[id].operands().len() {
                let (shape, dims) = (module[id].shape().clone(), module[id].dimensions().to_vec());
                run.changed(id, "joined with the concatenations that it takes");
                run.module.replace_with_new(
                    id,
                    NewOp::new(Opcode::Concatenate, shape, &operands).dimensions(&dims),
                );
            }
        }
    }
}

/// The operand of an instruction of this opcode, if it has that opcode.
fn operand_of(module: &Module, id: InstructionId, opcode: Opcode, of: Opcode) -> Option<InstructionId> {
    let operand = module[id].operands().first().copied().filter(|_| module[id].opcode() == opcode)?;
    (module[operand].opcode() == of).then_some(operand)
}

fn sliced_concatenate(module: &Module, id: InstructionId) -> Option<InstructionId> {
    let concatenate = operand_of(module, id, Opcode::Slice, Opcode::Concatenate)?;
    let (&[size], &[[start, limit, 1]]) =
        (module[id].dims(), module[id].attributes().triples(AttributeKey::Slice))
    else {
        return None;
    };
    let mut at = 0;
    for &operand in module[concatenate].operands() {
        let &[own] = module[operand].dims() else { return None };
        if at == start && own == size && limit - start == size {
            return Some(operand);
        }
        at += own;
    }
    None
}

fn reshaped_broadcast(module: &Module, id: InstructionId) -> Option<InstructionId> {
    let broadcast = operand_of(module, id, Opcode::Reshape, Opcode::Broadcast)?;
    let scalar = module.operand(broadcast, 0);
    let is_scalar = |id: InstructionId| module[id].dims().is_empty();
    (is_scalar(id) && is_scalar(scalar) && module[broadcast].dims().len() == 1).then_some(scalar)
}

fn reshaped_twice(module: &Module, id: InstructionId) -> Option<InstructionId> {
    let first = operand_of(module, id, Opcode::Reshape, Opcode::Reshape)?;
    let source = module.operand(first, 0);
    (module[source].shape() == module[id].shape()).then_some(source)
}

fn same_type(module: &Module, id: InstructionId) -> Option<InstructionId> {
    same(module, id, Opcode::Convert)
}

fn same_shape(module: &Module, id: InstructionId) -> Option<InstructionId> {
    same(module, id, Opcode::Reshape)
}

fn same(module: &Module, id: InstructionId, opcode: Opcode) -> Option<InstructionId> {
    let operand = module[id].operands().first().copied().filter(|_| module[id].opcode() == opcode)?;
    (module[operand].shape() == module[id].shape()).then_some(operand)
}
