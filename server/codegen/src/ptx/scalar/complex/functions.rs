//! Functions of complex numbers, after Kahan's "Branch cuts for complex elementary functions": signs of zeros
//! select the sides of cuts, and intermediate values overflow only if the result does.

use syntax::hlo::Opcode;

use super::quotient::{divide, either, quotient};
use super::{Z, product};
use crate::ptx::scalar::math::flow::X;
use crate::ptx::scalar::math::{atan2, cos, cosh, exp, expm1, hypot, log, log1p, sin, sinh, tan};

pub(super) fn unary(opcode: Opcode, z: Z<'_>) -> Option<Z<'_>> {
    Some(match opcode {
        Opcode::Exponential => exponential(z),
        Opcode::ExponentialMinusOne => exponential_minus_one(z),
        Opcode::Log => logarithm(z),
        Opcode::LogPlusOne => log_plus_one(z),
        Opcode::Logistic => logistic(z),
        Opcode::Sine => sine(z),
        Opcode::Cosine => cosine(z),
        Opcode::Tan => tangent(z),
        Opcode::Tanh => hyperbolic_tangent(z),
        Opcode::Sqrt => square_root(z),
        Opcode::Rsqrt => inverse_root(z),
        Opcode::Sign => sign(z),
        _ => return None,
    })
}

/// The absolute value.
pub(super) fn abs(z: Z<'_>) -> X<'_> {
    hypot(z.re, z.im)
}

fn sign(z: Z<'_>) -> Z<'_> {
    let size = abs(z);
    let unit = Z { re: quotient(z.re, size), im: quotient(z.im, size) };
    either(z.re.eq(0.0) & z.im.eq(0.0), z, unit)
}

/// Multiplied in two factors, because the result's parts may be finite where e^re is not.
fn exponential(z: Z<'_>) -> Z<'_> {
    let half = exp(z.re * 0.5);
    let (c, s) = (cos(z.im), sin(z.im));
    let whole = exp(z.re);
    let is_large = whole.eq(f64::INFINITY);
    let first = is_large.select(half, whole);
    let second = is_large.select(half, half.like(1.0));
    let re = (first * c) * second;
    let im = (first * s) * second;
    // A real number stays real. An infinite angle gives NaN whatever the absolute value, as in XLA's kernels.
    Z { re, im: z.im.eq(0.0).select(z.im, im) }
}

/// (e^x - 1) cos y - 2 sin²(y/2), e^x sin y.
fn exponential_minus_one(z: Z<'_>) -> Z<'_> {
    let e = expm1(z.re);
    let half = sin(z.im * 0.5);
    let lost = half * half * -2.0;
    let re = z.im.eq(0.0).select(e, e.fma(cos(z.im), lost));
    let im = (e + 1.0) * sin(z.im);
    Z { re, im: z.im.eq(0.0).select(z.im, im) }
}

/// log |z|, also exact near 1: half of log1p of (m - 1)(m + 1) + n², for the larger part m and the smaller
/// one n.
fn log_size<'f>(x: X<'f>, y: X<'f>) -> X<'f> {
    let (a, b) = (x.abs(), y.abs());
    let (more, less) = (a.max(b), a.min(b));
    let is_near = more.gt(0.5) & more.lt(2.0);
    let ratio = more.eq(0.0).select(more.like(0.0), less.over(more));
    let square = (more + -1.0).fma(more + 1.0, less * less);
    let argument = is_near.select(square, ratio * ratio);
    let tail = log1p(argument) * 0.5;
    let size = is_near.select(tail, log(more) + tail);
    let size = x.is_nan_beside(y).select(x + y, size);
    more.eq(f64::INFINITY).select(more, size)
}

fn logarithm(z: Z<'_>) -> Z<'_> {
    Z { re: log_size(z.re, z.im), im: atan2(z.im, z.re) }
}

fn log_plus_one(z: Z<'_>) -> Z<'_> {
    let moved = z.re + 1.0;
    // Near 0, x(2 + x) + y² keeps the digits that 1 + x loses.
    let square = z.re.fma(z.re + 2.0, z.im * z.im);
    let is_near = z.re.abs().lt(0.5) & z.im.abs().lt(0.5);
    let re = is_near.select(log1p(square) * 0.5, log_size(moved, z.im));
    Z { re, im: atan2(z.im, moved) }
}

fn logistic(z: Z<'_>) -> Z<'_> {
    let e = exponential(Z { re: -z.re, im: -z.im });
    let one = Z { re: z.re.like(1.0).in_register(), im: z.re.like(0.0).in_register() };
    divide(one, Z { re: e.re + 1.0, im: e.im })
}

fn sine(z: Z<'_>) -> Z<'_> {
    let im = z.im.eq(0.0).select(z.im * cos(z.re), cos(z.re) * sinh(z.im));
    Z { re: z.re.eq(0.0).select(z.re, sin(z.re) * cosh(z.im)), im }
}

fn cosine(z: Z<'_>) -> Z<'_> {
    Z { re: cos(z.re) * cosh(z.im), im: -(sin(z.re) * sinh(z.im)) }
}

/// Computed as -i tanh(i z).
fn tangent(z: Z<'_>) -> Z<'_> {
    let turned = hyperbolic_tangent(Z { re: -z.im, im: z.re });
    Z { re: turned.im, im: -turned.re }
}

fn hyperbolic_tangent(z: Z<'_>) -> Z<'_> {
    let limit = z.re.either(10.0, 20.0);
    let cut = z.re.max(-limit).min(limit);
    let t = tan(z.im);
    let beta = t.fma(t, 1.0);
    let s = sinh(cut);
    let rho = s.fma(s, 1.0).sqrt();
    let denominator = (beta * s).fma(s, 1.0);
    let re = (beta * rho * s).over(denominator);
    let im = t.over(denominator);
    // Where t is infinite, computes 1 / tanh.
    let is_pole = t.abs().eq(f64::INFINITY);
    let near = Z { re: is_pole.select(rho.over(s), re), im: is_pole.select(t.like(0.0), im) };
    // Far from 0 the result is a sign, and the remainder decreases like e^-2|x|.
    let rest = sin(z.im) * cos(z.im) * exp(z.re.abs() * -2.0) * 4.0;
    let turns = z.im.abs().lt(f64::INFINITY);
    let rest = turns.select(rest, rest.like(0.0));
    let far = Z { re: z.re.sign_onto(z.re.like(1.0)), im: rest };
    let result = either(z.re.abs().gt(limit), far, near);
    // Where the angle is NaN, only infinite numbers have a value.
    let nan = z.re.like(f64::NAN);
    let is_lost = z.re.is_nan() | (!turns & z.re.abs().lt(f64::INFINITY));
    let result = either(is_lost, Z { re: nan, im: nan }, result);
    Z { re: result.re, im: z.im.eq(0.0).select(z.im, result.im) }
}

/// √((|z| + |x|) / 2), and the other part from it.
fn square_root(z: Z<'_>) -> Z<'_> {
    let (x, y) = (z.re.abs(), z.im.abs());
    // Scaled by 4 or by 2^-24 so that the sum neither overflows nor loses digits.
    let is_large = x.max(y).gt(z.re.either(f64::powi(2.0, 124), f64::powi(2.0, 1020)));
    let is_small = x.max(y).lt(z.re.either(f64::powi(2.0, -100), f64::powi(2.0, -900)));
    let scale = |large: f64, small: f64| {
        let other = is_small.select(x.like(small), x.like(1.0));
        is_large.select(x.like(large), other)
    };
    let down = scale(0.25, f64::powi(2.0, 60));
    let up = scale(2.0, f64::powi(2.0, -30));
    let (a, b) = (x * down, y * down);
    let t = ((hypot(a, b) + a) * 0.5).sqrt() * up;
    let other = y.over(t + t);
    let other = t.eq(0.0).select(t, other);
    let is_right = z.re.ge(0.0);
    let result = Z { re: is_right.select(t, other), im: z.im.sign_onto(is_right.select(other, t)) };
    let infinity = x.like(f64::INFINITY);
    // An infinite imaginary part dominates; with an infinite real part, the other part is 0 or keeps its
    // sign.
    let flat = Z {
        re: is_right.select(infinity, x.like(0.0)),
        im: z.im.sign_onto(is_right.select(x.like(0.0), infinity)),
    };
    let result = either(x.eq(f64::INFINITY) & y.lt(f64::INFINITY), flat, result);
    either(y.eq(f64::INFINITY), Z { re: infinity, im: z.im }, result)
}

/// The conjugate of the root divided by the absolute value.
fn inverse_root(z: Z<'_>) -> Z<'_> {
    let root = square_root(z);
    let size = abs(z);
    let result = Z { re: root.re.over(size), im: -(root.im.over(size)) };
    let zero = z.re.like(0.0);
    let is_zero = size.eq(0.0);
    let is_infinite = size.eq(f64::INFINITY);
    let result = either(is_infinite, Z { re: zero, im: zero }, result);
    either(is_zero, Z { re: z.re.like(f64::INFINITY), im: zero }, result)
}

/// e^(b log a): |a|^x e^(-y θ) at the angle y log |a| + x θ, for b = x + iy. It is 1 if b is 0, even if a is
/// 0 too.
pub(super) fn power<'f>(a: Z<'f>, b: Z<'f>) -> Z<'f> {
    let log = logarithm(a);
    let exponent = product(log, b);
    let result = exponential(exponent);
    let zero = a.re.like(0.0);
    let one = Z { re: a.re.like(1.0), im: zero };
    let is_zero = a.re.eq(0.0) & a.im.eq(0.0);
    let none = Z { re: zero, im: zero };
    let result = either(is_zero & b.re.gt(0.0), none, result);
    either(b.re.eq(0.0) & b.im.eq(0.0), one, result)
}

/// -i log((x + i y) / √(x² + y²)).
pub(super) fn angle<'f>(y: Z<'f>, x: Z<'f>) -> Z<'f> {
    let squares = (product(x, x), product(y, y));
    let root = square_root(Z { re: squares.0.re + squares.1.re, im: squares.0.im + squares.1.im });
    let sum = Z { re: x.re - y.im, im: x.im + y.re };
    let log = logarithm(divide(sum, root));
    Z { re: log.im, im: -log.re }
}
