//! Numbers as bits, and as text in both languages.

use std::fmt::{Display, LowerExp};

use ir::{ElementType, ElementTypeExt};
use syntax::hlo::{FloatFormat, Nan};

/// The number that the bits of an element represent, as HLO writes it.
pub(crate) fn number_of_bits(bits: u64, element: ElementType) -> String {
    let Some(format) = FloatFormat::of(element) else { return integer_of_bits(bits, element) };
    let width = part_bits(element);
    match element {
        ElementType::F32 | ElementType::C64 => {
            let value = f32::from_bits(bits as u32);
            match value.is_nan() {
                true => nan(bits, width, format),
                false if element == ElementType::C64 => largest_part(f64::from(value), || short(value)),
                false => short(value),
            }
        }
        ElementType::F64 | ElementType::C128 => {
            let value = f64::from_bits(bits);
            if value.is_nan() { nan(bits, width, format) } else { short(value) }
        }
        _ => small(bits, width, format, element),
    }
}

/// Part of a complex number of two `f32`: XLA reads it as an `f64`, of which the shortest decimal of the largest `f32` is too
/// large. Source: `xla/hlo/parser/hlo_parser.cc` CheckParsedValueIsInRange.
pub(crate) fn largest_part(value: f64, decimal: impl FnOnce() -> String) -> String {
    let nearest = f64::from(value as f32);
    match nearest.abs() == f64::from(f32::MAX) {
        true => short(nearest),
        false => decimal(),
    }
}

/// Bits of a real number of the type: a half of those of a complex one.
pub(crate) fn part_bits(element: ElementType) -> u32 {
    match element {
        ElementType::C64 => 32,
        ElementType::C128 => 64,
        _ => element.bits().unwrap_or(0),
    }
}

fn integer_of_bits(bits: u64, element: ElementType) -> String {
    let width = element.bits().unwrap_or(64).clamp(1, 64);
    if element == ElementType::Pred {
        return if bits & 1 == 1 { "1".to_owned() } else { "0".to_owned() };
    }
    let shift = 64 - width;
    match element.is_unsigned_integer() {
        true => ((bits << shift) >> shift).to_string(),
        false => (((bits << shift) as i64) >> shift).to_string(),
    }
}

/// With an exponent where the digits would be many.
fn short<T: Display + LowerExp + Copy + Into<f64>>(number: T) -> String {
    let value: f64 = number.into();
    match value {
        _ if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        _ if value == 0.0 && value.is_sign_negative() => "-0.0".to_owned(),
        _ if value != 0.0 && !(1e-5..1e16).contains(&value.abs()) => format!("{number:e}"),
        _ => number.to_string(),
    }
}

fn nan(bits: u64, width: u32, format: FloatFormat) -> String {
    let mantissa = format.precision - 1;
    let payload = bits & ((1u64 << mantissa) - 1);
    let sign = if bits >> (width - 1) & 1 == 1 { "-" } else { "" };
    match payload == 1u64 << (mantissa - 1).max(0) || format.nan != Nan::Payload {
        true => format!("{sign}nan"),
        false => format!("{sign}nan(0x{payload:x})"),
    }
}

/// Types of at most 16 bits, by their format.
fn small(bits: u64, width: u32, format: FloatFormat, element: ElementType) -> String {
    let mantissa_bits = (format.precision - 1) as u32;
    let is_signed = element != ElementType::F8e8m0fnu;
    let magnitude_bits = if is_signed { width - 1 } else { width };
    let sign = is_signed && bits >> magnitude_bits & 1 == 1;
    let magnitude = bits & ((1u64 << magnitude_bits) - 1);
    let exponent = (magnitude >> mantissa_bits) as i32;
    let mantissa = magnitude & ((1u64 << mantissa_bits) - 1);
    let top = (1i32 << (magnitude_bits - mantissa_bits)) - 1;
    let is_nan = match format.nan {
        Nan::None => false,
        Nan::Plain => magnitude == (1u64 << magnitude_bits) - 1,
        Nan::Negative => sign && magnitude == 0,
        Nan::Payload => exponent == top && mantissa != 0,
    };
    if is_nan {
        let payload = if format.nan == Nan::Payload { mantissa } else { 0 };
        let is_plain = payload == 1u64 << mantissa_bits.saturating_sub(1) || payload == 0;
        let sign = if sign { "-" } else { "" };
        return if is_plain { format!("{sign}nan") } else { format!("{sign}nan(0x{payload:x})") };
    }
    if format.nan == Nan::Payload && exponent == top {
        return if sign { "-inf".to_owned() } else { "inf".to_owned() };
    }
    let value = match (exponent, element) {
        (_, ElementType::F8e8m0fnu) => f64::powi(2.0, exponent - 127),
        (0, _) => mantissa as f64 * f64::powi(2.0, format.min_exponent - mantissa_bits as i32),
        _ => {
            let significand = (1u64 << mantissa_bits | mantissa) as f64;
            significand * f64::powi(2.0, exponent - 1 + format.min_exponent - mantissa_bits as i32)
        }
    };
    let value = if sign { -value } else { value };
    short(value)
}

