//! `fusion-block-level-rewriter`: gives fusions that other emitters compute slowly to Triton: some transposes, and sums of 32-bit integers.
//!
//! Source: XLA `backends/gpu/transforms/fusion_block_level_rewriter.cc`.

use gpu::triton_supports;
use ir::{AttributeValue, ElementType};
use syntax::hlo::{AttributeKey, Opcode};

use super::backend_config::{of_block, plain, set};
use super::triton_softmax_rewriter::{best_tiling, block_config};
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let is_supported = matches!(run.options.device.platform, gpu::Platform::Cuda { major, .. } if major >= 8);
    if !is_supported {
        return Ok(());
    }
    for computation in run.module.non_fusion_computations() {
        for id in run.module.post_order(computation) {
            cancel::tick();
            rewrite(run, id);
        }
    }
    Ok(())
}

fn rewrite(run: &mut Run<'_>, id: InstructionId) {
    let Some(called) = run.module.fused_computation(id) else { return };
    let module = &*run.module;
    let is_left_out = |id: InstructionId| {
        matches!(module[id].opcode(), Opcode::Dot | Opcode::ScaledDot)
            || module[id].verbatim().is_some_and(|verbatim| verbatim.opcode.is_some())
            || triton_supports(module[id].op()).is_err()
    };
    let instructions = module.instructions(called);
    let is_slow = is_slow_transpose(module, id, called) || is_integer_sum(module, called);
    if !is_slow
        || instructions.iter().any(|&id| is_left_out(id))
        || plain(module, id).contains("block_level_fusion_config")
    {
        return;
    }
    let Some(best) = best_tiling(module, called, run.options.device, "__triton") else { return };
    run.changed(id, "left to Triton");
    set(run.module, id, of_block("__triton", &block_config(&best)));
    run.module.attributes_mut(id).set(AttributeKey::Kind, AttributeValue::Word("kCustom".to_owned()));
}

/// Source: `ShouldRewriteLoopTransposeFusion`.
fn is_slow_transpose(module: &Module, fusion: InstructionId, called: ComputationId) -> bool {
    let root = module.root(called);
    let is_loop = module[fusion].attributes().text(AttributeKey::Kind) == Some("kLoop");
    if !is_loop || module[root].opcode() != Opcode::Transpose {
        return false;
    }
    let operand = module.operand(root, 0);
    let Some((array, from)) = module[root].shape().as_array().zip(module[operand].shape().as_array()) else {
        return false;
    };
    let is_row_major = |array: &ir::ArrayShape| array.minor_to_major().iter().rev().is_sorted();
    if !is_row_major(array) || !is_row_major(from) {
        return false;
    }
    let order = joined(&from.dims, module[root].dimensions());
    let rank = order.len();
    let Some(&last) = order.last() else { return false };
    let is_far = order.get(last) == Some(&(rank - 1)) && last + 2 < rank;
    let is_power = |id: InstructionId| module[id].dims().last().is_some_and(|size| size.count_ones() == 1);
    let is_given = |id: InstructionId| module[id].opcode() == Opcode::Parameter;
    let is_given_bitcast = || {
        module[operand].opcode() == Opcode::Bitcast
            && is_given(module.operand(operand, 0))
            && is_power(operand)
    };
    is_far && (is_given(operand) || is_given_bitcast())
}

/// A transpose without dimensions of size 1, and with dimensions that stay together as one. Source:
/// `ShapeUtil::GetNormalizedLogicalTransposeShape`.
fn joined(sizes: &[i64], dims: &[i64]) -> Vec<usize> {
    let long: Vec<i64> =
        dims.iter().copied().filter(|&dim| sizes.get(dim as usize).is_some_and(|&size| size != 1)).collect();
    let mut sorted = long.clone();
    sorted.sort_unstable();
    let mut heads: Vec<i64> = Vec::new();
    for (at, &dim) in long.iter().enumerate() {
        let place = sorted.partition_point(|&other| other < dim);
        let follows = at > 0 && place > 0 && sorted[place - 1] == long[at - 1];
        if !follows {
            heads.push(dim);
        }
    }
    let mut ordered = heads.clone();
    ordered.sort_unstable();
    heads.iter().map(|&head| ordered.partition_point(|&other| other < head)).collect()
}

/// Source: `ShouldRewriteReductionFusion`.
fn is_integer_sum(module: &Module, called: ComputationId) -> bool {
    let root = module.root(called);
    let is_s32 = |id: InstructionId| module[id].shape().element() == Some(ElementType::S32);
    module[root].opcode() == Opcode::Reduce
        && is_s32(root)
        && module[root].operands().iter().all(|&operand| is_s32(operand))
}
