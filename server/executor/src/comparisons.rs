//! `setp`: comparisons, with one bit per lane.

use std::cmp::Ordering::{Equal, Greater, Less};

use ptx::{Comparison, Modifier, Opcode, Type};
use syntax::hlo::float_format::{bf16_to_f32, f16_to_f32};

use super::lanes::{Doubles, Map, Words, lanes};

/// The comparison of `setp.<comparison>[.<and|or|xor>].<kind>`.
pub(crate) fn find(op: &Opcode) -> Option<Map> {
    let comparison = op.comparison()?;
    macro_rules! ordered {
        ($shape:ident, $get:expr) => {
            match comparison {
                Comparison::Eq => lanes!($shape, |a, b| $get(a) == $get(b)),
                Comparison::Ne => lanes!($shape, |a, b| $get(a) != $get(b)),
                Comparison::Lt | Comparison::Lo => lanes!($shape, |a, b| $get(a) < $get(b)),
                Comparison::Le | Comparison::Ls => lanes!($shape, |a, b| $get(a) <= $get(b)),
                Comparison::Gt | Comparison::Hi => lanes!($shape, |a, b| $get(a) > $get(b)),
                Comparison::Ge | Comparison::Hs => lanes!($shape, |a, b| $get(a) >= $get(b)),
                _ => return None,
            }
        };
    }
    macro_rules! partial {
        ($shape:ident, $get:expr) => {
            match comparison {
                // With a NaN these are false, including `ne`.
                Comparison::Eq => lanes!($shape, |a, b| $get(a) == $get(b)),
                Comparison::Ne => {
                    lanes!($shape, |a, b| matches!($get(a).partial_cmp(&$get(b)), Some(Less | Greater)))
                }
                Comparison::Lt => lanes!($shape, |a, b| $get(a) < $get(b)),
                Comparison::Le => lanes!($shape, |a, b| $get(a) <= $get(b)),
                Comparison::Gt => lanes!($shape, |a, b| $get(a) > $get(b)),
                Comparison::Ge => lanes!($shape, |a, b| $get(a) >= $get(b)),
                Comparison::Equ => {
                    lanes!($shape, |a, b| matches!($get(a).partial_cmp(&$get(b)), None | Some(Equal)))
                }
                Comparison::Neu => lanes!($shape, |a, b| $get(a) != $get(b)),
                Comparison::Ltu => {
                    lanes!($shape, |a, b| matches!($get(a).partial_cmp(&$get(b)), None | Some(Less)))
                }
                Comparison::Leu => lanes!($shape, |a, b| $get(a).partial_cmp(&$get(b)) != Some(Greater)),
                Comparison::Gtu => {
                    lanes!($shape, |a, b| matches!($get(a).partial_cmp(&$get(b)), None | Some(Greater)))
                }
                Comparison::Geu => lanes!($shape, |a, b| $get(a).partial_cmp(&$get(b)) != Some(Less)),
                Comparison::Num => lanes!($shape, |a, b| $get(a).partial_cmp(&$get(b)).is_some()),
                Comparison::Nan => lanes!($shape, |a, b| $get(a).partial_cmp(&$get(b)).is_none()),
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
    Some(match op.ty()? {
        Type::B16 | Type::U16 => ordered!(Compare32, low),
        Type::S16 => ordered!(Compare32, low_signed),
        Type::B32 | Type::U32 => ordered!(Compare32, u32::from),
        Type::S32 => ordered!(Compare32, signed),
        Type::B64 | Type::U64 => ordered!(Compare64, u64::from),
        Type::S64 => ordered!(Compare64, signed_wide),
        Type::F16 => partial!(Compare32, f16_to_f32),
        Type::Bf16 => partial!(Compare32, bf16_to_f32),
        Type::F32 if op.has(Modifier::Ftz) => partial!(Compare32, flushed),
        Type::F32 => partial!(Compare32, f32::from_bits),
        Type::F64 => partial!(Compare64, f64::from_bits),
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
