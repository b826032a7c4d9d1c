//! `tuple-simplifier`: lets users of a tuple's elements take the values themselves, and removes tuples of all elements of a tuple.
//!
//! Source: XLA `hlo/transforms/simplifiers/tuple_simplifier.cc`.

use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.computations() {
        for id in run.module.post_order(computation) {
            cancel::tick();
            if run.module[id].is_removed() {
                continue;
            }
            let equal = match run.module[id].opcode() {
                Opcode::Tuple => whole(run.module, id).filter(|_| !run.module[id].has_control_dependencies()),
                Opcode::GetTupleElement => element(run.module, id),
                _ => None,
            };
            if let Some(equal) = equal {
                run.changed(id, format!("replaced by %{}", run.module[equal].name()));
                run.module.replace_relaying_control(id, equal);
            }
        }
    }
    Ok(())
}

/// The tuple that all elements of a tuple are taken from, in order.
fn whole(module: &Module, id: InstructionId) -> Option<InstructionId> {
    let of = |&element: &InstructionId| {
        let is_element = module[element].opcode() == Opcode::GetTupleElement;
        is_element
            .then(|| (module.operand(element, 0), module[element].attributes().int(AttributeKey::Index)))
    };
    let operands = module[id].operands();
    let (tuple, _) = of(operands.first()?)?;
    let is_in_order = (0..).zip(operands).all(|(index, element)| of(element) == Some((tuple, Some(index))));
    (is_in_order && module[tuple].shape().is_compatible(module[id].shape())).then_some(tuple)
}

/// The value that is taken out of a tuple, or a tuple in one, right after it was put in.
fn element(module: &Module, id: InstructionId) -> Option<InstructionId> {
    let mut indices = Vec::new();
    let mut value = id;
    while module[value].opcode() == Opcode::GetTupleElement {
        indices.push(module[value].attributes().int(AttributeKey::Index)?);
        value = module.operand(value, 0);
    }
    for index in indices.into_iter().rev() {
        if module[value].opcode() != Opcode::Tuple {
            return None;
        }
        value = *module[value].operands().get(usize::try_from(index).ok()?)?;
    }
    module[value].shape().is_compatible(module[id].shape()).then_some(value)
}
