//! Functions of one complex number: accurate in each part, with XLA's results for infinities, NaNs and zeros.
//!
//! Computed in 64 bits for both complex types. XLA's CPU code works in the parts' own type, so its results
//! for `c64` may overflow, or lose the smaller part, where these do not. Cases without a limit follow XLA's
//! `ElementalIrEmitter::EmitComplex*`.

use super::{Number, product, quotient};

/// e^z. A real number stays real.
pub(super) fn exponential([re, im]: Number) -> Number {
    if im == 0.0 {
        return [re.exp(), 0.0];
    }
    // Half the exponent does not overflow before the sine makes the product small.
    let half = (re / 2.0).exp();
    [half * im.cos() * half, half * im.sin() * half]
}

/// e^z - 1, without cancellation near zero.
pub(super) fn exponential_minus_one([re, im]: Number) -> Number {
    if im == 0.0 {
        return [re.exp_m1(), 0.0];
    }
    let sine = (im / 2.0).sin();
    let [_, imaginary] = exponential([re, im]);
    let real = if re > 700.0 { exponential([re, im])[0] } else { re.exp_m1() * im.cos() - 2.0 * sine * sine };
    [real, imaginary]
}

/// |z|. NaN takes precedence over infinity, as in XLA's code.
pub(super) fn size([re, im]: Number) -> f64 {
    if re.is_nan() || im.is_nan() { f64::NAN } else { re.hypot(im) }
}

/// ln |z|, without cancellation near one.
fn log_of_size([re, im]: Number) -> f64 {
    let (large, small) = (re.abs().max(im.abs()), re.abs().min(im.abs()));
    if re.is_nan() || im.is_nan() {
        return f64::NAN;
    }
    if (0.5..2.0).contains(&large) && small < 2.0 {
        return 0.5 * ((large - 1.0) * (large + 1.0) + small * small).ln_1p();
    }
    if large.is_infinite() || large == 0.0 {
        return large.ln();
    }
    let ratio = small / large;
    large.ln() + 0.5 * (ratio * ratio).ln_1p()
}

pub(super) fn logarithm(z: Number) -> Number {
    [log_of_size(z), z[1].atan2(z[0])]
}

/// ln (1 + z), without cancellation near zero.
pub(super) fn logarithm_plus_one([re, im]: Number) -> Number {
    let angle = im.atan2(1.0 + re);
    if re.abs() < 0.5 && im.abs() < 0.5 {
        return [0.5 * (re * (2.0 + re) + im * im).ln_1p(), angle];
    }
    [log_of_size([1.0 + re, im]), angle]
}

/// The branch cut belongs to the upper half plane: an imaginary -0 counts as 0.
pub(super) fn square_root([re, im]: Number) -> Number {
    root_of_signed([re, im + 0.0])
}

/// A square root with an imaginary -0 below the branch cut.
fn root_of_signed([re, im]: Number) -> Number {
    if re == 0.0 && im == 0.0 {
        return [0.0, 0.0];
    }
    if re.is_nan() || im.is_nan() {
        return [f64::NAN; 2];
    }
    if im.is_infinite() {
        return [f64::INFINITY, im];
    }
    if re.is_infinite() {
        return if re > 0.0 { [re, 0f64.copysign(im)] } else { [0.0, f64::INFINITY.copysign(im)] };
    }
    // An even power of two scales the larger part to near one.
    let scale = even_scale(re.abs().max(im.abs()));
    let (a, b) = (re * scale * scale, im * scale * scale);
    let large = ((a.abs() + a.hypot(b)) / 2.0).sqrt();
    let small = b.abs() / (2.0 * large);
    let [real, imaginary] = if a >= 0.0 { [large, small] } else { [small, large] };
    [real / scale, imaginary.copysign(im) / scale]
}

/// A power of two whose square scales `size`, which is finite and not zero, to near one.
fn even_scale(size: f64) -> f64 {
    let exponent = if size < f64::MIN_POSITIVE { -1022 } else { (size.to_bits() >> 52) as i32 - 1023 };
    syntax::hlo::float_format::power_of_two(-(exponent / 2))
}

