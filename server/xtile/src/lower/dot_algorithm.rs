//! How a dot computes: at once, or as several dots of parts of 16 bits.
//! Source: `backends/gpu/codegen/triton/transforms/stablehlo_lower_to_triton.cc`.

use codegen::Constant;
use ir::ElementTypeExt;
use syntax::hlo::ElementType;

use super::rewrite::Rewriter;
use crate::program::{Arithmetic, Cast, DotDims, DotPrecision, Kind, Predicate, Triton, Type, ValueId};

const HIGH: usize = 0;
const MIDDLE: usize = 1;

/// The dot of two matrices, added to `sum`.
pub(super) fn emit(
    rewriter: &mut Rewriter<'_>,
    dims: &DotDims,
    operands: [ValueId; 2],
    sum: ValueId,
    ty: Type,
) -> Option<ValueId> {
    let algorithm = dims.algorithm.as_deref();
    // The last of three parts is the lowest; the products are added from the smallest.
    let (parts, products): (usize, &[[usize; 2]]) = match algorithm {
        Some("dot_bf16_bf16_f32_x3") => (2, &[[1, HIGH], [HIGH, 1]]),
        Some("dot_bf16_bf16_f32_x6") => {
            (3, &[[MIDDLE, MIDDLE], [2, HIGH], [HIGH, 2], [MIDDLE, HIGH], [HIGH, MIDDLE]])
        }
        _ => {
            let is_float =
                rewriter.is_float(sum) && operands.iter().all(|&operand| rewriter.is_float(operand));
            let precision = if is_float { precision(dims) } else { DotPrecision::Ieee };
            let is_imprecise = operands.iter().any(|&operand| {
                let element = rewriter.element(operand);
                element.is_floating() && element.bits() == Some(8)
            });
            let kind = Kind::Triton(Triton::Dot { precision, is_imprecise });
            return Some(rewriter.push(kind, vec![operands[0], operands[1], sum], ty));
        }
    };
    if operands.iter().chain([&sum]).any(|&operand| rewriter.element(operand) != ElementType::F32) {
        return None;
    }
    let [left, right] = operands.map(|operand| split(rewriter, operand, parts));
    let mut result = rewriter.number(0, ty.clone());
    for &[a, b] in products {
        result = exact(rewriter, left[a], right[b], result, &ty);
    }
    result = without_nan(rewriter, result, &ty);
    result = exact(rewriter, left[HIGH], right[HIGH], result, &ty);
    Some(rewriter.push(Kind::Arithmetic(Arithmetic::Add), vec![sum, result], ty))
}

fn precision(dims: &DotDims) -> DotPrecision {
    match dims.algorithm.as_deref() {
        Some("dot_tf32_tf32_f32_x3") => DotPrecision::Tf32x3,
        Some("dot_tf32_tf32_f32") => DotPrecision::Tf32,
        Some(_) => DotPrecision::Ieee,
        None if dims.precision.contains(&"HIGHEST") => DotPrecision::Ieee,
        None => DotPrecision::Tf32,
    }
}

/// Parts of 16 bits whose sum is the value, the largest first.
fn split(rewriter: &mut Rewriter<'_>, mut value: ValueId, parts: usize) -> Vec<ValueId> {
    let ty = rewriter.ty(value).clone();
    let short = ty.with_element(ElementType::Bf16);
    (0..parts)
        .map(|part| {
            let own = rewriter.push(Kind::Cast(Cast::TruncateFloat), vec![value], short.clone());
            if part + 1 < parts {
                let wide = rewriter.push(Kind::Cast(Cast::ExtendFloat), vec![own], ty.clone());
                value = rewriter.push(Kind::Arithmetic(Arithmetic::Subtract), vec![value, wide], ty.clone());
            }
            own
        })
        .collect()
}

fn exact(rewriter: &mut Rewriter<'_>, left: ValueId, right: ValueId, sum: ValueId, ty: &Type) -> ValueId {
    let kind = Kind::Triton(Triton::Dot { precision: DotPrecision::Ieee, is_imprecise: false });
    rewriter.push(kind, vec![left, right, sum], ty.clone())
}

/// Zero where the products of the low parts are not finite: the product of the high parts decides there.
fn without_nan(rewriter: &mut Rewriter<'_>, value: ValueId, ty: &Type) -> ValueId {
    let infinity = rewriter.push_constant(Constant::of_float(ElementType::F32, f64::INFINITY), ty.clone());
    let size = rewriter.push(Kind::Math("absf"), vec![value], ty.clone());
    let compare = Kind::Arithmetic(Arithmetic::Compare(Predicate::Greater));
    let is_finite = rewriter.push(compare, vec![infinity, size], ty.with_element(ElementType::Pred));
    let zero = rewriter.number(0, ty.clone());
    rewriter.push(Kind::Select, vec![is_finite, value, zero], ty.clone())
}
