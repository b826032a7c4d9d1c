//! The ops that XLA gives to Triton.
//!
//! Source: `IsTritonSupportedInstruction`, `backends/gpu/codegen/triton/support.cc`, for NVIDIA's devices. Dots
//! and collectives are not among the ops of these fusions.

use ir::{AttributeKey, ElementType, ElementTypeExt, Op, Opcode, Shape, is_elementwise};

use super::candidate::Candidate;
use crate::Reason;

/// Operands of a concatenation, but the last one, are multiples of this.
const CONCATENATED: i64 = 64;

/// Whether Triton can compute all ops of a fusion, or an op alone.
pub(super) fn is_supported(candidate: &Candidate) -> Result<(), Reason> {
    if candidate.is_triton() {
        return Ok(());
    }
    candidate.ops().into_iter().try_for_each(of_op)
}

/// Whether Triton can compute an op.
pub fn of_op(op: &Op) -> Result<(), Reason> {
    use Opcode::*;
    let from = |position: usize| op.operand_shapes.get(position).and_then(Shape::element);
    let unsupported = || Err(format!("Unsupported opcode {}", op.opcode.name()).into());
    match op.opcode {
        DynamicReshape | DynamicSlice | DynamicUpdateSlice | Gather | RaggedDot | ReduceWindow | Scatter
        | SelectAndScatter | SetDimensionSize => return unsupported(),
        Pad => return Err("Pads are only supported within GEMM fusions.".into()),
        Convert => {
            return match (from(0), op.shape.element()) {
                (Some(from), Some(to)) if may_convert(from, to) => Ok(()),
                _ => Err("Unsupported conversion in Triton".into()),
            };
        }
        _ => {}
    }
    let shapes = op.operand_shapes.iter().chain([&op.shape]);
    if !shapes.filter(|shape| shape.tuple_elements().is_none()).all(|s| s.element().is_some_and(is_data)) {
        return Err("Unsupported data type".into());
    }
    let is_s4 = op.shape.element() == Some(ElementType::S4);
    let is_eight_bit = op.shape.element().is_some_and(is_eight_bit_float);
    let is_possible = match op.opcode {
        Parameter => true,
        Concatenate => {
            let dim = op.attributes.ints(AttributeKey::Dimensions).first().copied().unwrap_or(0);
            let size =
                |shape: &Shape| usize::try_from(dim).ok().and_then(|dim| shape.dims().get(dim).copied());
            let but_last = op.operand_shapes.split_last().map_or(&[][..], |(_, rest)| rest);
            !is_s4 && but_last.iter().all(|shape| size(shape).is_some_and(|size| size % CONCATENATED == 0))
        }
        Constant => !is_s4 && op.shape.dims().iter().all(|&size| size == 1),
        Iota => !is_s4 && !is_eight_bit,
        Reduce => {
            let dims = op.attributes.ints(AttributeKey::Dimensions);
            !is_eight_bit && op.operand_shapes.len() == 2 && !dims.is_empty()
        }
        Bitcast => {
            let elements = |shape: &Shape| shape.as_array().and_then(|array| array.elements());
            let is_truth = |element: Option<ElementType>| element == Some(ElementType::Pred);
            let keeps_count = op.operand_shapes.first().and_then(elements) == elements(&op.shape);
            let mixes_truth =
                from(0) != op.shape.element() && (is_truth(from(0)) || is_truth(op.shape.element()));
            !is_s4 && keeps_count && !mixes_truth
        }
        Broadcast | Reshape | Slice | Transpose => !is_s4,
        opcode if is_elementwise(opcode) => {
            let of = op.operand_shapes.last().and_then(Shape::element);
            of.is_some_and(|element| has_elementwise(opcode, element))
        }
        _ => false,
    };
    if is_possible { Ok(()) } else { unsupported() }
}

fn is_eight_bit_float(element: ElementType) -> bool {
    matches!(element, ElementType::F8e5m2 | ElementType::F8e4m3fn)
}

fn is_data(element: ElementType) -> bool {
    use ElementType::*;
    matches!(element, Pred | S4 | S8 | S16 | S32 | S64 | U8 | U16 | U32 | U64 | F16 | Bf16 | F32 | F64)
        || is_eight_bit_float(element)
}

fn may_convert(from: ElementType, to: ElementType) -> bool {
    use ElementType::*;
    let is_f8 = is_eight_bit_float(from) || is_eight_bit_float(to);
    let both_f8 = is_eight_bit_float(from) && is_eight_bit_float(to);
    let has_usual = [from, to].into_iter().any(|element| matches!(element, F16 | Bf16 | F32));
    let is_lost = from != to && is_f8 && !both_f8 && !has_usual;
    let takes_s4 = from != S4 || matches!(to, S8 | U8 | F16 | Bf16 | F32 | F64);
    !is_lost && takes_s4 && to != S4 && (from, to) != (Pred, U8) && is_data(from) && is_data(to)
}

/// Whether Triton has the op for operands of this type, the last one if they differ.
fn has_elementwise(opcode: Opcode, element: ElementType) -> bool {
    use Opcode::*;
    let is_f8 = is_eight_bit_float(element);
    let is_float = element.is_floating();
    let is_usual_float =
        matches!(element, ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64);
    let is_truth = element == ElementType::Pred;
    let is_integer = !is_float && !is_truth;
    if element == ElementType::S4 {
        return false;
    }
    match opcode {
        Select => true,
        Copy => true,
        Clamp | Add | Compare | Maximum | Minimum | Multiply => !is_f8,
        Abs => !is_truth,
        Negate | Subtract => !is_truth && !is_f8,
        Not => is_truth || is_integer,
        And | Or | Xor => is_truth || is_integer,
        Divide | Remainder => is_integer || is_usual_float,
        Atan2 | Power => is_usual_float,
        Acos | Acosh | Asin | Asinh | Atanh | Cbrt | Ceil | Cosine | Cosh | Erf | Exponential
        | ExponentialMinusOne | Floor | Log | LogPlusOne | RoundNearestEven | Rsqrt | Sine | Sinh | Sqrt
        | Tan | Tanh => is_usual_float,
        ReducePrecision => is_float,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expect: bool) {
        let module = format!(
            "HloModule m\nENTRY e {{\n p = f32[64,64] parameter(0)\n c = pred[64,64] parameter(1)\n ROOT r = {line}\n}}\n"
        );
        let graphs = ir::graphs_of_text(&module);
        let graph = &graphs.last().expect("an entry").1;
        assert_eq!(of_op(&graph.ops[graph.root as usize]).is_ok(), expect, "{line}");
    }

    #[test]
    fn ops() {
        check("f32[64,64] exponential(p)", true);
        check("f32[64,64] select(c, p, p)", true);
        check("pred[64,64] compare(p, p), direction=LT", true);
        check("u8[64,64] convert(c)", false);
        check("s32[64,64] convert(c)", true);
        check("f32[65,64] pad(p, p), padding=0_1x0_0", false);
        check("f32[128,64] concatenate(p, p), dimensions={0}", true);
        check("pred[64,64] sqrt(c)", false);
        check("f32[64,64] reverse(p), dimensions={0}", false);
    }
}
