//! Roots without an instruction.

use ptx::Name;

use super::flow::{Kind, X};

/// 1 / √x in `f64`: the instruction's 22 bits, and one step of third order. At most 1 ulp.
pub(in crate::ptx::scalar) fn rsqrt(x: X<'_>) -> X<'_> {
    if !x.is_double() {
        return x.approx(Name::Rsqrt);
    }
    // The instruction treats the smallest numbers as zero.
    let is_small = x.abs().lt(f64::MIN_POSITIVE) & x.ne(0.0);
    let scaled = is_small.select(x * f64::powi(2.0, 108), x);
    let start = scaled.approx_flushing(Name::Rsqrt);
    let error = (scaled * start).fma(-start, 1.0);
    let refined = error.fma(0.375, 0.5).fma(error * start, start);
    // For zeros and infinities the start value is the result.
    let is_number = start.gt(0.0) & start.lt(f64::INFINITY);
    let root = is_number.select(refined, start);
    is_small.select(root * f64::powi(2.0, 54), root)
}

/// At most 1 ulp.
pub(in crate::ptx::scalar) fn cbrt(x: X<'_>) -> X<'_> {
    let a = x.abs();
    let root = if x.is_double() { root_double(a) } else { root_single(a) };
    let is_special = x.eq(0.0) | !a.lt(f64::INFINITY);
    is_special.select(x, x.sign_onto(root))
}

/// By the logarithm, and one step of Newton's method.
fn root_single(a: X<'_>) -> X<'_> {
    let start = (a.approx(Name::Lg2) * (1.0 / 3.0)).approx_flushing(Name::Ex2);
    let step = start - a.over(start * start);
    step.fma(-1.0 / 3.0, start)
}

/// `a = 8^k m` with m in [1, 8): the root of m by its logarithm in `f32`, and one step of Halley's method.
fn root_double(a: X<'_>) -> X<'_> {
    let is_small = a.lt(f64::MIN_POSITIVE);
    let scaled = is_small.select(a * f64::powi(2.0, 54), a);
    let exponent = scaled.bits().shr(52i64).low_word().plus(-1023);
    // Division of a non-negative number by 3, rounded down: 1023 is a multiple of 3.
    let third = exponent.plus(1023).mul_high(exponent.with_int(0x5555_5556)).plus(-341);
    let rest = scaled.bits() - (third * exponent.with_int(3)).widened(a).shl(52i64);
    let m = rest.float();
    let start = (m.to(Kind::F32).approx(Name::Lg2) * (1.0 / 3.0)).approx_flushing(Name::Ex2).to(Kind::F64);
    let cube = start * start * start;
    let ratio = (m - cube).over(cube + cube + m);
    let root = (start * ratio) + start;
    let power = is_small.select(third.plus(-18), third);
    root * power.power_of_two(a)
}

/// √(x² + y²) without intermediate overflow. At most 3 ulp. If one is infinite, so is the result, for every
/// value of the other.
pub(in crate::ptx::scalar) fn hypot<'f>(x: X<'f>, y: X<'f>) -> X<'f> {
    let (a, b) = (x.abs(), y.abs());
    let (less, more) = (a.min(b), a.max(b));
    let quotient = less.over(more);
    let length = quotient.fma(quotient, 1.0).sqrt() * more;
    let length = less.eq(0.0).select(more, length);
    let length = x.is_nan_beside(y).select(x + y, length);
    more.eq(f64::INFINITY).select(more, length)
}
