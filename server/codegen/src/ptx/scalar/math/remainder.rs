//! The exact remainder of a truncated division: iteratively, with as many bits at once as a quotient has.

use super::flow::{Kind, X};
use crate::ptx::machine::{Class, Operand, Reg};
use crate::ptx::scalar::Scalars;

impl Scalars<'_> {
    /// The remainder with the sign of the dividend. Exact. NaN for infinite dividends and for divisors that
    /// are 0.
    pub(super) fn float_remainder(&mut self, a: Operand, b: Operand, kind: Kind) -> Operand {
        let class = if kind == Kind::F32 { Class::B32 } else { Class::B64 };
        // Scales both numbers to exponent 0, and computes the difference of their exponents as an integer.
        let (start, divisor, apart) = self.formula(|code| {
            let (x, y) = (X::new(code, a, kind).abs(), X::new(code, b, kind).abs());
            let ((m, ex), (n, ey)) = (taken_apart(x), taken_apart(y));
            // Special values skip the loop.
            let is_plain = x.lt(f64::INFINITY) & y.lt(f64::INFINITY) & y.gt(0.0) & x.ge(y);
            let apart = is_plain.select(ex - ey, ex.with_int(0));
            (m.operand, n.operand, apart.operand)
        });
        let rest = self.code.variable(class, start);
        let bits = self.code.variable(Class::B32, apart);
        // At least one iteration, for numbers with the same exponent.
        let top = self.code.label();
        self.code.place(top);
        self.code.enter();
        let (next, left, again) = self.formula(|code| round(code, rest, divisor, bits, kind));
        self.code.set(rest, next);
        self.code.set(bits, left);
        self.code.leave();
        if let Operand::Reg(again) = again {
            self.code.branch(top, Some((again, true)));
        }
        self.formula(|code| {
            let (x, y) = (X::new(code, a, kind), X::new(code, b, kind));
            let (_, exponent) = taken_apart(y.abs());
            // In two steps, for exponents of subnormal numbers.
            let half = exponent.sar(1i64);
            let size =
                X::new(code, rest.into(), kind) * half.power_of_two(x) * (exponent - half).power_of_two(x);
            let size = x.abs().lt(y.abs()).select(x.abs(), size);
            let is_number = x.abs().lt(f64::INFINITY) & y.abs().gt(0.0);
            let result = is_number.select(x.sign_onto(size), x.like(f64::NAN));
            x.is_nan_beside(y).select(x + y, result).operand
        })
    }
}

/// Splits the number into a mantissa between 1 and 2 and its exponent. Zeros and infinities give arbitrary
/// results.
fn taken_apart(x: X<'_>) -> (X<'_>, X<'_>) {
    let (least, up, mantissa, bias) =
        x.either((f64::from(f32::MIN_POSITIVE), 24, 23, 127), (f64::MIN_POSITIVE, 54, 52, 1023));
    let is_small = x.lt(least);
    let scaled = is_small.select(x * f64::powi(2.0, up), x).bits();
    let exponent = scaled.shr(i64::from(mantissa)).low_word().plus(-bias);
    let exponent = is_small.select(exponent.plus(-i64::from(up)), exponent);
    let fraction = scaled.and((1i64 << mantissa) - 1).or(bias << mantissa);
    (fraction.float(), exponent)
}

/// The remainder of the number shifted up by as many bits as a quotient has; the number of remaining bits;
/// and whether there are some.
fn round(
    code: &std::cell::RefCell<crate::ptx::code::Code>,
    rest: Reg,
    divisor: Operand,
    bits: Reg,
    kind: Kind,
) -> (Operand, Operand, Operand) {
    let rest = X::new(code, rest.into(), kind);
    let bits = X::new(code, bits.into(), Kind::I32);
    let step = bits.min(rest.either(22i64, 51));
    let scaled = rest * step.power_of_two(rest);
    // With rounding up, the quotient may be one too large; the rest is still exact, and negative then.
    let divisor = X::new(code, divisor, kind);
    let next = (-scaled.over(divisor).trunc()).fma(divisor, scaled);
    let next = next.lt(0.0).select(next + divisor, next);
    let left = bits - step;
    // After the last iteration no bits remain.
    (next.operand, left.operand, left.gt(0i64).operand)
}
