//! Exponentials: `x = n log 2 + r`, a polynomial for `e^r - 1`, and `2^n` as bits.

use ptx::{Modifier, Name, Opcode, Rounding, Type};
use std::f64::consts::{LN_2, LOG2_E};

use super::coefficients::{EXPM1_F32, EXPM1_F64};
use super::flow::{Kind, X};

/// The rest of log 2 after 24 and after 53 bits.
pub(super) const LN_2_LOW: (f64, f64) = (-1.904_654_212_125_933_6e-9, 2.319_046_813_846_299_6e-17);

/// Splits the number into a multiple of log 2 and `e^r - 1` of the rest. `low` is added to the rest.
pub(super) fn parts<'f>(x: X<'f>, low: Option<X<'f>>) -> (X<'f>, X<'f>) {
    let n = (x * LOG2_E).rint();
    let rest = n.fma(-f64::from(x.either(LN_2 as f32, 0.0)) - x.either(0.0, LN_2), x);
    let mut rest = n.fma(x.either(-LN_2_LOW.0, -LN_2_LOW.1), rest);
    if let Some(low) = low {
        rest = rest + low;
    }
    let tail = if x.is_double() { rest.poly(&EXPM1_F64) } else { rest.poly(&EXPM1_F32) };
    (n.to_int(), (rest * rest).fma(tail, rest))
}

/// e^x. At most 2 ulp; for `f32`, results beyond 2^±126 saturate.
pub(in crate::ptx::scalar) fn exp(x: X<'_>) -> X<'_> {
    if x.is_double() { exp_of(x, None) } else { exp_single(x) }
}

/// Adds the integer part of the exponent to the bits, and computes the rest with the instruction.
fn exp_single(x: X<'_>) -> X<'_> {
    // x log2(e) / 252 + 1/2, clamped to [0, 1], times 252, rounded down to an integer: the exponent plus 126.
    let scaled = x.fma(f64::from(std::f32::consts::LOG2_E / 252.0), 0.5);
    let saturating = Opcode::new(Name::Cvt).with(Modifier::Sat).with(Type::F32).with(Type::F32);
    let unit = scaled.raw(saturating, Kind::F32, &[]);
    let fma_down = Opcode::new(Name::Fma).with(Rounding::Rm).with(Type::F32);
    let shifted = unit.raw(fma_down, Kind::F32, &[x.like(252.0), x.like(12_582_913.0)]);
    let whole = shifted + -12_583_039.0;
    let high = x.fma(LOG2_E, -whole);
    // The rest of log2(e) after 24 bits.
    let rest = x.fma(1.925_963e-8, high);
    let scale = shifted.bits().shl(23i64).float();
    rest.approx_flushing(Name::Ex2) * scale
}

/// e^(x + low), in full precision in both widths. At most 1 ulp if the result is a normal number.
pub(super) fn exp_of<'f>(x: X<'f>, low: Option<X<'f>>) -> X<'f> {
    let limit = x.either(160.0, 1000.0);
    let cut = x.min(limit).max(-limit);
    let (n, e) = parts(cut, low);
    // In two steps, because 2^n may not be a normal number of the type.
    let half = n.sar(1i64);
    let first = half.power_of_two(x);
    let second = (n - half).power_of_two(x);
    let scaled = (e + 1.0) * first * second;
    x.is_nan().select(x, scaled)
}

/// e^x - 1. At most 2 ulp.
pub(in crate::ptx::scalar) fn expm1(x: X<'_>) -> X<'_> {
    let cut = x.max(x.either(-20.0, -40.0)).min(x.either(88.9, 709.9));
    let (n, e) = parts(cut, None);
    // Half of it, so that 2^n is representable.
    let scale = n.plus(-1).power_of_two(x);
    let half = scale.fma(e, scale + -0.5);
    let special = x.is_nan() | x.eq(0.0);
    special.select(x, half + half)
}

/// A quarter of e^x for x ≥ 0; the largest x are replaced by a number that is large enough.
pub(super) fn quarter_exp(x: X<'_>) -> X<'_> {
    let (n, e) = parts(x.min(x.either(89.5, 710.6)), None);
    let scale = n.plus(-2).power_of_two(x);
    scale.fma(e, scale)
}

/// 1 / (1 + e^-x). At most 3 ulp.
pub(in crate::ptx::scalar) fn logistic(x: X<'_>) -> X<'_> {
    let sum = exp(-x) + 1.0;
    if x.is_double() {
        x.like(1.0).over(sum)
    } else {
        x.like(1.0).raw(Name::Div.with(Modifier::Full, Type::F32), Kind::F32, &[sum])
    }
}
