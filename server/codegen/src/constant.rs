//! Numbers in the code of a kernel.

use syntax::hlo::ElementType;

use ir::ElementTypeExt;

/// A scalar: the bits of its element type, with the imaginary part above the real one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Constant {
    pub element: ElementType,
    pub bits: u128,
}

impl Constant {
    pub fn zero(element: ElementType) -> Constant {
        Constant { element, bits: 0 }
    }

    /// An integer converted to the element type; floats are rounded.
    pub fn of_int(element: ElementType, value: i64) -> Constant {
        match element.is_floating() || element.is_complex() {
            true => Constant::of_float(element, value as f64),
            false => {
                let bits = element.bits().unwrap_or(64).min(64);
                let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
                Constant { element, bits: u128::from(value as u64 & mask) }
            }
        }
    }

    pub fn of_float(element: ElementType, value: f64) -> Constant {
        let bits = match element {
            ElementType::F64 | ElementType::C128 => u128::from(value.to_bits()),
            ElementType::F32 | ElementType::C64 => u128::from((value as f32).to_bits()),
            other => u128::from(small_float(other, value)),
        };
        Constant { element, bits }
    }

    /// Parses the text of a scalar literal: `-1`, `0x1p3`, `inf`, `true`, `(1, -2)`.
    pub fn parse(element: ElementType, text: &str) -> Option<Constant> {
        let text = text.trim().trim_start_matches('{').trim_end_matches('}').trim();
        if element.is_complex() {
            let (re, im) = text.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
            let part = if element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            let (re, im) = (Constant::parse(part, re)?, Constant::parse(part, im)?);
            let width = part.bits()?;
            return Some(Constant { element, bits: re.bits | im.bits << width });
        }
        if element == ElementType::Pred {
            let value = match text {
                "true" | "1" => 1,
                "false" | "0" => 0,
                _ => return None,
            };
            return Some(Constant { element, bits: value });
        }
        if element.is_floating() {
            if let Some(payload) = text.trim_start_matches('-').strip_prefix("nan(0x") {
                let _ = payload;
                return Some(Constant::of_float(element, f64::NAN));
            }
            return Some(Constant::of_float(element, text.parse().ok()?));
        }
        let value = match text {
            "true" => 1,
            "false" => 0,
            _ => text.parse::<i64>().ok().or_else(|| text.parse::<u64>().ok().map(|v| v as i64))?,
        };
        Some(Constant::of_int(element, value))
    }

    /// The value of an integer, sign-extended.
    pub fn as_int(self) -> i64 {
        let bits = self.element.bits().unwrap_or(64).clamp(1, 64);
        let raw = self.bits as u64;
        match self.element.is_signed_integer() {
            true => ((raw << (64 - bits)) as i64) >> (64 - bits),
            false => raw as i64,
        }
    }

    /// The value of a float; `None` for other types.
    pub fn as_float(self) -> Option<f64> {
        match self.element {
            ElementType::F64 => Some(f64::from_bits(self.bits as u64)),
            ElementType::F32 => Some(f64::from(f32::from_bits(self.bits as u32))),
            element => Some(format(element)?.value(self.bits as u32)),
        }
    }

    /// The real and the imaginary part.
    pub fn parts(self) -> (Constant, Constant) {
        let part = if self.element == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
        let width = part.bits().unwrap_or(64);
        let mask = (1u128 << width) - 1;
        let of = |bits: u128| Constant { element: part, bits: bits & mask };
        (of(self.bits), of(self.bits >> width))
    }
}

/// A floating-point format of fewer than 32 bits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Format {
    /// The number of bits of the exponent and of the mantissa.
    pub exponent: u32,
    pub mantissa: u32,
    pub bias: i32,
    pub top: Top,
}

/// The bit patterns above the largest finite number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Top {
    /// The highest exponent encodes infinity and NaN.
    Infinity,
    /// Only the highest pattern is NaN.
    Nan,
    /// Minus zero encodes the only NaN.
    OnlyMinusZero,
    /// All patterns are finite numbers.
    Number,
}

pub(crate) fn format(element: ElementType) -> Option<Format> {
    use ElementType::*;
    let (exponent, mantissa, bias, top) = match element {
        F16 => (5, 10, 15, Top::Infinity),
        Bf16 => (8, 7, 127, Top::Infinity),
        F8e5m2 => (5, 2, 15, Top::Infinity),
        F8e4m3 => (4, 3, 7, Top::Infinity),
        F8e3m4 => (3, 4, 3, Top::Infinity),
        F8e4m3fn => (4, 3, 7, Top::Nan),
        F8e4m3fnuz => (4, 3, 8, Top::OnlyMinusZero),
        F8e4m3b11fnuz => (4, 3, 11, Top::OnlyMinusZero),
        F8e5m2fnuz => (5, 2, 16, Top::OnlyMinusZero),
        F4e2m1fn => (2, 1, 1, Top::Number),
        F6e2m3fn => (2, 3, 1, Top::Number),
        F6e3m2fn => (3, 2, 3, Top::Number),
        _ => return None,
    };
    Some(Format { exponent, mantissa, bias, top })
}

/// Bit patterns exclude the sign, except for NaN encoded as minus zero.
impl Format {
    pub fn bits(self) -> u32 {
        1 + self.exponent + self.mantissa
    }

