//! Conversions between small floats and others, compared with tables of all their numbers.

mod kernels;

use kernels::{Bits, apply, bits_of, bytes_of, ladder, worst};

/// Name, bits of exponent and mantissa, bias, and the encoding at the top of the range: `i` infinity and NaN,
/// `n` one NaN, `z` minus zero is NaN, `-` numbers only.
const FORMATS: [(&str, u32, u32, i32, char); 8] = [
    ("f8e5m2", 5, 2, 15, 'i'),
    ("f8e4m3", 4, 3, 7, 'i'),
    ("f8e3m4", 3, 4, 3, 'i'),
    ("f8e4m3fn", 4, 3, 7, 'n'),
    ("f8e4m3fnuz", 4, 3, 8, 'z'),
    ("f8e5m2fnuz", 5, 2, 16, 'z'),
    ("f8e4m3b11fnuz", 4, 3, 11, 'z'),
    ("f8e8m0fnu", 8, 0, 127, 'p'),
];

fn decoded((_, exponent, mantissa, bias, top): (&str, u32, u32, i32, char), code: u32) -> f64 {
    if top == 'p' {
        return if code == 255 { f64::NAN } else { f64::powi(2.0, code as i32 - bias) };
    }
    let digits = exponent + mantissa;
    let (sign, size) = (code >> digits & 1, code & ((1 << digits) - 1));
    let (e, m) = (size >> mantissa, f64::from(size & ((1 << mantissa) - 1)));
    let is_top = e == (1 << exponent) - 1;
    let value = match top {
        'i' if is_top && m == 0.0 => f64::INFINITY,
        'i' if is_top => f64::NAN,
        'n' if size == (1 << digits) - 1 => f64::NAN,
        'z' if sign == 1 && size == 0 => f64::NAN,
        _ if e == 0 => m * f64::powi(2.0, 1 - bias - mantissa as i32),
        _ => (m + f64::from(1 << mantissa)) * f64::powi(2.0, e as i32 - bias - mantissa as i32),
    };
    if sign == 1 { -value } else { value }
}

/// The nearest number of the format, found by trying all.
fn nearest(format: (&str, u32, u32, i32, char), numbers: &[(f64, u32)], x: f64) -> f64 {
    let (_, exponent, mantissa, _, top) = format;
    if x.is_nan() || (top == 'p' && x <= 0.0) {
        return f64::NAN;
    }
    let (largest, _) = numbers[numbers.len() - 1];
    let a = x.abs();
    let at = numbers.partition_point(|&(number, _)| number <= a);
    let size = if at == numbers.len() {
        // Half a unit above the largest number, or a tie with an odd one, rounds to the next one.
        let unit = if top == 'p' { largest } else { largest - numbers[at - 2].0 };
        let is_odd = numbers[at - 1].1 & 1 == 1;
        let is_over = a > largest + unit / 2.0 || (a == largest + unit / 2.0 && (is_odd || top == 'p'));
        match (is_over, top) {
            (false, _) => largest,
            (true, 'i') => f64::INFINITY,
            (true, _) => f64::NAN,
        }
    } else if at == 0 {
        numbers[0].0
    } else {
        let ((low, code), (high, _)) = (numbers[at - 1], numbers[at]);
        let middle = low + (high - low) / 2.0;
        let takes_low = a < middle || (a == middle && code & 1 == 0 && top != 'p');
        if takes_low { low } else { high }
    };
    let _ = (exponent, mantissa);
    let result = if x.is_sign_negative() { -size } else { size };
    if top == 'z' && result == 0.0 { 0.0 } else { result }
}

fn same(a: f64, b: f64) -> bool {
    a.is_nan() && b.is_nan() || (a == b && a.is_sign_negative() == b.is_sign_negative())
}

