//! Elementwise ops on floats: computed in 64 bits, rounded to the type after every op.
//!
//! For types of at most 32 bits, rounding a sum, product or quotient in 64 bits gives the correctly rounded
//! result.

use ir::{AttributeKey, Op, Opcode};

use super::column::Column;
use super::precision::{budget, rounded};
use super::types::{Kind, Short};
use crate::checks::Checked;
use syntax::hlo::float_format::FloatFormat;

fn function(opcode: Opcode) -> Option<fn(f64) -> f64> {
    Some(match opcode {
        Opcode::Negate => |x| -x,
        Opcode::Abs => f64::abs,
        Opcode::Sign => |x: f64| if x.is_nan() || x == 0.0 { x } else { x.signum() },
        Opcode::Floor => f64::floor,
        Opcode::Ceil => f64::ceil,
        Opcode::RoundNearestEven => f64::round_ties_even,
        Opcode::RoundNearestAfz => f64::round,
        Opcode::Exp2 => f64::exp2,
        Opcode::Exponential => f64::exp,
        Opcode::ExponentialMinusOne => f64::exp_m1,
        Opcode::Log => f64::ln,
        Opcode::Log2 => f64::log2,
        Opcode::LogPlusOne => f64::ln_1p,
        Opcode::Logistic => |x: f64| 1.0 / (1.0 + (-x).exp()),
        Opcode::Tanh => f64::tanh,
        Opcode::Sine => f64::sin,
        Opcode::Cosine => f64::cos,
        Opcode::Tan => f64::tan,
        Opcode::Sqrt => f64::sqrt,
        Opcode::Rsqrt => |x: f64| if x == 0.0 { 1.0 / x } else { 1.0 / x.sqrt() },
        Opcode::Cbrt => f64::cbrt,
        Opcode::Asin => f64::asin,
        Opcode::Acos => f64::acos,
        Opcode::Asinh => area_sine,
        Opcode::Acosh => area_cosine,
        Opcode::Atanh => |x: f64| x.abs().atanh().copysign(x),
        Opcode::Sinh => f64::sinh,
        Opcode::Cosh => f64::cosh,
        Opcode::Erf => erf,
        _ => return None,
    })
}

/// The logarithm of 2x, for x that may overflow when doubled.
fn log_of_double(x: f64) -> f64 {
    x.ln() + std::f64::consts::LN_2
}

fn area_sine(x: f64) -> f64 {
    if x.abs() > 1e150 { log_of_double(x.abs()).copysign(x) } else { x.asinh() }
}

/// The area hyperbolic cosine, without cancellation near one.
fn area_cosine(x: f64) -> f64 {
    let over = x - 1.0;
    if x > 1e150 {
        log_of_double(x)
    } else if x < 1.0 {
        f64::NAN
    } else {
        (over + (over * (2.0 + over)).sqrt()).ln_1p()
    }
}

pub(crate) fn unary(opcode: Opcode, kind: Kind, a: &Column) -> Checked<Column> {
    if kind.is_integral() || matches!(kind, Kind::Complex { .. }) {
        return Err(format!("{opcode} to another type is not evaluated").into());
    }
    if opcode == Opcode::Logistic && matches!(kind, Kind::Float(short) if short.0.bits() == 16) {
        return half_logistic(kind, a);
    }
    let f = function(opcode).ok_or_else(|| format!("{opcode} is not evaluated"))?;
    let ulps = budget(opcode, kind);
    let exact = matches!(opcode, Opcode::Negate | Opcode::Abs | Opcode::Sign);
    let is_step = matches!(
        opcode,
        Opcode::Floor | Opcode::Ceil | Opcode::RoundNearestEven | Opcode::RoundNearestAfz | Opcode::Sign
    );
    if ulps == 0.0 && a.error.is_none() {
        let values = a.reals().iter().map(|&x| if exact { f(x) } else { kind.round(f(x)) }).collect();
        return Ok(Column::real(kind, values));
    }
    let mut values = Vec::with_capacity(a.len());
    let mut errors = Vec::with_capacity(a.len());
    for (i, &x) in a.reals().iter().enumerate() {
        let value = f(x);
        let mut spread = 0.0;
        if ulps > 0.0 && value.is_finite() {
            // Denormal results may be flushed; large arguments are reduced by a rounded multiple of pi.
            spread = ulps * kind.working_ulp(value) + kind.smallest_normal();
        }
        let error = a.error_at(i);
        if error > 0.0 {
            let (low, high) = (f(x - error), f(x + error));
            let mut moved = (value - low).abs().max((high - value).abs());
            if is_step && low != high {
                moved = moved.max((high - low).abs());
            }
            if matches!(opcode, Opcode::Sine | Opcode::Cosine) {
                moved = moved.max(error.min(2.0));
            }
            let is_known = value == low && value == high;
            // Open operands may be NaN, and an end outside the domain makes NaN.
            let is_open = error.is_infinite() || low.is_nan() || high.is_nan();
            spread += if is_known {
                0.0
            } else if is_open || moved.is_nan() {
                f64::INFINITY
            } else {
                moved
            };
        }
        // NaN and infinities must match regardless of precision.
        let (value, error) = rounded(kind, value, spread);
        values.push(value);
        errors.push(error);
    }
    Ok(Column { error: Some(errors), ..Column::real(kind, values) })
}

