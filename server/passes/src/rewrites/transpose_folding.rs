//! `transpose-folding`: lets dots read the operand of a transpose, with its dimensions in the other order.
//!
//! Source: XLA `service/transpose_folding.cc`, `service/gpu/matmul_utils.cc` CanFoldTransposeOperandIntoDot.

use ir::ArrayShape;
use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module};
use crate::shapes::is_identity;

const BATCH: [AttributeKey; 2] = [AttributeKey::LhsBatchDims, AttributeKey::RhsBatchDims];
const CONTRACTING: [AttributeKey; 2] = [AttributeKey::LhsContractingDims, AttributeKey::RhsContractingDims];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    // There, only convolutions fold.
    if run.options.pipeline == "simplification" {
        return Ok(());
    }
    let mut found = Vec::new();
    for computation in run.module.non_fusion_computations() {
        for id in run.module.post_order(computation) {
            let sides: Vec<usize> = (0..2).filter(|&side| can_fold(run.module, id, side)).collect();
            if !sides.is_empty() {
                found.push((id, sides));
            }
        }
    }
    for (id, sides) in found {
        run.changed(id, "reads the operands of transposes");
        let module = &mut *run.module;
        let mut operands = module[id].operands().to_vec();
        let mut attributes = module[id].attributes().clone();
        for side in sides {
            let transpose = operands[side];
            let order = module[transpose].dimensions();
            for key in [BATCH[side], CONTRACTING[side]] {
                let dims: Vec<i64> = attributes.ints(key).iter().map(|&dim| order[dim as usize]).collect();
                if !dims.is_empty() {
                    attributes.set(key, dims);
                }
            }
            operands[side] = module.operand(transpose, 0);
        }
        let new = module.add_copy(module[id].parent(), id, &operands);
        *module.attributes_mut(new) = attributes;
        module.replace(id, new);
    }
    Ok(())
}

fn can_fold(module: &Module, id: InstructionId, side: usize) -> bool {
    if module[id].opcode() != Opcode::Dot || module[id].has_control_dependencies() {
        return false;
    }
    if (0..2).any(|side| module[module.operand(id, side)].dims().len() < 2) {
        return false;
    }
    let transpose = module.operand(id, side);
    let order = module[transpose].dimensions();
    if module[transpose].opcode() != Opcode::Transpose || is_identity(order) {
        return false;
    }
    let [batch, contracting] = [BATCH[side], CONTRACTING[side]].map(|key| module[id].attributes().ints(key));
    let others: Vec<i64> =
        (0..order.len() as i64).filter(|dim| !batch.contains(dim) && !contracting.contains(dim)).collect();
    let moved = |dims: &[i64]| -> Vec<i64> { dims.iter().map(|&dim| order[dim as usize]).collect() };
    let Some(array) = module[module.operand(transpose, 0)].shape().as_array() else { return false };
    // The result must have its dimensions in the same order.
    moved(&others).is_sorted() && is_matrix(array, [moved(batch), moved(contracting), moved(&others)])
}

/// Whether a library call can read the array as a batch of matrices: the dimensions of each group lie next to each other in memory, in
/// order, and those of the batch are not the fastest.
fn is_matrix(array: &ArrayShape, [batch, rows, columns]: [Vec<i64>; 3]) -> bool {
    let order: Vec<i64> = array.minor_to_major().into_iter().rev().map(|dim| dim as i64).collect();
    let is_sequential =
        |dims: &[i64]| dims.is_empty() || order.windows(dims.len()).any(|window| window == dims);
    is_sequential(&batch)
        && is_sequential(&rows)
        && is_sequential(&columns)
        && order.last().is_none_or(|fastest| !batch.contains(fastest))
}
