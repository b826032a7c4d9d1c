//! Floating-point instructions on 32 and 64 bits.
//!
//! `approx` instructions return the float nearest to the true result, within half an ulp. The hardware may be
//! one or two ulps off (`ex2`, `rcp`, `sqrt`, `rsqrt`, `div.full` 2 units; `lg2`, `sin`, `cos`, `tanh` more).

use ptx::Modifier::{Approx, Finite, Full, Infinite, Nan, Normal, Notanumber, Number, Subnormal};
use ptx::Name::*;
use ptx::Rounding::{Rm, Rn, Rp, Rz};
use ptx::{Arithmetic, Type};

use super::lanes::{Doubles, Map, Words, lanes};

/// The function of an instruction on `f32`, `f32x2` or `f64`.
pub(crate) fn find(op: &Arithmetic) -> Option<Map> {
    match (op.ty, op.from) {
        (Type::F32, None) if op.flushes => singles::<true>(op),
        (Type::F32, None) => singles::<false>(op),
        (Type::F64, None) => doubles(op),
        (Type::F32x2, None) => pairs(op),
        (Type::F32, Some(Type::Bf16)) => mixed(op),
        _ => None,
    }
}

fn get<const FLUSH: bool>(bits: u32) -> f32 {
    let value = f32::from_bits(bits);
    if FLUSH && value.is_subnormal() { 0f32.copysign(value) } else { value }
}

/// The bits of a result, with one canonical NaN.
pub(crate) fn put<const FLUSH: bool>(value: f32) -> u32 {
    if value.is_nan() {
        0x7FFF_FFFF
    } else if FLUSH && value.is_subnormal() {
        0f32.copysign(value).to_bits()
    } else {
        value.to_bits()
    }
}

pub(crate) fn saturate(value: f32) -> f32 {
    // NaN becomes 0.
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// The sum in 64 bits, rounded to odd if inexact, so that rounding it to 32 bits is the same as rounding the
/// true sum.
fn sum_to_odd(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let rest_of_b = sum - a;
    let error = (a - (sum - rest_of_b)) + (b - rest_of_b);
    if error == 0.0 || !sum.is_finite() || !error.is_finite() || sum.to_bits() & 1 == 1 {
        return sum;
    }
    let grows = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if grows { sum.to_bits() + 1 } else { sum.to_bits() - 1 })
}

/// Rounds down a result of [`sum_to_odd`] or an exact product.
fn round_down(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) > value { near.next_down() } else { near }
}

fn round_up(value: f64) -> f32 {
    let near = value as f32;
    if f64::from(near) < value { near.next_up() } else { near }
}

fn round_to_zero(value: f64) -> f32 {
    if value > 0.0 { round_down(value) } else { round_up(value) }
}

fn product(a: f32, b: f32) -> f64 {
    f64::from(a) * f64::from(b)
}

/// A fused multiply-add with one rounding, to nearest.
pub(crate) fn fused(a: f32, b: f32, c: f32) -> f32 {
    sum_to_odd(product(a, b), f64::from(c)) as f32
}

pub(crate) fn fused_wide(a: f32, b: f32, c: f32) -> f64 {
    sum_to_odd(product(a, b), f64::from(c))
}

/// The minimum, ignoring a single NaN.
pub(crate) fn smaller(a: f32, b: f32) -> f32 {
    if a.is_nan() || b < a || a == b && b.is_sign_negative() { b } else { a }
}

pub(crate) fn larger(a: f32, b: f32) -> f32 {
    if a.is_nan() || b > a || a == b && a.is_sign_negative() { b } else { a }
}

fn or_nan(a: f32, b: f32, f: fn(f32, f32) -> f32) -> f32 {
    if a.is_nan() || b.is_nan() { f32::NAN } else { f(a, b) }
}

