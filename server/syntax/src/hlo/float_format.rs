//! Formats of floating-point types: rounding, overflow and NaN payloads.
//!
//! Source: XLA `hlo/parser/hlo_parser.cc` SetValueInLiteral; the OCP and IEEE formats.

use super::vocabulary::ElementType;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FloatFormat {
    /// The number of bits of the significand, including the implicit one.
    pub precision: i32,
    /// The exponent of the smallest normal number.
    pub min_exponent: i32,
    /// The largest finite value.
    pub max: f64,
    pub nan: Nan,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nan {
    None,
    /// One NaN, or one of each sign; no payload.
    Plain,
    /// One NaN, whose sign bit is set.
    Negative,
    /// The significand's bits are the payload.
    Payload,
}

impl FloatFormat {
    /// Returns the format of a floating-point type, or of the parts of a complex type; `None` for other
    /// types.
    pub fn of(element: ElementType) -> Option<FloatFormat> {
        use ElementType::*;
        let of = |precision, min_exponent, max, nan| Some(FloatFormat { precision, min_exponent, max, nan });
        match element {
            F4e2m1fn => of(2, 0, 6.0, Nan::None),
            F6e2m3fn => of(4, 0, 7.5, Nan::None),
            F6e3m2fn => of(3, -2, 28.0, Nan::None),
            F8e3m4 => of(5, -2, 15.5, Nan::Payload),
            F8e4m3 => of(4, -6, 240.0, Nan::Payload),
            F8e4m3b11fnuz => of(4, -10, 30.0, Nan::Negative),
            F8e4m3fn => of(4, -6, 448.0, Nan::Plain),
            F8e4m3fnuz => of(4, -7, 240.0, Nan::Negative),
            F8e5m2 => of(3, -14, 57344.0, Nan::Payload),
            F8e5m2fnuz => of(3, -15, 57344.0, Nan::Negative),
            F8e8m0fnu => of(1, -127, f64::powi(2.0, 127), Nan::Plain),
            F16 => of(11, -14, 65504.0, Nan::Payload),
            Bf16 => of(8, -126, 3.3895313892515355e38, Nan::Payload),
            F32 | C64 => of(24, -126, f64::from(f32::MAX), Nan::Payload),
            F64 | C128 => of(53, -1022, f64::MAX, Nan::Payload),
            _ => None,
        }
    }

    /// Returns the nearest value of this format, ties to even, as if its exponent had no upper bound. Scaling
    /// by powers of two is exact.
    pub fn round(self, value: f64) -> f64 {
        if value == 0.0 || !value.is_finite() {
            return value;
        }
        let exponent = (value.abs().to_bits() >> 52) as i32 - 1023;
        let unit = f64::powi(2.0, exponent.max(self.min_exponent) - (self.precision - 1));
        (value / unit).round_ties_even() * unit
    }

    /// Whether a number, after rounding, is too large for this format.
    pub fn overflows(self, value: f64) -> bool {
        match self.precision {
            24 => (value as f32).is_infinite(),
            53 => value.is_infinite(),
            _ => self.round(value).abs() > self.max || value.is_infinite(),
        }
    }

    /// Returns the largest payload of a NaN; `None` if NaNs have no payload.
    pub fn max_nan_payload(self) -> Option<u64> {
        (self.nan == Nan::Payload).then(|| (1u64 << (self.precision - 1)) - 1)
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
}
