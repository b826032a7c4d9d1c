//! Functions of complex numbers. `f32` is compared with formulas in `f64`, where distances are in units of the
//! larger part; infinities, NaN and numbers that overflow are compared with the interpreter.

#![allow(clippy::print_stdout, reason = "how far each function is from the right answer")]
#![allow(clippy::type_complexity, reason = "a table")]

mod agreeing;
mod kernels;
mod written;

use agreeing::agrees;
use kernels::{Bits, apply, bits_of, bytes_of};

type C = (f64, f64);

fn mul(a: C, b: C) -> C {
    (a.0 * b.0 - a.1 * b.1, a.0 * b.1 + a.1 * b.0)
}

fn div(a: C, b: C) -> C {
    let d = b.0 * b.0 + b.1 * b.1;
    ((a.0 * b.0 + a.1 * b.1) / d, (a.1 * b.0 - a.0 * b.1) / d)
}

fn exp(a: C) -> C {
    (a.0.exp() * a.1.cos(), a.0.exp() * a.1.sin())
}

fn log(a: C) -> C {
    (a.0.hypot(a.1).ln(), a.1.atan2(a.0))
}

fn scaled(a: C, by: f64) -> C {
    (a.0 * by, a.1 * by)
}

fn tanh(a: C) -> C {
    let d = (2.0 * a.0).cosh() + (2.0 * a.1).cos();
    ((2.0 * a.0).sinh() / d, (2.0 * a.1).sin() / d)
}

fn sqrt(a: C) -> C {
    let m = a.0.hypot(a.1);
    if a.0 >= 0.0 {
        let t = ((m + a.0) / 2.0).sqrt();
        (t, if t == 0.0 { 0.0 } else { a.1 / (2.0 * t) })
    } else {
        let t = ((m - a.0) / 2.0).sqrt();
        (a.1.abs() / (2.0 * t), t.copysign(a.1))
    }
}

/// Numbers with parts of moderate size, and on the axes.
fn numbers() -> Vec<C> {
    let mut rng = random::Rng::new(3);
    let mut random = move || f64::from((rng.next_u64() as f64 / u64::MAX as f64 * 2.0 - 1.0) as f32);
    let mut numbers = vec![
        (0.0, 0.0),
        (1.0, 0.0),
        (-1.0, 0.0),
        (0.0, 1.0),
        (0.0, -1.0),
        (3.0, 4.0),
        (1.0, f64::powi(2.0, -13)),
    ];
    while numbers.len() < 1024 {
        let size = f64::powi(2.0, (numbers.len() % 9) as i32 - 5);
        let round = |x: f64| f64::from(x as f32);
        numbers.push((round(random() * size), round(random() * size)));
    }
    numbers
}

fn bytes(numbers: &[C]) -> Vec<u8> {
    let parts: Vec<u64> = numbers
        .iter()
        .flat_map(|&(re, im)| [u64::from((re as f32).to_bits()), u64::from((im as f32).to_bits())])
        .collect();
    bytes_of(&parts, 4)
}

fn parts(output: &[u8]) -> Vec<C> {
    bits_of(output, 4).chunks(2).map(|p| (Bits::F32.decode(p[0]), Bits::F32.decode(p[1]))).collect()
}

fn distance(result: C, right: C) -> f64 {
    if right.0.is_nan() || right.1.is_nan() || !right.0.is_finite() || !right.1.is_finite() {
        return 0.0;
    }
    let size = right.0.abs().max(right.1.abs()).max(f64::from(f32::MIN_POSITIVE));
    let unit = f64::powi(2.0, size.log2().floor() as i32 - 23);
    let far = (result.0 - right.0).abs().max((result.1 - right.1).abs()) / unit;
    if far.is_nan() { f64::INFINITY } else { far }
}

