//! Elementwise ops on complex numbers.

use ir::Opcode;

use super::column::Column;
use super::types::Kind;
use crate::case::Checked;

/// Real (0) or imaginary (1) part.
pub(crate) fn part(kind: Kind, a: &Column, which: usize) -> Column {
    let values = match a.complexes() {
        [] if which == 0 => a.reals().to_vec(),
        [] => vec![0.0; a.len()],
        parts => parts.iter().map(|c| c[which]).collect(),
    };
    Column { error: a.error.clone(), ..Column::real(kind, values) }
}

fn product([a, b]: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    [a * c - b * d, a * d + b * c]
}

fn quotient(a: [f64; 2], [c, d]: [f64; 2]) -> [f64; 2] {
    let size = c * c + d * d;
    let [re, im] = product(a, [c, -d]);
    [re / size, im / size]
}

fn exponential([re, im]: [f64; 2]) -> [f64; 2] {
    let size = re.exp();
    [size * im.cos(), size * im.sin()]
}

fn logarithm([re, im]: [f64; 2]) -> [f64; 2] {
    [re.hypot(im).ln(), im.atan2(re)]
}

fn root([re, im]: [f64; 2]) -> [f64; 2] {
    let size = re.hypot(im);
    let (a, b) = (((size + re) / 2.0).max(0.0).sqrt(), ((size - re) / 2.0).max(0.0).sqrt());
    [a, b.copysign(im)]
}

/// What follows from the values' sizes: some units of the last place of the larger part, beside the operands' own errors.
fn column(kind: Kind, values: Vec<[f64; 2]>, spread: impl Fn(usize) -> f64) -> Column {
    let errors: Vec<f64> = (0..values.len()).map(&spread).collect();
    let rounded = values.iter().map(|&[re, im]| [kind.round(re), kind.round(im)]).collect();
    let mut result = Column::complex(kind, rounded);
    if errors.iter().any(|&e| e != 0.0) {
        result.error = Some(errors.iter().map(|e| if e.is_nan() { f64::INFINITY } else { *e }).collect());
    }
    result
}

fn size([re, im]: [f64; 2]) -> f64 {
    re.abs().max(im.abs())
}

pub(crate) fn unary(opcode: Opcode, kind: Kind, a: &Column) -> Checked<Column> {
    let v = a.complexes();
    let f: fn([f64; 2]) -> [f64; 2] = match opcode {
        Opcode::Negate => |[re, im]| [-re, -im],
        Opcode::Exponential => exponential,
        Opcode::Log => logarithm,
        Opcode::Sqrt => root,
        Opcode::Abs => {
            let values: Vec<f64> = v.iter().map(|&[re, im]| kind.round(re.hypot(im))).collect();
            let error = |(i, &x): (usize, &f64)| 2.0 * a.error_at(i) + 8.0 * kind.working_ulp(x);
            let errors = values.iter().enumerate().map(error).collect();
            return Ok(Column { error: Some(errors), ..Column::real(kind, values) });
        }
        _ => return Err(format!("{opcode} of complex numbers is not evaluated").into()),
    };
    let values: Vec<[f64; 2]> = v.iter().map(|&x| f(x)).collect();
    if opcode == Opcode::Negate {
        return Ok(Column { error: a.error.clone(), ..Column::complex(kind, values) });
    }
    let sizes: Vec<f64> = values.iter().map(|&x| size(x)).collect();
    Ok(column(kind, values, |i| match a.error_at(i) {
        0.0 => 16.0 * kind.working_ulp(sizes[i]),
        _ => f64::INFINITY,
    }))
}

pub(crate) fn binary(opcode: Opcode, kind: Kind, a: &Column, b: &Column) -> Checked<Column> {
    let (x, y) = (a.complexes(), b.complexes());
    let pairs = x.iter().zip(y);
    let ulp = |value: f64| kind.working_ulp(value);
    Ok(match opcode {
        Opcode::Add | Opcode::Subtract => {
            let sign = if opcode == Opcode::Add { 1.0 } else { -1.0 };
            let values: Vec<[f64; 2]> =
                pairs.map(|(a, b)| [a[0] + sign * b[0], a[1] + sign * b[1]]).collect();
            let sizes: Vec<f64> = values.iter().map(|&v| size(v)).collect();
            column(kind, values, |i| match a.error_at(i) + b.error_at(i) {
                0.0 => 0.0,
                error => error + ulp(sizes[i]),
            })
        }
        Opcode::Multiply | Opcode::Divide => {
            let f = if opcode == Opcode::Multiply { product } else { quotient };
            let values: Vec<[f64; 2]> = pairs.map(|(&a, &b)| f(a, b)).collect();
            let spread = |i: usize| {
                let (p, q) = (size(x[i]), size(y[i]));
                let scale = if opcode == Opcode::Multiply { p * q } else { p / q };
                let moved = match (a.error_at(i), b.error_at(i)) {
                    (0.0, 0.0) => 0.0,
                    (ea, eb) if opcode == Opcode::Multiply => 4.0 * (p * eb + q * ea + ea * eb),
                    _ => f64::INFINITY,
                };
                // Where a part is no number or too large, the order of the steps decides.
                if scale.is_finite() { 8.0 * ulp(4.0 * scale) + moved } else { f64::INFINITY }
            };
            column(kind, values, spread)
        }
        _ => return Err(format!("{opcode} of complex numbers is not evaluated").into()),
    })
}
