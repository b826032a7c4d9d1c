//! `sort-iota-fusion`: fuses iotas into the sorts that read them.
//!
//! Source: XLA `backends/gpu/transforms/sort_iota_fusion.cc`.

use syntax::hlo::Opcode;

use super::every::{add, every, replace};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        let sort = &run.module[id];
        let has_iota = sort.operands().iter().any(|&operand| run.module[operand].opcode() == Opcode::Iota);
        if sort.opcode() == Opcode::Sort && has_iota && !sort.has_control_dependencies() {
            fuse(run, id);
        }
    });
    Ok(())
}

fn fuse(run: &mut Run<'_>, id: InstructionId) {
    let fused = run.module.add_computation("fused_computation");
    let mut operands: Vec<InstructionId> = Vec::new();
    let mut inner: Vec<(InstructionId, InstructionId)> = Vec::new();
    for operand in run.module[id].operands().to_vec() {
        if inner.iter().any(|&(outer, _)| outer == operand) {
            continue;
        }
        let new = match run.module[operand].opcode() == Opcode::Iota {
            true => run.module.add_copy(fused, operand, &[]),
            false => {
                operands.push(operand);
                let shape = run.module[operand].shape().clone();
                run.module.add_parameter(fused, operands.len() as u32 - 1, shape)
            }
        };
        inner.push((operand, new));
    }
    let of = |outer: &InstructionId| inner.iter().find(|(own, _)| own == outer).map(|pair| pair.1);
    let sorted: Vec<_> = run.module[id].operands().iter().filter_map(of).collect();
    let root = run.module.add_copy(fused, id, &sorted);
    run.module.set_root(fused, root);
    let shape = run.module[id].shape().clone();
    let new = NewOp::fusion("kCustom", shape, &operands, fused);
    let fusion = add(run, id, new);
    replace(run, id, fusion, "fused with the iotas that it sorts along");
}
