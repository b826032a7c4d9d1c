//! Formats of floating-point types: codes, rounding, overflow and NaN payloads.
//!
//! Source: XLA `hlo/parser/hlo_parser.cc` SetValueInLiteral; the OCP and IEEE formats; `ml_dtypes`' descriptions of
//! the formats that XLA's types are named after.

mod codes;

pub use codes::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16, power_of_two};

use super::vocabulary::ElementType;

/// A format by its numbers of bits for exponent and mantissa. All but powers of two have a sign bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatFormat {
    pub exponent: u32,
    /// Without the implicit bit.
    pub mantissa: u32,
    pub bias: i32,
    pub specials: Specials,
}

/// The codes that are not numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Specials {
    /// The largest exponent encodes infinity and NaN; the mantissa of a NaN is its payload.
    Ieee,
    /// `fn`: no infinity; all-ones exponent and mantissa is NaN.
    Finite,
    /// `fnuz`: no infinity and no negative zero, whose code is NaN.
    FiniteUnsignedZero,
    /// No infinity and no NaN.
    NumbersOnly,
    /// Unsigned powers of two with an exponent of 8 bits. All ones is NaN; there is no zero.
    PowersOfTwo,
}

const fn ieee(exponent: u32, mantissa: u32) -> FloatFormat {
    FloatFormat { exponent, mantissa, bias: (1 << (exponent - 1)) - 1, specials: Specials::Ieee }
}

const fn other(exponent: u32, mantissa: u32, bias: i32, specials: Specials) -> FloatFormat {
    FloatFormat { exponent, mantissa, bias, specials }
}

impl FloatFormat {
    pub const F64: FloatFormat = ieee(11, 52);
    pub const F32: FloatFormat = ieee(8, 23);
    pub const F16: FloatFormat = ieee(5, 10);
    pub const BF16: FloatFormat = ieee(8, 7);
    pub const F8E5M2: FloatFormat = ieee(5, 2);
    pub const F8E4M3: FloatFormat = ieee(4, 3);
    pub const F8E3M4: FloatFormat = ieee(3, 4);
    pub const F8E4M3FN: FloatFormat = other(4, 3, 7, Specials::Finite);
    pub const F8E4M3FNUZ: FloatFormat = other(4, 3, 8, Specials::FiniteUnsignedZero);
    pub const F8E5M2FNUZ: FloatFormat = other(5, 2, 16, Specials::FiniteUnsignedZero);
    pub const F8E4M3B11FNUZ: FloatFormat = other(4, 3, 11, Specials::FiniteUnsignedZero);
    pub const F4E2M1FN: FloatFormat = other(2, 1, 1, Specials::NumbersOnly);
    pub const F6E2M3FN: FloatFormat = other(2, 3, 1, Specials::NumbersOnly);
    pub const F6E3M2FN: FloatFormat = other(3, 2, 3, Specials::NumbersOnly);
    pub const F8E8M0FNU: FloatFormat = other(8, 0, 127, Specials::PowersOfTwo);

    /// Returns the format of a floating-point type, or of the parts of a complex type; `None` for other
    /// types.
    pub fn of(element: ElementType) -> Option<FloatFormat> {
        use ElementType::*;
        Some(match element {
            F4e2m1fn => FloatFormat::F4E2M1FN,
            F6e2m3fn => FloatFormat::F6E2M3FN,
            F6e3m2fn => FloatFormat::F6E3M2FN,
            F8e3m4 => FloatFormat::F8E3M4,
            F8e4m3 => FloatFormat::F8E4M3,
            F8e4m3b11fnuz => FloatFormat::F8E4M3B11FNUZ,
            F8e4m3fn => FloatFormat::F8E4M3FN,
            F8e4m3fnuz => FloatFormat::F8E4M3FNUZ,
            F8e5m2 => FloatFormat::F8E5M2,
            F8e5m2fnuz => FloatFormat::F8E5M2FNUZ,
            F8e8m0fnu => FloatFormat::F8E8M0FNU,
            F16 => FloatFormat::F16,
            Bf16 => FloatFormat::BF16,
            F32 | C64 => FloatFormat::F32,
            F64 | C128 => FloatFormat::F64,
            _ => return None,
        })
    }

    /// The number of bits of the significand, with the implicit one.
    pub fn precision(self) -> u32 {
        self.mantissa + 1
    }

    /// Returns the nearest value of this format, ties to even, as if its exponent had no upper bound. Scaling
    /// by powers of two is exact.
    pub fn round_unbounded(self, value: f64) -> f64 {
        if value == 0.0 || !value.is_finite() {
            return value;
        }
        let exponent = (value.abs().to_bits() >> 52) as i32 - 1023;
        let least = if self.specials == Specials::PowersOfTwo { -self.bias } else { 1 - self.bias };
        let unit = f64::powi(2.0, exponent.max(least) - self.mantissa as i32);
        (value / unit).round_ties_even() * unit
    }

    /// Whether a number, after rounding, is too large for this format.
    pub fn overflows(self, value: f64) -> bool {
        match self {
            FloatFormat::F32 => (value as f32).is_infinite(),
            FloatFormat::F64 => value.is_infinite(),
            _ => self.round_unbounded(value).abs() > self.largest() || value.is_infinite(),
        }
    }

    /// Returns the largest payload of a NaN; `None` if NaNs have no payload.
    pub fn max_nan_payload(self) -> Option<u64> {
        (self.specials == Specials::Ieee).then(|| (1u64 << self.mantissa) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflow_is_judged_behind_rounding() {
        let overflows = |value: f64, element| FloatFormat::of(element).unwrap().overflows(value);
        assert!(!overflows(65519.0, ElementType::F16));
        assert!(overflows(65520.0, ElementType::F16));
        assert!(overflows(1e39, ElementType::F32));
        assert!(overflows(1e100, ElementType::C64));
        assert!(overflows(f64::INFINITY, ElementType::Bf16));
        assert!(!overflows(6.9, ElementType::F4e2m1fn));
        let payload = |element| FloatFormat::of(element).unwrap().max_nan_payload();
        assert_eq!(payload(ElementType::Bf16), Some(0x7f));
        assert_eq!(payload(ElementType::F8e4m3fn), None);
    }

    /// The largest numbers, as the formats' descriptions give them.
    #[test]
    fn largest_numbers() {
        let formats = [
            (FloatFormat::F4E2M1FN, 6.0),
            (FloatFormat::F6E2M3FN, 7.5),
            (FloatFormat::F6E3M2FN, 28.0),
            (FloatFormat::F8E3M4, 15.5),
            (FloatFormat::F8E4M3, 240.0),
            (FloatFormat::F8E4M3B11FNUZ, 30.0),
            (FloatFormat::F8E4M3FN, 448.0),
            (FloatFormat::F8E4M3FNUZ, 240.0),
            (FloatFormat::F8E5M2, 57344.0),
            (FloatFormat::F8E5M2FNUZ, 57344.0),
            (FloatFormat::F8E8M0FNU, power_of_two(127)),
            (FloatFormat::F16, 65504.0),
            (FloatFormat::BF16, 3.3895313892515355e38),
            (FloatFormat::F32, f64::from(f32::MAX)),
            (FloatFormat::F64, f64::MAX),
        ];
        for (format, largest) in formats {
            assert_eq!(format.largest(), largest, "{format:?}");
        }
    }
}
