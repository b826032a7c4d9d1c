//! Sine, cosine and tangent: the rest of a division by π/2, exact for every number, then polynomials on [-π/4, π/4].

use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::coefficients::{COS_F32, COS_F64, SIN_F32, SIN_F64};
use super::flow::{Kind, P, X};

/// π/2 in three parts, all cut and so positive: their products with 0 have the sign that keeps -0.
const PI_2_F32: [f64; 3] = [1.570796251296997, 7.549789415861596e-08, 5.390302529957765e-15];
const PI_2_F64: [f64; 3] = [FRAC_PI_2, 6.123233995736765e-17, 1.0828566739219139e-32];

/// The first 1152 bits of 2/π behind the point.
const TWO_OVER_PI: [u64; 18] = [
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
];

/// The number minus the nearest multiple of π/2, and which multiple that is, modulo 4 and beyond. At most 1 ulp of the rest.
fn reduced(x: X<'_>) -> (X<'_>, X<'_>) {
    let quotient = (x * FRAC_2_PI).to_int();
    let n = quotient.to(x.kind);
    let parts = x.either(PI_2_F32, PI_2_F64);
    let near = parts.iter().fold(x, |rest, part| n.fma(-part, rest));
    let (far, far_quotient) = if x.is_double() { far_double(x) } else { far_single(x) };
    let is_near = x.abs().lt(x.either(105_615.0, 1e9));
    // Of infinities and NaN: NaN.
    let rest = is_near.select(near, x.abs().lt(f64::INFINITY).select(far, x * 0.0));
    (rest, is_near.select(quotient, far_quotient))
}

