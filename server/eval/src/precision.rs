//! Accuracy of operations: the error of a result from those of its operands and the operation's own.
//!
//! Rounded results of exact operands are exact. Functions that the hardware approximates have a budget in
//! ulps of the working precision (32 bits for shorter types): the figures of `libdevice` and PTX, rounded up.

use ir::Opcode;

use super::types::Kind;

/// A result and its error: `true_value` with `spread` around it, rounded to `kind`.
///
/// A value of 64 bits is rounded already. An operand that differs by less than a unit may still round to its neighbour.
#[inline]
pub(crate) fn rounded(kind: Kind, true_value: f64, spread: f64) -> (f64, f64) {
    cancel::tick();
    let value = kind.round(true_value);
    if spread == 0.0 {
        return (value, 0.0);
    }
    if value.is_nan() || spread.is_nan() {
        return (value, if spread.is_finite() { 0.0 } else { f64::INFINITY });
    }
    let (low, high) = (kind.round(true_value - spread), kind.round(true_value + spread));
    let unit = if kind == Kind::F64 { kind.working_ulp(true_value.abs() + spread) } else { 0.0 };
    let error = (value - low).abs().max((high - value).abs()) + unit;
    if true_value.is_infinite() && spread.is_finite() {
        return (value, 0.0);
    }
    (value, if error.is_nan() { f64::INFINITY } else { error })
}

/// The error of an approximated function in ulps; 0 for correctly rounded ones.
pub(crate) fn budget(opcode: Opcode, kind: Kind) -> f64 {
    match opcode {
        Opcode::Divide => 3.0,
        Opcode::Sqrt | Opcode::Rsqrt | Opcode::Cbrt => 3.0,
        Opcode::Exp2 | Opcode::Exponential | Opcode::Log | Opcode::Log2 => 4.0,
        Opcode::ExponentialMinusOne | Opcode::LogPlusOne | Opcode::Logistic => 6.0,
        Opcode::Sine | Opcode::Cosine | Opcode::Tan => 6.0,
        Opcode::Tanh | Opcode::Atan2 | Opcode::Asin | Opcode::Acos => 8.0,
        Opcode::Sinh | Opcode::Cosh | Opcode::Asinh | Opcode::Acosh | Opcode::Atanh => 8.0,
        // XLA's polynomial for 64 bits is off by 33.
        Opcode::Erf if kind == Kind::F64 => 48.0,
        Opcode::Erf => 16.0,
        Opcode::Power => 16.0,
        _ => 0.0,
    }
}