/// 1 / (1 + e^-x) of 16-bit floats: XLA expands it to four ops, each rounded to the type. Source: XLA
/// `LogisticExpander`.
fn half_logistic(kind: Kind, a: &Column) -> Checked<Column> {
    let one = Column::real(kind, vec![1.0; a.len()]);
    let power = unary(Opcode::Exponential, kind, &unary(Opcode::Negate, kind, a)?)?;
    binary(Opcode::Divide, kind, &one, &binary(Opcode::Add, kind, &power, &one)?)
}

/// The maximum or minimum; NaN if one operand is NaN.
fn extreme(a: f64, b: f64, is_max: bool) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else if a == b {
        // Of two zeros, the maximum is the positive one.
        if a.is_sign_negative() == is_max { b } else { a }
    } else if (a > b) == is_max {
        a
    } else {
        b
    }
}

pub(crate) fn binary(opcode: Opcode, kind: Kind, a: &Column, b: &Column) -> Checked<Column> {
    let f: fn(f64, f64) -> f64 = match opcode {
        Opcode::Add => |a, b| a + b,
        Opcode::Subtract => |a, b| a - b,
        Opcode::Multiply => |a, b| a * b,
        Opcode::Divide => |a, b| a / b,
        Opcode::Remainder => |a, b| a % b,
        Opcode::Maximum => |a, b| extreme(a, b, true),
        Opcode::Minimum => |a, b| extreme(a, b, false),
        Opcode::Power => power,
        Opcode::Atan2 => f64::atan2,
        _ => return Err(format!("{opcode} of floating-point numbers is not evaluated").into()),
    };
    let ulps = budget(opcode, kind);
    let (x, y) = (a.reals(), b.reals());
    if ulps == 0.0 && a.error.is_none() && b.error.is_none() {
        let round = |(&a, &b): (&f64, &f64)| {
            cancel::tick();
            kind.round(f(a, b))
        };
        let values = x.iter().zip(y).map(round).collect();
        return Ok(Column::real(kind, values));
    }
    let mut values = Vec::with_capacity(a.len());
    let mut errors = Vec::with_capacity(a.len());
    for i in 0..a.len() {
        let (p, q, ep, eq) = (x[i], y[i], a.error_at(i), b.error_at(i));
        let value = f(p, q);
        let mut spread = if ulps > 0.0 && value.is_finite() {
            ulps * kind.working_ulp(value) + kind.smallest_normal()
        } else {
            0.0
        };
        if ep > 0.0 || eq > 0.0 {
            let is_open = ep.is_infinite() || eq.is_infinite();
            let has_nan = p.is_nan() && ep.is_finite() || q.is_nan() && eq.is_finite();
            spread += match opcode {
                Opcode::Maximum | Opcode::Minimum if has_nan => 0.0,
                // Open operands may be NaN, whatever their value.
                _ if is_open => f64::INFINITY,
                Opcode::Add | Opcode::Subtract => ep + eq,
                Opcode::Maximum | Opcode::Minimum => ep.max(eq),
                Opcode::Multiply => {
                    let part = |size: f64, e: f64| if e == 0.0 { 0.0 } else { size.abs() * e };
                    part(p, eq) + part(q, ep) + part(ep, eq)
                }
                Opcode::Remainder => f64::INFINITY,
                _ => {
                    // The largest change over the corners; open if the divisor may be zero.
                    let corners =
                        [f(p - ep, q - eq), f(p - ep, q + eq), f(p + ep, q - eq), f(p + ep, q + eq)];
                    let moved = corners.iter().map(|c| (c - value).abs());
                    let is_open = opcode == Opcode::Divide && q.abs() <= eq && !q.is_nan()
                        || corners.iter().any(|c| c.is_nan() != value.is_nan());
                    let largest = moved.fold(0.0, |m: f64, x| if x.is_nan() { m } else { m.max(x) });
                    if is_open { f64::INFINITY } else { largest }
                }
            };
        }
        let (value, error) = rounded(kind, value, spread);
        values.push(value);
        errors.push(error);
    }
    Ok(Column { error: Some(errors), ..Column::real(kind, values) })
}