    /// The number that a pattern encodes.
    fn value(self, pattern: u32) -> f64 {
        let magnitude = pattern & self.all();
        let sign = if pattern == magnitude { 1.0 } else { -1.0 };
        if magnitude > self.largest() || self.top == Top::OnlyMinusZero && sign < 0.0 && magnitude == 0 {
            let is_infinite = self.top == Top::Infinity && magnitude == self.infinity();
            return if is_infinite { sign * f64::INFINITY } else { f64::NAN };
        }
        let (exponent, fraction) = (magnitude >> self.mantissa, magnitude & ((1 << self.mantissa) - 1));
        let hidden = if exponent == 0 { 0 } else { 1 << self.mantissa };
        let scale = exponent.max(1) as i32 - self.bias - self.mantissa as i32;
        sign * f64::from(hidden + fraction) * f64::powi(2.0, scale)
    }

    fn all(self) -> u32 {
        (1 << (self.exponent + self.mantissa)) - 1
    }

    fn infinity(self) -> u32 {
        ((1 << self.exponent) - 1) << self.mantissa
    }

    pub fn largest(self) -> u32 {
        match self.top {
            Top::Infinity => self.infinity() - 1,
            Top::Nan => self.all() - 1,
            Top::OnlyMinusZero | Top::Number => self.all(),
        }
    }

    /// The pattern of NaN; minus zero for formats without another one.
    pub fn nan(self) -> u32 {
        match self.top {
            Top::Infinity => self.infinity() | 1 << (self.mantissa - 1),
            Top::Nan => self.all(),
            Top::OnlyMinusZero | Top::Number => self.all() + 1,
        }
    }

    /// The pattern to which a number beyond the largest one is rounded.
    pub fn above(self) -> u32 {
        match self.top {
            Top::Infinity => self.infinity(),
            Top::Nan => self.all(),
            Top::OnlyMinusZero => self.all() + 1,
            Top::Number => self.all(),
        }
    }
}

/// Rounds to the nearest, ties to even.
fn small_float(element: ElementType, value: f64) -> u32 {
    if element == ElementType::F8e8m0fnu {
        let exponent = value.abs().log2().round() as i32 + 127;
        return if value.is_nan() || value <= 0.0 { 255 } else { exponent.clamp(0, 254) as u32 };
    }
    let Some(format) = format(element) else { return 0 };
    let sign = u32::from(value.is_sign_negative()) << (format.bits() - 1);
    let signs_nan = matches!(format.top, Top::Infinity | Top::Nan);
    if value.is_nan() {
        return if signs_nan { sign | format.nan() } else { format.nan() };
    }
    match magnitude(value.abs(), format.largest(), format.above(), format.mantissa, format.bias) {
        0 if format.top == Top::OnlyMinusZero => 0,
        pattern => sign | pattern,
    }
}

/// The pattern of a non-negative number; `above` if it exceeds the largest one.
fn magnitude(magnitude: f64, largest: u32, above: u32, mantissa_bits: u32, bias: i32) -> u32 {
    if magnitude == 0.0 {
        return 0;
    }
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(1 - bias);
    let unit = f64::powi(2.0, exponent - mantissa_bits as i32);
    let steps = magnitude / unit;
    if !steps.is_finite() || steps > 1e9 {
        return above;
    }
    let rounded = steps.round_ties_even() as i64;
    let pattern = rounded + (i64::from(exponent + bias - 1) << mantissa_bits);
    if pattern > i64::from(largest) { above } else { pattern as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_floats_are_rounded_to_even() {
        let bits = |element, value| Constant::of_float(element, value).bits;
        assert_eq!(bits(ElementType::F16, 1.0), 0x3c00);
        assert_eq!(bits(ElementType::F16, 65504.0), 0x7bff);
        assert_eq!(bits(ElementType::F16, 65520.0), 0x7c00);
        assert_eq!(bits(ElementType::F16, 5.960_464_477_539_063e-8), 1);
        assert_eq!(bits(ElementType::Bf16, -2.0), 0xc000);
        // Halfway between two: the even one.
        assert_eq!(bits(ElementType::Bf16, 1.0 + 1.0 / 256.0), 0x3f80);
        assert_eq!(bits(ElementType::Bf16, 1.0 + 3.0 / 256.0), 0x3f82);
        assert_eq!(bits(ElementType::F8e4m3fn, 448.0), 0x7e);
        assert_eq!(bits(ElementType::F8e4m3fn, 1000.0), 0x7f);
        assert_eq!(bits(ElementType::F8e5m2, f64::INFINITY), 0x7c);
        assert_eq!(bits(ElementType::F4e2m1fn, 100.0), 0b111);
    }

    #[test]
    fn literals() {
        let parse = |element, text| Constant::parse(element, text).map(|c| c.bits);
        assert_eq!(parse(ElementType::S8, "-1"), Some(0xff));
        assert_eq!(Constant::parse(ElementType::S8, "-1").map(Constant::as_int), Some(-1));
        assert_eq!(parse(ElementType::F32, "-inf"), Some(0xff80_0000));
        assert_eq!(parse(ElementType::Pred, "true"), Some(1));
        assert_eq!(parse(ElementType::U64, "18446744073709551615"), Some(u128::from(u64::MAX)));
        assert_eq!(parse(ElementType::C64, "(1, -0.5)"), Some(0xbf00_0000_3f80_0000));
        assert_eq!(parse(ElementType::F32, "x"), None);
    }
}
