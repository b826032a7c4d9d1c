//! Logarithms: `x = 2^k m` with m in [2/3, 4/3], and a function of `m - 1`.

use std::f64::consts::LN_2;

use super::coefficients::{ATANH_F64, LOG1P_F32};
use super::exponential::LN_2_LOW;
use super::flow::{Kind, X};

/// The bits of 2/3.
const BASE_F32: i64 = 0x3f2a_aaab;
const BASE_F64: i64 = 0x3fe5_5555_5555_5555;

/// log(1 + f) for f in [-1/3, 1/3].
fn near_one(f: X<'_>) -> X<'_> {
    if !f.is_double() {
        return (f * f.poly(&LOG1P_F32)).fma(f, f);
    }
    // 2 atanh(f / (2 + f)), with the largest terms exact.
    let s = f.over(f + 2.0);
    let z = s * s;
    let tail = z * z.poly(&ATANH_F64);
    let half = f * 0.5 * f;
    f - (half - s * (half + tail))
}

/// The exponent in the bits, as an integer in place and as a float.
pub(super) fn exponent<'f>(bits: X<'f>, base: i64) -> (X<'f>, X<'f>) {
    let shifted = bits.plus(base.wrapping_neg());
    if bits.kind == Kind::I64 {
        (shifted.and(!((1i64 << 52) - 1)), shifted.sar(52i64).to(Kind::F64))
    } else {
        let in_place = shifted.and(-(1i64 << 23));
        (in_place, in_place.to(Kind::F32) * f64::from(f32::EPSILON))
    }
}

fn with_exponent<'f>(k: X<'f>, log: X<'f>) -> X<'f> {
    match k.is_double() {
        true => k.fma(LN_2, k.fma(LN_2_LOW.1, log)),
        false => k.fma(LN_2, log),
    }
}

/// The natural logarithm. At most 1 ulp; NaN for negative numbers, -inf for zeros.
pub(in crate::ptx::scalar) fn log(x: X<'_>) -> X<'_> {
    let (least, up, lost) = x.either((f64::from(f32::MIN_POSITIVE), 23, 23.0), (f64::MIN_POSITIVE, 54, 54.0));
    let is_small = x.lt(least);
    let scaled = is_small.select(x * f64::powi(2.0, up), x);
    let (in_place, k) = exponent(scaled.bits(), x.either(BASE_F32, BASE_F64));
    let f = (scaled.bits() - in_place).float() + -1.0;
    let k = is_small.select(k + -lost, k);
    let plain = with_exponent(k, near_one(f));
    let infinity = x.either(i64::from(f32::INFINITY.to_bits()), f64::INFINITY.to_bits() as i64);
    // Negative numbers are large as unsigned integers.
    let plain = x.bits().below(infinity).select(plain, x.fma(f64::INFINITY, f64::INFINITY));
    x.eq(0.0).select(x.like(f64::NEG_INFINITY), plain)
}

/// log(1 + x). At most 2 ulp.
pub(in crate::ptx::scalar) fn log1p(x: X<'_>) -> X<'_> {
    let (in_place, k) = exponent((x + 1.0).bits(), x.either(BASE_F32, BASE_F64));
    let lowered = (x.bits() - in_place).float();
    // 2^-k - 1, from 2^(2-k), which is a normal number.
    let four = x.like(4.0).bits();
    let scale = four.in_register() - in_place;
    let f = scale.float().fma(0.25, -1.0) + lowered;
    let plain = with_exponent(k, near_one(f));
    let special = x.eq(-1.0).select(x.like(f64::NEG_INFINITY), x.fma(f64::INFINITY, f64::INFINITY));
    let inside = x.gt(-1.0) & x.lt(f64::INFINITY);
    let result = inside.select(plain, special);
    x.eq(0.0).select(x, result)
}
