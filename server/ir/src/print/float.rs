//! Floating-point values: what a text rounds to in a type, and how XLA writes the value.
//!
//! Source: XLA `util.cc` RoundTripFpToString, `hlo/parser/hlo_parser.cc` SetValueInLiteral.

use syntax::hlo::{ElementType, FloatFormat, Specials};

/// Writes the value that `text` (a number, `inf` or `nan`, of whatever sign) has in `element`.
pub(super) fn write_float(out: &mut String, text: &str, element: ElementType) {
    let Some(format) = FloatFormat::of(element) else {
        out.push_str(text);
        return;
    };
    let negative = text.starts_with('-');
    let word = text.trim_start_matches('-');
    if let Some(payload) = word.strip_prefix("nan") {
        return write_nan(out, negative, payload, format);
    }
    if word == "inf" {
        out.push_str(text);
        return;
    }
    // A token without point and exponent is an integer, which has no negative zero.
    let integer = text.parse::<i64>().ok().map(|v| v as f64);
    let Some(value) = integer.or_else(|| text.parse::<f64>().ok()) else {
        out.push_str(text);
        return;
    };
    let value = match element {
        ElementType::F32 | ElementType::C64 => f64::from(value as f32),
        ElementType::F64 | ElementType::C128 => value,
        _ => format.round_unbounded(value),
    };
    if value == 0.0 && value.is_sign_negative() {
        // XLA writes `-0`, and reads that as the integer: what is written here keeps its sign.
        return out.push_str("-0.0");
    }
    match element {
        ElementType::F32 | ElementType::C64 => {
            let short = general(value, 6);
            let is_exact = short.parse::<f32>().is_ok_and(|v| f64::from(v) == value);
            out.push_str(&if is_exact { short } else { general(value, 9) });
        }
        ElementType::F64 | ElementType::C128 => {
            let short = general(value, 15);
            let is_exact = short.parse::<f64>().is_ok_and(|v| v == value);
            out.push_str(&if is_exact { short } else { general(value, 17) });
        }
        _ => {
            // Digits that distinguish any two values of the type.
            let digits = 1.0 + f64::from(format.precision()) * std::f64::consts::LOG10_2;
            out.push_str(&general(value, digits.ceil() as usize));
        }
    }
}

fn write_nan(out: &mut String, negative: bool, payload: &str, format: FloatFormat) {
    let negative = negative || format.specials == Specials::FiniteUnsignedZero;
    out.push_str(if negative { "-nan" } else { "nan" });
    let digits = payload.strip_prefix("(0x").and_then(|p| p.strip_suffix(')'));
    let quiet = 1u64 << format.mantissa.saturating_sub(1);
    if let Some(payload) = digits.and_then(|d| u64::from_str_radix(d, 16).ok())
        && format.specials == Specials::Ieee
        && payload != quiet
        && payload != 0
    {
        out.push_str(&format!("(0x{payload:x})"));
    }
}

/// As C's `%.*g`: `precision` digits, trailing zeros cut, an exponent where the number is very large or small.
pub(super) fn general(value: f64, precision: usize) -> String {
    let precision = precision.max(1);
    let scientific = format!("{value:.*e}", precision - 1);
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let trim = |digits: &str| match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits.to_owned(),
    };
    if exponent < -4 || exponent >= precision as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trim(mantissa), exponent.abs());
    }
    let decimals = (precision as i32 - 1 - exponent).max(0) as usize;
    trim(&format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, element: ElementType, expect: &str) {
        let mut out = String::new();
        write_float(&mut out, text, element);
        assert_eq!(out, expect, "{text} as {element}");
        let mut again = String::new();
        write_float(&mut again, &out, element);
        assert_eq!(again, out);
    }

    #[test]
    fn values_are_written_as_xla_writes_them() {
        check("0.1", ElementType::F32, "0.1");
        check("4.0999999", ElementType::F32, "4.1");
        check("-1.99999988", ElementType::F32, "-1.99999988");
        check("1e10", ElementType::F32, "1e+10");
        check("100000", ElementType::F32, "100000");
        check("1234567", ElementType::F32, "1234567");
        check("0.00001", ElementType::F32, "1e-05");
        check("-0.0", ElementType::F32, "-0.0");
        check("-0", ElementType::F32, "0");
        check("3.14159265358979312", ElementType::F64, "3.1415926535897931");
        check("-65504", ElementType::F16, "-65504");
        check("3.39e+38", ElementType::Bf16, "3.39e+38");
        check("0.1", ElementType::Bf16, "0.1001");
        check("7", ElementType::F8e4m3fn, "7");
        check("7.4", ElementType::F8e5m2, "7");
        check("nan", ElementType::F8e4m3b11fnuz, "-nan");
        check("nan(0x40)", ElementType::Bf16, "nan");
        check("-nan(0x7f)", ElementType::Bf16, "-nan(0x7f)");
    }
}
