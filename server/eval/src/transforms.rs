//! `fft`: discrete Fourier transforms of any length, over the last one to three dimensions. Semantics: XLA
//! "Operation Semantics"; the inverse divides by the length, the real ones hold the first half of the
//! frequencies.

use std::f64::consts::PI;

use ir::AttributeKey;

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of};
use super::positions::{array, count};
use super::types::Kind;
use crate::checks::{Checked, ensure};

type Number = [f64; 2];

pub(crate) fn fft(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let (from, to) = (array(asked.operand_shape(0)?)?, array(&asked.op.shape)?);
    let kind = kind_of(&asked.op.shape)?;
    let lengths: Vec<usize> = asked
        .op
        .attributes
        .ints(AttributeKey::FftLength)
        .iter()
        .map(|&n| usize::try_from(n).ok().filter(|&n| n <= 1 << 24))
        .collect::<Option<_>>()
        .ok_or("fft_length is not a length")?;
    let (last, outer) = lengths.split_last().ok_or("fft_length is missing")?;
    let half = last / 2 + 1;
    let (is_inverse, width_before, width_after) = match asked.op.attributes.text(AttributeKey::FftType) {
        Some("FFT") | None => (false, *last, *last),
        Some("IFFT") => (true, *last, *last),
        Some("RFFT") => (false, *last, half),
        Some("IRFFT") => (true, half, *last),
        Some(other) => return Err(format!("a transform {other} is not evaluated").into()),
    };
    let (is_from_real, is_to_real) = (width_before > width_after, kind.is_float());
    let sizes = |width: usize| outer.iter().copied().chain([width]).map(|n| n as i64).collect::<Vec<_>>();
    ensure(
        from.dims.ends_with(&sizes(width_before)) && to.dims.ends_with(&sizes(width_after)),
        "fft_length does not fit the shapes",
    )?;
    if count(to) == 0 {
        return Ok(Column::none(kind));
    }
    let operand = evaluator.held(asked.frame, asked.operand(0)?, 0)?;
    let mut data: Vec<Number> = match operand.complexes() {
        [] => operand.reals().iter().map(|&re| [re, 0.0]).collect(),
        numbers => numbers.to_vec(),
    };
    ensure(data.len() as i64 == count(from), "the operand has no numbers")?;
    let block: usize = outer.iter().product::<usize>() * width_before;
    // The error bound of a transform is relative to the norm of its input.
    let norms: Vec<(f64, bool)> = (0..data.len() / block)
        .map(|b| {
            let range = b * block..(b + 1) * block;
            let exact = range.clone().all(|i| operand.error_at(i) == 0.0);
            (data[range].iter().map(|[re, im]| re * re + im * im).sum::<f64>().sqrt(), exact)
        })
        .collect();
    let along = |evaluator: &mut Evaluator<'_>, data: &mut Vec<Number>, width: usize| -> Checked<()> {
        let mut stride = width;
        for &length in outer.iter().rev() {
            strided(evaluator, data, (length, stride), is_inverse)?;
            stride *= length;
        }
        Ok(())
    };
    if is_to_real {
        along(evaluator, &mut data, half)?;
        data = mirrored(&data, *last);
        strided(evaluator, &mut data, (*last, 1), true)?;
    } else {
        strided(evaluator, &mut data, (*last, 1), is_inverse)?;
        if is_from_real {
            data = data.chunks(*last).flat_map(|row| row[..half].to_vec()).collect();
        }
        along(evaluator, &mut data, width_after)?;
    }
    let total = lengths.iter().product::<usize>();
    let digits = (total as f64).log2() + 2.0;
    let scale = if is_inverse { 1.0 / total as f64 } else { 1.0 };
    let unit = kind.unit();
    let mirror = if is_to_real { 2.0 } else { 1.0 };
    let block = outer.iter().product::<usize>() * width_after;
    let error = |i: usize| {
        let (norm, exact) = norms[i / block];
        // ‖x‖₁ ≤ √n ‖x‖₂; each of log n steps rounds some products.
        let bound = 8.0 * unit * digits * (total as f64).sqrt() * norm * scale * mirror + kind.tiny();
        if exact && bound.is_finite() { bound } else { f64::INFINITY }
    };
    let error = Some((0..data.len()).map(error).collect());
    let round = |x: f64| kind.round(x * scale);
    Ok(match kind {
        Kind::Complex { .. } => Column {
            error,
            ..Column::complex(kind, data.iter().map(|&[re, im]| [round(re), round(im)]).collect())
        },
        _ => Column { error, ..Column::real(kind, data.iter().map(|&[re, _]| round(re)).collect()) },
    })
}

