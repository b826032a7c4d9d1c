//! `cvt`: conversions among integers, among floats, and between the two.

use ptx::Rounding::{Rmi, Rn, Rna, Rni, Rpi, Rs, Rz, Rzi};
use ptx::{Arithmetic, Type};
use syntax::hlo::float_format::{FloatFormat, bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

use super::floats::{put, saturate};
use super::lanes::{Doubles, Map, Words, lanes};

/// The conversion of `cvt.<modifiers>.<to>.<from>`.
pub(crate) fn find(op: &Arithmetic) -> Option<Map> {
    let (to, from) = (op.ty, op.from?);
    if !op.modifiers().is_empty() || op.rounding == Some(Rs) {
        return None;
    }
    match (to.is_float(), from.is_float()) {
        _ if is_pair(to) || is_pair(from) => packed(op, to, from),
        (false, false) if to == Type::Tf32 => tf32(op),
        (false, false) => integers(op, to, from),
        (true, false) => to_float(op, to, from),
        (false, true) if to == Type::Tf32 => tf32(op),
        (false, true) => to_integer(op, to, from),
        (true, true) => floats(op, to, from),
    }
}

fn is_pair(ty: Type) -> bool {
    matches!(ty, Type::F16x2 | Type::Bf16x2 | Type::E4m3x2 | Type::E5m2x2 | Type::E2m1x2 | Type::Ue8m0x2)
}

fn integers(op: &Arithmetic, to: Type, from: Type) -> Option<Map> {
    if op.saturates {
        return saturating(to, from);
    }
    // The value is read with the sign of the source, truncated to the destination, and extended to the
    // register with the sign of the destination. Storing the result truncates it to narrow registers.
    macro_rules! narrow {
        ($get:ty) => {
            match to {
                Type::U8 => lanes!(W1, |a| u32::from((a as $get) as u8)),
                Type::S8 => lanes!(W1, |a| (a as $get) as i8 as u32),
                Type::U16 => lanes!(W1, |a| u32::from((a as $get) as u16)),
                Type::S16 => lanes!(W1, |a| (a as $get) as i16 as u32),
                Type::U32 | Type::S32 | Type::B32 => lanes!(W1, |a| (a as $get) as u32),
                Type::U64 | Type::S64 => lanes!(DofW, |a| (a as $get) as u64),
                _ => return None,
            }
        };
    }
    Some(match from {
        Type::U8 | Type::B8 => narrow!(u8),
        Type::S8 => narrow!(i8),
        Type::U16 | Type::B16 => narrow!(u16),
        Type::S16 => narrow!(i16),
        Type::U32 | Type::B32 => narrow!(u32),
        Type::S32 => narrow!(i32),
        Type::U64 | Type::S64 | Type::B64 => match to {
            Type::U8 => lanes!(WofD, |a| u32::from(a as u8)),
            Type::S8 => lanes!(WofD, |a| a as i8 as u32),
            Type::U16 => lanes!(WofD, |a| u32::from(a as u16)),
            Type::S16 => lanes!(WofD, |a| a as i16 as u32),
            Type::U32 | Type::S32 => lanes!(WofD, |a| a as u32),
            Type::U64 | Type::S64 => lanes!(D1, |a| a),
            _ => return None,
        },
        _ => return None,
    })
}

fn saturating(to: Type, from: Type) -> Option<Map> {
    Some(match (to, from) {
        (Type::S8, Type::S32) => lanes!(W1, |a| (a as i32).clamp(-128, 127) as u32),
        (Type::U8, Type::S32) => lanes!(W1, |a| (a as i32).clamp(0, 255) as u32),
        (Type::S16, Type::S32) => lanes!(W1, |a| (a as i32).clamp(-32768, 32767) as u32),
        (Type::U16, Type::S32) => lanes!(W1, |a| (a as i32).clamp(0, 65535) as u32),
        (Type::U8, Type::U32) => lanes!(W1, |a| a.min(255)),
        (Type::U16, Type::U32) => lanes!(W1, |a| a.min(65535)),
        (Type::S8, Type::S16) => lanes!(W1, |a| (a as i16).clamp(-128, 127) as u32),
        (Type::U8, Type::S16) => lanes!(W1, |a| (a as i16).clamp(0, 255) as u32),
        (Type::S32, Type::S64) => {
            lanes!(WofD, |a| (a as i64).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32)
        }
        (Type::U32, Type::U64) => lanes!(WofD, |a| a.min(u64::from(u32::MAX)) as u32),
        _ => return None,
    })
}

fn to_float(op: &Arithmetic, to: Type, from: Type) -> Option<Map> {
    if op.rounding != Some(Rn) || op.saturates {
        return None;
    }
    // A 32-bit integer is exact in 64 bits, so 16-bit results round once.
    macro_rules! of_word {
        ($get:ty) => {
            match to {
                Type::F32 => lanes!(W1, |a| ((a as $get) as f32).to_bits()),
                Type::F64 => lanes!(DofW, |a| ((a as $get) as f64).to_bits()),
                Type::F16 => lanes!(W1, |a| FloatFormat::F16.encode((a as $get) as f64, false) as u32),
                Type::Bf16 => lanes!(W1, |a| FloatFormat::BF16.encode((a as $get) as f64, false) as u32),
                _ => return None,
            }
        };
    }
    macro_rules! of_double {
        ($get:ty) => {
            match to {
                Type::F32 => lanes!(WofD, |a| ((a as $get) as f32).to_bits()),
                Type::F64 => lanes!(D1, |a| ((a as $get) as f64).to_bits()),
                // 64 bits far exceed the precision of 16-bit floats, so rounding the last bit to odd is
                // enough.
                Type::F16 => {
                    lanes!(WofD, |a| FloatFormat::F16.encode(odd((a as $get) as i128), false) as u32)
                }
                Type::Bf16 => {
                    lanes!(WofD, |a| FloatFormat::BF16.encode(odd((a as $get) as i128), false) as u32)
                }
                _ => return None,
            }
        };
    }
    Some(match from {
        Type::U8 => of_word!(u8),
        Type::S8 => of_word!(i8),
        Type::U16 => of_word!(u16),
        Type::S16 => of_word!(i16),
        Type::U32 => of_word!(u32),
        Type::S32 => of_word!(i32),
        Type::U64 => of_double!(u64),
        Type::S64 => of_double!(i64),
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

fn to_integer(op: &Arithmetic, to: Type, from: Type) -> Option<Map> {
    // Rust's casts saturate and convert NaN to 0, as `cvt` does. But NaN to 64 bits, or from `f64`, gives the
    // smallest integer.
    macro_rules! with {
        ($mode:literal) => {{
            macro_rules! of_word {
                ($get:expr) => {
                    match to {
                        Type::S8 => lanes!(W1, |a| rounded($get(a), $mode) as i8 as u32),
                        Type::U8 => lanes!(W1, |a| u32::from(rounded($get(a), $mode) as u8)),
                        Type::S16 => lanes!(W1, |a| rounded($get(a), $mode) as i16 as u32),
                        Type::U16 => lanes!(W1, |a| u32::from(rounded($get(a), $mode) as u16)),
                        Type::S32 => lanes!(W1, |a| rounded($get(a), $mode) as i32 as u32),
                        Type::U32 => lanes!(W1, |a| rounded($get(a), $mode) as u32),
                        Type::S64 => lanes!(DofW, |a| match rounded($get(a), $mode) {
                            nan if nan.is_nan() => 1 << 63,
                            value => value as i64 as u64,
                        }),
                        Type::U64 => lanes!(DofW, |a| match rounded($get(a), $mode) {
                            nan if nan.is_nan() => 1 << 63,
                            value => value as u64,
                        }),
                        _ => return None,
                    }
                };
            }
            match from {
                Type::F32 if op.flushes => of_word!(flushed),
                Type::F32 => of_word!(single),
                Type::F16 => of_word!(half),
                Type::Bf16 => of_word!(brain),
                Type::F64 => match to {
                    Type::S32 => lanes!(WofD, |a| match rounded(f64::from_bits(a), $mode) {
                        nan if nan.is_nan() => 1 << 31,
                        value => value as i32 as u32,
                    }),
                    Type::U32 => lanes!(WofD, |a| match rounded(f64::from_bits(a), $mode) {
                        nan if nan.is_nan() => 1 << 31,
                        value => value as u32,
                    }),
                    Type::S16 => lanes!(WofD, |a| match rounded(f64::from_bits(a), $mode) {
                        nan if nan.is_nan() => 1 << 15,
                        value => value as i16 as u32,
                    }),
                    Type::U16 => lanes!(WofD, |a| match rounded(f64::from_bits(a), $mode) {
                        nan if nan.is_nan() => 1 << 15,
                        value => u32::from(value as u16),
                    }),
                    Type::S64 => lanes!(D1, |a| match rounded(f64::from_bits(a), $mode) {
                        nan if nan.is_nan() => 1 << 63,
                        value => value as i64 as u64,
                    }),
                    Type::U64 => lanes!(D1, |a| match rounded(f64::from_bits(a), $mode) {
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
        Rni => with!(0),
        Rzi => with!(1),
        Rmi => with!(2),
        Rpi => with!(3),
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
    FloatFormat::F16.decode(u64::from(bits))
}

fn brain(bits: u32) -> f64 {
    f64::from(bf16_to_f32(bits))
}

fn toward_zero(value: f32) -> u32 {
    value.to_bits() >> 16
}

fn floats(op: &Arithmetic, to: Type, from: Type) -> Option<Map> {
    // `put` flushes the result; if the width stays, a flushed operand gives a flushed result.
    Some(match (to, from, op.rounding, op.saturates) {
        (Type::F32, Type::F32, None, true) => lanes!(W1, |a| saturate(f32::from_bits(a)).to_bits()),
        (Type::F32, Type::F32, None, false) if op.flushes => lanes!(W1, |a| put::<true>(f32::from_bits(a))),
        (Type::F32, Type::F32, Some(Rni), _) => {
            lanes!(W1, |a| put::<false>(f32::from_bits(a).round_ties_even()))
        }
        (Type::F32, Type::F32, Some(Rzi), _) => {
            lanes!(W1, |a| put::<false>(f32::from_bits(a).trunc()))
        }
        (Type::F32, Type::F32, Some(Rmi), _) => {
            lanes!(W1, |a| put::<false>(f32::from_bits(a).floor()))
        }
        (Type::F32, Type::F32, Some(Rpi), _) => {
            lanes!(W1, |a| put::<false>(f32::from_bits(a).ceil()))
        }
        (Type::F64, Type::F64, Some(Rni), _) => {
            lanes!(D1, |a| f64::from_bits(a).round_ties_even().to_bits())
        }
        (Type::F64, Type::F64, Some(Rzi), _) => lanes!(D1, |a| f64::from_bits(a).trunc().to_bits()),
        (Type::F64, Type::F64, Some(Rmi), _) => lanes!(D1, |a| f64::from_bits(a).floor().to_bits()),
        (Type::F64, Type::F64, Some(Rpi), _) => lanes!(D1, |a| f64::from_bits(a).ceil().to_bits()),
        (Type::F16, Type::F16, Some(Rni), _) => {
            lanes!(W1, |a| f32_to_f16(f16_to_f32(a).round_ties_even()))
        }
        (Type::F16, Type::F16, Some(Rzi), _) => lanes!(W1, |a| f32_to_f16(f16_to_f32(a).trunc())),
        (Type::F16, Type::F16, Some(Rmi), _) => lanes!(W1, |a| f32_to_f16(f16_to_f32(a).floor())),
        (Type::F16, Type::F16, Some(Rpi), _) => lanes!(W1, |a| f32_to_f16(f16_to_f32(a).ceil())),
        (Type::Bf16, Type::Bf16, Some(Rni), _) => {
            lanes!(W1, |a| f32_to_bf16(bf16_to_f32(a).round_ties_even()))
        }
        (Type::Bf16, Type::Bf16, Some(Rzi), _) => {
            lanes!(W1, |a| f32_to_bf16(bf16_to_f32(a).trunc()))
        }
        (Type::Bf16, Type::Bf16, Some(Rmi), _) => {
            lanes!(W1, |a| f32_to_bf16(bf16_to_f32(a).floor()))
        }
        (Type::Bf16, Type::Bf16, Some(Rpi), _) => {
            lanes!(W1, |a| f32_to_bf16(bf16_to_f32(a).ceil()))
        }
        (Type::F64, Type::F32, None, false) => lanes!(DofW, |a| f64::from(f32::from_bits(a)).to_bits()),
        (Type::F32, Type::F64, Some(Rn), false) if op.flushes => {
            lanes!(WofD, |a| put::<true>(f64::from_bits(a) as f32))
        }
        (Type::F32, Type::F64, Some(Rn), false) => {
            lanes!(WofD, |a| put::<false>(f64::from_bits(a) as f32))
        }
        (Type::F32, Type::F16, None, false) => lanes!(W1, |a| put::<false>(f16_to_f32(a))),
        (Type::F32, Type::Bf16, None, false) => lanes!(W1, |a| put::<false>(bf16_to_f32(a))),
        (Type::F64, Type::F16, None, false) => lanes!(DofW, |a| half(a).to_bits()),
        (Type::F64, Type::Bf16, None, false) => lanes!(DofW, |a| brain(a).to_bits()),
        (Type::F16, Type::F32, Some(Rn), false) => lanes!(W1, |a| f32_to_f16(f32::from_bits(a))),
        (Type::Bf16, Type::F32, Some(Rn), false) => lanes!(W1, |a| f32_to_bf16(f32::from_bits(a))),
        (Type::Bf16, Type::F32, Some(Rz), false) => lanes!(W1, |a| toward_zero(f32::from_bits(a))),
        (Type::F16, Type::F64, Some(Rn), false) => {
            lanes!(WofD, |a| FloatFormat::F16.encode(f64::from_bits(a), false) as u32)
        }
        (Type::Bf16, Type::F64, Some(Rn), false) => {
            lanes!(WofD, |a| FloatFormat::BF16.encode(f64::from_bits(a), false) as u32)
        }
        (Type::Bf16, Type::F16, Some(Rn), false) => lanes!(W1, |a| f32_to_bf16(f16_to_f32(a))),
        (Type::F16, Type::Bf16, Some(Rn), false) => lanes!(W1, |a| f32_to_f16(bf16_to_f32(a))),
        _ => return None,
    })
}

/// 10 bits of mantissa; ties away from zero.
fn tf32(op: &Arithmetic) -> Option<Map> {
    match op.rounding? {
        Rna => Some(lanes!(W1, |a| match f32::from_bits(a) {
            value if value.is_finite() => a.wrapping_add(0x1000) & !0x1FFF,
            value => put::<false>(value),
        })),
        Rn => Some(lanes!(W1, |a| match f32::from_bits(a) {
            value if value.is_finite() => a.wrapping_add(0xFFF + (a >> 13 & 1)) & !0x1FFF,
            value => put::<false>(value),
        })),
        _ => None,
    }
}

/// The instructions return one canonical NaN, whatever the operand's.
fn saturated(format: FloatFormat, value: f64) -> u32 {
    let value = if value.is_nan() { f64::NAN } else { value };
    u32::from(format.encode(value, true) as u8)
}

fn short(format: FloatFormat, bits: u32) -> u32 {
    saturated(format, f64::from(f32::from_bits(bits)))
}

/// Two floats in one register; the first operand is the upper one.
fn packed(op: &Arithmetic, to: Type, from: Type) -> Option<Map> {
    if op.rounding != Some(Rn) {
        return None;
    }
    fn shorter(format: FloatFormat, pair: u32) -> u32 {
        let of = |bits: u32| saturated(format, half(bits & 0xFFFF));
        of(pair) | of(pair >> 16) << 8
    }
    fn longer(format: FloatFormat, pair: u32) -> u32 {
        let of = |bits: u32| f32_to_f16(format.decode(u64::from(bits & 0xFF)) as f32);
        of(pair) | of(pair >> 8) << 16
    }
    Some(match (to, from, op.saturates) {
        (Type::Bf16x2, Type::F32, false) => {
            lanes!(W2, |a, b| f32_to_bf16(f32::from_bits(a)) << 16 | f32_to_bf16(f32::from_bits(b)))
        }
        (Type::F16x2, Type::F32, false) => {
            lanes!(W2, |a, b| f32_to_f16(f32::from_bits(a)) << 16 | f32_to_f16(f32::from_bits(b)))
        }
        (Type::E4m3x2, Type::F32, true) => {
            lanes!(W2, |a, b| short(FloatFormat::F8E4M3FN, a) << 8 | short(FloatFormat::F8E4M3FN, b))
        }
        (Type::E5m2x2, Type::F32, true) => {
            lanes!(W2, |a, b| short(FloatFormat::F8E5M2, a) << 8 | short(FloatFormat::F8E5M2, b))
        }
        (Type::E4m3x2, Type::F16x2, true) => lanes!(W1, |a| shorter(FloatFormat::F8E4M3FN, a)),
        (Type::E5m2x2, Type::F16x2, true) => lanes!(W1, |a| shorter(FloatFormat::F8E5M2, a)),
        (Type::F16x2, Type::E4m3x2, false) => lanes!(W1, |a| longer(FloatFormat::F8E4M3FN, a)),
        (Type::F16x2, Type::E5m2x2, false) => lanes!(W1, |a| longer(FloatFormat::F8E5M2, a)),
        _ => return None,
    })
}
