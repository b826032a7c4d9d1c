//! Hyperbolic functions: polynomials near zero, exponentials elsewhere.

use ptx::Name;

use super::coefficients::{SINH_F32, SINH_F64, TANH_F32};
use super::exponential::{expm1, quarter_exp};
use super::flow::X;

/// At most 3 ulp.
pub(in crate::ptx::scalar) fn sinh(x: X<'_>) -> X<'_> {
    let a = x.abs();
    let z = x * x;
    let tail = if x.is_double() { z.poly(&SINH_F64) } else { z.poly(&SINH_F32) };
    let near = (z * a).fma(tail, a);
    let quarter = quarter_exp(a);
    let half = quarter + quarter;
    let far = half - x.like(0.25).over(half);
    let size = a.gt(1.0).select(far, near);
    x.is_nan().select(x, x.sign_onto(size))
}

/// At most 2 ulp.
pub(in crate::ptx::scalar) fn cosh(x: X<'_>) -> X<'_> {
    let quarter = quarter_exp(x.abs());
    let half = quarter + quarter;
    let sum = half + x.like(0.25).over(half);
    x.is_nan().select(x, sum)
}

/// At most 3 ulp.
pub(in crate::ptx::scalar) fn tanh(x: X<'_>) -> X<'_> {
    let a = x.abs();
    if x.is_double() {
        let e = expm1(a.min(22.0) * 2.0);
        let size = e.over(e + 2.0);
        return x.is_nan().select(x, x.sign_onto(size));
    }
    // 1 - 2 / (e^2a + 1); above 9.01 the result is 1.
    let power = (a * (2.0 * std::f64::consts::LOG2_E)).approx_flushing(Name::Ex2);
    let far = (power + 1.0).approx_flushing(Name::Rcp).fma(-2.0, 1.0);
    let far = x.sign_onto(far);
    let z = x * x;
    let near = z.poly(&TANH_F32).fma(z, 0.0).fma(x, x);
    a.ge(0.6).select(far, near)
}
