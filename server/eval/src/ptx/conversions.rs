//! `cvt`: conversions among integers, among floats, and between the two.

use super::floats::{put, saturate};
use super::lanes::{Doubles, Map, Words, lanes};
use super::opcode::Opcode;
use crate::formats::{BF16, F8E4M3FN, F8E5M2, F16, Format, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

/// The conversion of `cvt.<modifiers>.<to>.<from>`.
pub(crate) fn find(op: &Opcode<'_>) -> Option<Map> {
    let (to, from) = op.kind.split_once('.')?;
    if op.has("relu") || op.has("scaled") || op.has("rs") {
        return None;
    }
    let is_float = |kind: &str| matches!(kind, "f64" | "f32" | "f16" | "bf16");
    match (is_float(to), is_float(from)) {
        _ if to.contains('x') || from.contains('x') => packed(op, to, from),
        (false, false) if to == "tf32" => tf32(op),
        (false, false) => integers(op, to, from),
        (true, false) => to_float(op, to, from),
        (false, true) if to == "tf32" => tf32(op),
        (false, true) => to_integer(op, to, from),
        (true, true) => floats(op, to, from),
    }
}

fn integers(op: &Opcode<'_>, to: &str, from: &str) -> Option<Map> {
    if op.saturates {
        return saturating(to, from);
    }
    // The value is read with the sign of the source, truncated to the destination, and extended to the
    // register with the sign of the destination. Storing the result truncates it to narrow registers.
    macro_rules! narrow {
        ($get:ty) => {
            match to {
                "u8" => lanes!(W1, |a| u32::from((a as $get) as u8)),
                "s8" => lanes!(W1, |a| (a as $get) as i8 as u32),
                "u16" => lanes!(W1, |a| u32::from((a as $get) as u16)),
                "s16" => lanes!(W1, |a| (a as $get) as i16 as u32),
                "u32" | "s32" | "b32" => lanes!(W1, |a| (a as $get) as u32),
                "u64" | "s64" => lanes!(DofW, |a| (a as $get) as u64),
                _ => return None,
            }
        };
    }
    Some(match from {
        "u8" | "b8" => narrow!(u8),
        "s8" => narrow!(i8),
        "u16" | "b16" => narrow!(u16),
        "s16" => narrow!(i16),
        "u32" | "b32" => narrow!(u32),
        "s32" => narrow!(i32),
        "u64" | "s64" | "b64" => match to {
            "u8" => lanes!(WofD, |a| u32::from(a as u8)),
            "s8" => lanes!(WofD, |a| a as i8 as u32),
            "u16" => lanes!(WofD, |a| u32::from(a as u16)),
            "s16" => lanes!(WofD, |a| a as i16 as u32),
            "u32" | "s32" => lanes!(WofD, |a| a as u32),
            "u64" | "s64" => lanes!(D1, |a| a),
            _ => return None,
        },
        _ => return None,
    })
}

fn saturating(to: &str, from: &str) -> Option<Map> {
    Some(match (to, from) {
        ("s8", "s32") => lanes!(W1, |a| (a as i32).clamp(-128, 127) as u32),
        ("u8", "s32") => lanes!(W1, |a| (a as i32).clamp(0, 255) as u32),
        ("s16", "s32") => lanes!(W1, |a| (a as i32).clamp(-32768, 32767) as u32),
        ("u16", "s32") => lanes!(W1, |a| (a as i32).clamp(0, 65535) as u32),
        ("u8", "u32") => lanes!(W1, |a| a.min(255)),
        ("u16", "u32") => lanes!(W1, |a| a.min(65535)),
        ("s8", "s16") => lanes!(W1, |a| (a as i16).clamp(-128, 127) as u32),
        ("u8", "s16") => lanes!(W1, |a| (a as i16).clamp(0, 255) as u32),
        ("s32", "s64") => {
            lanes!(WofD, |a| (a as i64).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32)
        }
        ("u32", "u64") => lanes!(WofD, |a| a.min(u64::from(u32::MAX)) as u32),
        _ => return None,
    })
}

fn to_float(op: &Opcode<'_>, to: &str, from: &str) -> Option<Map> {
    if op.rounding != Some("rn") || op.saturates {
        return None;
    }
    // A 32-bit integer is exact in 64 bits, so 16-bit results round once.
    macro_rules! of_word {
        ($get:ty) => {
            match to {
                "f32" => lanes!(W1, |a| ((a as $get) as f32).to_bits()),
                "f64" => lanes!(DofW, |a| ((a as $get) as f64).to_bits()),
                "f16" => lanes!(W1, |a| F16.encode((a as $get) as f64, false) as u32),
                "bf16" => lanes!(W1, |a| BF16.encode((a as $get) as f64, false) as u32),
                _ => return None,
            }
        };
    }
    macro_rules! of_double {
        ($get:ty) => {
            match to {
                "f32" => lanes!(WofD, |a| ((a as $get) as f32).to_bits()),
                "f64" => lanes!(D1, |a| ((a as $get) as f64).to_bits()),
                // 64 bits far exceed the precision of 16-bit floats, so rounding the last bit to odd is
                // enough.
                "f16" => lanes!(WofD, |a| F16.encode(odd((a as $get) as i128), false) as u32),
                "bf16" => lanes!(WofD, |a| BF16.encode(odd((a as $get) as i128), false) as u32),
                _ => return None,
            }
        };
    }
    Some(match from {
        "u8" => of_word!(u8),
        "s8" => of_word!(i8),
        "u16" => of_word!(u16),
        "s16" => of_word!(i16),
        "u32" => of_word!(u32),
        "s32" => of_word!(i32),
        "u64" => of_double!(u64),
        "s64" => of_double!(i64),
        _ => return None,
    })
}

/// An integer rounded to odd in 64 bits: an odd last bit marks an inexact value.
fn odd(value: i128) -> f64 {
    let near = value as f64;
    if near as i128 == value || near.to_bits() & 1 == 1 {
        return near;
    }
    let grows = ((near as i128) < value) == (value > 0);
    f64::from_bits(if grows { near.to_bits() + 1 } else { near.to_bits() - 1 })
}

fn rounded(value: f64, mode: u8) -> f64 {
    match mode {
        0 => value.round_ties_even(),
        1 => value.trunc(),
        2 => value.floor(),
        _ => value.ceil(),
    }
}

fn to_integer(op: &Opcode<'_>, to: &str, from: &str) -> Option<Map> {
    // Rust's casts saturate and convert NaN to 0, as `cvt` does. But NaN to 64 bits, or from `f64`, gives the
    // smallest integer.
    macro_rules! with {
        ($mode:literal) => {{
            macro_rules! of_word {
                ($get:expr) => {
                    match to {
                        "s8" => lanes!(W1, |a| rounded($get(a), $mode) as i8 as u32),
                        "u8" => lanes!(W1, |a| u32::from(rounded($get(a), $mode) as u8)),
                        "s16" => lanes!(W1, |a| rounded($get(a), $mode) as i16 as u32),
                        "u16" => lanes!(W1, |a| u32::from(rounded($get(a), $mode) as u16)),
                        "s32" => lanes!(W1, |a| rounded($get(a), $mode) as i32 as u32),
                        "u32" => lanes!(W1, |a| rounded($get(a), $mode) as u32),
                        "s64" => lanes!(DofW, |a| match rounded($get(a), $mode) {
                            nan if nan.is_nan() => 1 << 63,
                            value => value as i64 as u64,
                        }),
                        "u64" => lanes!(DofW, |a| match rounded($get(a), $mode) {
                            nan if nan.is_nan() => 1 << 63,
                            value => value as u64,
                        }),
                        _ => return None,
                    }
                };
            }
            match from {
                "f32" if op.flushes => of_word!(flushed),
                "f32" => of_word!(single),
                "f16" => of_word!(half),
                "bf16" => of_word!(brain),
                "f64" => match to {
                    "s32" => lanes!(WofD, |a| match rounded(f64::from_bits(a), $mode) {
                        nan if nan.is_nan() => 1 << 31,
                        value => value as i32 as u32,
                    }),
                    "u32" => lanes!(WofD, |a| match rounded(f64::from_bits(a), $mode) {
                        nan if nan.is_nan() => 1 << 31,
                        value => value as u32,
                    }),
                    "s16" => lanes!(WofD, |a| match rounded(f64::from_bits(a), $mode) {
                        nan if nan.is_nan() => 1 << 15,
                        value => value as i16 as u32,
                    }),
                    "u16" => lanes!(WofD, |a| match rounded(f64::from_bits(a), $mode) {
                        nan if nan.is_nan() => 1 << 15,
                        value => u32::from(value as u16),
                    }),
                    "s64" => lanes!(D1, |a| match rounded(f64::from_bits(a), $mode) {
                        nan if nan.is_nan() => 1 << 63,
                        value => value as i64 as u64,
                    }),
                    "u64" => lanes!(D1, |a| match rounded(f64::from_bits(a), $mode) {
                        nan if nan.is_nan() => 1 << 63,
                        value => value as u64,
                    }),
                    _ => return None,
                },
                _ => return None,
            }
        }};
    }
    Some(match op.rounding? {
        "rni" => with!(0),
        "rzi" => with!(1),
        "rmi" => with!(2),
        "rpi" => with!(3),
        _ => return None,
    })
}

fn single(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

fn flushed(bits: u32) -> f64 {
    let value = f32::from_bits(bits);
    if value.is_subnormal() { 0.0 } else { f64::from(value) }
}

fn half(bits: u32) -> f64 {
    F16.decode(u64::from(bits))
}

fn brain(bits: u32) -> f64 {
    f64::from(bf16_to_f32(bits))
}

fn toward_zero(value: f32) -> u32 {
    value.to_bits() >> 16
}

fn floats(op: &Opcode<'_>, to: &str, from: &str) -> Option<Map> {
    // `put` flushes the result; if the width stays, a flushed operand gives a flushed result.
    Some(match (to, from, op.rounding, op.saturates) {
        ("f32", "f32", None, true) => lanes!(W1, |a| saturate(f32::from_bits(a)).to_bits()),
        ("f32", "f32", None, false) if op.flushes => lanes!(W1, |a| put::<true>(f32::from_bits(a))),
        ("f32", "f32", Some("rni"), _) => lanes!(W1, |a| put::<false>(f32::from_bits(a).round_ties_even())),
        ("f32", "f32", Some("rzi"), _) => lanes!(W1, |a| put::<false>(f32::from_bits(a).trunc())),
        ("f32", "f32", Some("rmi"), _) => lanes!(W1, |a| put::<false>(f32::from_bits(a).floor())),
        ("f32", "f32", Some("rpi"), _) => lanes!(W1, |a| put::<false>(f32::from_bits(a).ceil())),
        ("f64", "f64", Some("rni"), _) => lanes!(D1, |a| f64::from_bits(a).round_ties_even().to_bits()),
        ("f64", "f64", Some("rzi"), _) => lanes!(D1, |a| f64::from_bits(a).trunc().to_bits()),
        ("f64", "f64", Some("rmi"), _) => lanes!(D1, |a| f64::from_bits(a).floor().to_bits()),
        ("f64", "f64", Some("rpi"), _) => lanes!(D1, |a| f64::from_bits(a).ceil().to_bits()),
        ("f16", "f16", Some("rni"), _) => lanes!(W1, |a| f32_to_f16(f16_to_f32(a).round_ties_even())),
        ("f16", "f16", Some("rzi"), _) => lanes!(W1, |a| f32_to_f16(f16_to_f32(a).trunc())),
        ("f16", "f16", Some("rmi"), _) => lanes!(W1, |a| f32_to_f16(f16_to_f32(a).floor())),
        ("f16", "f16", Some("rpi"), _) => lanes!(W1, |a| f32_to_f16(f16_to_f32(a).ceil())),
        ("bf16", "bf16", Some("rni"), _) => lanes!(W1, |a| f32_to_bf16(bf16_to_f32(a).round_ties_even())),
        ("bf16", "bf16", Some("rzi"), _) => lanes!(W1, |a| f32_to_bf16(bf16_to_f32(a).trunc())),
        ("bf16", "bf16", Some("rmi"), _) => lanes!(W1, |a| f32_to_bf16(bf16_to_f32(a).floor())),
        ("bf16", "bf16", Some("rpi"), _) => lanes!(W1, |a| f32_to_bf16(bf16_to_f32(a).ceil())),
        ("f64", "f32", None, false) => lanes!(DofW, |a| f64::from(f32::from_bits(a)).to_bits()),
        ("f32", "f64", Some("rn"), false) if op.flushes => {
            lanes!(WofD, |a| put::<true>(f64::from_bits(a) as f32))
        }
        ("f32", "f64", Some("rn"), false) => lanes!(WofD, |a| put::<false>(f64::from_bits(a) as f32)),
        ("f32", "f16", None, false) => lanes!(W1, |a| put::<false>(f16_to_f32(a))),
        ("f32", "bf16", None, false) => lanes!(W1, |a| put::<false>(bf16_to_f32(a))),
        ("f64", "f16", None, false) => lanes!(DofW, |a| half(a).to_bits()),
        ("f64", "bf16", None, false) => lanes!(DofW, |a| brain(a).to_bits()),
        ("f16", "f32", Some("rn"), false) => lanes!(W1, |a| f32_to_f16(f32::from_bits(a))),
        ("bf16", "f32", Some("rn"), false) => lanes!(W1, |a| f32_to_bf16(f32::from_bits(a))),
        ("bf16", "f32", Some("rz"), false) => lanes!(W1, |a| toward_zero(f32::from_bits(a))),
        ("f16", "f64", Some("rn"), false) => lanes!(WofD, |a| F16.encode(f64::from_bits(a), false) as u32),
        ("bf16", "f64", Some("rn"), false) => lanes!(WofD, |a| BF16.encode(f64::from_bits(a), false) as u32),
        ("bf16", "f16", Some("rn"), false) => lanes!(W1, |a| f32_to_bf16(f16_to_f32(a))),
        ("f16", "bf16", Some("rn"), false) => lanes!(W1, |a| f32_to_f16(bf16_to_f32(a))),
        _ => return None,
    })
}

/// 10 bits of mantissa; ties away from zero.
fn tf32(op: &Opcode<'_>) -> Option<Map> {
    match op.rounding? {
        "rna" => Some(lanes!(W1, |a| match f32::from_bits(a) {
            value if value.is_finite() => a.wrapping_add(0x1000) & !0x1FFF,
            value => put::<false>(value),
        })),
        "rn" => Some(lanes!(W1, |a| match f32::from_bits(a) {
            value if value.is_finite() => a.wrapping_add(0xFFF + (a >> 13 & 1)) & !0x1FFF,
            value => put::<false>(value),
        })),
        _ => None,
    }
}

/// The instructions return one canonical NaN, whatever the operand's.
fn saturated(format: Format, value: f64) -> u32 {
    let value = if value.is_nan() { f64::NAN } else { value };
    u32::from(format.encode(value, true) as u8)
}

fn short(format: Format, bits: u32) -> u32 {
    saturated(format, f64::from(f32::from_bits(bits)))
}

/// Two floats in one register; the first operand is the upper one.
fn packed(op: &Opcode<'_>, to: &str, from: &str) -> Option<Map> {
    if op.rounding != Some("rn") {
        return None;
    }
    fn shorter(format: Format, pair: u32) -> u32 {
        let of = |bits: u32| saturated(format, half(bits & 0xFFFF));
        of(pair) | of(pair >> 16) << 8
    }
    fn longer(format: Format, pair: u32) -> u32 {
        let of = |bits: u32| f32_to_f16(format.decode(u64::from(bits & 0xFF)) as f32);
        of(pair) | of(pair >> 8) << 16
    }
    Some(match (to, from, op.saturates) {
        ("bf16x2", "f32", false) => {
            lanes!(W2, |a, b| f32_to_bf16(f32::from_bits(a)) << 16 | f32_to_bf16(f32::from_bits(b)))
        }
        ("f16x2", "f32", false) => {
            lanes!(W2, |a, b| f32_to_f16(f32::from_bits(a)) << 16 | f32_to_f16(f32::from_bits(b)))
        }
        ("e4m3x2", "f32", true) => lanes!(W2, |a, b| short(F8E4M3FN, a) << 8 | short(F8E4M3FN, b)),
        ("e5m2x2", "f32", true) => lanes!(W2, |a, b| short(F8E5M2, a) << 8 | short(F8E5M2, b)),
        ("e4m3x2", "f16x2", true) => lanes!(W1, |a| shorter(F8E4M3FN, a)),
        ("e5m2x2", "f16x2", true) => lanes!(W1, |a| shorter(F8E5M2, a)),
        ("f16x2", "e4m3x2", false) => lanes!(W1, |a| longer(F8E4M3FN, a)),
        ("f16x2", "e5m2x2", false) => lanes!(W1, |a| longer(F8E5M2, a)),
        _ => return None,
    })
}
