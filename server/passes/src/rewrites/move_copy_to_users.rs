//! `move_copy_to_users`: copies results instead of operands, where the operation keeps the layout.
//!
//! Source: XLA `backends/gpu/transforms/move_copy_to_users.cc`.

use syntax::hlo::Opcode;

use super::every::{add_copy, every, replace, replace_with};
use crate::dimensions::with_layout_of;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, move_copy);
    Ok(())
}

fn move_copy(run: &mut Run<'_>, id: InstructionId) {
    let operands = run.module[id].operands().to_vec();
    let opcode = run.module[id].opcode();
    let copied = |operand: InstructionId| {
        let operand = &run.module[operand];
        (operand.opcode() == Opcode::Copy).then(|| operand.operands()[0])
    };
    let Some(first) = operands.first().and_then(|&operand| copied(operand)) else { return };
    let shape = run.module[id].shape().clone();
    if shape.as_array().is_none() {
        return;
    }
    let mut sources = operands.clone();
    sources[0] = first;
    match opcode {
        Opcode::Reduce => {
            let new = add_copy(run, id, &sources, shape);
            return replace(run, id, new, "reduces what is copied");
        }
        Opcode::Copy | Opcode::ReducePrecision | Opcode::BitcastConvert => return,
        Opcode::Convert => {
            let users = run.module[id].users();
            if matches!(users, &[user] if run.module[user].opcode() == Opcode::Convolution) {
                return;
            }
        }
        Opcode::Pad | Opcode::Slice | Opcode::DynamicSlice | Opcode::ReduceWindow | Opcode::Reverse => {}
        Opcode::Concatenate => {
            let Some(all) = operands.iter().map(|&operand| copied(operand)).collect::<Option<Vec<_>>>()
            else {
                return;
            };
            let layout =
                |id: InstructionId| run.module[id].shape().as_array().and_then(|array| array.layout.clone());
            if all.iter().any(|&source| layout(source) != layout(first)) {
                return;
            }
            sources = all;
        }
        _ if !ir::is_elementwise(opcode) => return,
        _ => match operands[..] {
            [_] => {}
            [_, second] => {
                let Some(second) = copied(second) else { return };
                if run.module[first].shape() != run.module[second].shape() {
                    return;
                }
                sources[1] = second;
            }
            _ => return,
        },
    }
    let inner = with_layout_of(&shape, run.module[first].shape());
    let earlier = add_copy(run, id, &sources, inner);
    let copy = NewOp::new(Opcode::Copy, shape, &[earlier]);
    replace_with(run, id, copy, "is computed before the copy");
}
