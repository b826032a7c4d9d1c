//! Numbers as bits, and as text in both languages.

use std::fmt::{Display, LowerExp};

use ir::{ElementType, ElementTypeExt};
use syntax::hlo::{FloatFormat, Specials};

/// The number that the bits of an element represent, as HLO writes it.
pub(crate) fn number_of_bits(bits: u64, element: ElementType) -> String {
    let Some(format) = FloatFormat::of(element) else { return integer_of_bits(bits, element) };
    let value = match format {
        FloatFormat::F64 => f64::from_bits(bits),
        _ => format.decode(bits),
    };
    match element {
        _ if value.is_nan() => nan(bits, value.is_sign_negative(), format),
        ElementType::F32 => short(value as f32),
        ElementType::C64 => largest_part(value, || short(value as f32)),
        _ => short(value),
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

fn nan(bits: u64, is_negative: bool, format: FloatFormat) -> String {
    let payload = bits & ((1u64 << format.mantissa) - 1);
    let sign = if is_negative { "-" } else { "" };
    match format.specials == Specials::Ieee && payload != 1u64 << (format.mantissa - 1) {
        true => format!("{sign}nan(0x{payload:x})"),
        false => format!("{sign}nan"),
    }
}

/// The bits of infinity or of a number that is none, which MLIR writes in no other way. `payload` of zero is the usual one.
pub(crate) fn special_bits(
    element: ElementType,
    is_negative: bool,
    is_nan: bool,
    payload: u64,
) -> Option<u64> {
    let format = FloatFormat::of(element)?;
    match format.specials {
        Specials::Ieee => {
            let sign = u64::from(is_negative) << (format.exponent + format.mantissa);
            let infinity = format.largest_code() + 1;
            Some(
                sign | infinity
                    | match (is_nan, payload) {
                        (false, _) => 0,
                        (true, 0) => 1 << (format.mantissa - 1),
                        (true, payload) => payload & ((1 << format.mantissa) - 1),
                    },
            )
        }
        Specials::NumbersOnly => None,
        _ => is_nan.then(|| format.encode(f64::NAN.copysign(if is_negative { -1.0 } else { 1.0 }), false)),
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