/// 1 / √z.
pub(super) fn reciprocal_root([re, im]: Number) -> Number {
    if re == 0.0 && im == 0.0 {
        return [f64::INFINITY, f64::NAN];
    }
    if re.is_infinite() || im.is_infinite() && re.is_nan() {
        return [0f64.copysign(re), 0f64.copysign(-im)];
    }
    if im.is_infinite() {
        return [0.0, 0f64.copysign(-im)];
    }
    let [a, b] = root_of_signed([re, im]);
    // 1 / (a + bi) with a² + b² = |z|.
    let size = a.hypot(b);
    [a / size / size, -b / size / size]
}

/// z / |z|, and zero for zero.
pub(super) fn sign(z: Number) -> Number {
    let size = size(z);
    if size == 0.0 {
        return z;
    }
    if size.is_nan() {
        return [f64::NAN; 2];
    }
    if size.is_infinite() && z.iter().all(|part| part.is_finite()) {
        return [z[0] / 2.0 / (z[0] / 2.0).hypot(z[1] / 2.0), z[1] / 2.0 / (z[0] / 2.0).hypot(z[1] / 2.0)];
    }
    [z[0] / size, z[1] / size]
}

/// Kahan's formula.
pub(super) fn hyperbolic_tangent([re, im]: Number) -> Number {
    if im == 0.0 {
        return [re.tanh(), 0.0];
    }
    if !im.is_finite() {
        return if re.is_infinite() { [1f64.copysign(re), 0.0] } else { [f64::NAN; 2] };
    }
    if re.abs() > 20.0 {
        let small = 4.0 * im.sin() * im.cos() * (-2.0 * re.abs()).exp();
        return [1f64.copysign(re), small];
    }
    let tangent = im.tan();
    let beta = 1.0 + tangent * tangent;
    let s = re.sinh();
    let rho = (1.0 + s * s).sqrt();
    if tangent.is_infinite() {
        return [rho / s, 1.0 / tangent];
    }
    let below = 1.0 + beta * s * s;
    [beta * rho * s / below, tangent / below]
}

pub(super) fn tangent([re, im]: Number) -> Number {
    let [a, b] = hyperbolic_tangent([-im, re]);
    [b, -a]
}

/// `f(x) * e^|y|` without overflow before the product.
fn grown(part: f64, y: f64, of: fn(f64) -> f64) -> f64 {
    if y.abs() < 700.0 {
        return part * of(y);
    }
    let half = (y.abs() / 2.0).exp();
    part * half / 2.0 * half * of(y).signum()
}

pub(super) fn hyperbolic_sine([re, im]: Number) -> Number {
    if im == 0.0 {
        return [re.sinh(), im];
    }
    [grown(im.cos(), re, f64::sinh), grown(im.sin(), re, f64::cosh)]
}

pub(super) fn hyperbolic_cosine([re, im]: Number) -> Number {
    if im == 0.0 || re == 0.0 {
        return [re.cosh() * im.cos(), re * im];
    }
    [grown(im.cos(), re, f64::cosh), grown(im.sin(), re, f64::sinh)]
}

pub(super) fn sine([re, im]: Number) -> Number {
    if im == 0.0 {
        return [re.sin(), 0.0 * re.cos()];
    }
    let [a, b] = hyperbolic_sine([-im, re]);
    [b, -a]
}

pub(super) fn cosine([re, im]: Number) -> Number {
    if im == 0.0 {
        return [re.cos(), 0.0 * re.sin()];
    }
    hyperbolic_cosine([-im, re])
}

pub(super) fn logistic([re, im]: Number) -> Number {
    let [a, b] = exponential([-re, -im]);
    quotient([1.0, 0.0], [1.0 + a, b])
}

/// √(1 - z) and √(1 + z).
fn roots_around_one([re, im]: Number) -> [Number; 2] {
    [square_root([1.0 - re, -im]), square_root([1.0 + re, im])]
}

pub(super) fn arc_sine(z: Number) -> Number {
    let [minus, plus] = roots_around_one(z);
    let real = z[0].atan2(product(minus, plus)[0]);
    [real, imaginary_of_conjugate_product(minus, plus).asinh()]
}

