//! Floating-point instructions on 32 and 64 bits.
//!
//! `approx` instructions return the float nearest to the true result, within half an ulp. The hardware may be
//! one or two ulps off (`ex2`, `rcp`, `sqrt`, `rsqrt`, `div.full` 2 units; `lg2`, `sin`, `cos`, `tanh` more).

use super::lanes::{Doubles, Map, Words, lanes};
use super::opcode::Opcode;

/// The function of an instruction on `f32`, `f32x2` or `f64`.
pub(crate) fn find(op: &Opcode<'_>) -> Option<Map> {
    match op.kind {
        "f32" if op.flushes => singles::<true>(op),
        "f32" => singles::<false>(op),
        "f64" => doubles(op),
        "f32x2" => pairs(op),
        "f32.bf16" => mixed(op),
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

fn singles<const F: bool>(op: &Opcode<'_>) -> Option<Map> {
    let rounding = op.rounding.unwrap_or("rn");
    if op.saturates {
        return Some(match (op.name, op.modifier(), rounding) {
            ("add", "", "rn") => lanes!(W2, |a, b| put::<F>(saturate(get::<F>(a) + get::<F>(b)))),
            ("sub", "", "rn") => lanes!(W2, |a, b| put::<F>(saturate(get::<F>(a) - get::<F>(b)))),
            ("mul", "", "rn") => lanes!(W2, |a, b| put::<F>(saturate(get::<F>(a) * get::<F>(b)))),
            ("fma", "", "rn") => {
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
    Some(match (op.name, op.modifier(), rounding) {
        ("add", "", "rn") => lanes!(W2, |a, b| put::<F>(get::<F>(a) + get::<F>(b))),
        ("sub", "", "rn") => lanes!(W2, |a, b| put::<F>(get::<F>(a) - get::<F>(b))),
        ("mul", "", "rn") => lanes!(W2, |a, b| put::<F>(get::<F>(a) * get::<F>(b))),
        ("fma" | "mad", "", "rn") => {
            lanes!(W3, |a, b, c| put::<F>(fused(get::<F>(a), get::<F>(b), get::<F>(c))))
        }
        ("add", "", "rz") => sum!(same, round_to_zero),
        ("add", "", "rm") => sum!(same, round_down),
        ("add", "", "rp") => sum!(same, round_up),
        ("sub", "", "rz") => sum!(negated, round_to_zero),
        ("sub", "", "rm") => sum!(negated, round_down),
        ("sub", "", "rp") => sum!(negated, round_up),
        ("mul", "", "rz") => lanes!(W2, |a, b| put::<F>(round_to_zero(product(get::<F>(a), get::<F>(b))))),
        ("mul", "", "rm") => lanes!(W2, |a, b| put::<F>(round_down(product(get::<F>(a), get::<F>(b))))),
        ("mul", "", "rp") => lanes!(W2, |a, b| put::<F>(round_up(product(get::<F>(a), get::<F>(b))))),
        ("fma", "", "rz") => fma!(round_to_zero),
        ("fma", "", "rm") => fma!(round_down),
        ("fma", "", "rp") => fma!(round_up),
        ("div", "" | "full" | "approx", "rn") => lanes!(W2, |a, b| put::<F>(get::<F>(a) / get::<F>(b))),
        ("min", "", _) => lanes!(W2, |a, b| put::<F>(smaller(get::<F>(a), get::<F>(b)))),
        ("max", "", _) => lanes!(W2, |a, b| put::<F>(larger(get::<F>(a), get::<F>(b)))),
        ("min", "NaN", _) => lanes!(W2, |a, b| put::<F>(or_nan(get::<F>(a), get::<F>(b), smaller))),
        ("max", "NaN", _) => lanes!(W2, |a, b| put::<F>(or_nan(get::<F>(a), get::<F>(b), larger))),
        ("neg", "", _) => lanes!(W1, |a| (if F { put::<F>(get::<F>(a)) } else { a }) ^ 0x8000_0000),
        ("abs", "", _) => lanes!(W1, |a| (if F { put::<F>(get::<F>(a)) } else { a }) & 0x7FFF_FFFF),
        // The sign comes from the first operand.
        ("copysign", "", _) => lanes!(W2, |a, b| (a & 0x8000_0000) | (b & 0x7FFF_FFFF)),
        ("sqrt", "" | "approx", "rn") => lanes!(W1, |a| put::<F>(get::<F>(a).sqrt())),
        ("rcp", "" | "approx", "rn") => lanes!(W1, |a| put::<F>(1.0 / get::<F>(a))),
        ("rsqrt", "approx", _) => one!(|x| if x == 0.0 { 1.0 / x } else { 1.0 / x.sqrt() }),
        ("ex2", "approx", _) => one!(|x| x.exp2()),
        ("lg2", "approx", _) => one!(|x| x.log2()),
        ("sin", "approx", _) => one!(|x| x.sin()),
        ("cos", "approx", _) => one!(|x| x.cos()),
        ("tanh", "approx", _) => one!(|x| x.tanh()),
        ("testp", "finite", _) => lanes!(Test32, |a| f32::from_bits(a).is_finite()),
        ("testp", "infinite", _) => lanes!(Test32, |a| f32::from_bits(a).is_infinite()),
        ("testp", "number", _) => lanes!(Test32, |a| !f32::from_bits(a).is_nan()),
        ("testp", "notanumber", _) => lanes!(Test32, |a| f32::from_bits(a).is_nan()),
        ("testp", "normal", _) => lanes!(Test32, |a| f32::from_bits(a).is_normal()),
        ("testp", "subnormal", _) => lanes!(Test32, |a| f32::from_bits(a).is_subnormal()),
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

fn doubles(op: &Opcode<'_>) -> Option<Map> {
    fn get(bits: u64) -> f64 {
        f64::from_bits(bits)
    }
    fn smaller(a: f64, b: f64) -> f64 {
        if a.is_nan() || b < a || a == b && b.is_sign_negative() { b } else { a }
    }
    fn larger(a: f64, b: f64) -> f64 {
        if a.is_nan() || b > a || a == b && a.is_sign_negative() { b } else { a }
    }
    Some(match (op.name, op.modifier(), op.rounding.unwrap_or("rn")) {
        ("add", "", "rn") => lanes!(D2, |a, b| put64(get(a) + get(b))),
        ("sub", "", "rn") => lanes!(D2, |a, b| put64(get(a) - get(b))),
        ("mul", "", "rn") => lanes!(D2, |a, b| put64(get(a) * get(b))),
        ("fma" | "mad", "", "rn") => lanes!(D3, |a, b, c| put64(get(a).mul_add(get(b), get(c)))),
        ("div", "", "rn") => lanes!(D2, |a, b| put64(get(a) / get(b))),
        ("sqrt", "", "rn") => lanes!(D1, |a| put64(get(a).sqrt())),
        ("rcp", "", "rn") => lanes!(D1, |a| put64(1.0 / get(a))),
        ("min", "", _) => lanes!(D2, |a, b| put64(smaller(get(a), get(b)))),
        ("max", "", _) => lanes!(D2, |a, b| put64(larger(get(a), get(b)))),
        ("neg", "", _) => lanes!(D1, |a| a ^ 1 << 63),
        ("abs", "", _) => lanes!(D1, |a| a & !(1 << 63)),
        ("copysign", "", _) => lanes!(D2, |a, b| (a & 1 << 63) | (b & !(1 << 63))),
        ("rcp", "approx", _) => lanes!(D1, |a| seed(1.0 / flushed(a))),
        ("rsqrt", "approx", _) if !op.flushes => {
            lanes!(D1, |a| put64(if get(a) == 0.0 { 1.0 / get(a) } else { 1.0 / get(a).sqrt() }))
        }
        ("rsqrt", "approx", _) => lanes!(D1, |a| seed(match flushed(a) {
            zero if zero == 0.0 => 1.0 / zero,
            x => 1.0 / x.sqrt(),
        })),
        ("testp", "finite", _) => lanes!(Test64, |a| get(a).is_finite()),
        ("testp", "infinite", _) => lanes!(Test64, |a| get(a).is_infinite()),
        ("testp", "notanumber", _) => lanes!(Test64, |a| get(a).is_nan()),
        ("testp", "number", _) => lanes!(Test64, |a| !get(a).is_nan()),
        _ => return None,
    })
}

/// Instructions on two 32-bit floats in 64 bits.
fn pairs(op: &Opcode<'_>) -> Option<Map> {
    if op.saturates || op.flushes || op.rounding.is_some_and(|r| r != "rn") || !op.modifier().is_empty() {
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
        "add" => lanes!(D2, |a, b| both(a, b, |a, b| a + b)),
        "sub" => lanes!(D2, |a, b| both(a, b, |a, b| a - b)),
        "mul" => lanes!(D2, |a, b| both(a, b, |a, b| a * b)),
        "fma" => lanes!(D3, |a, b, c| {
            let of = |shift| put::<false>(fused(part(a, shift), part(b, shift), part(c, shift)));
            u64::from(of(0)) | u64::from(of(32)) << 32
        }),
        _ => return None,
    })
}

/// `add.rn.f32.bf16 d, a, c`: the narrow float is the first operand, or in `fma` the factors of the product.
fn mixed(op: &Opcode<'_>) -> Option<Map> {
    if op.saturates || op.rounding.is_some_and(|r| r != "rn") || !op.modifier().is_empty() {
        return None;
    }
    fn wide(bits: u32) -> f32 {
        crate::formats::bf16_to_f32(bits & 0xFFFF)
    }
    Some(match op.name {
        "add" => lanes!(W2, |a, b| put::<false>(wide(a) + f32::from_bits(b))),
        "sub" => lanes!(W2, |a, b| put::<false>(wide(a) - f32::from_bits(b))),
        "fma" => lanes!(W3, |a, b, c| put::<false>(fused(wide(a), wide(b), f32::from_bits(c)))),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_rounding_is_the_rounding_of_the_true_result() {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            f32::from_bits((state >> 32) as u32)
        };
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