fn singles<const F: bool>(op: &Arithmetic) -> Option<Map> {
    let rounding = op.rounding.unwrap_or(Rn);
    if op.saturates {
        return Some(match (op.name, op.modifiers(), rounding) {
            (Add, [], Rn) => lanes!(W2, |a, b| put::<F>(saturate(get::<F>(a) + get::<F>(b)))),
            (Sub, [], Rn) => lanes!(W2, |a, b| put::<F>(saturate(get::<F>(a) - get::<F>(b)))),
            (Mul, [], Rn) => lanes!(W2, |a, b| put::<F>(saturate(get::<F>(a) * get::<F>(b)))),
            (Fma, [], Rn) => {
                lanes!(W3, |a, b, c| put::<F>(saturate(fused(get::<F>(a), get::<F>(b), get::<F>(c)))))
            }
            _ => return None,
        });
    }
    macro_rules! sum {
        ($b:expr, $round:expr) => {
            lanes!(W2, |a, b| put::<F>($round(sum_to_odd(get::<F>(a).into(), $b(get::<F>(b)).into()))))
        };
    }
    macro_rules! fma {
        ($round:expr) => {
            lanes!(W3, |a, b, c| put::<F>($round(fused_wide(get::<F>(a), get::<F>(b), get::<F>(c)))))
        };
    }
    macro_rules! one {
        (|$x:ident| $e:expr) => {
            lanes!(W1, |a| {
                let $x = f64::from(get::<F>(a));
                put::<F>(($e) as f32)
            })
        };
    }
    fn same(x: f32) -> f32 {
        x
    }
    fn negated(x: f32) -> f32 {
        -x
    }
    Some(match (op.name, op.modifiers(), rounding) {
        (Add, [], Rn) => lanes!(W2, |a, b| put::<F>(get::<F>(a) + get::<F>(b))),
        (Sub, [], Rn) => lanes!(W2, |a, b| put::<F>(get::<F>(a) - get::<F>(b))),
        (Mul, [], Rn) => lanes!(W2, |a, b| put::<F>(get::<F>(a) * get::<F>(b))),
        (Fma | Mad, [], Rn) => {
            lanes!(W3, |a, b, c| put::<F>(fused(get::<F>(a), get::<F>(b), get::<F>(c))))
        }
        (Add, [], Rz) => sum!(same, round_to_zero),
        (Add, [], Rm) => sum!(same, round_down),
        (Add, [], Rp) => sum!(same, round_up),
        (Sub, [], Rz) => sum!(negated, round_to_zero),
        (Sub, [], Rm) => sum!(negated, round_down),
        (Sub, [], Rp) => sum!(negated, round_up),
        (Mul, [], Rz) => {
            lanes!(W2, |a, b| put::<F>(round_to_zero(product(get::<F>(a), get::<F>(b)))))
        }
        (Mul, [], Rm) => {
            lanes!(W2, |a, b| put::<F>(round_down(product(get::<F>(a), get::<F>(b)))))
        }
        (Mul, [], Rp) => {
            lanes!(W2, |a, b| put::<F>(round_up(product(get::<F>(a), get::<F>(b)))))
        }
        (Fma, [], Rz) => fma!(round_to_zero),
        (Fma, [], Rm) => fma!(round_down),
        (Fma, [], Rp) => fma!(round_up),
        (Div, [] | [Full] | [Approx], Rn) => {
            lanes!(W2, |a, b| put::<F>(get::<F>(a) / get::<F>(b)))
        }
        (Min, [], _) => lanes!(W2, |a, b| put::<F>(smaller(get::<F>(a), get::<F>(b)))),
        (Max, [], _) => lanes!(W2, |a, b| put::<F>(larger(get::<F>(a), get::<F>(b)))),
        (Min, [Nan], _) => {
            lanes!(W2, |a, b| put::<F>(or_nan(get::<F>(a), get::<F>(b), smaller)))
        }
        (Max, [Nan], _) => {
            lanes!(W2, |a, b| put::<F>(or_nan(get::<F>(a), get::<F>(b), larger)))
        }
        (Neg, [], _) => lanes!(W1, |a| (if F { put::<F>(get::<F>(a)) } else { a }) ^ 0x8000_0000),
        (Abs, [], _) => lanes!(W1, |a| (if F { put::<F>(get::<F>(a)) } else { a }) & 0x7FFF_FFFF),
        // The sign comes from the first operand.
        (Copysign, [], _) => lanes!(W2, |a, b| (a & 0x8000_0000) | (b & 0x7FFF_FFFF)),
        (Sqrt, [] | [Approx], Rn) => lanes!(W1, |a| put::<F>(get::<F>(a).sqrt())),
        (Rcp, [] | [Approx], Rn) => lanes!(W1, |a| put::<F>(1.0 / get::<F>(a))),
        (Rsqrt, [Approx], _) => one!(|x| if x == 0.0 { 1.0 / x } else { 1.0 / x.sqrt() }),
        (Ex2, [Approx], _) => one!(|x| x.exp2()),
        (Lg2, [Approx], _) => one!(|x| x.log2()),
        (Sin, [Approx], _) => one!(|x| x.sin()),
        (Cos, [Approx], _) => one!(|x| x.cos()),
        (Tanh, [Approx], _) => one!(|x| x.tanh()),
        (Testp, [Finite], _) => lanes!(Test32, |a| f32::from_bits(a).is_finite()),
        (Testp, [Infinite], _) => lanes!(Test32, |a| f32::from_bits(a).is_infinite()),
        (Testp, [Number], _) => lanes!(Test32, |a| !f32::from_bits(a).is_nan()),
        (Testp, [Notanumber], _) => lanes!(Test32, |a| f32::from_bits(a).is_nan()),
        (Testp, [Normal], _) => lanes!(Test32, |a| f32::from_bits(a).is_normal()),
        (Testp, [Subnormal], _) => lanes!(Test32, |a| f32::from_bits(a).is_subnormal()),
        _ => return None,
    })
}

