//! Division of complex numbers. It divides by the larger part of the divisor first, so that intermediate
//! values do not overflow, and returns the results of C's Annex G where both parts would be NaN. Source: MLIR
//! `ComplexToStandard`, the algorithm of Smith.

use ptx::{Modifier, Name, Type};

use super::Z;
use crate::ptx::scalar::math::flow::{P, X};

pub(super) fn divide<'f>(a: Z<'f>, b: Z<'f>) -> Z<'f> {
    let over = |x: X<'f>, y: X<'f>| quotient(x, y);
    // Divides by the imaginary part if that is larger.
    let ratio = over(b.re, b.im);
    let divisor = b.im + b.re * ratio;
    let by_im = Z { re: over(a.im + a.re * ratio, divisor), im: over(a.im * ratio - a.re, divisor) };
    let ratio = over(b.im, b.re);
    let divisor = b.re + b.im * ratio;
    let by_re = Z { re: over(a.re + a.im * ratio, divisor), im: over(a.im - a.re * ratio, divisor) };
    let (x, y) = (b.re.abs(), b.im.abs());
    let plain = either(x.lt(y), by_im, by_re);
    let infinity = a.re.like(f64::INFINITY);
    let is_infinite = |x: X<'f>| x.abs().eq(f64::INFINITY);
    let is_finite = |x: X<'f>| x.abs().lt(f64::INFINITY);
    // Division by zero: infinite in the direction of the dividend.
    let signed = b.re.sign_onto(infinity);
    let by_zero = Z { re: a.re * signed, im: a.im * signed };
    let is_by_zero = x.eq(0.0) & y.eq(0.0) & (a.re.eq(a.re) | a.im.eq(a.im));
    // Infinite by finite, and finite by infinite: with 1 for infinite parts and 0 for others.
    let unit = |x: X<'f>| x.sign_onto(is_infinite(x).select(x.like(1.0), x.like(0.0)));
    let (ar, ai, br, bi) = (unit(a.re), unit(a.im), unit(b.re), unit(b.im));
    let infinite =
        Z { re: (ar * b.re + ai * b.im) * f64::INFINITY, im: (ai * b.re - ar * b.im) * f64::INFINITY };
    let is_infinite_by = (is_infinite(a.re) | is_infinite(a.im)) & is_finite(b.re) & is_finite(b.im);
    let vanishing = Z { re: (a.re * br + a.im * bi) * 0.0, im: (a.im * br - a.re * bi) * 0.0 };
    let is_by_infinite = (is_infinite(b.re) | is_infinite(b.im)) & is_finite(a.re) & is_finite(a.im);
    let special = either(is_by_infinite, vanishing, plain);
    let special = either(is_infinite_by, infinite, special);
    let special = either(is_by_zero, by_zero, special);
    either(plain.re.is_nan() & plain.im.is_nan(), special, plain)
}

pub(super) fn either<'f>(condition: P<'f>, a: Z<'f>, b: Z<'f>) -> Z<'f> {
    Z { re: condition.select(a.re, b.re), im: condition.select(a.im, b.im) }
}

/// XLA's division of numbers of this type.
pub(super) fn quotient<'f>(a: X<'f>, b: X<'f>) -> X<'f> {
    if a.is_double() { a.over(b) } else { a.raw(Name::Div.with(Modifier::Full, Type::F32), a.kind, &[b]) }
}
