//! Integer and bit instructions.

use super::lanes::{Doubles, Map, Words, lanes};
use super::opcode::Opcode;

/// The function of an integer instruction; `None` if it is not one, or not supported.
pub(crate) fn find(op: &Opcode<'_>) -> Option<Map> {
    narrow(op).or_else(|| words(op)).or_else(|| doubles(op)).or_else(|| bits(op))
}

fn narrow(op: &Opcode<'_>) -> Option<Map> {
    Some(match (op.name, op.modifier(), op.kind) {
        ("add", "", "s16" | "u16") => lanes!(W2, |a, b| a.wrapping_add(b)),
        ("sub", "", "s16" | "u16") => lanes!(W2, |a, b| a.wrapping_sub(b)),
        ("add", "", "s16x2" | "u16x2") => {
            lanes!(W2, |a, b| (a.wrapping_add(b) & 0xFFFF) | (a & !0xFFFF).wrapping_add(b & !0xFFFF))
        }
        ("mul", "lo", "s16" | "u16") => lanes!(W2, |a, b| a.wrapping_mul(b)),
        ("mul", "hi", "u16") => lanes!(W2, |a, b| a.wrapping_mul(b) >> 16),
        ("mul", "hi", "s16") => lanes!(W2, |a, b| ((a as i16 as i32 * b as i16 as i32) >> 16) as u32),
        ("mul", "wide", "u16") => lanes!(W2, |a, b| a.wrapping_mul(b)),
        ("mul", "wide", "s16") => lanes!(W2, |a, b| (a as i16 as i32 * b as i16 as i32) as u32),
        ("mad", "lo", "s16" | "u16") => lanes!(W3, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("mad", "wide", "u16") => lanes!(W3, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("mad", "wide", "s16") => {
            lanes!(W3, |a, b, c| (a as i16 as i32 * b as i16 as i32).wrapping_add(c as i32) as u32)
        }
        ("div", "", "u16") => lanes!(W2, |a, b| a.checked_div(b).unwrap_or(u32::MAX)),
        ("rem", "", "u16") => lanes!(W2, |a, b| a.checked_rem(b).unwrap_or(a)),
        ("div", "", "s16") => lanes!(W2, |a, b| (a as i16).checked_div(b as i16).unwrap_or(-1) as u32),
        ("rem", "", "s16") => lanes!(W2, |a, b| (a as i16).checked_rem(b as i16).unwrap_or(0) as u32),
        ("min", "", "s16") => lanes!(W2, |a, b| (a as i16).min(b as i16) as u32),
        ("max", "", "s16") => lanes!(W2, |a, b| (a as i16).max(b as i16) as u32),
        ("min", "", "u16") => lanes!(W2, |a, b| a.min(b)),
        ("max", "", "u16") => lanes!(W2, |a, b| a.max(b)),
        ("neg", "", "s16") => lanes!(W1, |a| a.wrapping_neg()),
        ("abs", "", "s16") => lanes!(W1, |a| (a as i16).wrapping_abs() as u32),
        ("shr", "", "s16") => lanes!(W2, |a, b| (a as i16 >> b.min(15)) as u32),
        ("shr", "", "u16" | "b16") => lanes!(W2, |a, b| a.checked_shr(b).unwrap_or(0)),
        _ => return None,
    })
}

fn words(op: &Opcode<'_>) -> Option<Map> {
    Some(match (op.name, op.modifier(), op.kind) {
        ("add", "", "s32" | "u32") => lanes!(W2, |a, b| a.wrapping_add(b)),
        ("sub", "", "s32" | "u32") => lanes!(W2, |a, b| a.wrapping_sub(b)),
        ("add", "sat", "s32") => lanes!(W2, |a, b| (a as i32).saturating_add(b as i32) as u32),
        ("sub", "sat", "s32") => lanes!(W2, |a, b| (a as i32).saturating_sub(b as i32) as u32),
        ("mul", "lo", "s32" | "u32") => lanes!(W2, |a, b| a.wrapping_mul(b)),
        ("mul", "hi", "u32") => lanes!(W2, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        ("mul", "hi", "s32") => {
            lanes!(W2, |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32)
        }
        ("mul", "wide", "u32") => lanes!(DofWW, |a, b| u64::from(a) * u64::from(b)),
        ("mul", "wide", "s32") => lanes!(DofWW, |a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64),
        ("mul24", "lo", "u32") => lanes!(W2, |a, b| (a & 0xFF_FFFF).wrapping_mul(b & 0xFF_FFFF)),
        ("mad", "lo", "s32" | "u32") => lanes!(W3, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("mad", "hi", "u32") => {
            lanes!(W3, |a, b, c| (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c))
        }
        ("mad", "hi", "s32") => {
            lanes!(W3, |a, b, c| (((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32).wrapping_add(c))
        }
        ("mad", "wide", "u32") => {
            lanes!(DofWWD, |a, b, c| (u64::from(a) * u64::from(b)).wrapping_add(c))
        }
        ("mad", "wide", "s32") => {
            lanes!(DofWWD, |a, b, c| ((i64::from(a as i32) * i64::from(b as i32)) as u64).wrapping_add(c))
        }
        ("div", "", "u32") => lanes!(W2, |a, b| a.checked_div(b).unwrap_or(u32::MAX)),
        ("rem", "", "u32") => lanes!(W2, |a, b| a.checked_rem(b).unwrap_or(a)),
        ("div", "", "s32") => {
            lanes!(W2, |a, b| if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 })
        }
        ("rem", "", "s32") => {
            lanes!(W2, |a, b| if b == 0 { a } else { (a as i32).wrapping_rem(b as i32) as u32 })
        }
        ("min", "", "s32") => lanes!(W2, |a, b| (a as i32).min(b as i32) as u32),
        ("max", "", "s32") => lanes!(W2, |a, b| (a as i32).max(b as i32) as u32),
        ("min", "", "u32") => lanes!(W2, |a, b| a.min(b)),
        ("max", "", "u32") => lanes!(W2, |a, b| a.max(b)),
        ("neg", "", "s32") => lanes!(W1, |a| a.wrapping_neg()),
        ("abs", "", "s32") => lanes!(W1, |a| (a as i32).wrapping_abs() as u32),
        ("sad", "", "u32") => lanes!(W3, |a, b, c| a.abs_diff(b).wrapping_add(c)),
        ("shr", "", "s32") => lanes!(W2, |a, b| (a as i32 >> b.min(31)) as u32),
        ("shr", "", "u32" | "b32") => lanes!(W2, |a, b| a.checked_shr(b).unwrap_or(0)),
        ("slct", "", "b32.s32" | "s32.s32" | "u32.s32" | "f32.s32") => {
            lanes!(W3, |a, b, c| if c as i32 >= 0 { a } else { b })
        }
        ("dp4a", "", "u32.u32") => lanes!(W3, |a, b, c| {
            let sum: u32 = (0..4).map(|i| (a >> (8 * i) & 0xFF) * (b >> (8 * i) & 0xFF)).sum();
            c.wrapping_add(sum)
        }),
        ("dp4a", "", "s32.s32") => lanes!(W3, |a, b, c| {
            let of = |x: u32, i: u32| i32::from((x >> (8 * i)) as i8);
            (0..4).fold(c, |c, i| c.wrapping_add((of(a, i) * of(b, i)) as u32))
        }),
        _ => return None,
    })
}

fn doubles(op: &Opcode<'_>) -> Option<Map> {
    Some(match (op.name, op.modifier(), op.kind) {
        ("add", "", "s64" | "u64") => lanes!(D2, |a, b| a.wrapping_add(b)),
        ("sub", "", "s64" | "u64") => lanes!(D2, |a, b| a.wrapping_sub(b)),
        ("mul", "lo", "s64" | "u64") => lanes!(D2, |a, b| a.wrapping_mul(b)),
        ("mul", "hi", "u64") => lanes!(D2, |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        ("mul", "hi", "s64") => {
            lanes!(D2, |a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64)
        }
        ("mad", "lo", "s64" | "u64") => lanes!(D3, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        ("div", "", "u64") => lanes!(D2, |a, b| a.checked_div(b).unwrap_or(u64::MAX)),
        ("rem", "", "u64") => lanes!(D2, |a, b| a.checked_rem(b).unwrap_or(a)),
        ("div", "", "s64") => {
            lanes!(D2, |a, b| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 })
        }
        ("rem", "", "s64") => {
            lanes!(D2, |a, b| if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 })
        }
        ("min", "", "s64") => lanes!(D2, |a, b| (a as i64).min(b as i64) as u64),
        ("max", "", "s64") => lanes!(D2, |a, b| (a as i64).max(b as i64) as u64),
        ("min", "", "u64") => lanes!(D2, |a, b| a.min(b)),
        ("max", "", "u64") => lanes!(D2, |a, b| a.max(b)),
        ("neg", "", "s64") => lanes!(D1, |a| a.wrapping_neg()),
        ("abs", "", "s64") => lanes!(D1, |a| (a as i64).wrapping_abs() as u64),
        ("shr", "", "s64") => lanes!(DofDW, |a, b| (a as i64 >> b.min(63)) as u64),
        ("shr", "", "u64" | "b64") => lanes!(DofDW, |a, b| a.checked_shr(b).unwrap_or(0)),
        ("shl", "", "b64") => lanes!(DofDW, |a, b| a.checked_shl(b).unwrap_or(0)),
        _ => return None,
    })
}

fn bits(op: &Opcode<'_>) -> Option<Map> {
    Some(match (op.name, op.modifier(), op.kind) {
        ("and", "", "b32" | "b16") => lanes!(W2, |a, b| a & b),
        ("or", "", "b32" | "b16") => lanes!(W2, |a, b| a | b),
        ("xor", "", "b32" | "b16") => lanes!(W2, |a, b| a ^ b),
        ("not", "", "b32" | "b16") => lanes!(W1, |a| !a),
        ("cnot", "", "b32" | "b16") => lanes!(W1, |a| u32::from(a == 0)),
        ("and", "", "b64") => lanes!(D2, |a, b| a & b),
        ("or", "", "b64") => lanes!(D2, |a, b| a | b),
        ("xor", "", "b64") => lanes!(D2, |a, b| a ^ b),
        ("not", "", "b64") => lanes!(D1, |a| !a),
        ("shl", "", "b32") => lanes!(W2, |a, b| a.checked_shl(b).unwrap_or(0)),
        ("shl", "", "b16") => lanes!(W2, |a, b| a.checked_shl(b).unwrap_or(0)),
        ("clz", "", "b32") => lanes!(W1, |a| a.leading_zeros()),
        ("clz", "", "b64") => lanes!(WofD, |a| a.leading_zeros()),
        ("popc", "", "b32") => lanes!(W1, |a| a.count_ones()),
        ("popc", "", "b64") => lanes!(WofD, |a| a.count_ones()),
        ("brev", "", "b32") => lanes!(W1, |a| a.reverse_bits()),
        ("brev", "", "b64") => lanes!(D1, |a| a.reverse_bits()),
        ("bfind", "", "u32") => lanes!(W1, |a| 31u32.wrapping_sub(a.leading_zeros())),
        ("bfind", "", "s32") => {
            lanes!(W1, |a| 31u32.wrapping_sub(if (a as i32) < 0 { !a } else { a }.leading_zeros()))
        }
        ("fns", ..) => return None,
        ("shf", "l.wrap", "b32") => lanes!(W3, |a, b, c| (join(a, b) << (c & 31) >> 32) as u32),
        ("shf", "r.wrap", "b32") => lanes!(W3, |a, b, c| (join(a, b) >> (c & 31)) as u32),
        ("shf", "l.clamp", "b32") => lanes!(W3, |a, b, c| (join(a, b) << c.min(32) >> 32) as u32),
        ("shf", "r.clamp", "b32") => lanes!(W3, |a, b, c| (join(a, b) >> c.min(32)) as u32),
        ("bfe", "", "u32") => lanes!(W3, |a, b, c| field(u64::from(a), b, c, 32, false) as u32),
        ("bfe", "", "s32") => lanes!(W3, |a, b, c| field(u64::from(a), b, c, 32, true) as u32),
        ("bfe", "", "u64") => lanes!(DofDWW, |a, b, c| field(a, b, c, 64, false)),
        ("bfe", "", "s64") => lanes!(DofDWW, |a, b, c| field(a, b, c, 64, true)),
        ("bfi", "", "b32") => lanes!(W4, |a, b, c, d| {
            let (at, len) = (c & 0xFF, d & 0xFF);
            let ones = 1u64.checked_shl(len).map_or(u64::MAX, |one| one.wrapping_sub(1));
            let mask = ones.checked_shl(at).unwrap_or(0) as u32;
            (u64::from(a).checked_shl(at).unwrap_or(0) as u32 & mask) | (b & !mask)
        }),
        ("bmsk", "clamp", "b32") => lanes!(W2, |a, b| {
            let ones = 1u64.checked_shl(b.min(32)).map_or(0, |one| one - 1);
            ones.checked_shl(a).unwrap_or(0) as u32
        }),
        ("szext", "wrap", "u32") => lanes!(W2, |a, b| field(u64::from(a), 0, b & 31, 32, false) as u32),
        ("szext", "wrap", "s32") => lanes!(W2, |a, b| field(u64::from(a), 0, b & 31, 32, true) as u32),
        ("prmt", "", "b32") => lanes!(W3, |a, b, c| permute(a, b, c)),
        ("lop3", "", "b32") => lanes!(W4, |a, b, c, d| {
            let term = |i: u32| {
                let of = |x: u32, bit: u32| if i >> bit & 1 == 1 { x } else { !x };
                if d >> i & 1 == 1 { of(a, 2) & of(b, 1) & of(c, 0) } else { 0 }
            };
            (0..8).fold(0, |all, i| all | term(i))
        }),
        _ => return None,
    })
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// `bfe`: `len` bits from bit `at`. The sign is that of the last extracted bit, or of the value if the field
/// extends past it.
fn field(value: u64, at: u32, len: u32, width: u32, is_signed: bool) -> u64 {
    let (at, len) = (at & 0xFF, len & 0xFF);
    if len == 0 {
        return 0;
    }
    let last = (at + len - 1).min(width - 1);
    let is_negative = is_signed && value >> last & 1 == 1;
    let taken = value.checked_shr(at).unwrap_or(0);
    let kept = (last + 1).saturating_sub(at).min(width);
    let mask = if kept >= 64 { u64::MAX } else { (1 << kept) - 1 };
    (taken & mask) | if is_negative { !mask } else { 0 }
}

/// `prmt`: each nibble of the selector picks one of eight bytes, or its sign eight times.
fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = join(a, b);
    (0..4).fold(0, |all, i| {
        let pick = selector >> (4 * i);
        let byte = (bytes >> (8 * (pick & 7))) as u32 & 0xFF;
        let byte = if pick & 8 == 0 { byte } else { (byte >> 7) * 0xFF };
        all | byte << (8 * i)
    })
}
