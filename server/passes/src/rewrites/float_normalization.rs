//! `float-normalization-bf16`: computes in `f32` what the GPU does not compute in `bf16`, between conversions.
//!
//! Source: XLA `hlo/transforms/simplifiers/float_normalization.cc`, `service/gpu/gpu_float_support.cc`.

use ir::{ElementType, Shape};
use syntax::hlo::Opcode;

use super::backend_config::is_of_kind;
use super::every::add;
use super::{dce, tuple_simplifier};
use crate::dimensions::with_element;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};

const LOW: ElementType = ElementType::Bf16;
const HIGH: ElementType = ElementType::F32;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let before = run.changes();
    let has_arithmetic = run.options.device.is_hopper() || run.options.device.is_blackwell_or_later();
    // There only matrix products and convolutions that the GPU lacks are widened, and these GPUs have all.
    if has_arithmetic && run.options.pipeline == "conv_canonicalization" {
        return Ok(());
    }
    for computation in run.module.computation_post_order() {
        for id in run.module.post_order(computation) {
            cancel::tick();
            if run.module[id].is_removed() || is_left_alone(run.module, id) || count(run.module, id, LOW) == 0
            {
                continue;
            }
            if !has_arithmetic {
                let device = run.options.device.name;
                return Err(Stop::Unsupported(format!("which operations on bf16 {device} has is not known")));
            }
            normalize(run, id)?;
        }
    }
    if run.changes() > before {
        tuple_simplifier::run(run)?;
        dce::run(run)?;
    }
    Ok(())
}

/// Whether an instruction only passes values on.
fn is_left_alone(module: &Module, id: InstructionId) -> bool {
    use Opcode::*;
    matches!(
        module[id].opcode(),
        AsyncDone
            | AsyncStart
            | Bitcast
            | BitcastConvert
            | Call
            | Conditional
            | Constant
            | Convert
            | CustomCall
            | Domain
            | Fusion
            | GetTupleElement
            | OptBarrier
            | Parameter
            | Tuple
            | While
    ) || module.has_side_effect(id)
}

fn leaves(shape: &Shape, element: ElementType) -> usize {
    match shape {
        Shape::Tuple(elements) => elements.iter().map(|part| recursion::grow(|| leaves(part, element))).sum(),
        shape => usize::from(shape.element() == Some(element)),
    }
}

/// The number of arrays of a type among the operands, the result, and the parameters and results of what is called.
fn count(module: &Module, id: InstructionId, element: ElementType) -> usize {
    let called = module[id]
        .called()
        .flat_map(|computation| module.parameters(computation).into_iter().chain([module.root(computation)]));
    let values = module[id].operands().iter().copied().chain([id]).chain(called);
    values.map(|value| leaves(module[value].shape(), element)).sum()
}

/// Whether the GPU has no operation on numbers of fewer bits than `bf16`, so that XLA computes it in another type.
pub(super) fn is_widened(module: &Module, id: InstructionId, is_low: fn(ElementType) -> bool) -> bool {
    let has_low = |id: InstructionId| module[id].shape().element().is_some_and(is_low);
    (has_low(id) || module[id].operands().iter().any(|&operand| has_low(operand)))
        && !is_left_alone(module, id)
        && !is_supported_in_any_type(module[id].opcode())
        && !is_fused_dot(module, id)
}

/// Whether an instruction is a dot of 8-bit numbers in a fusion for Triton.
fn is_fused_dot(module: &Module, id: InstructionId) -> bool {
    let is_eight_bit = |&operand: &InstructionId| {
        matches!(module[operand].shape().element(), Some(ElementType::F8e4m3fn | ElementType::F8e5m2))
    };
    let callers = || module.callers().get(&module[id].parent()).cloned().unwrap_or_default();
    module[id].opcode() == Opcode::Dot
        && module[id].operands().iter().all(is_eight_bit)
        && callers().into_iter().any(|caller| is_of_kind(module, caller, "__triton_gemm"))
}

/// Operations that are the same for all types, or that other passes take care of.
fn is_supported_in_any_type(opcode: Opcode) -> bool {
    use Opcode::*;
    let is_collective_or_product = matches!(
        opcode,
        AllReduce | AllReduceDone | AllReduceStart | ReduceScatter | ScaledDot | Convolution | RaggedDot
    );
    let only_moves = matches!(
        opcode,
        AllGather
            | AllToAll
            | Broadcast
            | CollectivePermute
            | Concatenate
            | Copy
            | DynamicSlice
            | DynamicUpdateSlice
            | Gather
            | Pad
            | RaggedAllToAll
            | Reshape
            | Reverse
            | Scatter
            | Select
            | SelectAndScatter
            | Slice
            | Transpose
    );
    is_collective_or_product
        || only_moves
        || matches!(opcode, Bitcast | BitcastConvert | Constant | Convert | Compare | ReducePrecision | Xor)
}

/// Whether the GPU computes an operation in `bf16`.
fn is_supported(module: &Module, id: InstructionId) -> bool {
    use Opcode::*;
    match module[id].opcode() {
        opcode if is_supported_in_any_type(opcode) => true,
        Dot => true,
        CountLeadingZeros | ShiftRightLogical | ShiftRightArithmetic => true,
        Abs | Add | Exponential | Log | Maximum | Minimum | Multiply | Negate | Subtract => true,
        Reduce | Sort => module[id].called().all(|computation| {
            let all = module.instructions(computation).into_iter();
            all.filter(|&id| module[id].opcode() != Parameter)
                .all(|id| recursion::grow(|| is_supported(module, id)))
        }),
        _ => false,
    }
}

fn normalize(run: &mut Run<'_>, id: InstructionId) -> Result<(), Stop> {
    let unsupported = |run: &Run<'_>| {
        let (opcode, name) = (run.module[id].opcode(), run.module[id].name());
        Err(Stop::Unsupported(format!("%{name}: {opcode} on bf16 is not normalised yet")))
    };
    if is_supported(run.module, id) {
        let is_mixed = count(run.module, id, HIGH) > 0 && run.module[id].opcode() != Opcode::Dot;
        return if is_mixed { unsupported(run) } else { Ok(()) };
    }
    if run.module[id].called().next().is_some() || run.module[id].shape().as_array().is_none() {
        return unsupported(run);
    }
    run.changed(id, "is computed in f32");
    for (at, operand) in run.module[id].operands().to_vec().into_iter().enumerate() {
        let shape = run.module[operand].shape();
        if shape.element() == Some(LOW) {
            let convert = NewOp::new(Opcode::Convert, with_element(shape, HIGH), &[operand]);
            let wide = add(run, id, convert);
            run.module.set_operand(id, at, wide);
        }
    }
    let shape = run.module[id].shape().clone();
    if shape.element() == Some(LOW) {
        widen_result(run, id, shape);
    }
    Ok(())
}

/// Makes the result `f32`, and converts it back for its users. Users that convert to `f32` take it as it is.
fn widen_result(run: &mut Run<'_>, id: InstructionId, narrow: Shape) {
    let users = run.module[id].users().to_vec();
    let is_root = run.module.is_root(id);
    run.module.set_shape(id, with_element(&narrow, HIGH));
    let back = add(run, id, NewOp::new(Opcode::Convert, narrow, &[id]));
    for user in users {
        let is_widening =
            run.module[user].opcode() == Opcode::Convert && run.module[user].shape().element() == Some(HIGH);
        match is_widening {
            true => run.module.replace_all_uses(user, id),
            false => run.module.replace_use(id, user, back),
        }
    }
    if is_root {
        let computation = run.module[id].parent();
        run.module.set_root(computation, back);
    }
}
