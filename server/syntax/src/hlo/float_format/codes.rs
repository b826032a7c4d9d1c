//! Numbers of a format and their codes: decoding, rounding and encoding.
//!
//! Of `f64` itself nothing is decoded or encoded: its codes are its bits.

use super::{FloatFormat, Specials};

/// 2^`exponent`, for normal exponents of `f64`.
pub fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023).clamp(0, 2047) as u64) << 52)
}

impl FloatFormat {
    /// Bits of a number, with its sign.
    pub const fn bits(self) -> u32 {
        let sign = if matches!(self.specials, Specials::PowersOfTwo) { 0 } else { 1 };
        sign + self.exponent + self.mantissa
    }

    /// The code of the largest finite number, without sign. In IEEE formats the next one is infinity.
    pub const fn largest_code(self) -> u64 {
        let all = (1u64 << (self.exponent + self.mantissa)) - 1;
        match self.specials {
            Specials::Ieee => all - (1 << self.mantissa),
            Specials::Finite | Specials::PowersOfTwo => all - 1,
            Specials::FiniteUnsignedZero | Specials::NumbersOnly => all,
        }
    }

    /// The smallest positive normal number.
    pub fn smallest_normal(self) -> f64 {
        if self.specials == Specials::PowersOfTwo {
            return power_of_two(-self.bias);
        }
        power_of_two(1 - self.bias)
    }

    /// The largest finite number.
    pub fn largest(self) -> f64 {
        self.decode(self.largest_code())
    }

    /// A number rounded to the mantissa, ties to even. `None` if it is not normal in the format, or if a
    /// carry could overflow.
    #[inline]
    fn quickly_rounded(self, value: f64) -> Option<u64> {
        if self.specials == Specials::PowersOfTwo {
            return None;
        }
        let bits = value.to_bits();
        let exponent = (bits >> 52 & 0x7FF) as i32 - 1023;
        if exponent < 1 - self.bias || exponent >= (1 << self.exponent) - 2 - self.bias {
            return None;
        }
        let unused = 52 - self.mantissa;
        if unused == 0 {
            return Some(bits);
        }
        let half = (1u64 << (unused - 1)) - 1;
        Some((bits + half + (bits >> unused & 1)) & !((1 << unused) - 1))
    }

    /// The number of a code; higher bits are ignored.
    #[inline]
    pub fn decode(self, code: u64) -> f64 {
        if self.specials == Specials::PowersOfTwo {
            let code = code as i32 & 0xFF;
            return if code == 0xFF { f64::NAN } else { power_of_two(code - self.bias) };
        }
        let magnitude = code & ((1 << (self.exponent + self.mantissa)) - 1);
        let field = magnitude >> self.mantissa;
        if field != 0 && field < (1 << self.exponent) - 1 {
            let sign = code >> (self.exponent + self.mantissa) & 1;
            let exponent = (field as i32 - self.bias + 1023) as u64;
            let low = (magnitude & ((1 << self.mantissa) - 1)) << (52 - self.mantissa);
            return f64::from_bits(sign << 63 | exponent << 52 | low);
        }
        self.decode_any(code)
    }

    fn decode_any(self, code: u64) -> f64 {
        let magnitude = code & ((1 << (self.exponent + self.mantissa)) - 1);
        let is_negative = code >> (self.exponent + self.mantissa) & 1 == 1;
        let sign = if is_negative { -1.0 } else { 1.0 };
        if magnitude > self.largest_code() {
            let is_infinite = self.specials == Specials::Ieee && magnitude.trailing_zeros() >= self.mantissa;
            return if is_infinite { sign * f64::INFINITY } else { self.decode_nan(code) };
        }
        if self.specials == Specials::FiniteUnsignedZero && is_negative && magnitude == 0 {
            return self.decode_nan(code);
        }
        let field = (magnitude >> self.mantissa) as i32;
        let low = (magnitude & ((1 << self.mantissa) - 1)) as f64;
        let hidden = if field == 0 { 0.0 } else { (1u64 << self.mantissa) as f64 };
        sign * (hidden + low) * power_of_two(field.max(1) - self.bias - self.mantissa as i32)
    }

    /// A NaN keeps its sign and, if the format has several NaNs, its payload: total-order comparisons see
    /// them, and data movement preserves them.
    fn decode_nan(self, code: u64) -> f64 {
        let sign = match self.specials {
            Specials::FiniteUnsignedZero => 1,
            _ => code >> (self.exponent + self.mantissa) & 1,
        };
        let digits = match self.specials {
            Specials::Ieee => (code & ((1 << self.mantissa) - 1)) << (52 - self.mantissa),
            _ => 1 << 51,
        };
        f64::from_bits(sign << 63 | 0x7FF << 52 | digits)
    }

