//! The error function: a polynomial up to 1, and above that 1 minus `e^(-x²)` times a polynomial.

use super::coefficients::{ERF_F32, ERF_F64, ERFCX_F32, ERFCX_F64};
use super::exponential::exp;
use super::flow::X;

/// At most 2 ulp.
pub(super) fn erf(x: X<'_>) -> X<'_> {
    let a = x.abs();
    let z = x * x;
    let near = if x.is_double() { z.poly(&ERF_F64) } else { z.poly(&ERF_F32) };
    let near = x.fma(near, x);
    // Above 6 the result is 1.
    let cut = a.min(6.0);
    let t = (cut + -2.2).over(cut + 2.2);
    let tail = if x.is_double() { t.poly(&ERFCX_F64) } else { t.poly(&ERFCX_F32) };
    let rest = exp(cut * -cut) * tail;
    let far = x.sign_onto(x.like(1.0).in_register() - rest);
    // NaN takes the polynomial, which gives NaN.
    a.gt(1.0).select(far, near)
}