fn put64(value: f64) -> u64 {
    if value.is_nan() { 0x7FFF_FFFF_FFFF_FFFF } else { value.to_bits() }
}

/// In seeds of `rcp` and `rsqrt` the low word is zero.
fn seed(value: f64) -> u64 {
    put64(value) & 0xFFFF_FFFF_0000_0000
}

fn flushed(bits: u64) -> f64 {
    let value = f64::from_bits(bits);
    if value.is_subnormal() { 0f64.copysign(value) } else { value }
}

fn doubles(op: &Arithmetic) -> Option<Map> {
    fn get(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn smaller(a: f64, b: f64) -> f64 {
        if a.is_nan() || b < a || a == b && b.is_sign_negative() { b } else { a }
    }
    fn larger(a: f64, b: f64) -> f64 {
        if a.is_nan() || b > a || a == b && a.is_sign_negative() { b } else { a }
    }
    Some(match (op.name, op.modifiers(), op.rounding.unwrap_or(Rn)) {
        (Add, [], Rn) => lanes!(D2, |a, b| put64(get(a) + get(b))),
        (Sub, [], Rn) => lanes!(D2, |a, b| put64(get(a) - get(b))),
        (Mul, [], Rn) => lanes!(D2, |a, b| put64(get(a) * get(b))),
        (Fma | Mad, [], Rn) => {
            lanes!(D3, |a, b, c| put64(get(a).mul_add(get(b), get(c))))
        }
        (Div, [], Rn) => lanes!(D2, |a, b| put64(get(a) / get(b))),
        (Sqrt, [], Rn) => lanes!(D1, |a| put64(get(a).sqrt())),
        (Rcp, [], Rn) => lanes!(D1, |a| put64(1.0 / get(a))),
        (Min, [], _) => lanes!(D2, |a, b| put64(smaller(get(a), get(b)))),
        (Max, [], _) => lanes!(D2, |a, b| put64(larger(get(a), get(b)))),
        (Neg, [], _) => lanes!(D1, |a| a ^ 1 << 63),
        (Abs, [], _) => lanes!(D1, |a| a & !(1 << 63)),
        (Copysign, [], _) => lanes!(D2, |a, b| (a & 1 << 63) | (b & !(1 << 63))),
        (Rcp, [Approx], _) => lanes!(D1, |a| seed(1.0 / flushed(a))),
        (Rsqrt, [Approx], _) if !op.flushes => {
            lanes!(D1, |a| put64(if get(a) == 0.0 { 1.0 / get(a) } else { 1.0 / get(a).sqrt() }))
        }
        (Rsqrt, [Approx], _) => lanes!(D1, |a| seed(match flushed(a) {
            zero if zero == 0.0 => 1.0 / zero,
            x => 1.0 / x.sqrt(),
        })),
        (Testp, [Finite], _) => lanes!(Test64, |a| get(a).is_finite()),
        (Testp, [Infinite], _) => lanes!(Test64, |a| get(a).is_infinite()),
        (Testp, [Notanumber], _) => lanes!(Test64, |a| get(a).is_nan()),
        (Testp, [Number], _) => lanes!(Test64, |a| !get(a).is_nan()),
        _ => return None,
    })
}

/// Instructions on two 32-bit floats in 64 bits.
fn pairs(op: &Arithmetic) -> Option<Map> {
    if op.saturates || op.flushes || op.rounding.is_some_and(|r| r != Rn) || !op.modifiers().is_empty() {
        return None;
    }
    fn both(a: u64, b: u64, f: impl Fn(f32, f32) -> f32) -> u64 {
        let of = |shift: u32| put::<false>(f(part(a, shift), part(b, shift)));
        u64::from(of(0)) | u64::from(of(32)) << 32
    }
    fn part(bits: u64, shift: u32) -> f32 {
        f32::from_bits((bits >> shift) as u32)
    }
    Some(match op.name {
        Add => lanes!(D2, |a, b| both(a, b, |a, b| a + b)),
        Sub => lanes!(D2, |a, b| both(a, b, |a, b| a - b)),
        Mul => lanes!(D2, |a, b| both(a, b, |a, b| a * b)),
        Fma => lanes!(D3, |a, b, c| {
            let of = |shift| put::<false>(fused(part(a, shift), part(b, shift), part(c, shift)));
            u64::from(of(0)) | u64::from(of(32)) << 32
        }),
        _ => return None,
    })
}

/// `add.rn.f32.bf16 d, a, c`: the narrow float is the first operand, or in `fma` the factors of the product.
fn mixed(op: &Arithmetic) -> Option<Map> {
    if op.saturates || op.rounding.is_some_and(|r| r != Rn) || !op.modifiers().is_empty() {
        return None;
    }
    fn wide(bits: u32) -> f32 {
        syntax::hlo::float_format::bf16_to_f32(bits & 0xFFFF)
    }
    Some(match op.name {
        Add => lanes!(W2, |a, b| put::<false>(wide(a) + f32::from_bits(b))),
        Sub => lanes!(W2, |a, b| put::<false>(wide(a) - f32::from_bits(b))),
        Fma => lanes!(W3, |a, b, c| put::<false>(fused(wide(a), wide(b), f32::from_bits(c)))),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rounding_is_the_rounding_of_the_true_result() {
        let mut rng = random::Rng::new(1);
        let mut next = || f32::from_bits((rng.next_u64() >> 32) as u32);
        for _ in 0..200_000 {
            let (a, b, c) = (next(), next(), next());
            let (ours, std) = (fused(a, b, c), a.mul_add(b, c));
            assert!(ours == std || ours.is_nan() && std.is_nan(), "{a:e} {b:e} {c:e}: {ours:e} {std:e}");
            let exact = fused_wide(a, b, c);
            if exact.is_finite() && !std.is_infinite() {
                assert!(f64::from(round_down(exact)) <= exact && f64::from(round_up(exact)) >= exact);
            }
        }
    }

    #[test]
    fn zeros_and_nans_of_min_and_max() {
        assert!(smaller(0.0, -0.0).is_sign_negative() && smaller(-0.0, 0.0).is_sign_negative());
        assert!(larger(0.0, -0.0).is_sign_positive() && larger(-0.0, 0.0).is_sign_positive());
        assert_eq!((smaller(f32::NAN, 1.0), larger(1.0, f32::NAN)), (1.0, 1.0));
        assert!(or_nan(f32::NAN, 1.0, larger).is_nan());
        assert_eq!(saturate(f32::NAN), 0.0);
    }
}
