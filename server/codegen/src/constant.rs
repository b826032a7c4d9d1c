//! Numbers in the code of a kernel.

use ir::{ElementTypeExt, complex_parts, literal_elements};
use syntax::hlo::{ElementType, FloatFormat, Specials};

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
            other => FloatFormat::of(other).map_or(0, |format| u128::from(format.encode(value, false))),
        };
        Constant { element, bits }
    }

    /// Parses the text of a literal of one element: `-1`, `0x1p3`, `inf`, `true`, `{{(1, -2)}}`.
    pub fn parse(element: ElementType, text: &str) -> Option<Constant> {
        let mut elements = literal_elements(text);
        let (text, None) = (elements.next()?, elements.next()) else { return None };
        if element.is_complex() {
            let (re, im) = complex_parts(text)?;
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
            if text.trim_start_matches('-').starts_with("nan(0x") {
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
            element => Some(format(element)?.decode(self.bits as u64)),
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

/// The format of a type of fewer than 32 bits with a sign.
pub(crate) fn format(element: ElementType) -> Option<FloatFormat> {
    let is_small = |format: &FloatFormat| format.bits() < 32 && format.specials != Specials::PowersOfTwo;
    FloatFormat::of(element).filter(is_small)
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
        assert_eq!(parse(ElementType::S32, "{ /*i0=0*/ {5} }"), Some(5));
        assert_eq!(parse(ElementType::S32, "{1, 2}"), None);
        assert_eq!(parse(ElementType::F32, "x"), None);
    }
}
