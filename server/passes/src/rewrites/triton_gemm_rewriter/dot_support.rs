//! The dots that Triton computes, and those that are left to loops.

use gpu::{Device, Platform};
use ir::{ElementType, ElementTypeExt as _};
use syntax::hlo::{AttributeKey, Opcode};

use crate::module::{InstructionId, Module};

/// Dots with fewer products per row and column are left to loops. Source: `xla_gpu_gemm_rewrite_size_threshold`.
const MIN_SIZE: i64 = 100;

/// Algorithms that Triton has, on NVIDIA's devices. Source: `IsSupportedDotAlgorithm`,
/// `backends/gpu/codegen/triton/support.cc`.
const ALGORITHMS: [&str; 10] = [
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_bf16_bf16_f32_x9",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
];

/// Whether the dot is too small for matrix instructions.
/// Source: `IsMatrixMultiplicationTooSmallForRewriting`, `service/gpu/matmul_utils.cc`.
pub(super) fn is_tiny(module: &Module, dot: InstructionId) -> bool {
    let attributes = module[dot].attributes();
    let size = |side: usize, dims: &[i64]| {
        let of = module[module.operand(dot, side)].dims();
        dims.iter().filter_map(|&dim| of.get(dim as usize)).fold(1i64, |n, &size| n.saturating_mul(size))
    };
    let contracted = size(0, attributes.ints(AttributeKey::LhsContractingDims));
    let free = |side: usize, batch: AttributeKey, contracting: AttributeKey| {
        let rank = module[module.operand(dot, side)].dims().len() as i64;
        let (batch, contracting) = (attributes.ints(batch), attributes.ints(contracting));
        let free: Vec<i64> = (0..rank).filter(|d| !batch.contains(d) && !contracting.contains(d)).collect();
        size(side, &free)
    };
    let rows = free(0, AttributeKey::LhsBatchDims, AttributeKey::LhsContractingDims);
    let columns = free(1, AttributeKey::RhsBatchDims, AttributeKey::RhsContractingDims);
    rows.saturating_add(columns).saturating_mul(contracted) < MIN_SIZE
}

/// Source: `IsDotSupportedByClassicalEmitters`, as above.
pub(super) fn is_supported_by_loops(module: &Module, dot: InstructionId) -> bool {
    let algorithm = module[dot].attributes().text(AttributeKey::Algorithm).unwrap_or("dot_unset");
    let is_elemental = matches!(
        algorithm,
        "dot_unset"
            | "dot_f16_f16_f16"
            | "dot_f32_f32_f32"
            | "dot_bf16_bf16_bf16"
            | "dot_bf16_bf16_f32"
            | "dot_bf16_bf16_f32_x3"
            | "dot_bf16_bf16_f32_x6"
            | "dot_bf16_bf16_f32_x9"
            | "dot_tf32_tf32_f32"
            | "dot_tf32_tf32_f32_x3"
            | "dot_f64_f64_f64"
    );
    let element = module[dot].shape().element();
    is_elemental && matches!(element, Some(ElementType::F16 | ElementType::F32 | ElementType::Bf16))
}

/// Source: `IsTritonSupportedDot`, `backends/gpu/codegen/triton/support.cc`.
pub(super) fn is_supported_by_triton(module: &Module, dot: InstructionId, device: &Device) -> bool {
    use ElementType::*;
    let Platform::Cuda { major, .. } = device.platform else { return false };
    let element = |id: InstructionId| module[id].shape().element();
    let &[left, right] = module[dot].operands() else { return false };
    let (Some(result), Some(left), Some(right)) = (element(dot), element(left), element(right)) else {
        return false;
    };
    let is_mixed = matches!((left, right), (F8e5m2, F8e4m3fn) | (F8e4m3fn, F8e5m2));
    if major < 8 || left != right && !is_mixed || matches!(result, S4 | U4) {
        return false;
    }
    if ![left, right, result].into_iter().all(is_data) {
        return false;
    }
    if module[dot].attributes().ints(AttributeKey::LhsContractingDims).len() != 1 {
        return false;
    }
    match module[dot].attributes().text(AttributeKey::Algorithm) {
        None | Some("dot_unset") => [left, right].into_iter().all(|from| has_types(from, result, major)),
        Some(algorithm) => ALGORITHMS.contains(&algorithm),
    }
}

/// Source: `AreTypesSupportedByAlgUnsetDot`, as above.
fn has_types(from: ElementType, to: ElementType, major: u32) -> bool {
    use ElementType::*;
    if from == F64 && to != F64 || (from == F8e4m3fn || to == F8e4m3fn) && major < 9 {
        return false;
    }
    let is_integer = |element: ElementType| {
        matches!(element, S4 | S8 | S16 | S32 | S64 | U4 | U8 | U16 | U32 | U64 | Pred)
    };
    match from {
        Bf16 | F16 | F32 | F8e4m3fn | F8e5m2 | F64 => true,
        S8 | U8 if matches!(to, S32 | U32) => true,
        _ => is_integer(from) && !is_integer(to) && !to.is_floating(),
    }
}

fn is_data(element: ElementType) -> bool {
    use ElementType::*;
    matches!(
        element,
        Pred | S4 | S8 | S16 | S32 | S64 | U8 | U16 | U32 | U64 | F16 | Bf16 | F32 | F64 | F8e5m2 | F8e4m3fn
    )
}

/// Whether an instruction may be fused with a dot. Source: `IncludeInSearchSpace`, `gemm_fusion.cc`.
pub(super) fn is_included(module: &Module, id: InstructionId) -> bool {
    let instruction = &module[id];
    let is_left_out = matches!(instruction.opcode(), Opcode::Dot | Opcode::ScaledDot | Opcode::Parameter)
        || instruction.called().next().is_some()
        || instruction.verbatim().is_some_and(|verbatim| verbatim.opcode.is_some())
        || module.has_side_effect(id);
    !is_left_out && gpu::triton_supports(instruction.op()).is_ok()
}