#[test]
fn functions_are_within_their_bounds() {
    let functions: &[(&str, fn(C) -> C, f64)] = &[
        ("exponential", exp, 4.0),
        (
            "exponential-minus-one",
            |z| (z.0.exp_m1() * z.1.cos() - 2.0 * (z.1 / 2.0).sin().powi(2), z.0.exp() * z.1.sin()),
            6.0,
        ),
        ("log", log, 3.0),
        ("log-plus-one", |z| (0.5 * (z.0 * (2.0 + z.0) + z.1 * z.1).ln_1p(), z.1.atan2(1.0 + z.0)), 6.0),
        (
            "logistic",
            |z| {
                let e = exp((-z.0, -z.1));
                div((1.0, 0.0), (1.0 + e.0, e.1))
            },
            16.0,
        ),
        ("sine", |z| (z.0.sin() * z.1.cosh(), z.0.cos() * z.1.sinh()), 6.0),
        ("cosine", |z| (z.0.cos() * z.1.cosh(), -z.0.sin() * z.1.sinh()), 6.0),
        (
            "tan",
            |z| {
                let t = tanh((-z.1, z.0));
                (t.1, -t.0)
            },
            16.0,
        ),
        ("tanh", tanh, 16.0),
        ("sqrt", sqrt, 4.0),
        ("rsqrt", |z| div((1.0, 0.0), sqrt(z)), 6.0),
        ("sign", |z| if z == (0.0, 0.0) { z } else { scaled(z, 1.0 / z.0.hypot(z.1)) }, 4.0),
        ("negate", |z| (-z.0, -z.1), 0.0),
    ];
    let numbers = numbers();
    let mut failures = Vec::new();
    for &(op, function, bound) in functions {
        let result = apply(op, &["c64"], "c64", numbers.len(), &[bytes(&numbers)], numbers.len() as u64 * 8);
        match result {
            Err(reason) => failures.push(format!("{op}: {}", reason.chars().take(500).collect::<String>())),
            Ok(output) => {
                let far = numbers
                    .iter()
                    .zip(parts(&output))
                    .map(|(&z, result)| (distance(result, function(z)), z, result));
                let worst = far.fold((0.0, (0.0, 0.0), (0.0, 0.0)), |a, b| if b.0 > a.0 { b } else { a });
                println!("{op}: {:.2} at {:?}", worst.0, worst.1);
                if worst.0 > bound {
                    failures.push(format!("{op}: {worst:?}, not {:?}", function(worst.1)));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn arithmetic_is_within_its_bounds() {
    let functions: &[(&str, fn(C, C) -> C, f64)] = &[
        ("add", |a, b| (a.0 + b.0, a.1 + b.1), 0.5),
        ("multiply", mul, 3.0),
        ("divide", div, 6.0),
        ("power", |a, b| if a == (0.0, 0.0) { (f64::NAN, 0.0) } else { exp(mul(b, log(a))) }, 600.0),
    ];
    let (a, mut b) = (numbers(), numbers());
    b.rotate_left(100);
    let mut failures = Vec::new();
    for &(op, function, bound) in functions {
        let inputs = [bytes(&a), bytes(&b)];
        match apply(op, &["c64", "c64"], "c64", a.len(), &inputs, a.len() as u64 * 8) {
            Err(reason) => failures.push(format!("{op}: {}", reason.chars().take(500).collect::<String>())),
            Ok(output) => {
                let far = a
                    .iter()
                    .zip(&b)
                    .zip(parts(&output))
                    .map(|((&x, &y), result)| (distance(result, function(x, y)), x, y, result));
                let zero = (0.0, 0.0);
                let worst = far.fold((0.0, zero, zero, zero), |a, b| if b.0 > a.0 { b } else { a });
                println!("{op}: {:.2} at {:?} {:?}", worst.0, worst.1, worst.2);
                if worst.0 > bound {
                    failures.push(format!("{op}: {worst:?}, not {:?}", function(worst.1, worst.2)));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// e^-∞ at an infinite angle is NaN in XLA's kernels, where C answers 0.
#[test]
fn infinite_parts() {
    for element in ["c64", "c128"] {
        let shape = format!("{element}[4096]");
        for op in ["exponential", "logistic"] {
            agrees(&[&shape], &format!("  ROOT r = {shape} {op}(p0)"), &shape);
        }
    }
}

/// A product of two parts may overflow where the sum of both products does not.
#[test]
fn products_near_the_largest_number() {
    let instructions = "  ROOT r = c64[16384] multiply(p0, p1)";
    agrees(&["c64[16384]", "c64[16384]"], instructions, "c64[16384]");
}
