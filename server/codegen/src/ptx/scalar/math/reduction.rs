//! Reduction modulo π/2, exact for every number. Far from zero it uses Payne and Hanek's method with words of
//! 2/π from a table, in a branch as in NVIDIA's libdevice.

use ptx::{Modifier, Name, Opcode, Type};
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2};

use super::flow::{Kind, X, repeat};
use crate::ptx::library::{TWO_OVER_PI_F32, TWO_OVER_PI_F64, WORDS_F32, WORDS_F64};

/// π/2 in three parts, all truncated and so positive: their products with 0 have the sign that keeps -0.
const PI_2_F32: [f64; 3] = [1.570796251296997, 7.549789415861596e-08, 5.390302529957765e-15];
const PI_2_F64: [f64; 3] = [FRAC_PI_2, 6.123233995736765e-17, 1.0828566739219139e-32];

/// The number minus the nearest multiple of π/2, and the multiple, modulo 4 and beyond. At most 1 ulp of the
/// rest.
pub(super) fn reduced(x: X<'_>) -> (X<'_>, X<'_>) {
    let near = (x * FRAC_2_PI).to_int();
    let n = near.to(x.kind);
    let parts = x.either(PI_2_F32, PI_2_F64);
    let rest = parts.iter().fold(x, |rest, part| n.fma(-part, rest)).variable();
    let quotient = near.variable();
    x.abs().lt(x.either(105_615.0, 1e9)).unless(|| {
        let (far, far_quotient) = if x.is_double() { far_double(x) } else { far_single(x) };
        // NaN for infinities and NaN.
        rest.set(x.abs().lt(f64::INFINITY).select(far, x * 0.0));
        quotient.set(far_quotient);
    });
    (rest, quotient)
}

/// The upper words of a product with 2/π, highest first.
struct Upper<'f>([X<'f>; 3]);

impl<'f> Upper<'f> {
    fn of(zero: X<'f>) -> Upper<'f> {
        Upper([zero.variable(), zero.variable(), zero.variable()])
    }

    /// Shifts in the next higher word.
    fn push(&self, word: X<'f>) {
        let [high, middle, low] = self.0;
        low.set(middle);
        middle.set(high);
        high.set(word);
    }
}

/// Computes, of x · 2/π, the two bits before the binary point and 62 bits after it.
fn far_single(x: X<'_>) -> (X<'_>, X<'_>) {
    let bits = x.bits();
    let mantissa = bits.shl(8i64).or(i64::from(i32::MIN));
    // Skips words of 2/π that contribute only multiples of 4: as many as there are in exponent - 33.
    let start = bits.shr(23i64).and(255).plus(-128);
    let last = start.with_int(WORDS_F32).in_register() - start.shr(5i64);
    let zero = bits.with_int(0);
    let (upper, carry, round) = (Upper::of(zero), zero.variable(), zero.variable());
    let address = x.table(TWO_OVER_PI_F32).variable();
    let push = |word| round.gt(last).unless(|| upper.push(word));
    repeat(x, || {
        let word = X::read(address, 0, 4, Kind::I32);
        let product = mantissa.mul_wide(word) + carry.unsigned_long();
        let (low, high) = (product.low_word(), product.shr(32i64).low_word());
        let (next, further) = (round.plus(1), address.plus(4));
        push(low);
        carry.set(high);
        round.set(next);
        address.set(further);
        next.lt(WORDS_F32)
    });
    push(carry);
    let [high, middle, low] = upper.0;
    let shift = start.and(31);
    let funnel = Opcode::new(Name::Shf).with(Modifier::L).with(Modifier::Wrap).with(Type::B32);
    let top = middle.raw(funnel, Kind::I32, &[high, shift]);
    let below = low.raw(funnel, Kind::I32, &[middle, shift]);
    let fraction = top.unsigned_long().shl(32i64).or(below.unsigned_long()).shl(2i64);
    let carried = fraction.shr(63i64).low_word();
    let quotient = top.shr(30i64) + carried;
    // Signed: a fraction above one half counts down from the next multiple.
    let rest = (fraction.to(Kind::F64) * (FRAC_PI_2 * f64::powi(2.0, -64))).to(Kind::F32);
    let is_negative = bits.lt(0i64);
    (is_negative.select(-rest, rest), is_negative.select(-quotient, quotient))
}

/// The same with 64-bit words: 126 bits after the binary point, so that the rest has 53 bits for every
/// number.
fn far_double(x: X<'_>) -> (X<'_>, X<'_>) {
    let bits = x.bits();
    let mantissa = bits.shl(11i64).or(i64::MIN);
    let start = bits.shr(52i64).low_word().and(2047).plus(-1024);
    let skipped = start.shr(6i64);
    // Three words are needed, the third one only for its carry, so the lowest multiplied word is the one
    // below them.
    let lowest = skipped.with_int(WORDS_F64 - 3).in_register() - skipped;
    let zero = bits.with_int(0);
    let (upper, carry) = (Upper::of(zero), zero.variable());
    let address = (x.table(TWO_OVER_PI_F64) + lowest.widened(x).shl(3i64)).variable();
    // Above the highest word there is only the carry.
    let rounds = skipped.min(1).plus(3).variable();
    repeat(x, || {
        let word = X::read(address, 0, 8, Kind::I64);
        let product = mantissa * word;
        let low = product + carry;
        let over = low.below(product).select(zero.with_int(1), zero);
        let high = mantissa.mul_high(word) + over;
        let (left, further) = (rounds.plus(-1), address.plus(8));
        upper.push(low);
        carry.set(high);
        rounds.set(left);
        address.set(further);
        left.gt(0i64)
    });
    skipped.gt(0i64).unless(|| upper.push(carry));
    let [high, middle, low] = upper.0;
    let shift = start.and(63);
    let back = shift.with_int(64).in_register() - shift;
    let high = high.shl(shift).or(middle.shr(back));
    let low = middle.shl(shift).or(low.shr(back));
    let quotient = high.shr(62i64).low_word();
    let (high, low) = (high.shl(2i64).or(low.shr(62i64)), low.shl(2i64));
    let quotient = quotient + high.shr(63i64).low_word();
    let sign = high.sar(63i64);
    let (upper, lower) = (high.xor(sign), low.xor(sign));
    let scale = |n: i32| f64::powi(2.0, -n);
    let first = upper.shr(32i64).unsigned_to(Kind::F64) * scale(32);
    let second = upper.and(0xffff_ffff).unsigned_to(Kind::F64) * scale(64);
    let third = lower.unsigned_to(Kind::F64) * scale(128);
    // The fraction as a sum of two numbers, times π/2.
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
