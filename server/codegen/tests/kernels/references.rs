//! Functions that the standard library lacks, or has with fewer digits.

pub fn asinh(x: f64) -> f64 {
    let a = x.abs();
    let size = if a > 1e9 {
        a.ln() + std::f64::consts::LN_2
    } else {
        (a + a * a / (1.0 + (a * a + 1.0).sqrt())).ln_1p()
    };
    size.copysign(x)
}

pub fn acosh(x: f64) -> f64 {
    let t = x - 1.0;
    match x {
        _ if x < 1.0 => f64::NAN,
        _ if x > 1e9 => x.ln() + std::f64::consts::LN_2,
        _ => (t + (t * (t + 2.0)).sqrt()).ln_1p(),
    }
}

pub fn atanh(x: f64) -> f64 {
    let a = x.abs();
    (0.5 * (2.0 * a / (1.0 - a)).ln_1p()).copysign(x)
}

/// By a series without cancellation; above 1.2 by the continued fraction of the complement.
pub fn erf(x: f64) -> f64 {
    let a = x.abs();
    if x.is_nan() || a < 1e-150 {
        return x * std::f64::consts::FRAC_2_SQRT_PI;
    }
    if a > 1.2 {
        let mut fraction = 0.0;
        for n in (1..2000).rev() {
            fraction = f64::from(n) / 2.0 / (a + fraction);
        }
        let rest = if a > 27.0 { 0.0 } else { (-a * a).exp() / std::f64::consts::PI.sqrt() / (a + fraction) };
        return (1.0 - rest).copysign(x);
    }
    let (mut term, mut sum, mut n) = (a, a, 0.0);
    while term > sum * 1e-18 {
        n += 1.0;
        term *= 2.0 * a * a / (2.0 * n + 1.0);
        sum += term;
    }
    (std::f64::consts::FRAC_2_SQRT_PI * (-a * a).exp() * sum).copysign(x)
}
