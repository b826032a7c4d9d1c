//! Elementwise ops on complex numbers.

mod functions;

use ir::Opcode;

use super::column::Column;
use super::types::Kind;
use crate::checks::Checked;
use syntax::hlo::float_format::power_of_two;

/// Real and imaginary part.
type Number = [f64; 2];

/// Real (0) or imaginary (1) part.
pub(crate) fn part(kind: Kind, a: &Column, which: usize) -> Column {
    let values = match a.complexes() {
        [] if which == 0 => a.reals().to_vec(),
        [] => vec![0.0; a.len()],
        parts => parts.iter().map(|c| c[which]).collect(),
    };
    Column { error: a.error.clone(), ..Column::real(kind, values) }
}

/// `a * c + b * d`, with the rounding error of one product compensated by the other.
fn sum_of_products([a, c]: [f64; 2], [b, d]: [f64; 2]) -> f64 {
    let second = b * d;
    let lost = b.mul_add(d, -second);
    let sum = a.mul_add(c, second) + lost;
    if sum.is_finite() { sum } else { a * c + second }
}

fn product([a, b]: Number, [c, d]: Number) -> Number {
    [sum_of_products([a, c], [-b, d]), sum_of_products([a, d], [b, c])]
}

/// Smith's method, as XLA uses it: accurate to a few units of the larger part.
fn smiths_quotient([a, b]: Number, [c, d]: Number) -> Number {
    if c.abs() < d.abs() {
        let ratio = c / d;
        let below = d + c * ratio;
        [(a * ratio + b) / below, (b * ratio - a) / below]
    } else {
        let ratio = d / c;
        let below = c + d * ratio;
        [(a + b * ratio) / below, (b - a * ratio) / below]
    }
}

/// A power of two that scales a magnitude to near one.
fn scale(size: f64) -> f64 {
    match size {
        0.0 => 1.0,
        size if size.is_finite() => power_of_two(1023 - ((size.to_bits() >> 52) as i32).clamp(2, 2044)),
        _ => 1.0,
    }
}

/// A quotient accurate in both parts. NaNs and the signs of zeros are as in XLA. Source: the cases of
/// `EmitComplexDivide`, which are those of C's annex G.
fn quotient([a, b]: Number, [c, d]: Number) -> Number {
    let rough = smiths_quotient([a, b], [c, d]);
    if [a, b, c, d].iter().all(|part| part.is_finite()) && (c != 0.0 || d != 0.0) {
        // Scaled, so that no square overflows or underflows.
        let (by, of) = (scale(c.abs().max(d.abs())), scale(a.abs().max(b.abs())));
        let (p, q, x, y) = (c * by, d * by, a * of, b * of);
        let below = sum_of_products([p, p], [q, q]);
        let parts = [sum_of_products([x, p], [y, q]), sum_of_products([y, p], [-x, q])];
        let part = |i: usize| match parts[i] / below {
            0.0 if rough[i] == 0.0 => rough[i],
            part if by > of => part * by / of,
            part => part / of * by,
        };
        return [part(0), part(1)];
    }
    if !rough.iter().all(|part| part.is_nan()) {
        return rough;
    }
    let unit = |part: f64| if part.is_infinite() { 1f64.copysign(part) } else { 0f64.copysign(part) };
    if c == 0.0 && d == 0.0 && (!a.is_nan() || !b.is_nan()) {
        let infinity = f64::INFINITY.copysign(c);
        [infinity * a, infinity * b]
    } else if (a.is_infinite() || b.is_infinite()) && c.is_finite() && d.is_finite() {
        let (a, b) = (unit(a), unit(b));
        [f64::INFINITY * (a * c + b * d), f64::INFINITY * (b * c - a * d)]
    } else if (c.is_infinite() || d.is_infinite()) && a.is_finite() && b.is_finite() {
        let (c, d) = (unit(c), unit(d));
        [0.0 * (a * c + b * d), 0.0 * (b * c - a * d)]
    } else {
        rough
    }
}

