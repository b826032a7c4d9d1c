//! Runs kernels of one op each on the processor over special and random numbers, and measures the error of
//! each result.

#![allow(clippy::print_stdout, reason = "how far each function is from the right answer")]

mod kernels;

use kernels::{Bits, ladder, worst};

/// Compares `f32` functions with the same ones in `f64`, and `f64` functions with the standard library's. The
/// bound is in units in the last place of the result; for `f64`, the library's own unit is added.
#[test]
fn functions_of_one_number_are_within_their_bounds() {
    type Function = fn(f64) -> f64;
    let functions: &[(&str, Function, f64, f64)] = &[
        ("exponential", f64::exp, 2.0, 1.0),
        ("exponential-minus-one", f64::exp_m1, 2.0, 2.0),
        ("log", f64::ln, 1.0, 1.0),
        ("log-plus-one", f64::ln_1p, 2.0, 2.0),
        ("logistic", |x| 1.0 / (1.0 + (-x).exp()), 3.0, 3.0),
        ("tanh", f64::tanh, 3.0, 3.0),
        ("sinh", f64::sinh, 3.0, 3.0),
        ("cosh", f64::cosh, 2.0, 2.0),
        ("sine", f64::sin, 2.0, 2.0),
        ("cosine", f64::cos, 2.0, 2.0),
        ("tan", f64::tan, 4.0, 4.0),
        ("asin", f64::asin, 3.0, 2.0),
        ("acos", f64::acos, 2.0, 2.0),
        ("asinh", kernels::asinh, 3.0, 4.0),
        ("acosh", kernels::acosh, 3.0, 4.0),
        ("atanh", kernels::atanh, 3.0, 4.0),
        ("cbrt", f64::cbrt, 1.0, 1.0),
        ("sqrt", f64::sqrt, 1.0, 0.5),
        ("rsqrt", |x| 1.0 / x.sqrt(), 1.0, 1.0),
        // The reference itself is accurate to 8.
        ("erf", kernels::erf, 2.0, 9.0),
        ("floor", f64::floor, 0.0, 0.0),
        ("ceil", f64::ceil, 0.0, 0.0),
        ("round-nearest-even", f64::round_ties_even, 0.0, 0.0),
        ("round-nearest-afz", f64::round, 0.0, 0.0),
        ("abs", f64::abs, 0.0, 0.0),
        ("negate", |x| -x, 0.0, 0.0),
        ("sign", |x| if x == 0.0 || x.is_nan() { x } else { x.signum() }, 0.0, 0.0),
    ];
    let mut failures = Vec::new();
    for &(op, function, single, double) in functions {
        for (bits, bound) in [(Bits::F32, single), (Bits::F64, double), (Bits::F16, 0.51), (Bits::Bf16, 0.51)]
        {
            // For small formats, the error includes the rounding of a result that is slightly off.
            let bound = if matches!(bits, Bits::F64) && bound > 0.5 { bound + 1.0 } else { bound };
            let inputs = ladder(bits);
            // For subnormal results, XLA's own division by large numbers gives 0.
            let flushes = op == "logistic" && !matches!(bits, Bits::F64);
            let least = if flushes { f64::from(f32::MIN_POSITIVE) } else { 0.0 };
            // XLA rounds each step of a 16-bit logistic function.
            let is_stepwise = op == "logistic" && matches!(bits, Bits::F16 | Bits::Bf16);
            let right = |x: &[f64]| match is_stepwise {
                true => 1.0 / bits.round(1.0 + bits.round((-x[0]).exp())),
                false => function(x[0]),
            };
            let found = worst(op, bits, &[inputs], right, least);
            println!("{op} {}: {:.2} ulp at {:?}", bits.name(), found.ulp, found.inputs);
            if found.ulp > bound {
                failures.push(format!("{op} {}: {found:?}", bits.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn functions_of_two_numbers_are_within_their_bounds() {
    type Function = fn(f64, f64) -> f64;
    let functions: &[(&str, Function, f64, f64)] = &[
        ("power", |a, b| if a == 1.0 || b == 0.0 { 1.0 } else { a.powf(b) }, 2.0, 2.0),
        ("atan2", f64::atan2, 3.0, 3.0),
        ("remainder", |a, b| a % b, 0.0, 0.0),
        ("add", |a, b| a + b, 0.5, 0.5),
        ("subtract", |a, b| a - b, 0.5, 0.5),
        ("multiply", |a, b| a * b, 0.5, 0.5),
        ("divide", |a, b| a / b, 2.0, 0.5),
        ("maximum", |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { larger(a, b) }, 0.0, 0.0),
        ("minimum", |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { -larger(-a, -b) }, 0.0, 0.0),
    ];
    let mut failures = Vec::new();
    for &(op, function, single, double) in functions {
        for (bits, bound) in [(Bits::F32, single), (Bits::F64, double), (Bits::F16, 0.51), (Bits::Bf16, 0.51)]
        {
            let bound = if matches!(bits, Bits::F64) && bound > 0.5 { bound + 1.0 } else { bound };
            let (a, b) = kernels::pairs(bits);
            let found = worst(op, bits, &[a, b], |x| function(x[0], x[1]), 0.0);
            println!("{op} {}: {:.2} ulp at {:?}", bits.name(), found.ulp, found.inputs);
            if found.ulp > bound {
                failures.push(format!("{op} {}: {found:?}", bits.name()));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The maximum; of two zeros the positive one.
fn larger(a: f64, b: f64) -> f64 {
    if a > b || (a == b && a.is_sign_positive()) { a } else { b }
}
