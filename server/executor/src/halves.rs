//! Floating-point instructions on 16 bits, with one or two floats per register.

use ptx::Modifier::{Approx, Nan};
use ptx::Name::*;
use ptx::{Arithmetic, Rounding, Type};
use syntax::hlo::float_format::{FloatFormat, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

use super::floats::{fused_wide, larger, smaller};
use super::lanes::{Map, Words, lanes};

/// The function of an instruction on `f16`, `bf16` and their pairs.
pub(crate) fn find(op: &Arithmetic) -> Option<Map> {
    let is_simple = op.rounding.is_none_or(|r| r == Rounding::Rn) && !op.flushes && !op.saturates;
    let is_approximate = op.modifiers() == [Approx];
    if !is_simple && !is_approximate || op.from.is_some() {
        return None;
    }
    macro_rules! both {
        ($get:ident, $put:ident, $format:expr, $nan:literal) => {{
            fn two(a: u32, b: u32, f: fn(f32, f32) -> f32) -> u32 {
                $put(f($get(a), $get(b)))
            }
            fn three(a: u32, b: u32, c: u32) -> u32 {
                let sum = fused_wide($get(a), $get(b), $get(c));
                if sum.is_nan() { $nan } else { $format.encode(sum, false) as u32 }
            }
            fn pair(a: u32, b: u32, f: fn(f32, f32) -> f32) -> u32 {
                two(a & 0xFFFF, b & 0xFFFF, f) | two(a >> 16, b >> 16, f) << 16
            }
            let is_pair = matches!(op.ty, Type::F16x2 | Type::Bf16x2);
            return Some(match (op.name, op.modifiers(), is_pair) {
                (Add, [], false) => lanes!(W2, |a, b| two(a, b, |a, b| a + b)),
                (Sub, [], false) => lanes!(W2, |a, b| two(a, b, |a, b| a - b)),
                (Mul, [], false) => lanes!(W2, |a, b| two(a, b, |a, b| a * b)),
                (Fma, [], false) => lanes!(W3, |a, b, c| three(a, b, c)),
                (Min, [], false) => lanes!(W2, |a, b| two(a, b, smaller)),
                (Max, [], false) => lanes!(W2, |a, b| two(a, b, larger)),
                (Min, [Nan], false) => lanes!(W2, |a, b| two(a, b, smaller_or_nan)),
                (Max, [Nan], false) => lanes!(W2, |a, b| two(a, b, larger_or_nan)),
                (Add, [], true) => lanes!(W2, |a, b| pair(a, b, |a, b| a + b)),
                (Sub, [], true) => lanes!(W2, |a, b| pair(a, b, |a, b| a - b)),
                (Mul, [], true) => lanes!(W2, |a, b| pair(a, b, |a, b| a * b)),
                (Fma, [], true) => lanes!(W3, |a, b, c| {
                    three(a & 0xFFFF, b & 0xFFFF, c & 0xFFFF) | three(a >> 16, b >> 16, c >> 16) << 16
                }),
                (Min, [], true) => lanes!(W2, |a, b| pair(a, b, smaller)),
                (Max, [], true) => lanes!(W2, |a, b| pair(a, b, larger)),
                (Min, [Nan], true) => lanes!(W2, |a, b| pair(a, b, smaller_or_nan)),
                (Max, [Nan], true) => lanes!(W2, |a, b| pair(a, b, larger_or_nan)),
                (Neg, [], false) => lanes!(W1, |a| a ^ 0x8000),
                (Neg, [], true) => lanes!(W1, |a| a ^ 0x8000_8000),
                (Abs, [], false) => lanes!(W1, |a| a & 0x7FFF),
                (Abs, [], true) => lanes!(W1, |a| a & 0x7FFF_7FFF),
                (Ex2, [Approx], false) => {
                    lanes!(W1, |a| two(a, 0, |a, _| f64::from(a).exp2() as f32))
                }
                (Tanh, [Approx], false) => {
                    lanes!(W1, |a| two(a, 0, |a, _| f64::from(a).tanh() as f32))
                }
                (Ex2, [Approx], true) => {
                    lanes!(W1, |a| pair(a, 0, |a, _| f64::from(a).exp2() as f32))
                }
                (Tanh, [Approx], true) => {
                    lanes!(W1, |a| pair(a, 0, |a, _| f64::from(a).tanh() as f32))
                }
                _ => return None,
            });
        }};
    }
    match op.ty {
        Type::Bf16 | Type::Bf16x2 => both!(bf16_to_f32, f32_to_bf16, FloatFormat::BF16, 0x7FFF),
        Type::F16 | Type::F16x2 => both!(f16_to_f32, f32_to_f16, FloatFormat::F16, 0x7FFF),
        _ => None,
    }
}

fn smaller_or_nan(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { f32::NAN } else { smaller(a, b) }
}

fn larger_or_nan(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { f32::NAN } else { larger(a, b) }
}
