//! `zero_sized_hlo_elimination`: replaces arrays without elements by constants.
//!
//! Source: XLA `hlo/transforms/simplifiers/zero_sized_hlo_elimination.cc`.

use eval::{Column, Kind};
use syntax::hlo::Opcode;

use super::every::every;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        let Some(constant) = constant(run.module, id) else { return };
        run.changed(id, "replaced by a constant: it has no elements");
        if run.module[id].opcode() == Opcode::Parameter {
            let constant = run.module.add(run.module[id].parent(), constant);
            run.module.replace_all_uses(id, constant);
        } else {
            run.module.replace_with_new(id, constant);
        }
    });
    Ok(())
}

/// The constant that an instruction is replaced by.
fn constant(module: &Module, id: InstructionId) -> Option<NewOp> {
    let instruction = &module[id];
    let array = instruction.shape().as_array()?;
    let is_kept = array.elements() != Some(0)
        || (0..array.rank()).any(|dim| array.is_dynamic(dim))
        || instruction.has_control_dependencies()
        || match instruction.opcode() {
            Opcode::Constant => true,
            Opcode::Parameter => module.is_dead(id) || module.is_root(id),
            _ => module.has_side_effect(id),
        };
    if is_kept {
        return None;
    }
    let none = Column::int(Kind::of(array.element)?, Vec::new());
    let literal = eval::print_literal(&none, &array.dims);
    Some(NewOp::constant(instruction.shape().clone(), literal))
}
