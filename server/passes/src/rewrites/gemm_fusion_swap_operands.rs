//! `gemm-fusion-swap-operands`: swaps the operands of fused dots where the matrix instructions prefer it: a computed operand is read
//! from registers on the left, and few rows are better columns.
//!
//! Source: XLA `backends/gpu/transforms/gemm_fusion_swap_operands.cc`.

use syntax::hlo::{AttributeKey, Opcode};

use super::backend_config::is_of_kind;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};
use crate::shapes::transposed;

/// The rows of a matrix instruction of a group of warps.
const ROWS: i64 = 64;

const SIDES: [(AttributeKey, AttributeKey); 2] = [
    (AttributeKey::LhsBatchDims, AttributeKey::RhsBatchDims),
    (AttributeKey::LhsContractingDims, AttributeKey::RhsContractingDims),
];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let callers = run.module.callers();
    for computation in run.module.computation_post_order() {
        let fusion = callers.get(&computation).and_then(|callers| callers.first().copied());
        let is_gemm = |id: InstructionId| {
            run.module[id].opcode() == Opcode::Fusion
                && run.module[id].attributes().text(AttributeKey::Kind) == Some("kCustom")
                && is_of_kind(run.module, id, "__triton_gemm")
        };
        if !fusion.is_some_and(is_gemm) {
            continue;
        }
        let is_dot = |id: &InstructionId| run.module[*id].opcode() == Opcode::Dot;
        let dot = run.module.instructions(computation).into_iter().find(is_dot);
        if let Some(dot) = dot.filter(|&dot| should_swap(run.module, dot)) {
            swap(run, dot);
        }
    }
    Ok(())
}

fn should_swap(module: &Module, dot: InstructionId) -> bool {
    let [left, right] = [0, 1].map(|side| free(module, dot, side));
    let [computes_left, computes_right] = [0, 1].map(|side| computes(module, module.operand(dot, side)));
    let size = |side: usize, dims: &[i64]| {
        let of = module[module.operand(dot, side)].dims();
        dims.iter().fold(1i64, |n, &dim| n.saturating_mul(of[dim as usize]))
    };
    let (rows, columns) = (size(0, &left), size(1, &right));
    columns >= ROWS && (rows < ROWS || !computes_left && computes_right)
}

/// The dimensions of an operand that the result has, apart from the batch.
fn free(module: &Module, dot: InstructionId, side: usize) -> Vec<i64> {
    let key = |keys: (AttributeKey, AttributeKey)| if side == 0 { keys.0 } else { keys.1 };
    let attributes = module[dot].attributes();
    let taken = SIDES.map(|keys| attributes.ints(key(keys)));
    let rank = module[module.operand(dot, side)].dims().len() as i64;
    (0..rank).filter(|dim| taken.iter().all(|dims| !dims.contains(dim))).collect()
}

/// Whether more is done for a value than moving elements. Source: `HasCodeGeneratingInstructions`.
fn computes(module: &Module, mut id: InstructionId) -> bool {
    use Opcode::{Bitcast, Broadcast, Constant, GetTupleElement, Parameter, Reshape, Transpose};
    while let Some(&operand) = module[id].operands().first() {
        if !matches!(
            module[id].opcode(),
            Bitcast | Broadcast | Constant | GetTupleElement | Parameter | Reshape | Transpose
        ) {
            return true;
        }
        id = operand;
    }
    false
}

fn swap(run: &mut Run<'_>, dot: InstructionId) {
    let (left, right) = (free(run.module, dot, 0).len() as i64, free(run.module, dot, 1).len() as i64);
    let shape = run.module[dot].shape().clone();
    let batch = shape.dims().len() as i64 - left - right;
    let order: Vec<i64> =
        (0..batch).chain(batch + left..batch + left + right).chain(batch..batch + left).collect();
    let Some(swapped) = transposed(&shape, &order) else { return };
    run.changed(dot, "multiplies its operands the other way round");
    let module = &mut *run.module;
    let mut attributes = module[dot].attributes().clone();
    for (of_left, of_right) in SIDES {
        let (new_left, new_right) = (attributes.ints(of_right).to_vec(), attributes.ints(of_left).to_vec());
        for (key, dims) in [(of_left, new_left), (of_right, new_right)] {
            match dims.is_empty() {
                true => _ = attributes.remove(key),
                false => attributes.set(key, dims),
            }
        }
    }
    let computation = module[dot].parent();
    let operands = [module.operand(dot, 1), module.operand(dot, 0)];
    let new = NewOp { attributes, ..NewOp::new(Opcode::Dot, swapped, &operands) };
    let new = module.add(computation, new);
    let back = module.add(computation, NewOp::new(Opcode::Bitcast, shape, &[new]));
    module.inherit_metadata(back, dot);
    module.replace_all_uses(dot, back);
    module.remove(dot);
}
