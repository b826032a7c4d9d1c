//! Floating-point instructions on 16 bits, with one or two floats per register.

use super::floats::{fused_wide, larger, smaller};
use super::lanes::{Map, Words, lanes};
use super::opcode::Opcode;
use crate::formats::{BF16, F16, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// The function of an instruction on `f16`, `bf16` and their pairs.
pub(crate) fn find(op: &Opcode<'_>) -> Option<Map> {
    let is_simple = op.rounding.is_none_or(|r| r == "rn") && !op.flushes && !op.saturates;
    let is_approximate = op.modifier() == "approx";
    if !is_simple && !is_approximate {
        return None;
    }
    macro_rules! both {
        ($get:ident, $put:ident, $format:ident, $nan:literal) => {{
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
            let is_pair = op.kind.ends_with("x2");
            return Some(match (op.name, op.modifier(), is_pair) {
                ("add", "", false) => lanes!(W2, |a, b| two(a, b, |a, b| a + b)),
                ("sub", "", false) => lanes!(W2, |a, b| two(a, b, |a, b| a - b)),
                ("mul", "", false) => lanes!(W2, |a, b| two(a, b, |a, b| a * b)),
                ("fma", "", false) => lanes!(W3, |a, b, c| three(a, b, c)),
                ("min", "", false) => lanes!(W2, |a, b| two(a, b, smaller)),
                ("max", "", false) => lanes!(W2, |a, b| two(a, b, larger)),
                ("min", "NaN", false) => lanes!(W2, |a, b| two(a, b, smaller_or_nan)),
                ("max", "NaN", false) => lanes!(W2, |a, b| two(a, b, larger_or_nan)),
                ("add", "", true) => lanes!(W2, |a, b| pair(a, b, |a, b| a + b)),
                ("sub", "", true) => lanes!(W2, |a, b| pair(a, b, |a, b| a - b)),
                ("mul", "", true) => lanes!(W2, |a, b| pair(a, b, |a, b| a * b)),
                ("fma", "", true) => lanes!(W3, |a, b, c| {
                    three(a & 0xFFFF, b & 0xFFFF, c & 0xFFFF) | three(a >> 16, b >> 16, c >> 16) << 16
                }),
                ("min", "", true) => lanes!(W2, |a, b| pair(a, b, smaller)),
                ("max", "", true) => lanes!(W2, |a, b| pair(a, b, larger)),
                ("min", "NaN", true) => lanes!(W2, |a, b| pair(a, b, smaller_or_nan)),
                ("max", "NaN", true) => lanes!(W2, |a, b| pair(a, b, larger_or_nan)),
                ("neg", "", false) => lanes!(W1, |a| a ^ 0x8000),
                ("neg", "", true) => lanes!(W1, |a| a ^ 0x8000_8000),
                ("abs", "", false) => lanes!(W1, |a| a & 0x7FFF),
                ("abs", "", true) => lanes!(W1, |a| a & 0x7FFF_7FFF),
                ("ex2", "approx", false) => lanes!(W1, |a| two(a, 0, |a, _| f64::from(a).exp2() as f32)),
                ("tanh", "approx", false) => lanes!(W1, |a| two(a, 0, |a, _| f64::from(a).tanh() as f32)),
                ("ex2", "approx", true) => lanes!(W1, |a| pair(a, 0, |a, _| f64::from(a).exp2() as f32)),
                ("tanh", "approx", true) => lanes!(W1, |a| pair(a, 0, |a, _| f64::from(a).tanh() as f32)),
                _ => return None,
            });
        }};
    }
    match op.kind {
        "bf16" | "bf16x2" => both!(bf16_to_f32, f32_to_bf16, BF16, 0x7FFF),
        "f16" | "f16x2" => both!(f16_to_f32, f32_to_f16, F16, 0x7FFF),
        _ => None,
    }
}

fn smaller_or_nan(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { f32::NAN } else { smaller(a, b) }
}

fn larger_or_nan(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() { f32::NAN } else { larger(a, b) }
}
