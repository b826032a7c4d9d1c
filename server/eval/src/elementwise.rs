//! Elementwise ops on columns. Semantics: XLA "Operation Semantics" and `elemental_ir_emitter.cc`: integers
//! wrap, a division by zero gives -1, a shift by the width or more gives zero (or the sign), max and min
//! return NaN.

use ir::{AttributeKey, Op, Opcode};

use super::column::{Column, Values};
use super::precision::rounded;
use super::types::{Kind, Short};
use super::{complex, integers, reals, stochastic};
use crate::checks::Checked;
use syntax::hlo::float_format::FloatFormat;

/// The result of an elementwise op, from columns of the same elements.
pub(crate) fn apply(op: &Op, kind: Kind, operands: &[&Column]) -> Checked<Column> {
    let at = |i: usize| {
        operands.get(i).copied().ok_or_else(|| crate::checks::Reason::from("an operand is missing"))
    };
    let first = at(0)?;
    if operands.iter().any(|column| column.len() != first.len()) {
        return Err("columns of different lengths".into());
    }
    match op.opcode {
        Opcode::Copy => Ok(Column { kind, ..first.clone() }),
        Opcode::Select => select(first, at(1)?, at(2)?),
        Opcode::Clamp => {
            let low = binary(Opcode::Maximum, kind, at(1)?, first)?;
            binary(Opcode::Minimum, kind, &low, at(2)?)
        }
        Opcode::Compare => {
            let direction = op.attributes.text(AttributeKey::Direction).unwrap_or("");
            let is_total = op.attributes.is_total_order();
            compare(direction, is_total, first, at(1)?)
        }
        Opcode::Convert => convert(kind, first),
        Opcode::IsFinite => {
            let values = first.reals().iter().map(|x| i64::from(x.is_finite())).collect();
            Ok(with_doubt(Column::int(kind, values), first))
        }
        Opcode::Complex => {
            let (re, im) = (at(0)?, at(1)?);
            let values = re.reals().iter().zip(im.reals()).map(|(&re, &im)| [re, im]).collect();
            let mut result = Column::complex(kind, values);
            result.error = larger_errors(re, im);
            Ok(result)
        }
        Opcode::Real | Opcode::Imag => Ok(complex::part(kind, first, usize::from(op.opcode == Opcode::Imag))),
        Opcode::StochasticConvert => stochastic::convert(kind, first, at(1)?),
        Opcode::ReducePrecision => reals::reduce_precision(op, kind, first),
        opcode if operands.len() == 1 => unary(opcode, kind, first),
        opcode if operands.len() == 2 => binary(opcode, kind, first, at(1)?),
        opcode => Err(format!("{opcode} is not evaluated").into()),
    }
}

fn unary(opcode: Opcode, kind: Kind, a: &Column) -> Checked<Column> {
    match &a.values {
        Values::Int(_) => integers::unary(opcode, kind, a),
        Values::Real(_) => reals::unary(opcode, kind, a),
        Values::Complex(_) => complex::unary(opcode, kind, a),
    }
}

/// A binary op on columns of one type.
pub(crate) fn binary(opcode: Opcode, kind: Kind, a: &Column, b: &Column) -> Checked<Column> {
    match (&a.values, &b.values) {
        (Values::Int(_), Values::Int(_)) => integers::binary(opcode, kind, a, b),
        (Values::Real(_), Values::Real(_)) => reals::binary(opcode, kind, a, b),
        (Values::Complex(_), Values::Complex(_)) => complex::binary(opcode, kind, a, b),
        _ => Err(format!("{opcode} of different types").into()),
    }
}

pub(crate) fn larger_errors(a: &Column, b: &Column) -> Option<Vec<f64>> {
    (a.error.is_some() || b.error.is_some())
        .then(|| (0..a.len()).map(|i| a.error_at(i).max(b.error_at(i))).collect())
}

/// Marks results of inexact operands as open, for ops that do not propagate errors.
pub(crate) fn with_doubt(mut result: Column, operand: &Column) -> Column {
    if let Some(errors) = &operand.error {
        let doubt = errors.iter().map(|&e| if e == 0.0 { 0.0 } else { f64::INFINITY });
        result.error = Some(match result.error.take() {
            Some(own) => own.into_iter().zip(doubt).map(|(a, b)| a.max(b)).collect(),
            None => doubt.collect(),
        });
    }
    result
}