/// The bits of infinity or of a number that is none, which MLIR writes in no other way. `payload` of zero is the usual one.
pub(crate) fn special_bits(
    element: ElementType,
    is_negative: bool,
    is_nan: bool,
    payload: u64,
) -> Option<u64> {
    let format = FloatFormat::of(element)?;
    let width = part_bits(element);
    let mantissa_bits = (format.precision - 1) as u32;
    let magnitude_bits = if element == ElementType::F8e8m0fnu { width } else { width - 1 };
    let sign = if is_negative && magnitude_bits < width { 1u64 << magnitude_bits } else { 0 };
    let ones = |bits: u32| if bits >= 64 { u64::MAX } else { (1u64 << bits) - 1 };
    match format.nan {
        Nan::Payload => {
            let exponent = ones(magnitude_bits) & !ones(mantissa_bits);
            let quiet = 1u64 << (mantissa_bits - 1);
            let mantissa = match (is_nan, payload) {
                (false, _) => 0,
                (true, 0) => quiet,
                (true, payload) => payload & ones(mantissa_bits),
            };
            Some(sign | exponent | mantissa)
        }
        Nan::Plain if is_nan => Some(sign | ones(magnitude_bits)),
        Nan::Negative if is_nan => Some(1u64 << (width - 1)),
        _ => None,
    }
}

/// `1` of `1.000000e+00`: a decimal of MLIR without the digits that say nothing.
pub(crate) fn shortened(decimal: &str) -> String {
    match decimal.parse::<f64>() {
        Ok(value) if value.is_finite() => short(value),
        _ => decimal.to_owned(),
    }
}

/// `1.0` of `1`, `1.0e-05` of `1e-05`: MLIR wants a point.
pub(crate) fn with_point(decimal: &str) -> String {
    if decimal.contains('.') {
        let (front, behind) = decimal.split_once('.').unwrap_or((decimal, ""));
        return match front.trim_start_matches(['-', '+']).is_empty() {
            true => format!("{front}0.{behind}"),
            false => decimal.to_owned(),
        };
    }
    match decimal.find(['e', 'E']) {
        Some(at) => format!("{}.0{}", &decimal[..at], &decimal[at..]),
        None => format!("{decimal}.0"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_numbers() {
        use ElementType::*;
        let check = |bits, element, expect: &str| assert_eq!(number_of_bits(bits, element), expect);
        check(0x3f80_0000, F32, "1");
        check(0x7f80_0000, F32, "inf");
        check(0x7fc0_0000, F32, "nan");
        check(0xffc0_0001, F32, "-nan(0x400001)");
        check(0x7f7f_ffff, F32, "3.4028235e38");
        check(0x3f80, Bf16, "1");
        check(0x3c00, F16, "1");
        check(0x0001, F16, "5.960464477539063e-8");
        check(0x7e, F8e4m3fn, "448");
        check(0x7f, F8e4m3fn, "nan");
        check(0x80, F8e4m3fnuz, "-nan");
        check(0x7f, F8e8m0fnu, "1");
        check(0xff, S8, "-1");
        check(0xff, U8, "255");
        check(0xf, S4, "-1");
        check(1, Pred, "1");
    }

    /// What is decoded is what the format rounds to itself, for each bit pattern of the small types.
    #[test]
    fn every_small_number_is_of_its_type() {
        use ElementType::*;
        for element in [F16, Bf16, F8e5m2, F8e4m3, F8e3m4, F8e4m3fn, F8e4m3b11fnuz, F8e5m2fnuz, F4e2m1fn] {
            let format = FloatFormat::of(element).expect("it is floating");
            let mut seen = std::collections::HashSet::new();
            for bits in 0..1u64 << part_bits(element) {
                let text = number_of_bits(bits, element);
                let Ok(value) = text.parse::<f64>() else { continue };
                if value.is_finite() {
                    assert_eq!(format.round(value), value, "{bits:x} of {element}");
                    assert!(!format.overflows(value));
                    assert!(seen.insert(value.to_bits()), "{text} of {element} twice");
                }
            }
        }
    }

    #[test]
    fn specials_come_back() {
        use ElementType::*;
        for (element, bits) in
            [(F32, 0x7f80_0000u64), (F64, 0xfff0_0000_0000_0000), (Bf16, 0x7fc0), (F8e4m3fn, 0xff)]
        {
            let text = number_of_bits(bits, element);
            let is_nan = text.contains("nan");
            assert_eq!(special_bits(element, text.starts_with('-'), is_nan, 0), Some(bits), "{text}");
        }
    }

    #[test]
    fn points_are_where_mlir_wants_them() {
        assert_eq!(with_point("1"), "1.0");
        assert_eq!(with_point("-1e-05"), "-1.0e-05");
        assert_eq!(with_point(".5"), "0.5");
        assert_eq!(shortened("1.000000e+00"), "1");
        assert_eq!(shortened("-5.000000e-01"), "-0.5");
    }
}