fn power(a: f64, b: f64) -> f64 {
    a.powf(b)
}

/// The error function, to about 1e-16: a series near zero, else the continued fraction of the complement.
pub(crate) fn erf(x: f64) -> f64 {
    let size = x.abs();
    if x.is_nan() {
        return x;
    }
    if size < 2.5 {
        let (mut term, mut sum, mut n) = (size, size, 0.0);
        while term.abs() > 1e-17 * sum.abs() && n < 200.0 {
            n += 1.0;
            term *= -size * size / n;
            sum += term / (2.0 * n + 1.0);
        }
        return (sum * std::f64::consts::FRAC_2_SQRT_PI).copysign(x);
    }
    if size > 6.5 {
        return 1f64.copysign(x);
    }
    let fraction = (1..=80).rev().fold(0.0, |below, k| f64::from(k) / 2.0 / (size + below));
    let rest = (-size * size).exp() / (size + fraction) / std::f64::consts::PI.sqrt();
    (1.0 - rest).copysign(x)
}

/// Rounds to `exponent_bits` and `mantissa_bits`, on the bits of the operand's type: first in its own binade,
/// ties to even, then denormals become zero and overflows infinity. Source: XLA `EmitReducePrecisionIR`.
pub(crate) fn reduce_precision(op: &Op, kind: Kind, a: &Column) -> Checked<Column> {
    let bits = |key| op.attributes.int(key).and_then(|n| u32::try_from(n).ok());
    let (Some(exponent @ 1..), Some(mantissa)) =
        (bits(AttributeKey::ExponentBits), bits(AttributeKey::MantissaBits))
    else {
        return Err("the bits of reduce-precision are missing".into());
    };
    let working = match kind {
        Kind::Float(Short(format)) if format.bits() >= 16 => Some(format),
        Kind::F64 => None,
        // XLA widens the other types first.
        _ => Some(FloatFormat::F16),
    };
    let of = |x: f64| match working {
        Some(format) => format.decode(reduced(
            format.encode(x, false),
            (format.exponent, format.mantissa),
            (exponent, mantissa),
        )),
        None => f64::from_bits(reduced(x.to_bits(), (11, 52), (exponent, mantissa))),
    };
    let round = |x: f64| if x.is_nan() { x } else { kind.round(of(x)) };
    let values: Vec<f64> = a.reals().iter().map(|&x| round(x)).collect();
    let mut result = Column::real(kind, values);
    if let Some(errors) = &a.error {
        let error =
            |(&x, &e): (&f64, &f64)| (round(x + e) - round(x)).abs().max((round(x - e) - round(x)).abs());
        result.error = Some(a.reals().iter().zip(errors).map(error).collect());
    }
    Ok(result)
}