/// The distance between elements `i` of two columns.
fn distance(a: &Column, b: &Column, i: usize) -> f64 {
    let of = |a: f64, b: f64| if a == b || a.is_nan() && b.is_nan() { 0.0 } else { (a - b).abs() };
    match (&a.values, &b.values) {
        (Values::Int(a), Values::Int(b)) => a[i].abs_diff(b[i]) as f64,
        (Values::Real(a), Values::Real(b)) => of(a[i], b[i]),
        (Values::Complex(a), Values::Complex(b)) => of(a[i][0], b[i][0]).max(of(a[i][1], b[i][1])),
        _ => f64::INFINITY,
    }
}

fn select(by: &Column, on_true: &Column, on_false: &Column) -> Checked<Column> {
    if std::mem::discriminant(&on_true.values) != std::mem::discriminant(&on_false.values) {
        return Err("a select of different types".into());
    }
    let chosen = by.ints();
    let mut result = on_true.merge(on_false, |i| chosen[i] != 0);
    // If the condition is open, both branches are possible.
    if by.error.is_some() {
        let errors = result.error.get_or_insert_with(|| vec![0.0; chosen.len()]);
        for (i, error) in errors.iter_mut().enumerate() {
            if by.error_at(i) != 0.0 {
                let apart = distance(on_true, on_false, i);
                let apart = if apart.is_nan() { f64::INFINITY } else { apart };
                *error = apart + on_true.error_at(i).max(on_false.error_at(i));
            }
        }
    }
    Ok(result)
}

/// Whether a comparison in this direction, `LT`, holds.
pub fn holds<T: PartialOrd>(direction: &str, a: &T, b: &T) -> Checked<bool> {
    cancel::tick();
    Ok(match direction {
        "EQ" => a == b,
        "NE" => a != b,
        "LT" => a < b,
        "LE" => a <= b,
        "GT" => a > b,
        "GE" => a >= b,
        other => return Err(format!("a comparison {other}").into()),
    })
}

/// A key that orders floats totally: -NaN, -inf, …, -0, 0, …, inf, NaN.
fn total(value: f64) -> i64 {
    let bits = value.to_bits() as i64;
    if bits < 0 { !(bits & i64::MAX) } else { bits }
}

/// `compare` in a direction; the result is `pred`.
pub(crate) fn compare(direction: &str, is_total: bool, a: &Column, b: &Column) -> Checked<Column> {
    let len = a.len();
    let mut values = Vec::with_capacity(len);
    match (&a.values, &b.values) {
        (Values::Int(x), Values::Int(y)) => {
            let is_wide = a.kind == Kind::Unsigned(64);
            for (x, y) in x.iter().zip(y) {
                values.push(i64::from(match is_wide {
                    true => holds(direction, &(*x as u64), &(*y as u64))?,
                    false => holds(direction, x, y)?,
                }));
            }
        }
        (Values::Real(x), Values::Real(y)) => {
            for (x, y) in x.iter().zip(y) {
                values.push(i64::from(match is_total {
                    true => holds(direction, &total(*x), &total(*y))?,
                    false => holds(direction, x, y)?,
                }));
            }
        }
        (Values::Complex(x), Values::Complex(y)) => {
            for (x, y) in x.iter().zip(y) {
                values.push(i64::from(match direction {
                    "EQ" => x == y,
                    "NE" => x != y,
                    other => return Err(format!("a comparison {other} of complex numbers").into()),
                }));
            }
        }
        _ => return Err("a comparison of different types".into()),
    }
    let mut result = Column::int(Kind::Pred, values);
    if a.error.is_some() || b.error.is_some() {
        let errors = (0..len).map(|i| {
            let allowed = a.error_at(i) + b.error_at(i);
            // The order is certain if the distance exceeds the errors.
            let is_sure = allowed == 0.0 || distance(a, b, i) > allowed;
            if is_sure { 0.0 } else { 1.0 }
        });
        result.error = Some(errors.collect());
    }
    Ok(result)
}