/// e^(b ln a). Anything raised to 0 is 1, and so is any power of 1.
fn power(a: Number, b: Number) -> Number {
    if b == [0.0; 2] || a == [1.0, 0.0] {
        return [1.0, 0.0];
    }
    if a == [0.0; 2] && b[1] == 0.0 && b[0] > 0.0 {
        return [0.0; 2];
    }
    if a[1] == 0.0 && b[1] == 0.0 && a[0] >= 0.0 {
        return [a[0].powf(b[0]), 0.0];
    }
    functions::exponential(product(b, functions::logarithm(a)))
}

/// -i ln((x + iy) / √(x² + y²)).
fn arc_tangent_2(y: Number, x: Number) -> Number {
    let (squares, sum) = ([product(x, x), product(y, y)], [x[0] - y[1], x[1] + y[0]]);
    let root = functions::square_root([squares[0][0] + squares[1][0], squares[0][1] + squares[1][1]]);
    let [re, im] = functions::logarithm(quotient(sum, root));
    [im, -re]
}

/// Errors from the values' magnitudes: a few ulps of the larger part, in addition to the operands' errors.
/// Unbounded if the error decides whether a part is finite.
fn column(kind: Kind, values: Vec<Number>, spread: impl Fn(usize) -> f64) -> Column {
    let error = |(i, parts): (usize, &Number)| {
        let error = spread(i);
        let is_finite = |size: f64| kind.round(size).is_finite();
        let may_overflow =
            |part: &f64| part.is_finite() && is_finite(part.abs() - error) && !is_finite(part.abs() + error);
        if parts.iter().any(may_overflow) { f64::INFINITY } else { error }
    };
    let errors: Vec<f64> = values.iter().enumerate().map(error).collect();
    let rounded = values.iter().map(|&[re, im]| [kind.round(re), kind.round(im)]).collect();
    let mut result = Column::complex(kind, rounded);
    if errors.iter().any(|&e| e != 0.0) {
        result.error = Some(errors.iter().map(|e| if e.is_nan() { f64::INFINITY } else { *e }).collect());
    }
    result
}

fn size([re, im]: Number) -> f64 {
    re.abs().max(im.abs())
}

fn function(opcode: Opcode) -> Option<fn(Number) -> Number> {
    Some(match opcode {
        Opcode::Exponential => functions::exponential,
        Opcode::ExponentialMinusOne => functions::exponential_minus_one,
        Opcode::Log => functions::logarithm,
        Opcode::LogPlusOne => functions::logarithm_plus_one,
        Opcode::Logistic => functions::logistic,
        Opcode::Sqrt => functions::square_root,
        Opcode::Rsqrt => functions::reciprocal_root,
        Opcode::Cbrt => |z| power(z, [1.0 / 3.0, 0.0]),
        Opcode::Sign => functions::sign,
        Opcode::Sine => functions::sine,
        Opcode::Cosine => functions::cosine,
        Opcode::Tan => functions::tangent,
        Opcode::Sinh => functions::hyperbolic_sine,
        Opcode::Cosh => functions::hyperbolic_cosine,
        Opcode::Tanh => functions::hyperbolic_tangent,
        Opcode::Asin => functions::arc_sine,
        Opcode::Acos => functions::arc_cosine,
        Opcode::Asinh => functions::area_sine,
        Opcode::Acosh => functions::area_cosine,
        Opcode::Atanh => functions::area_tangent,
        _ => return None,
    })
}

