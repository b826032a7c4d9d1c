//! `simplify-fp-conversions`: makes chains of conversions between floating-point types one conversion.
//!
//! Source: XLA `hlo/transforms/simplifiers/simplify_fp_conversions.cc`.

use ir::ElementTypeExt as _;
use syntax::hlo::Opcode;

use super::every::{replace, replace_with};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.computation_post_order() {
        for id in run.module.post_order(computation) {
            cancel::tick();
            if run.module[id].is_removed() {
                continue;
            }
            let is_float_convert = |id: InstructionId| {
                run.module[id].opcode() == Opcode::Convert
                    && run.module[id].shape().element().is_some_and(|element| element.is_floating())
            };
            let (mut source, mut length) = (id, 0);
            while is_float_convert(source) {
                source = run.module.operand(source, 0);
                length += 1;
            }
            if length < 2 {
                continue;
            }
            let shape = run.module[id].shape().clone();
            if shape.element() == run.module[source].shape().element() {
                replace(run, id, source, "converts back to the type before");
            } else {
                let convert = NewOp::new(Opcode::Convert, shape, &[source]);
                replace_with(run, id, convert, "converts once");
            }
        }
    }
    Ok(())
}