/// `convert`: to integers by truncation, NaN to 0, out-of-range values to the nearest integer. Source: XLA
/// `ElementalIrEmitter::EmitFloatUnaryOp`, `elemental_hlo_to_mlir.cc`.
pub(crate) fn convert(kind: Kind, a: &Column) -> Checked<Column> {
    let result = match (&a.values, kind) {
        (Values::Int(v), Kind::Pred) => Column::int(kind, v.iter().map(|&x| i64::from(x != 0)).collect()),
        (Values::Real(v), Kind::Pred) => Column::int(kind, v.iter().map(|&x| i64::from(x != 0.0)).collect()),
        (Values::Int(v), _) if kind.is_integral() => {
            Column::int(kind, v.iter().map(|&x| kind.wrap(x)).collect())
        }
        (Values::Real(v), _) if kind.is_integral() => {
            let mut result = Column::int(kind, v.iter().map(|&x| saturated(kind, x)).collect());
            if let Some(errors) = &a.error {
                let error = |(&x, &e): (&f64, &f64)| {
                    if e == 0.0 {
                        return 0.0;
                    }
                    let (low, high) = (saturated(kind, x - e), saturated(kind, x + e));
                    if x.is_nan() || e.is_infinite() { f64::INFINITY } else { low.abs_diff(high) as f64 }
                };
                result.error = Some(v.iter().zip(errors).map(error).collect());
            }
            return Ok(result);
        }
        (Values::Int(v), Kind::Complex { is_double }) => {
            let part = if is_double { Kind::F64 } else { Kind::Float(Short(FloatFormat::F32)) };
            let real = from_int(part, a, v);
            let values = real.reals().iter().map(|&re| [re, 0.0]).collect();
            return Ok(Column { error: real.error, ..Column::complex(kind, values) });
        }
        (Values::Real(v), Kind::Complex { .. }) => {
            Column::complex(kind, v.iter().map(|&x| [kind.round(x), 0.0]).collect())
        }
        (Values::Complex(v), Kind::Complex { .. }) => {
            Column::complex(kind, v.iter().map(|&[re, im]| [kind.round(re), kind.round(im)]).collect())
        }
        (Values::Complex(v), _) => {
            let real = Column::real(Kind::F64, v.iter().map(|c| c[0]).collect());
            return convert(kind, &Column { error: a.error.clone(), ..real });
        }
        (Values::Int(v), _) => return Ok(from_int(kind, a, v)),
        (Values::Real(v), _) => {
            let (mut values, mut errors) = (Vec::with_capacity(v.len()), Vec::new());
            for (i, &x) in v.iter().enumerate() {
                let (value, error) = rounded(kind, x, a.error_at(i));
                values.push(value);
                if a.error.is_some() {
                    errors.push(error);
                }
            }
            let error = a.error.is_some().then_some(errors);
            return Ok(Column { error, ..Column::real(kind, values) });
        }
    };
    Ok(with_doubt(result, a))
}

fn from_int(kind: Kind, a: &Column, v: &[i64]) -> Column {
    let is_wide = a.kind == Kind::Unsigned(64);
    let single = |x: i64| f64::from(if is_wide { x as u64 as f32 } else { x as f32 });
    let values = v.iter().map(|&x| match kind {
        Kind::F64 => {
            if is_wide {
                x as u64 as f64
            } else {
                x as f64
            }
        }
        // Shorter formats are converted from 32 bits.
        _ => kind.round(single(x)),
    });
    let mut result = Column::real(kind, values.collect());
    let is_short = !matches!(kind, Kind::F64) && kind.width() < 32;
    let is_inexact = |x: i64| is_short && x.unsigned_abs() > 1 << 24;
    if a.error.is_some() || v.iter().any(|&x| is_inexact(x)) {
        // Emitters round once or twice: both are possible.
        let error = |(i, &x): (usize, &i64)| {
            let spread = a.error_at(i) + if is_inexact(x) { (x as f64).abs() * 1e-7 } else { 0.0 };
            rounded(kind, x as f64, spread).1
        };
        result.error = Some(v.iter().enumerate().map(error).collect());
    }
    result
}

fn saturated(kind: Kind, value: f64) -> i64 {
    match kind {
        Kind::Unsigned(64) => value as u64 as i64,
        Kind::Signed(64) => value as i64,
        Kind::Unsigned(bits) => (value as i64).clamp(0, (1 << bits) - 1),
        Kind::Signed(bits) => (value as i64).clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        _ => i64::from(value != 0.0),
    }
}
