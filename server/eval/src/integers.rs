//! Elementwise ops on integers and `pred`.

use ir::Opcode;

use super::column::Column;
use super::elementwise::with_doubt;
use super::types::Kind;
use crate::checks::Checked;

pub(crate) fn unary(opcode: Opcode, kind: Kind, a: &Column) -> Checked<Column> {
    let width = a.kind.width();
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    let f: Box<dyn Fn(i64) -> i64> = match opcode {
        Opcode::Negate => Box::new(i64::wrapping_neg),
        Opcode::Abs if matches!(kind, Kind::Signed(_)) => Box::new(i64::wrapping_abs),
        Opcode::Abs => Box::new(|x| x),
        Opcode::Not => Box::new(|x| !x),
        Opcode::Sign if matches!(kind, Kind::Signed(_)) => Box::new(i64::signum),
        Opcode::Sign => Box::new(|x| i64::from(x != 0)),
        Opcode::Popcnt => Box::new(move |x| i64::from((x as u64 & mask).count_ones())),
        Opcode::CountLeadingZeros => {
            Box::new(move |x| i64::from((x as u64 & mask).leading_zeros()) - (64 - i64::from(width)))
        }
        _ => return Err(format!("{opcode} of whole numbers is not evaluated").into()),
    };
    let values = a.ints().iter().map(|&x| kind.wrap(f(x))).collect();
    let mut result = Column::int(kind, values);
    if matches!(opcode, Opcode::Negate | Opcode::Not) {
        result.error = a.error.clone();
        return Ok(result);
    }
    Ok(with_doubt(result, a))
}

pub(crate) fn binary(opcode: Opcode, kind: Kind, a: &Column, b: &Column) -> Checked<Column> {
    let width = kind.width();
    let is_signed = matches!(kind, Kind::Signed(_));
    let is_pred = kind == Kind::Pred;
    let mask = if width >= 64 { u64::MAX } else { (1 << width) - 1 };
    let amount = move |b: i64| u32::try_from(b as u64 & mask).ok().filter(|&n| n < width);
    let f: Box<dyn Fn(i64, i64) -> i64> = match opcode {
        Opcode::Add | Opcode::Or if is_pred => Box::new(|a, b| a | b),
        Opcode::Multiply | Opcode::And if is_pred => Box::new(|a, b| a & b),
        Opcode::Add => Box::new(i64::wrapping_add),
        Opcode::Subtract => Box::new(i64::wrapping_sub),
        Opcode::Multiply => Box::new(i64::wrapping_mul),
        // XLA does not support narrower types.
        Opcode::Mulhi if width >= 8 && is_signed => {
            Box::new(move |a, b| ((i128::from(a) * i128::from(b)) >> width) as i64)
        }
        Opcode::Mulhi if width >= 8 => {
            Box::new(move |a, b| ((u128::from(a as u64) * u128::from(b as u64)) >> width) as i64)
        }
        Opcode::Divide if is_signed => Box::new(|a, b| if b == 0 { -1 } else { a.wrapping_div(b) }),
        Opcode::Divide => Box::new(|a, b| (a as u64).checked_div(b as u64).map_or(-1, |q| q as i64)),
        Opcode::Remainder if is_signed => Box::new(|a, b| if b == 0 { a } else { a.wrapping_rem(b) }),
        Opcode::Remainder => Box::new(|a, b| (a as u64).checked_rem(b as u64).map_or(a, |r| r as i64)),
        Opcode::Maximum if kind == Kind::Unsigned(64) => Box::new(|a, b| (a as u64).max(b as u64) as i64),
        Opcode::Minimum if kind == Kind::Unsigned(64) => Box::new(|a, b| (a as u64).min(b as u64) as i64),
        Opcode::Maximum => Box::new(i64::max),
        Opcode::Minimum => Box::new(i64::min),
        Opcode::And => Box::new(|a, b| a & b),
        Opcode::Or => Box::new(|a, b| a | b),
        Opcode::Xor => Box::new(|a, b| a ^ b),
        Opcode::ShiftLeft => Box::new(move |a, b| amount(b).map_or(0, |n| a << n)),
        Opcode::ShiftRightLogical => {
            Box::new(move |a, b| amount(b).map_or(0, |n| ((a as u64 & mask) >> n) as i64))
        }
        Opcode::ShiftRightArithmetic => {
            let sign = move |a: i64| if width >= 64 { a } else { a << (64 - width) >> (64 - width) };
            Box::new(move |a, b| sign(a) >> amount(b).unwrap_or(width - 1).min(63))
        }
        Opcode::Power => Box::new(move |a, b| power(a, b, is_signed)),
        _ => return Err(format!("{opcode} of whole numbers is not evaluated").into()),
    };
    let values = a.ints().iter().zip(b.ints()).map(|(&a, &b)| kind.wrap(f(a, b))).collect();
    let mut result = Column::int(kind, values);
    if a.error.is_none() && b.error.is_none() {
        return Ok(result);
    }
    if matches!(opcode, Opcode::Add | Opcode::Subtract | Opcode::Maximum | Opcode::Minimum) && !is_pred {
        result.error = Some((0..a.len()).map(|i| a.error_at(i) + b.error_at(i)).collect());
        return Ok(result);
    }
    if is_pred {
        // An operand that determines the result does so for any value of the other.
        let decides = |x: &Column, i: usize| {
            let decisive = i64::from(matches!(opcode, Opcode::Or | Opcode::Add | Opcode::Maximum));
            opcode != Opcode::Xor && x.error_at(i) == 0.0 && x.ints()[i] == decisive
        };
        let error = |i| match decides(a, i) || decides(b, i) {
            true => 0.0,
            false => a.error_at(i).max(b.error_at(i)),
        };
        result.error = Some((0..a.len()).map(error).collect());
        return Ok(result);
    }
    Ok(with_doubt(with_doubt(result, a), b))
}

/// A negative exponent gives the integer part of the fraction. Only six bits of other exponents count, and an
/// even base to more than 63 is 0. Source: XLA's lowering of integer powers (`MapMhloOpToStdScalarOp` of
/// `PowOp`).
fn power(mut base: i64, exponent: i64, is_signed: bool) -> i64 {
    if is_signed && exponent < 0 {
        return match base {
            1 => 1,
            -1 if exponent & 1 == 1 => -1,
            -1 => 1,
            _ => 0,
        };
    }
    if exponent as u64 > 63 && base & 1 == 0 {
        return 0;
    }
    let (mut left, mut result) = (exponent as u64 & 63, 1i64);
    while left > 0 {
        if left & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        left >>= 1;
    }
    result
}
