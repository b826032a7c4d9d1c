//! Inverse functions: the trigonometric ones by polynomials, the hyperbolic ones by logarithms.

use std::f64::consts::{FRAC_PI_2, LN_2};

use super::coefficients::{ASIN_F32, ASIN_F64, ATAN_F32, ATAN_F64};
use super::flow::X;
use super::logarithm::log1p;

/// The rest of π/2 after 24 and after 53 bits.
const PI_2_LOW: (f64, f64) = (-4.371_138_828_673_793e-8, 6.123_233_995_736_766e-17);

/// `a - b` for a multiple of π/2, including its bits beyond the type's precision.
fn from_quarters<'f>(quarters: f64, b: X<'f>) -> X<'f> {
    let low = b.either(PI_2_LOW.0, PI_2_LOW.1);
    // Exact: the constant is rounded, and its error is added afterwards.
    let high = b.like(quarters * b.either(f64::from(FRAC_PI_2 as f32), FRAC_PI_2)).in_register();
    high - (b + -low * quarters)
}

/// asin |x| if |x| is at most 1/2, else asin √((1 - |x|) / 2), which is half the distance from π/2.
fn asin_part(a: X<'_>) -> X<'_> {
    let is_far = a.gt(0.5);
    let z = is_far.select(a.fma(-0.5, 0.5), a * a);
    let s = is_far.select(z.sqrt(), a);
    let tail = if a.is_double() { z.poly(&ASIN_F64) } else { z.poly(&ASIN_F32) };
    (z * s).fma(tail, s)
}

/// At most 3 ulp.
pub(super) fn asin(x: X<'_>) -> X<'_> {
    let a = x.abs();
    let part = asin_part(a);
    let far = from_quarters(1.0, part + part);
    x.sign_onto(a.gt(0.5).select(far, part))
}

/// At most 2 ulp.
pub(super) fn acos(x: X<'_>) -> X<'_> {
    let a = x.abs();
    let part = asin_part(a);
    let double = part + part;
    let far = x.gt(0.0).select(double, from_quarters(2.0, double));
    let near = from_quarters(1.0, x.sign_onto(part));
    a.gt(0.5).select(far, near)
}

/// The angle of the point (x, y), of y and x. At most 3 ulp.
pub(in crate::ptx::scalar) fn atan2<'f>(y: X<'f>, x: X<'f>) -> X<'f> {
    let (a, b) = (y.abs(), x.abs());
    let (less, more) = (a.min(b), a.max(b));
    let quotient = less.over(more);
    // 0/0 and inf/inf.
    let quotient = more.eq(0.0).select(x.like(0.0), quotient);
    let quotient = less.eq(f64::INFINITY).select(x.like(1.0), quotient);
    let z = quotient * quotient;
    let tail = if x.is_double() { z.poly(&ATAN_F64) } else { z.poly(&ATAN_F32) };
    let angle = (z * quotient).fma(tail, quotient);
    let angle = a.gt(b).select(from_quarters(1.0, angle), angle);
    let angle = x.bits().lt(0i64).select(from_quarters(2.0, angle), angle);
    let nan = x + y;
    x.is_nan_beside(y).select(nan, y.sign_onto(angle))
}

/// Above this, a square plus 1 rounds to the square.
const LARGE: f64 = (1u64 << 30) as f64;

/// At most 3 ulp.
pub(super) fn asinh(x: X<'_>) -> X<'_> {
    let a = x.abs();
    let is_large = a.gt(LARGE);
    let square = a * a;
    let near = a + square.over((square + 1.0).sqrt() + 1.0);
    let log = log1p(is_large.select(a + -1.0, near));
    x.sign_onto(is_large.select(log + LN_2, log))
}

/// At most 3 ulp; NaN for numbers below 1.
pub(super) fn acosh(x: X<'_>) -> X<'_> {
    let t = x + -1.0;
    let is_large = x.gt(LARGE);
    let near = t + t.fma(t, t + t).sqrt();
    let log = log1p(is_large.select(t, near));
    let log = is_large.select(log + LN_2, log);
    x.lt(1.0).select(x.like(f64::NAN), log)
}

/// At most 3 ulp.
pub(super) fn atanh(x: X<'_>) -> X<'_> {
    let a = x.abs();
    let rest = a.like(1.0).in_register() - a;
    let log = log1p((a + a).over(rest));
    x.sign_onto(log * 0.5)
}