pub(crate) fn unary(opcode: Opcode, kind: Kind, a: &Column) -> Checked<Column> {
    let v = a.complexes();
    match opcode {
        Opcode::Negate => {
            let values = v.iter().map(|&[re, im]| [-re, -im]).collect();
            return Ok(Column { error: a.error.clone(), ..Column::complex(kind, values) });
        }
        Opcode::Abs => {
            let values: Vec<f64> = v.iter().map(|&z| kind.round(functions::size(z))).collect();
            let error = |(i, &x): (usize, &f64)| 2.0 * a.error_at(i) + 8.0 * kind.working_ulp(x);
            let errors = values.iter().enumerate().map(error).collect();
            return Ok(Column { error: Some(errors), ..Column::real(kind, values) });
        }
        _ => (),
    }
    let f = function(opcode).ok_or_else(|| format!("{opcode} of complex numbers is not evaluated"))?;
    let values: Vec<Number> = v.iter().map(|&x| f(x)).collect();
    let sizes: Vec<f64> = values.iter().map(|&x| size(x)).collect();
    // 1 + e^-z cancels near the poles of 1 / (1 + e^-z).
    let grown = |i: usize| match opcode {
        Opcode::Logistic if sizes[i] > 0.0 => 1.0 + sizes[i] * (1.0 + (-v[i][0]).exp()),
        _ => 1.0,
    };
    Ok(column(kind, values, |i| match a.error_at(i) {
        // Results below the normal numbers may be flushed, or be the quotient of a number that overflows.
        0.0 => 16.0 * grown(i) * kind.working_ulp(sizes[i]) + kind.smallest_normal(),
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
            let values: Vec<Number> = pairs.map(|(a, b)| [a[0] + sign * b[0], a[1] + sign * b[1]]).collect();
            let sizes: Vec<f64> = values.iter().map(|&v| size(v)).collect();
            column(kind, values, |i| match a.error_at(i) + b.error_at(i) {
                0.0 => 0.0,
                error => error + ulp(sizes[i]),
            })
        }
        Opcode::Multiply | Opcode::Divide => {
            let f = if opcode == Opcode::Multiply { product } else { quotient };
            let values: Vec<Number> = pairs.map(|(&a, &b)| f(a, b)).collect();
            let spread = |i: usize| {
                let (p, q) = (size(x[i]), size(y[i]));
                let scale = if opcode == Opcode::Multiply { p * q } else { p / q };
                let moved = match (a.error_at(i), b.error_at(i)) {
                    (0.0, 0.0) => 0.0,
                    (ea, eb) if opcode == Opcode::Multiply => 4.0 * (p * eb + q * ea + ea * eb),
                    _ => f64::INFINITY,
                };
                // If a part is NaN or overflows, the order of the steps decides.
                if kind.round(scale).is_finite() { 8.0 * ulp(4.0 * scale) + moved } else { f64::INFINITY }
            };
            column(kind, values, spread)
        }
        Opcode::Power | Opcode::Atan2 => {
            let f = if opcode == Opcode::Power { power } else { arc_tangent_2 };
            let values: Vec<Number> = pairs.map(|(&a, &b)| f(a, b)).collect();
            let sizes: Vec<f64> = values.iter().map(|&v| size(v)).collect();
            // The exponent multiplies the logarithm's error by its magnitude.
            let grown = |i: usize| match opcode {
                Opcode::Power => 64.0 * (1.0 + size(product(y[i], functions::logarithm(x[i])))),
                _ => 64.0,
            };
            column(kind, values, |i| match a.error_at(i) + b.error_at(i) {
                0.0 => grown(i) * ulp(sizes[i]),
                _ => f64::INFINITY,
            })
        }
        _ => return Err(format!("{opcode} of complex numbers is not evaluated").into()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One product of two parts leaves the format; their sum does not.
    #[test]
    fn products_whose_parts_overflow_are_open() {
        let kind = Kind::Complex { is_double: false };
        let of = |value| Column::complex(kind, vec![value]);
        let product = |a, b| binary(Opcode::Multiply, kind, &of(a), &of(b)).expect("a value");
        let open = product([2e19, 1.9e19], [2e19, 2e19]);
        assert!(open.reals().is_empty() && open.is_open(0), "{open:?}");
        let near_root = 18_446_742_974_197_923_840.0;
        let near = product([near_root, 1.0], [near_root, 1.0]);
        assert!(near.complexes()[0][0].is_finite() && near.is_open(0), "{near:?}");
        let inside = product([1e19, 0.9e19], [1e19, 1e19]);
        assert!(!inside.is_open(0), "{inside:?}");
        // An overflow in any order of the steps is the answer.
        let infinite = product([f64::INFINITY, 0.0], [1.0, 0.0]);
        assert!(infinite.complexes()[0][0].is_infinite(), "{infinite:?}");
    }
}
