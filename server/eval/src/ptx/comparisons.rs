//! `setp`: comparisons, with one bit per lane.

use std::cmp::Ordering::{Equal, Greater, Less};

use super::lanes::{Doubles, Map, Words, lanes};
use super::opcode::Opcode;
use crate::formats::{bf16_to_f32, f16_to_f32};

/// The comparison of `setp.<comparison>[.<and|or|xor>].<kind>`.
pub(crate) fn find(op: &Opcode<'_>) -> Option<Map> {
    let comparison = op.words().next()?;
    macro_rules! ordered {
        ($shape:ident, $get:expr) => {
            match comparison {
                "eq" => lanes!($shape, |a, b| $get(a) == $get(b)),
                "ne" => lanes!($shape, |a, b| $get(a) != $get(b)),
                "lt" | "lo" => lanes!($shape, |a, b| $get(a) < $get(b)),
                "le" | "ls" => lanes!($shape, |a, b| $get(a) <= $get(b)),
                "gt" | "hi" => lanes!($shape, |a, b| $get(a) > $get(b)),
                "ge" | "hs" => lanes!($shape, |a, b| $get(a) >= $get(b)),
                _ => return None,
            }
        };
    }
    macro_rules! partial {
        ($shape:ident, $get:expr) => {
            match comparison {
                // With a NaN these are false, including `ne`.
                "eq" => lanes!($shape, |a, b| $get(a) == $get(b)),
                "ne" => lanes!($shape, |a, b| matches!($get(a).partial_cmp(&$get(b)), Some(Less | Greater))),
                "lt" => lanes!($shape, |a, b| $get(a) < $get(b)),
                "le" => lanes!($shape, |a, b| $get(a) <= $get(b)),
                "gt" => lanes!($shape, |a, b| $get(a) > $get(b)),
                "ge" => lanes!($shape, |a, b| $get(a) >= $get(b)),
                "equ" => lanes!($shape, |a, b| matches!($get(a).partial_cmp(&$get(b)), None | Some(Equal))),
                "neu" => lanes!($shape, |a, b| $get(a) != $get(b)),
                "ltu" => lanes!($shape, |a, b| matches!($get(a).partial_cmp(&$get(b)), None | Some(Less))),
                "leu" => lanes!($shape, |a, b| $get(a).partial_cmp(&$get(b)) != Some(Greater)),
                "gtu" => lanes!($shape, |a, b| matches!($get(a).partial_cmp(&$get(b)), None | Some(Greater))),
                "geu" => lanes!($shape, |a, b| $get(a).partial_cmp(&$get(b)) != Some(Less)),
                "num" => lanes!($shape, |a, b| $get(a).partial_cmp(&$get(b)).is_some()),
                "nan" => lanes!($shape, |a, b| $get(a).partial_cmp(&$get(b)).is_none()),
                _ => return None,
            }
        };
    }
    fn flushed(bits: u32) -> f32 {
        let value = f32::from_bits(bits);
        if value.is_subnormal() { 0.0 } else { value }
    }
    fn low(bits: u32) -> u32 {
        bits & 0xFFFF
    }
    Some(match op.kind {
        "b16" | "u16" => ordered!(Compare32, low),
        "s16" => ordered!(Compare32, low_signed),
        "b32" | "u32" => ordered!(Compare32, u32::from),
        "s32" => ordered!(Compare32, signed),
        "b64" | "u64" => ordered!(Compare64, u64::from),
        "s64" => ordered!(Compare64, signed_wide),
        "f16" => partial!(Compare32, f16_to_f32),
        "bf16" => partial!(Compare32, bf16_to_f32),
        "f32" if op.flushes => partial!(Compare32, flushed),
        "f32" => partial!(Compare32, f32::from_bits),
        "f64" => partial!(Compare64, f64::from_bits),
        _ => return None,
    })
}

fn low_signed(bits: u32) -> i16 {
    bits as i16
}

fn signed(bits: u32) -> i32 {
    bits as i32
}

fn signed_wide(bits: u64) -> i64 {
    bits as i64
}
