//! Integer and bit instructions.

use ptx::Modifier::{Clamp, Hi, L, Lo, R, Sat, Wide, Wrap};
use ptx::Name::*;
use ptx::Type::*;
use ptx::{Arithmetic, Type};

use super::lanes::{Doubles, Map, Words, lanes};

/// The function of an integer instruction; `None` if it is not one, or not supported.
pub(crate) fn find(op: &Arithmetic) -> Option<Map> {
    if op.from.is_some_and(|from| !takes(op, from)) {
        return None;
    }
    narrow(op).or_else(|| words(op)).or_else(|| doubles(op)).or_else(|| bits(op))
}

/// Whether the instruction has operands of another type.
fn takes(op: &Arithmetic, from: Type) -> bool {
    match op.name {
        Slct => from == S32,
        Dp4a => from == op.ty,
        _ => false,
    }
}

fn narrow(op: &Arithmetic) -> Option<Map> {
    Some(match (op.name, op.modifiers(), op.ty) {
        (Add, [], S16 | U16) => lanes!(W2, |a, b| a.wrapping_add(b)),
        (Sub, [], S16 | U16) => lanes!(W2, |a, b| a.wrapping_sub(b)),
        (Add, [], S16x2 | U16x2) => {
            lanes!(W2, |a, b| (a.wrapping_add(b) & 0xFFFF) | (a & !0xFFFF).wrapping_add(b & !0xFFFF))
        }
        (Mul, [Lo], S16 | U16) => lanes!(W2, |a, b| a.wrapping_mul(b)),
        (Mul, [Hi], U16) => lanes!(W2, |a, b| a.wrapping_mul(b) >> 16),
        (Mul, [Hi], S16) => {
            lanes!(W2, |a, b| ((a as i16 as i32 * b as i16 as i32) >> 16) as u32)
        }
        (Mul, [Wide], U16) => lanes!(W2, |a, b| a.wrapping_mul(b)),
        (Mul, [Wide], S16) => {
            lanes!(W2, |a, b| (a as i16 as i32 * b as i16 as i32) as u32)
        }
        (Mad, [Lo], S16 | U16) => {
            lanes!(W3, |a, b, c| a.wrapping_mul(b).wrapping_add(c))
        }
        (Mad, [Wide], U16) => lanes!(W3, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        (Mad, [Wide], S16) => {
            lanes!(W3, |a, b, c| (a as i16 as i32 * b as i16 as i32).wrapping_add(c as i32) as u32)
        }
        (Div, [], U16) => lanes!(W2, |a, b| a.checked_div(b).unwrap_or(u32::MAX)),
        (Rem, [], U16) => lanes!(W2, |a, b| a.checked_rem(b).unwrap_or(a)),
        (Div, [], S16) => {
            lanes!(W2, |a, b| (a as i16).checked_div(b as i16).unwrap_or(-1) as u32)
        }
        (Rem, [], S16) => lanes!(W2, |a, b| (a as i16).checked_rem(b as i16).unwrap_or(0) as u32),
        (Min, [], S16) => lanes!(W2, |a, b| (a as i16).min(b as i16) as u32),
        (Max, [], S16) => lanes!(W2, |a, b| (a as i16).max(b as i16) as u32),
        (Min, [], U16) => lanes!(W2, |a, b| a.min(b)),
        (Max, [], U16) => lanes!(W2, |a, b| a.max(b)),
        (Neg, [], S16) => lanes!(W1, |a| a.wrapping_neg()),
        (Abs, [], S16) => lanes!(W1, |a| (a as i16).wrapping_abs() as u32),
        (Shr, [], S16) => lanes!(W2, |a, b| (a as i16 >> b.min(15)) as u32),
        (Shr, [], U16 | B16) => lanes!(W2, |a, b| a.checked_shr(b).unwrap_or(0)),
        _ => return None,
    })
}

fn words(op: &Arithmetic) -> Option<Map> {
    Some(match (op.name, op.modifiers(), op.ty) {
        (Add, [], S32 | U32) => lanes!(W2, |a, b| a.wrapping_add(b)),
        (Sub, [], S32 | U32) => lanes!(W2, |a, b| a.wrapping_sub(b)),
        (Add, [Sat], S32) => {
            lanes!(W2, |a, b| (a as i32).saturating_add(b as i32) as u32)
        }
        (Sub, [Sat], S32) => {
            lanes!(W2, |a, b| (a as i32).saturating_sub(b as i32) as u32)
        }
        (Mul, [Lo], S32 | U32) => lanes!(W2, |a, b| a.wrapping_mul(b)),
        (Mul, [Hi], U32) => {
            lanes!(W2, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32)
        }
        (Mul, [Hi], S32) => {
            lanes!(W2, |a, b| ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32)
        }
        (Mul, [Wide], U32) => lanes!(DofWW, |a, b| u64::from(a) * u64::from(b)),
        (Mul, [Wide], S32) => {
            lanes!(DofWW, |a, b| (i64::from(a as i32) * i64::from(b as i32)) as u64)
        }
        (Mul24, [Lo], U32) => {
            lanes!(W2, |a, b| (a & 0xFF_FFFF).wrapping_mul(b & 0xFF_FFFF))
        }
        (Mad, [Lo], S32 | U32) => {
            lanes!(W3, |a, b, c| a.wrapping_mul(b).wrapping_add(c))
        }
        (Mad, [Hi], U32) => {
            lanes!(W3, |a, b, c| (((u64::from(a) * u64::from(b)) >> 32) as u32).wrapping_add(c))
        }
        (Mad, [Hi], S32) => {
            lanes!(W3, |a, b, c| (((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32).wrapping_add(c))
        }
        (Mad, [Wide], U32) => {
            lanes!(DofWWD, |a, b, c| (u64::from(a) * u64::from(b)).wrapping_add(c))
        }
        (Mad, [Wide], S32) => {
            lanes!(DofWWD, |a, b, c| ((i64::from(a as i32) * i64::from(b as i32)) as u64).wrapping_add(c))
        }
        (Div, [], U32) => lanes!(W2, |a, b| a.checked_div(b).unwrap_or(u32::MAX)),
        (Rem, [], U32) => lanes!(W2, |a, b| a.checked_rem(b).unwrap_or(a)),
        (Div, [], S32) => {
            lanes!(W2, |a, b| if b == 0 { u32::MAX } else { (a as i32).wrapping_div(b as i32) as u32 })
        }
        (Rem, [], S32) => {
            lanes!(W2, |a, b| if b == 0 { a } else { (a as i32).wrapping_rem(b as i32) as u32 })
        }
        (Min, [], S32) => lanes!(W2, |a, b| (a as i32).min(b as i32) as u32),
        (Max, [], S32) => lanes!(W2, |a, b| (a as i32).max(b as i32) as u32),
        (Min, [], U32) => lanes!(W2, |a, b| a.min(b)),
        (Max, [], U32) => lanes!(W2, |a, b| a.max(b)),
        (Neg, [], S32) => lanes!(W1, |a| a.wrapping_neg()),
        (Abs, [], S32) => lanes!(W1, |a| (a as i32).wrapping_abs() as u32),
        (Sad, [], U32) => lanes!(W3, |a, b, c| a.abs_diff(b).wrapping_add(c)),
        (Shr, [], S32) => lanes!(W2, |a, b| (a as i32 >> b.min(31)) as u32),
        (Shr, [], U32 | B32) => lanes!(W2, |a, b| a.checked_shr(b).unwrap_or(0)),
        (Slct, [], B32 | S32 | U32 | F32) => {
            lanes!(W3, |a, b, c| if c as i32 >= 0 { a } else { b })
        }
        (Dp4a, [], U32) => lanes!(W3, |a, b, c| {
            let sum: u32 = (0..4).map(|i| (a >> (8 * i) & 0xFF) * (b >> (8 * i) & 0xFF)).sum();
            c.wrapping_add(sum)
        }),
        (Dp4a, [], S32) => lanes!(W3, |a, b, c| {
            let of = |x: u32, i: u32| i32::from((x >> (8 * i)) as i8);
            (0..4).fold(c, |c, i| c.wrapping_add((of(a, i) * of(b, i)) as u32))
        }),
        _ => return None,
    })
}

fn doubles(op: &Arithmetic) -> Option<Map> {
    Some(match (op.name, op.modifiers(), op.ty) {
        (Add, [], S64 | U64) => lanes!(D2, |a, b| a.wrapping_add(b)),
        (Sub, [], S64 | U64) => lanes!(D2, |a, b| a.wrapping_sub(b)),
        (Mul, [Lo], S64 | U64) => lanes!(D2, |a, b| a.wrapping_mul(b)),
        (Mul, [Hi], U64) => {
            lanes!(D2, |a, b| ((u128::from(a) * u128::from(b)) >> 64) as u64)
        }
        (Mul, [Hi], S64) => {
            lanes!(D2, |a, b| ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64)
        }
        (Mad, [Lo], S64 | U64) => {
            lanes!(D3, |a, b, c| a.wrapping_mul(b).wrapping_add(c))
        }
        (Div, [], U64) => lanes!(D2, |a, b| a.checked_div(b).unwrap_or(u64::MAX)),
        (Rem, [], U64) => lanes!(D2, |a, b| a.checked_rem(b).unwrap_or(a)),
        (Div, [], S64) => {
            lanes!(D2, |a, b| if b == 0 { u64::MAX } else { (a as i64).wrapping_div(b as i64) as u64 })
        }
        (Rem, [], S64) => {
            lanes!(D2, |a, b| if b == 0 { a } else { (a as i64).wrapping_rem(b as i64) as u64 })
        }
        (Min, [], S64) => lanes!(D2, |a, b| (a as i64).min(b as i64) as u64),
        (Max, [], S64) => lanes!(D2, |a, b| (a as i64).max(b as i64) as u64),
        (Min, [], U64) => lanes!(D2, |a, b| a.min(b)),
        (Max, [], U64) => lanes!(D2, |a, b| a.max(b)),
        (Neg, [], S64) => lanes!(D1, |a| a.wrapping_neg()),
        (Abs, [], S64) => lanes!(D1, |a| (a as i64).wrapping_abs() as u64),
        (Shr, [], S64) => lanes!(DofDW, |a, b| (a as i64 >> b.min(63)) as u64),
        (Shr, [], U64 | B64) => lanes!(DofDW, |a, b| a.checked_shr(b).unwrap_or(0)),
        (Shl, [], B64) => lanes!(DofDW, |a, b| a.checked_shl(b).unwrap_or(0)),
        _ => return None,
    })
}

fn bits(op: &Arithmetic) -> Option<Map> {
    Some(match (op.name, op.modifiers(), op.ty) {
        (And, [], B32 | B16) => lanes!(W2, |a, b| a & b),
        (Or, [], B32 | B16) => lanes!(W2, |a, b| a | b),
        (Xor, [], B32 | B16) => lanes!(W2, |a, b| a ^ b),
        (Not, [], B32 | B16) => lanes!(W1, |a| !a),
        (Cnot, [], B32 | B16) => lanes!(W1, |a| u32::from(a == 0)),
        (And, [], B64) => lanes!(D2, |a, b| a & b),
        (Or, [], B64) => lanes!(D2, |a, b| a | b),
        (Xor, [], B64) => lanes!(D2, |a, b| a ^ b),
        (Not, [], B64) => lanes!(D1, |a| !a),
        (Shl, [], B32) => lanes!(W2, |a, b| a.checked_shl(b).unwrap_or(0)),
        (Shl, [], B16) => lanes!(W2, |a, b| a.checked_shl(b).unwrap_or(0)),
        (Clz, [], B32) => lanes!(W1, |a| a.leading_zeros()),
        (Clz, [], B64) => lanes!(WofD, |a| a.leading_zeros()),
        (Popc, [], B32) => lanes!(W1, |a| a.count_ones()),
        (Popc, [], B64) => lanes!(WofD, |a| a.count_ones()),
        (Brev, [], B32) => lanes!(W1, |a| a.reverse_bits()),
        (Brev, [], B64) => lanes!(D1, |a| a.reverse_bits()),
        (Bfind, [], U32) => lanes!(W1, |a| 31u32.wrapping_sub(a.leading_zeros())),
        (Bfind, [], S32) => {
            lanes!(W1, |a| 31u32.wrapping_sub(if (a as i32) < 0 { !a } else { a }.leading_zeros()))
        }
        (Shf, [L, Wrap], B32) => {
            lanes!(W3, |a, b, c| (join(a, b) << (c & 31) >> 32) as u32)
        }
        (Shf, [R, Wrap], B32) => {
            lanes!(W3, |a, b, c| (join(a, b) >> (c & 31)) as u32)
        }
        (Shf, [L, Clamp], B32) => {
            lanes!(W3, |a, b, c| (join(a, b) << c.min(32) >> 32) as u32)
        }
        (Shf, [R, Clamp], B32) => {
            lanes!(W3, |a, b, c| (join(a, b) >> c.min(32)) as u32)
        }
        (Bfe, [], U32) => lanes!(W3, |a, b, c| field(u64::from(a), b, c, 32, false) as u32),
        (Bfe, [], S32) => lanes!(W3, |a, b, c| field(u64::from(a), b, c, 32, true) as u32),
        (Bfe, [], U64) => lanes!(DofDWW, |a, b, c| field(a, b, c, 64, false)),
        (Bfe, [], S64) => lanes!(DofDWW, |a, b, c| field(a, b, c, 64, true)),
        (Bfi, [], B32) => lanes!(W4, |a, b, c, d| {
            let (at, len) = (c & 0xFF, d & 0xFF);
            let ones = 1u64.checked_shl(len).map_or(u64::MAX, |one| one.wrapping_sub(1));
            let mask = ones.checked_shl(at).unwrap_or(0) as u32;
            (u64::from(a).checked_shl(at).unwrap_or(0) as u32 & mask) | (b & !mask)
        }),
        (Bmsk, [Clamp], B32) => lanes!(W2, |a, b| {
            let ones = 1u64.checked_shl(b.min(32)).map_or(0, |one| one - 1);
            ones.checked_shl(a).unwrap_or(0) as u32
        }),
        (Szext, [Wrap], U32) => {
            lanes!(W2, |a, b| field(u64::from(a), 0, b & 31, 32, false) as u32)
        }
        (Szext, [Wrap], S32) => {
            lanes!(W2, |a, b| field(u64::from(a), 0, b & 31, 32, true) as u32)
        }
        (Prmt, [], B32) => lanes!(W3, |a, b, c| permute(a, b, c)),
        (Lop3, [], B32) => lanes!(W4, |a, b, c, d| {
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