/// All frequencies of real rows from the first half of them. The imaginary parts of the first one and, for
/// even lengths, of the last one are ignored.
fn mirrored(data: &[Number], length: usize) -> Vec<Number> {
    let half = length / 2 + 1;
    let whole = |row: &[Number]| {
        (0..length)
            .map(|k| match k {
                0 => [row[0][0], 0.0],
                k if 2 * k == length => [row[k][0], 0.0],
                k if k < half => row[k],
                k => [row[length - k][0], -row[length - k][1]],
            })
            .collect::<Vec<_>>()
    };
    data.chunks(half).flat_map(whole).collect()
}

/// Transforms every row of `length` elements that are `stride` apart, without the inverse's factor.
fn strided(
    evaluator: &mut Evaluator<'_>,
    data: &mut [Number],
    (length, stride): (usize, usize),
    is_inverse: bool,
) -> Checked<()> {
    let factors = prime_factors(length);
    evaluator.spend(data.len().saturating_mul(factors.iter().sum::<usize>().max(1)))?;
    let sign = if is_inverse { 1.0 } else { -1.0 };
    let roots: Vec<Number> = (0..length).map(|k| root_of_unity(k, length, sign)).collect();
    for start in (0..data.len()).filter(|i| i / stride % length == 0) {
        let row: Vec<Number> = (0..length).map(|k| data[start + k * stride]).collect();
        let row = transformed(&row, &factors, &roots, 1);
        row.into_iter().enumerate().for_each(|(k, value)| data[start + k * stride] = value);
    }
    Ok(())
}

/// e^(±2πik/n). Multiples of an eighth turn are reduced, so that they are exact where possible.
fn root_of_unity(k: usize, n: usize, sign: f64) -> Number {
    let eighths = 8 * k / n;
    let rest = (8 * k) as f64 / n as f64 - eighths as f64;
    // Angles from the nearest quarter turn, of at most an eighth.
    let (quarters, angle) = match eighths % 2 {
        0 => (eighths / 2, rest * PI / 4.0),
        _ => (eighths / 2 + 1, (rest - 1.0) * PI / 4.0),
    };
    let (sine, cosine) = angle.sin_cos();
    let [re, im] = match quarters % 4 {
        0 => [cosine, sine],
        1 => [-sine, cosine],
        2 => [-cosine, -sine],
        _ => [sine, -cosine],
    };
    [re, sign * im]
}

fn prime_factors(mut n: usize) -> Vec<usize> {
    let (mut factors, mut p) = (Vec::new(), 2);
    while n > 1 {
        if p * p > n {
            p = n;
        }
        while n.is_multiple_of(p) {
            factors.push(p);
            n /= p;
        }
        p += 1;
    }
    factors
}

/// Decimation in time: combines the transforms of every p-th element. At most 24 deep, one level per factor.
fn transformed(row: &[Number], factors: &[usize], roots: &[Number], step: usize) -> Vec<Number> {
    let Some((&p, rest)) = factors.split_first() else { return row.to_vec() };
    let (n, m) = (row.len(), row.len() / p);
    let parts: Vec<Vec<Number>> = (0..p)
        .map(|r| {
            let part: Vec<Number> = (0..m).map(|k| row[k * p + r]).collect();
            transformed(&part, rest, roots, step * p)
        })
        .collect();
    (0..n)
        .map(|k| {
            let terms = parts.iter().enumerate().map(|(r, part)| {
                let ([a, b], [c, d]) = (part[k % m], roots[r * k % n * step]);
                [a * c - b * d, a * d + b * c]
            });
            terms.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]])
        })
        .collect()
}
