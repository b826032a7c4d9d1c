//! Conversions of `stablehlo` to casts of `arith`.
//! Source: `LowerConvert`, `codegen/xtile/ir/transforms/lower_stablehlo_to_arith.cc`.

use codegen::Constant;
use ir::ElementTypeExt;
use syntax::hlo::ElementType;

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Arithmetic, Cast, Kind, Op, Predicate, ValueId};

pub(super) fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let (Kind::Convert, &[operand]) = (&op.kind, &op.operands[..]) else { return None };
    let to = rewriter.ty(op.result()?).element()?;
    Some(Rewrite::Value(converted(rewriter, operand, to)))
}

/// The value as another type.
fn converted(rewriter: &mut Rewriter<'_>, value: ValueId, to: ElementType) -> ValueId {
    let from = rewriter.element(value);
    if from == to {
        return value;
    }
    if from == ElementType::Bf16 {
        let wide = cast(rewriter, Cast::ExtendFloat, value, ElementType::F32);
        return converted(rewriter, wide, to);
    }
    if to == ElementType::Bf16 && !matches!(from, ElementType::S8 | ElementType::U8) {
        let wide = converted(rewriter, value, ElementType::F32);
        return cast(rewriter, Cast::TruncateFloat, wide, to);
    }
    match (from.is_floating(), to.is_floating()) {
        (true, true) => float_to_float(rewriter, value, from, to),
        (true, false) => float_to_integer(rewriter, value, to),
        (false, true) if from == ElementType::Pred || from.is_unsigned_integer() => {
            cast(rewriter, Cast::UnsignedToFloat, value, to)
        }
        (false, true) => cast(rewriter, Cast::SignedToFloat, value, to),
        (false, false) => integer_to_integer(rewriter, value, from, to),
    }
}

fn cast(rewriter: &mut Rewriter<'_>, cast: Cast, value: ValueId, to: ElementType) -> ValueId {
    let ty = rewriter.ty(value).with_element(to);
    rewriter.push(Kind::Cast(cast), vec![value], ty)
}

fn float_to_float(
    rewriter: &mut Rewriter<'_>,
    value: ValueId,
    from: ElementType,
    to: ElementType,
) -> ValueId {
    if from.bits() == Some(8) && to.bits() == Some(8) {
        let wide = cast(rewriter, Cast::ExtendFloat, value, ElementType::F16);
        return cast(rewriter, Cast::TruncateFloat, wide, to);
    }
    let digits = |element: ElementType| match element {
        ElementType::F64 => 52,
        ElementType::F32 => 23,
        ElementType::F16 => 10,
        ElementType::F8e4m3fn => 3,
        ElementType::F8e5m2 => 2,
        _ => 0,
    };
    let how = if digits(from) > digits(to) { Cast::TruncateFloat } else { Cast::ExtendFloat };
    cast(rewriter, how, value, to)
}

fn integer_to_integer(
    rewriter: &mut Rewriter<'_>,
    value: ValueId,
    from: ElementType,
    to: ElementType,
) -> ValueId {
    let bits =
        |element: ElementType| if element == ElementType::Pred { 1 } else { element.bits().unwrap_or(64) };
    if bits(from) < bits(to) {
        let is_unsigned = from == ElementType::Pred || from.is_unsigned_integer();
        let how = if is_unsigned { Cast::ExtendUnsigned } else { Cast::ExtendSigned };
        return cast(rewriter, how, value, to);
    }
    if to == ElementType::Pred {
        let ty = rewriter.ty(value).clone();
        let zero = rewriter.number(0, ty);
        return compared(rewriter, Predicate::NotEqual, value, zero);
    }
    cast(rewriter, Cast::Truncate, value, to)
}

/// Values outside the range of the integer become its ends, and NaN becomes 0.
/// Source: `EmitFloatToIntConvertWithClamping`, `codegen/emitters/transforms/lowering_utils.cc`.
fn float_to_integer(rewriter: &mut Rewriter<'_>, value: ValueId, to: ElementType) -> ValueId {
    let ty = rewriter.ty(value).clone();
    if to == ElementType::Pred {
        let zero = rewriter.number(0, ty);
        return compared(rewriter, Predicate::NotEqual, value, zero);
    }
    let bits = to.bits().unwrap_or(64).clamp(1, 64);
    let is_unsigned = to.is_unsigned_integer();
    let (how, least, most) = match is_unsigned {
        true => (Cast::FloatToUnsigned, 0, (u64::MAX >> (64 - bits)) as f64),
        false => (Cast::FloatToSigned, i64::MIN >> (64 - bits), (i64::MAX >> (64 - bits)) as f64),
    };
    let integer = cast(rewriter, how, value, to);
    let result = ty.with_element(to);
    let element = ty.element().unwrap_or(ElementType::F32);
    let low = rewriter.number(least, ty.clone());
    let is_low = compared(rewriter, Predicate::AtMost, value, low);
    let low = rewriter.number(least, result.clone());
    let clamped = rewriter.push(Kind::Select, vec![is_low, low, integer], result.clone());
    let high = rewriter.push_constant(Constant::of_float(element, most), ty);
    let is_high = compared(rewriter, Predicate::AtLeast, value, high);
    let most = if is_unsigned { -1 } else { i64::MAX >> (64 - bits) };
    let high = rewriter.number(most, result.clone());
    let clamped = rewriter.push(Kind::Select, vec![is_high, high, clamped], result.clone());
    let is_nan = compared(rewriter, Predicate::Unordered, value, value);
    let zero = rewriter.number(0, result.clone());
    rewriter.push(Kind::Select, vec![is_nan, zero, clamped], result)
}

fn compared(rewriter: &mut Rewriter<'_>, predicate: Predicate, a: ValueId, b: ValueId) -> ValueId {
    let ty = rewriter.ty(a).with_element(ElementType::Pred);
    rewriter.push(Kind::Arithmetic(Arithmetic::Compare(predicate)), vec![a, b], ty)
}