#[test]
fn small_floats_become_others_exactly() {
    for format in FORMATS {
        let codes: Vec<u64> = (0..256).collect();
        for to in [Bits::F16, Bits::Bf16, Bits::F32, Bits::F64] {
            let bytes = (256 * to.bytes()) as u64;
            let output = apply("convert", &[format.0], to.name(), 256, &[bytes_of(&codes, 1)], bytes);
            let output = output.unwrap_or_else(|reason| panic!("{} to {}: {reason}", format.0, to.name()));
            for (code, result) in bits_of(&output, to.bytes()).into_iter().enumerate() {
                let (result, right) = (to.decode(result), decoded(format, code as u32));
                let is_near = to.distance(result, right) <= 0.5;
                assert!(
                    is_near || same(result, right),
                    "{} {code:#x} to {}: {result}, not {right}",
                    format.0,
                    to.name()
                );
            }
        }
    }
}

#[test]
fn others_are_rounded_to_small_floats() {
    for format in FORMATS {
        let mut numbers: Vec<(f64, u32)> = (0..256)
            .map(|code| (decoded(format, code), code))
            .filter(|(x, _)| x.is_finite() && !x.is_sign_negative())
            .collect();
        numbers.sort_by(|a, b| a.0.total_cmp(&b.0));
        for from in [Bits::F16, Bits::Bf16, Bits::F32, Bits::F64] {
            let inputs = ladder(from);
            let bytes = [bytes_of(&inputs, from.bytes())];
            let output =
                apply("convert", &[from.name()], format.0, inputs.len(), &bytes, inputs.len() as u64);
            let output = output.unwrap_or_else(|reason| panic!("{} to {}: {reason}", from.name(), format.0));
            for (input, code) in inputs.into_iter().zip(output) {
                let x = from.decode(input);
                // Numbers below 2^-126 are skipped, because XLA rounds them differently from all others.
                if format.4 == 'p' && x.abs() < f64::powi(2.0, -126) && x != 0.0 {
                    continue;
                }
                // XLA converts an f64 to f32 first.
                let x = if from == Bits::F64 && matches!(format.0, "f8e4m3fn" | "f8e5m2") {
                    f64::from(x as f32)
                } else {
                    x
                };
                let (result, right) = (decoded(format, u32::from(code)), nearest(format, &numbers, x));
                assert!(
                    same(result, right),
                    "{} {x:e} to {}: {result:e}, not {right:e}",
                    from.name(),
                    format.0
                );
            }
        }
    }
}

/// Rounds to this many bits of mantissa; subnormal numbers become zero.
fn reduced(x: f64, exponent: i32, mantissa: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let reach = 1 << (exponent - 1);
    // Scales away from the subnormal numbers of f64, which are rounded themselves.
    let (size, shift) = if x.abs() < 1e-200 { (x.abs() * f64::powi(2.0, 600), 600) } else { (x.abs(), 0) };
    let top = (size.to_bits() >> 52) as i32 - 1023;
    let unit = f64::powi(2.0, top - mantissa);
    let rounded = (size / unit).round_ties_even() * unit * f64::powi(2.0, -shift);
    let cut = if rounded < f64::powi(2.0, 2 - reach) { 0.0 } else { rounded };
    if cut >= f64::powi(2.0, reach) { f64::INFINITY.copysign(x) } else { cut.copysign(x) }
}

#[test]
fn precision_is_reduced() {
    for bits in [Bits::F16, Bits::Bf16, Bits::F32, Bits::F64] {
        for (exponent, mantissa) in [(5, 2), (4, 3), (3, 1), (5, 6)] {
            // With the same number of exponent bits, subnormal numbers are unchanged.
            if bits == Bits::F16 && exponent == 5 {
                continue;
            }
            let op = format!("reduce-precision exponent_bits={exponent}, mantissa_bits={mantissa}");
            let found = worst(&op, bits, &[ladder(bits)], |x| reduced(x[0], exponent, mantissa), 0.0);
            assert!(found.ulp == 0.0, "{op} {}: {found:?}", bits.name());
        }
    }
}
