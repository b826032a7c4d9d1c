//! Powers: `e^(y log |x|)` with the logarithm as a sum of two numbers, so that its error does not grow with
//! the exponent.

use std::f64::consts::LN_2;

use super::coefficients::{ATANH_TAIL_F32, ATANH_TAIL_F64};
use super::exponential::{LN_2_LOW, exp_of};
use super::flow::X;
use super::logarithm::exponent;

/// Bits of √½: m is in [√½, √2).
const BASE_F32: i64 = 0x3f35_04f3;
const BASE_F64: i64 = 0x3fe6_a09e_667f_3bcd;

/// A number as a sum of two, the second one much smaller than the first.
type Pair<'f> = (X<'f>, X<'f>);

/// The exact sum of two numbers, the first of which is not smaller than the second.
fn fast_sum<'f>(a: X<'f>, b: X<'f>) -> Pair<'f> {
    let sum = a + b;
    (sum, b - (sum - a))
}

fn product<'f>(a: Pair<'f>, b: Pair<'f>) -> Pair<'f> {
    let high = a.0 * b.0;
    let low = a.0.fma(b.0, -high);
    let low = a.0.fma(b.1, a.1.fma(b.0, low));
    fast_sum(high, low)
}

/// The logarithm of a positive number.
fn log_pair(x: X<'_>) -> Pair<'_> {
    let (least, up) = x.either((f64::from(f32::MIN_POSITIVE), 24), (f64::MIN_POSITIVE, 54));
    let is_small = x.lt(least);
    let scaled = is_small.select(x * f64::powi(2.0, up), x);
    let (in_place, k) = exponent(scaled.bits(), x.either(BASE_F32, BASE_F64));
    let m = (scaled.bits() - in_place).float();
    let k = is_small.select(k + f64::from(-up), k);
    // s = (m - 1) / (m + 1): log m = 2 s + 2/3 s³ + …
    let f = m + -1.0;
    let sum = m + 1.0;
    let lost = m - (sum + -1.0);
    let s = f.over(sum);
    let error = s.fma(-sum, f) - s * lost;
    let s = (s, error.over(sum));
    let z = product(s, s);
    let tail = if x.is_double() { z.0.poly(&ATANH_TAIL_F64) } else { z.0.poly(&ATANH_TAIL_F32) };
    let two_thirds = x.either(f64::from(2.0f32 / 3.0), 2.0 / 3.0);
    let two_thirds_low = x.either(-1.986_821_551_724_915_5e-8, 3.700_743_415_417_188e-17);
    let (high, low) = fast_sum(x.like(two_thirds).in_register(), z.0 * tail);
    let cubic = product(product(z, s), (high, low + two_thirds_low));
    let double = (s.0 + s.0, s.1 + s.1);
    let (high, low) = fast_sum(double.0, cubic.0);
    let low = low + (double.1 + cubic.1);
    // k log 2: the product of k and the upper part is exact, because its last bits are zeros.
    let upper = x.either(f64::from(f32::from_bits((LN_2 as f32).to_bits() & !0xff)), {
        f64::from_bits(LN_2.to_bits() & !0xfff)
    });
    let lower = LN_2 - upper + x.either(0.0, LN_2_LOW.1);
    let whole = k * upper;
    let (sum, rest) = fast_sum(whole, high);
    let (sum, rest) = (k.eq(0.0).select(high, sum), k.eq(0.0).select(x.like(0.0), rest));
    fast_sum(sum, k.fma(lower, rest + low))
}

/// x^y. At most 2 ulp if the result is a normal number. 1^y and x^0 are 1, and so is -1 to an infinite power;
/// a negative number to a non-integer power is NaN.
pub(in crate::ptx::scalar) fn pow<'f>(x: X<'f>, y: X<'f>) -> X<'f> {
    let a = x.abs();
    let log = log_pair(a);
    let high = y * log.0;
    let low = y.fma(log.0, -high) + y * log.1;
    let limit = x.either(200.0, 1500.0);
    let is_beyond = !high.abs().lt(limit);
    let power = exp_of(high, Some(is_beyond.select(x.like(0.0), low)));
    // Where the logarithm is not finite: 0^y and ∞^y are 0 or ∞, and so is x^∞.
    let infinity = x.like(f64::INFINITY);
    let zero = x.like(0.0);
    let is_below_one = a.lt(1.0);
    let falls = is_below_one.either_way(y.gt(0.0), y.lt(0.0));
    let is_edge = a.eq(0.0) | a.eq(f64::INFINITY) | y.abs().eq(f64::INFINITY);
    let power = is_edge.select(falls.select(zero, infinity), power);
    // The sign, if the power is odd and the number is negative.
    let half = y * 0.5;
    let is_whole = y.trunc().eq(y);
    let is_odd = is_whole & half.trunc().ne(half);
    let is_negative = x.bits().lt(0i64);
    let power = (is_negative & is_odd).select(-power, power);
    let power = (x.lt(0.0) & !is_whole & a.lt(f64::INFINITY)).select(x.like(f64::NAN), power);
    let power = x.is_nan_beside(y).select(x + y, power);
    let is_one = x.eq(1.0) | y.eq(0.0) | (x.eq(-1.0) & y.abs().eq(f64::INFINITY));
    is_one.select(x.like(1.0), power)
}
