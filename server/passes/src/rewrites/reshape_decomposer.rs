//! `reshape-decomposer`: replaces each reshape by a bitcast, with transposing copies around it where the layouts need them.
//!
//! Source: XLA `hlo/transforms/expanders/reshape_decomposer.cc`.

use syntax::hlo::Opcode;

use super::every::{add, every, replace_with};
use crate::dimensions::aligned;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::Reshape {
            decompose(run, id);
        }
    });
    Ok(())
}

fn decompose(run: &mut Run<'_>, id: InstructionId) {
    let &[operand] = run.module[id].operands() else { return };
    let (from, to) = (run.module[operand].shape().clone(), run.module[id].shape().clone());
    if gpu::reshape_is_bitcast(&from, &to) {
        replace_with(run, id, NewOp::new(Opcode::Bitcast, to, &[operand]), "moves nothing in memory");
    } else if let Some(layout) = aligned(&to, &from) {
        let copy = add(run, id, NewOp::new(Opcode::Copy, layout, &[operand]));
        let bitcast = NewOp::new(Opcode::Bitcast, to, &[copy]);
        replace_with(run, id, bitcast, "transposes its operand, then moves nothing in memory");
    } else if let Some(layout) = aligned(&from, &to) {
        let bitcast = add(run, id, NewOp::new(Opcode::Bitcast, layout, &[operand]));
        let copy = NewOp::new(Opcode::Copy, to, &[bitcast]);
        replace_with(run, id, copy, "moves nothing in memory, then transposes its result");
    } else {
        let before = add(run, id, NewOp::new(Opcode::Copy, from.without_layouts(), &[operand]));
        let bitcast = add(run, id, NewOp::new(Opcode::Bitcast, to.without_layouts(), &[before]));
        let copy = NewOp::new(Opcode::Copy, to, &[bitcast]);
        replace_with(run, id, copy, "transposes its operand and its result");
    }
}