pub(super) fn arc_cosine(z: Number) -> Number {
    let [minus, plus] = roots_around_one(z);
    [2.0 * minus[0].atan2(plus[0]), imaginary_of_conjugate_product(plus, minus).asinh()]
}

/// The imaginary part of conj(a) b.
fn imaginary_of_conjugate_product([a, b]: Number, [c, d]: Number) -> f64 {
    a * d - b * c
}

pub(super) fn area_sine([re, im]: Number) -> Number {
    let [a, b] = arc_sine([-im, re]);
    [b, -a]
}

pub(super) fn area_cosine([re, im]: Number) -> Number {
    let minus = square_root([re - 1.0, im]);
    let plus = square_root([re + 1.0, im]);
    let real = (minus[0] * plus[0] + minus[1] * plus[1]).asinh();
    [real, 2.0 * minus[1].atan2(plus[0])]
}

pub(super) fn area_tangent([re, im]: Number) -> Number {
    let far = re.abs().max(im.abs()) > 1e100;
    if far {
        let turn = std::f64::consts::FRAC_PI_2.copysign(im);
        return [quotient([1.0, 0.0], [re, im])[0], turn];
    }
    let below = (1.0 - re.abs()) * (1.0 - re.abs()) + im * im;
    let real = (0.25 * (4.0 * re.abs() / below).ln_1p()).copysign(re);
    [real, 0.5 * (2.0 * im).atan2((1.0 - re) * (1.0 + re) - im * im)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each function is the inverse of its inverse, in both parts.
    type Function = fn(Number) -> Number;

    #[test]
    fn inverses() {
        let pairs: [(Function, Function, &str); 9] = [
            (exponential, logarithm, "log"),
            (exponential_minus_one, logarithm_plus_one, "log-plus-one"),
            (sine, arc_sine, "asin"),
            (cosine, arc_cosine, "acos"),
            (hyperbolic_sine, area_sine, "asinh"),
            (hyperbolic_cosine, area_cosine, "acosh"),
            (hyperbolic_tangent, area_tangent, "atanh"),
            (|z| product(z, z), square_root, "sqrt"),
            (|z| quotient([1.0, 0.0], product(z, z)), reciprocal_root, "rsqrt"),
        ];
        for (f, inverse, name) in pairs {
            for re in [-2.5, -1.0, -0.3, 1e-3, 0.7, 3.0] {
                for im in [-3.0, -0.8, -1e-3, 0.2, 1.0, 2.0] {
                    let [a, b] = f(inverse([re, im]));
                    let off = (a - re).abs().max((b - im).abs());
                    assert!(off < 2e-14, "{name} of {re} + {im}i: {a} + {b}i");
                }
            }
        }
    }

    /// Both parts are accurate if one is much smaller, and no step overflows.
    #[test]
    fn parts_of_different_size() {
        let near = |[a, b]: Number, [c, d]: Number| {
            let is_near = |x: f64, y: f64| (x - y).abs() <= 4e-16 * y.abs();
            assert!(is_near(a, c) && is_near(b, d), "{a:e} + {b:e}i, not {c:e} + {d:e}i");
        };
        near(square_root([1e10, 2.6117]), [1e5, 1.30585e-5]);
        near(square_root([0.0, 1e308]), [7.071067811865476e153, 7.071067811865476e153]);
        near(square_root([-4.0, 0.0]), [0.0, 2.0]);
        near(logarithm([1.0, 1e-10]), [5e-21, 1e-10]);
        near(logarithm([1e-300, 1e300]), [300.0 * 10f64.ln(), std::f64::consts::FRAC_PI_2]);
        near(exponential_minus_one([1e-20, 1e-20]), [1e-20, 1e-20]);
        near(logarithm_plus_one([1e-20, 1e-20]), [1e-20, 1e-20]);
        near(hyperbolic_tangent([1e-20, 1e-20]), [1e-20, 1e-20]);
        near(quotient([1e300, 1e300], [1e300, 1e300]), [1.0, 0.0]);
        near(quotient([3e-310, 0.0], [1e-310, 0.0]), [3.0, 0.0]);
    }
}