/// Words of a table from a position on: at each level of a binary tree one bit of `position` decides.
fn words<'f>(table: &[u64], like: X<'f>, bits: &[P<'f>], count: usize) -> Vec<X<'f>> {
    let mut level: Vec<X<'f>> = table
        .iter()
        .map(|&word| {
            let value = if like.kind == Kind::I32 { i64::from(word as u32 as i32) } else { word as i64 };
            like.with_int(value)
        })
        .collect();
    for (n, bit) in bits.iter().enumerate() {
        let step = 1 << (bits.len() - 1 - n);
        let kept = (count + step - 1).min(level.len().saturating_sub(step));
        level = (0..kept).map(|i| bit.select(level[i + step], level[i])).collect();
    }
    level
}

/// Payne and Hanek: of x · 2/π the two bits before the point and 64 behind it.
fn far_single(x: X<'_>) -> (X<'_>, X<'_>) {
    let bits = x.bits();
    let mantissa = bits.shl(8i64).or(i64::from(i32::MIN));
    // Bits of 2/π that stand for multiples of 4 are left out: those before exponent - 33, as many as there are.
    let start = bits.shr(23i64).and(255).plus(-128);
    let table: Vec<u64> = std::iter::once(0)
        .chain(TWO_OVER_PI.iter().flat_map(|w| [w >> 32, w & 0xffff_ffff]))
        .take(7)
        .collect();
    let asked = [64, 32].map(|bit| start.and(bit).ne(0i64));
    let word = words(&table, bits, &asked, 4);
    let shift = start.and(31);
    let shifted = |n: usize| word[n + 1].raw("shf.l.wrap.b32", Kind::I32, &[word[n], shift]);
    let low = mantissa.mul_wide(shifted(2));
    let middle = mantissa.mul_wide(shifted(1)) + low.shr(32i64);
    let top = (mantissa * shifted(0)) + middle.shr(32i64).low_word();
    let product = top.unsigned_long().shl(32i64).or(middle.low_word().unsigned_long());
    let fraction = product.shl(2i64).or(low.low_word().shr(30i64).unsigned_long());
    let carried = fraction.shr(63i64).low_word();
    let quotient = top.shr(30i64) + carried;
    // With sign: what is beyond a half counts down from the next multiple.
    let rest = (fraction.to(Kind::F64) * (FRAC_PI_2 * f64::powi(2.0, -64))).to(Kind::F32);
    let is_negative = bits.lt(0i64);
    (is_negative.select(-rest, rest), is_negative.select(-quotient, quotient))
}

/// The same with words of 64 bits: 126 bits behind the point, so that the rest has 53 wherever the number lies.
fn far_double(x: X<'_>) -> (X<'_>, X<'_>) {
    let bits = x.bits();
    let mantissa = bits.shl(11i64).or(i64::MIN);
    let start = bits.shr(52i64).low_word().and(2047).plus(-1024);
    let table: Vec<u64> = std::iter::once(0).chain(TWO_OVER_PI).collect();
    let asked = [512, 256, 128, 64].map(|bit| start.and(bit).ne(0i64));
    let word = words(&table, bits, &asked, 4);
    let shift = start.and(63);
    let back = shift.with_int(64) - shift;
    let shifted = |n: usize| word[n].shl(shift).or(word[n + 1].shr(back));
    let (second, third) = (shifted(1), shifted(2));
    let product = mantissa * second;
    let low = product + mantissa.mul_high(third);
    let carry = low.below(product).select(bits.with_int(1), bits.with_int(0));
    let high = (mantissa * shifted(0)) + mantissa.mul_high(second) + carry;
    let quotient = high.shr(62i64).low_word();
    let (high, low) = (high.shl(2i64).or(low.shr(62i64)), low.shl(2i64));
    let quotient = quotient + high.shr(63i64).low_word();
    let sign = high.sar(63i64);
    let (upper, lower) = (high.xor(sign), low.xor(sign));
    let scale = |n: i32| f64::powi(2.0, -n);
    let first = upper.shr(32i64).unsigned_to(Kind::F64) * scale(32);
    let second = upper.and(0xffff_ffff).unsigned_to(Kind::F64) * scale(64);
    let third = lower.unsigned_to(Kind::F64) * scale(128);
    // As a sum of two numbers, times π/2.
    let sum = first + second;
    let tail = (second - (sum - first)) + third;
    let product = sum * PI_2_F64[0];
    let error = sum.fma(PI_2_F64[0], -product);
    let error = tail.fma(PI_2_F64[0], sum.fma(PI_2_F64[1], error));
    let rest = product + error;
    let flips = sign.xor(bits).lt(0i64);
    let is_negative = bits.lt(0i64);
    (flips.select(-rest, rest), is_negative.select(-quotient, quotient))
}

/// Sine and cosine of a number in [-π/4, π/4].
fn both(r: X<'_>) -> (X<'_>, X<'_>) {
    let z = r * r;
    let (sine, cosine) = match r.is_double() {
        true => (z.poly(&SIN_F64), z.poly(&COS_F64)),
        false => (z.poly(&SIN_F32), z.poly(&COS_F32)),
    };
    // The sum with 0 gives zeros their sign back.
    let cubed = z.fma(r, 0.0);
    (sine.fma(cubed, r), z.fma(cosine, -0.5).fma(z, 1.0))
}

/// At most 2 ulp, for every number.
pub(in crate::ptx::scalar) fn sin(x: X<'_>) -> X<'_> {
    let (r, quotient) = reduced(x);
    at(r, quotient)
}

/// At most 2 ulp, for every number.
pub(in crate::ptx::scalar) fn cos(x: X<'_>) -> X<'_> {
    let (r, quotient) = reduced(x);
    at(r, quotient.plus(1))
}

fn at<'f>(r: X<'f>, quotient: X<'f>) -> X<'f> {
    let (sine, cosine) = both(r);
    let size = quotient.and(1).ne(0i64).select(cosine, sine);
    quotient.and(2).ne(0i64).select(size.like(0.0).in_register() - size, size)
}

/// At most 4 ulp, for every number.
pub(in crate::ptx::scalar) fn tan(x: X<'_>) -> X<'_> {
    let (r, quotient) = reduced(x);
    let (sine, cosine) = both(r);
    let is_odd = quotient.and(1).ne(0i64);
    is_odd.select(-cosine, sine).over(is_odd.select(sine, cosine))
}
