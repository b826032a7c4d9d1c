//! Elements as codes of their types: the bits of a number, two for a complex one.

use std::fmt::Write as _;

use ir::ElementTypeExt as _;
use syntax::hlo::{ElementType, FloatFormat, Specials};

use crate::messages::LiteralProto;

/// How many codes an element has.
pub(super) fn per_element(element: ElementType) -> usize {
    match element {
        ElementType::C64 | ElementType::C128 => 2,
        _ => 1,
    }
}

/// Takes the codes out of the field of their type.
pub(super) fn take(proto: &mut LiteralProto, element: ElementType) -> Vec<u64> {
    use ElementType::*;
    fn all<T>(field: &mut Vec<T>, code: impl Fn(T) -> u64) -> Vec<u64> {
        std::mem::take(field).into_iter().map(code).collect()
    }
    match element {
        Pred => all(&mut proto.preds, u64::from),
        S32 => all(&mut proto.s32s, |value| value as u32 as u64),
        S64 => all(&mut proto.s64s, |value| value as u64),
        U32 => all(&mut proto.u32s, u64::from),
        U64 => all(&mut proto.u64s, |value| value),
        F32 => all(&mut proto.f32s, |value| value.to_bits().into()),
        F64 => all(&mut proto.f64s, f64::to_bits),
        C64 => all(&mut proto.c64s, |value| value.to_bits().into()),
        C128 => all(&mut proto.c128s, f64::to_bits),
        _ => {
            let Some(field) = bytes_of(proto, element) else { return Vec::new() };
            match is_of_two_bytes(element) {
                true if field.len().is_multiple_of(2) => {
                    let (pairs, _) = field.as_chunks::<2>();
                    let codes = pairs.iter().map(|pair| u16::from_le_bytes(*pair).into()).collect();
                    field.clear();
                    codes
                }
                true => Vec::new(),
                false => all(field, u64::from),
            }
        }
    }
}

/// Puts codes into the field of their type.
pub(super) fn put(proto: &mut LiteralProto, element: ElementType, codes: Vec<u64>) {
    use ElementType::*;
    let codes = codes.into_iter();
    match element {
        Pred => proto.preds = codes.map(|code| code != 0).collect(),
        S32 => proto.s32s = codes.map(|code| code as i32).collect(),
        S64 => proto.s64s = codes.map(|code| code as i64).collect(),
        U32 => proto.u32s = codes.map(|code| code as u32).collect(),
        U64 => proto.u64s = codes.collect(),
        F32 => proto.f32s = codes.map(|code| f32::from_bits(code as u32)).collect(),
        F64 => proto.f64s = codes.map(f64::from_bits).collect(),
        C64 => proto.c64s = codes.map(|code| f32::from_bits(code as u32)).collect(),
        C128 => proto.c128s = codes.map(f64::from_bits).collect(),
        _ => {
            let Some(field) = bytes_of(proto, element) else { return };
            match is_of_two_bytes(element) {
                true => field.extend(codes.flat_map(|code| (code as u16).to_le_bytes())),
                false => field.extend(codes.map(|code| code as u8)),
            }
        }
    }
}

fn is_of_two_bytes(element: ElementType) -> bool {
    use ElementType::*;
    matches!(element, S16 | U16 | F16 | Bf16)
}

/// The field of a type whose elements are bytes.
fn bytes_of(proto: &mut LiteralProto, element: ElementType) -> Option<&mut Vec<u8>> {
    use ElementType::*;
    Some(match element {
        S1 => &mut proto.s1s,
        S2 => &mut proto.s2s,
        S4 => &mut proto.s4s,
        S8 => &mut proto.s8s,
        S16 => &mut proto.s16s,
        U1 => &mut proto.u1s,
        U2 => &mut proto.u2s,
        U4 => &mut proto.u4s,
        U8 => &mut proto.u8s,
        U16 => &mut proto.u16s,
        F16 => &mut proto.f16s,
        Bf16 => &mut proto.bf16s,
        F4e2m1fn => &mut proto.f4e2m1fns,
        F6e2m3fn => &mut proto.f6e2m3fns,
        F6e3m2fn => &mut proto.f6e3m2fns,
        F8e3m4 => &mut proto.f8e3m4s,
        F8e4m3 => &mut proto.f8e4m3s,
        F8e4m3b11fnuz => &mut proto.f8e4m3b11fnuzs,
        F8e4m3fn => &mut proto.f8e4m3fns,
        F8e4m3fnuz => &mut proto.f8e4m3fnuzs,
        F8e5m2 => &mut proto.f8e5m2s,
        F8e5m2fnuz => &mut proto.f8e5m2fnuzs,
        F8e8m0fnu => &mut proto.f8e8m0fnus,
        Pred | S32 | S64 | U32 | U64 | F32 | F64 | C64 | C128 | Token | Opaque => return None,
    })
}

/// Bits of an integer type with a sign, and of one without.
pub(super) fn integer_bits(element: ElementType) -> Option<(u32, bool)> {
    let is_signed = element.is_signed_integer();
    let bits = element.bits().filter(|_| is_signed || element.is_unsigned_integer())?;
    Some((bits, is_signed))
}

/// Writes the codes of one element as a number that reads back to them.
pub(super) fn write(out: &mut String, codes: &[u64], element: ElementType) {
    if let &[real, imaginary] = codes {
        out.push('(');
        write_float(out, real, element);
        out.push_str(", ");
        write_float(out, imaginary, element);
        out.push(')');
        return;
    }
    let code = codes.first().copied().unwrap_or_default();
    match integer_bits(element) {
        Some((bits, true)) => _ = write!(out, "{}", ((code << (64 - bits)) as i64) >> (64 - bits)),
        Some((bits, false)) => _ = write!(out, "{}", code << (64 - bits) >> (64 - bits)),
        None if element == ElementType::Pred => out.push(if code == 0 { '0' } else { '1' }),
        None => write_float(out, code, element),
    }
}

fn write_float(out: &mut String, code: u64, element: ElementType) {
    let Some(format) = FloatFormat::of(element) else { return };
    let value = match element {
        ElementType::F32 | ElementType::C64 => f64::from(f32::from_bits(code as u32)),
        ElementType::F64 | ElementType::C128 => f64::from_bits(code),
        _ => format.decode(code),
    };
    if !value.is_nan() {
        _ = write!(out, "{value:?}");
        return;
    }
    let sign = code >> (format.exponent + format.mantissa) & 1;
    out.push_str(if sign == 1 && format.specials != Specials::PowersOfTwo { "-nan" } else { "nan" });
    let payload = code & ((1 << format.mantissa) - 1);
    if format.specials == Specials::Ieee && payload != quiet_nan(format) {
        _ = write!(out, "(0x{payload:x})");
    }
}

/// The payload of the NaN that is written without one.
pub(super) fn quiet_nan(format: FloatFormat) -> u64 {
    1 << format.mantissa.saturating_sub(1)
}