    /// The code of a NaN with its sign and the upper bits of its payload.
    fn encode_nan(self, value: f64) -> u64 {
        let bits = value.to_bits();
        let sign = (bits >> 63) << (self.exponent + self.mantissa);
        match self.specials {
            Specials::Ieee => {
                let digits = bits >> (52 - self.mantissa) & ((1 << self.mantissa) - 1);
                let digits = if digits == 0 { 1 << (self.mantissa - 1) } else { digits };
                sign | ((1 << self.exponent) - 1) << self.mantissa | digits
            }
            Specials::Finite => sign | ((1 << (self.exponent + self.mantissa)) - 1),
            // The code of negative zero: NaN, or zero if the format has no NaN.
            Specials::FiniteUnsignedZero | Specials::NumbersOnly => 1 << (self.exponent + self.mantissa),
            Specials::PowersOfTwo => 0xFF,
        }
    }

    /// The code of the nearest power of two, ties to the larger one. Anything but a positive number becomes
    /// NaN, too small numbers become the smallest. Source: `float8_e8m0fnu` of `ml_dtypes`.
    fn encode_power(self, value: f64, saturates: bool) -> u64 {
        if value.is_nan() || value <= 0.0 {
            return 0xFF;
        }
        let exponent = (value.to_bits() >> 52) as i32 - 1023;
        let rounds_up = value.to_bits() >> 51 & 1;
        let code = (i64::from(exponent) + rounds_up as i64 + i64::from(self.bias)).max(0) as u64;
        let largest = self.largest_code();
        match code > largest {
            true if saturates => largest,
            true => 0xFF,
            false => code,
        }
    }

    /// The code of the nearest number, ties to even. Overflow gives infinity; without one, NaN; without that,
    /// the largest number. With `saturates` it always gives the largest number, for infinity too.
    #[inline]
    pub fn encode(self, value: f64, saturates: bool) -> u64 {
        match self.quickly_rounded(value) {
            Some(bits) => {
                let field = ((bits >> 52 & 0x7FF) as i32 - 1023 + self.bias) as u64;
                let low = bits >> (52 - self.mantissa) & ((1 << self.mantissa) - 1);
                (bits >> 63) << (self.exponent + self.mantissa) | field << self.mantissa | low
            }
            None => self.encode_any(value, saturates),
        }
    }

    fn encode_any(self, value: f64, saturates: bool) -> u64 {
        if self.specials == Specials::PowersOfTwo {
            return self.encode_power(value, saturates);
        }
        let sign = u64::from(value.is_sign_negative()) << (self.exponent + self.mantissa);
        if value.is_nan() {
            return self.encode_nan(value);
        }
        let size = value.abs();
        let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(1 - self.bias);
        let quantum = exponent - self.mantissa as i32;
        let largest = self.largest_code();
        let code = if size == f64::INFINITY || exponent > 1 << self.exponent {
            largest + 1
        } else {
            let units = (size * power_of_two(-quantum)).round_ties_even() as u64;
            // The hidden bit, if present, raises the exponent field from 0 to 1; a carry raises it again.
            (((exponent - 1 + self.bias) as u64) << self.mantissa) + units
        };
        if code <= largest {
            let is_unsigned_zero = code == 0 && self.specials == Specials::FiniteUnsignedZero;
            return if is_unsigned_zero { 0 } else { sign | code };
        }
        match self.specials {
            _ if saturates => sign | largest,
            Specials::Ieee => sign | (largest + 1),
            Specials::NumbersOnly => sign | largest,
            Specials::Finite => sign | (largest + 1),
            Specials::FiniteUnsignedZero => 1 << (self.exponent + self.mantissa),
            Specials::PowersOfTwo => 0xFF,
        }
    }

    /// The nearest number of the format, as [`FloatFormat::encode`].
    #[inline]
    pub fn round(self, value: f64) -> f64 {
        match self.quickly_rounded(value) {
            Some(bits) => f64::from_bits(bits),
            None if self == FloatFormat::F32 && !value.is_nan() => f64::from(value as f32),
            None => self.decode(self.encode_any(value, false)),
        }
    }

    /// The distance between neighbours of the format around `value`.
    pub fn ulp(self, value: f64) -> f64 {
        let size = value.abs().min(self.largest());
        let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(1 - self.bias);
        power_of_two(exponent - self.mantissa as i32)
    }
}

pub fn bf16_to_f32(bits: u32) -> f32 {
    f32::from_bits(bits << 16)
}