/// Reduces the bits of a non-NaN with `from` exponent and mantissa bits to at most `to`.
fn reduced(bits: u64, from: (u32, u32), to: (u32, u32)) -> u64 {
    let infinity = ((1u64 << from.0) - 1) << from.1;
    let sign = bits & 1 << (from.0 + from.1);
    let mut size = bits ^ sign;
    if let Some(lost @ 1..) = from.1.checked_sub(to.1) {
        let even = size >> lost & 1;
        size = (size + even + (1 << (lost - 1)) - 1) & !((1 << lost) - 1);
    }
    if to.0 < from.0 {
        let (bias, reach) = ((1u64 << (from.0 - 1)) - 1, (1u64 << (to.0 - 1)) - 1);
        let field = size >> from.1;
        if field > bias + reach {
            size = infinity;
        } else if field <= bias - reach {
            size = 0;
        }
    }
    sign | size.min(infinity)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An open operand is not certainly NaN, even if its value is NaN.
    #[test]
    fn functions_of_open_operands_are_open() {
        let values = [f64::NAN, f64::INFINITY, 1.0, 0.0];
        let kind = Kind::Float(Short(FloatFormat::F32));
        let known = Column::real(kind, vec![2.0; 4]);
        let open = Column { error: Some(vec![f64::INFINITY; 4]), ..Column::real(kind, values.to_vec()) };
        let is_open = |column: Column| (0..4).all(|i| column.is_open(i));
        for opcode in [Opcode::Cosine, Opcode::Sine, Opcode::Tanh, Opcode::Sqrt, Opcode::Abs] {
            assert!(is_open(unary(opcode, kind, &open).expect("a value")), "{opcode}");
        }
        for opcode in
            [Opcode::Add, Opcode::Multiply, Opcode::Divide, Opcode::Maximum, Opcode::Power, Opcode::Atan2]
        {
            assert!(is_open(binary(opcode, kind, &open, &known).expect("a value")), "{opcode}");
            assert!(is_open(binary(opcode, kind, &known, &open).expect("a value")), "{opcode}");
        }
        // A certain NaN takes precedence, and a small error does not change NaN or infinity.
        let nans = Column::real(kind, vec![f64::NAN; 4]);
        assert!(!is_open(binary(Opcode::Maximum, kind, &nans, &open).expect("a value")));
        let near = Column { error: Some(vec![1e-3; 4]), ..Column::real(kind, vec![4.0; 4]) };
        assert!(!is_open(unary(Opcode::Sqrt, kind, &near).expect("a value")));
        let edge = Column { error: Some(vec![1e-3; 4]), ..Column::real(kind, vec![1e-4; 4]) };
        assert!(is_open(unary(Opcode::Sqrt, kind, &edge).expect("a value")));
    }

    /// The error of an operand may be far below a unit of the result, and still round it to its neighbour.
    #[test]
    fn small_errors_move_a_sum_of_64_bits() {
        let (large, small) = (Column::real(Kind::F64, vec![3.0]), Column::real(Kind::F64, vec![0.2039]));
        let small = unary(Opcode::Tanh, Kind::F64, &small).expect("a value");
        let sum = binary(Opcode::Subtract, Kind::F64, &large, &small).expect("a value");
        let next = |by: i64| {
            Column::real(Kind::F64, vec![f64::from_bits(sum.reals()[0].to_bits().wrapping_add_signed(by))])
        };
        assert_eq!((sum.differs(0, &next(1)), sum.differs(0, &next(-1))), (None, None));
        assert!(sum.differs(0, &next(3)).is_some());
        let exact = binary(Opcode::Subtract, Kind::F64, &large, &next(0)).expect("a value");
        assert_eq!(exact.error_at(0), 0.0);
    }

    #[test]
    fn error_function() {
        let known = [
            (0.0, 0.0),
            (0.1, 0.1124629160182849),
            (0.5, 0.5204998778130465),
            (1.0, 0.8427007929497149),
            (2.0, 0.9953222650189527),
            (3.0, 0.9999779095030014),
            (4.0, 0.9999999845827421),
        ];
        for (x, value) in known {
            assert!((erf(x) - value).abs() < 2e-15 && (erf(-x) + value).abs() < 2e-15, "{x}: {}", erf(x));
        }
    }
}