/// Rounds to nearest, ties to even.
pub fn f32_to_bf16(value: f32) -> u32 {
    let bits = value.to_bits();
    if value.is_nan() {
        return 0x7FFF;
    }
    // A carry past the largest number yields infinity's code.
    (bits.wrapping_add(0x7FFF + (bits >> 16 & 1))) >> 16
}

pub fn f16_to_f32(bits: u32) -> f32 {
    FloatFormat::F16.decode(u64::from(bits)) as f32
}

pub fn f32_to_f16(value: f32) -> u32 {
    if value.is_nan() { 0x7FFF } else { FloatFormat::F16.encode(f64::from(value), false) as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [FloatFormat; 12] = [
        FloatFormat::F16,
        FloatFormat::BF16,
        FloatFormat::F8E5M2,
        FloatFormat::F8E4M3,
        FloatFormat::F8E3M4,
        FloatFormat::F8E4M3FN,
        FloatFormat::F8E4M3FNUZ,
        FloatFormat::F8E5M2FNUZ,
        FloatFormat::F8E4M3B11FNUZ,
        FloatFormat::F4E2M1FN,
        FloatFormat::F6E2M3FN,
        FloatFormat::F6E3M2FN,
    ];

    #[test]
    fn every_code_is_its_own_number() {
        for format in ALL {
            for code in 0..1u64 << format.bits() {
                let value = format.decode(code);
                if !value.is_nan() {
                    assert_eq!(format.encode(value, false), code, "{format:?} {value}");
                    assert_eq!(format.encode_any(value, false), code, "{format:?} {value}");
                    assert_eq!(format.decode_any(code), value);
                } else {
                    assert!(format.decode(format.encode(value, false)).is_nan());
                }
            }
        }
    }

    #[test]
    fn rounding_takes_the_nearest_and_the_even() {
        for format in ALL {
            let codes = 0..(1u64 << (format.bits() - 1)) - 1;
            for code in codes {
                let (low, high) = (format.decode(code), format.decode(code + 1));
                if !high.is_finite() || !low.is_finite() {
                    continue;
                }
                let middle = low + (high - low) / 2.0;
                let even = if code % 2 == 0 { low } else { high };
                assert_eq!(format.round(middle), even, "{format:?} between {low} and {high}");
                assert_eq!(format.round(low + (high - low) * 0.49), low);
                assert_eq!(format.round(low + (high - low) * 0.51), high);
                assert_eq!(format.ulp(low), high - low, "{format:?} {low}");
            }
        }
    }

    #[test]
    fn powers_of_two() {
        for code in 0..0xFF {
            let value = FloatFormat::F8E8M0FNU.decode(code);
            assert_eq!(FloatFormat::F8E8M0FNU.encode(value, false), code);
            assert_eq!(FloatFormat::F8E8M0FNU.round(value * 1.49), value);
            let next = if code < 0xFE { value * 2.0 } else { f64::NAN };
            let rounded = FloatFormat::F8E8M0FNU.round(value * 1.5);
            assert!(rounded == next || rounded.is_nan() && next.is_nan(), "{value} {rounded}");
        }
        for value in [0.0, -0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert!(FloatFormat::F8E8M0FNU.round(value).is_nan(), "{value}");
        }
        assert_eq!(FloatFormat::F8E8M0FNU.round(1e-300), FloatFormat::F8E8M0FNU.smallest_normal());
        assert_eq!((FloatFormat::F8E8M0FNU.bits(), FloatFormat::F8E8M0FNU.largest()), (8, power_of_two(127)));
    }

    #[test]
    fn what_is_too_large() {
        assert_eq!(FloatFormat::F8E4M3FN.largest(), 448.0);
        assert_eq!(FloatFormat::F8E5M2.largest(), 57344.0);
        assert!(
            FloatFormat::F8E4M3FN.round(1e9).is_nan() && FloatFormat::F8E4M3FN.round(f64::INFINITY).is_nan()
        );
        assert_eq!(FloatFormat::F8E4M3FN.decode(FloatFormat::F8E4M3FN.encode(-1e9, true)), -448.0);
        assert_eq!(FloatFormat::F16.round(65520.0), f64::INFINITY);
        assert_eq!(FloatFormat::F4E2M1FN.round(100.0), 6.0);
    }

    #[test]
    fn the_short_ways_agree() {
        for bits in (0..u32::MAX - 70_000).step_by(65_521) {
            let value = f32::from_bits(bits);
            if !value.is_nan() {
                assert_eq!(
                    f32_to_bf16(value),
                    FloatFormat::BF16.encode(f64::from(value), false) as u32,
                    "{value:e}"
                );
            }
        }
    }
}
