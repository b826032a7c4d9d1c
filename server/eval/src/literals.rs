//! Parses and prints literals.

use ir::{Op, complex_parts, literal_elements};

use super::column::{Column, Values};
use super::evaluator::kind_of;
use super::positions::{array, count};
use super::types::Kind;
use crate::checks::Checked;

/// All elements of a constant, in row-major order.
pub(crate) fn constant(op: &Op) -> Checked<Column> {
    let text = op.literal.as_deref().ok_or("the constant has no text")?;
    parse(text, &op.shape)
}

/// The elements of a literal for an array shape.
pub fn parse(text: &str, shape: &ir::Shape) -> Checked<Column> {
    let kind = kind_of(shape)?;
    let wanted = count(array(shape)?);
    let words = literal_elements(text);
    let wrong = |word: &str| format!("{word} is no element of a constant");
    let result = match kind {
        Kind::Complex { .. } => {
            let parts = |word| {
                let (re, im) = complex_parts(word)?;
                Some([kind.round(real(re)?), kind.round(real(im)?)])
            };
            let values = words.map(|word| parts(word).ok_or_else(|| wrong(word)));
            Column::complex(kind, values.collect::<Result<_, _>>()?)
        }
        _ if kind.is_integral() => {
            let values = words.map(|word| whole(word, kind).ok_or_else(|| wrong(word)));
            Column::int(kind, values.collect::<Result<_, _>>()?)
        }
        _ => {
            let values = words.map(|word| real(word).map(|x| kind.round(x)).ok_or_else(|| wrong(word)));
            Column::real(kind, values.collect::<Result<_, _>>()?)
        }
    };
    if result.len() as i64 != wanted {
        return Err(format!("the constant has {} elements of {wanted}", result.len()).into());
    }
    Ok(result)
}

fn whole(word: &str, kind: Kind) -> Option<i64> {
    match word {
        "true" => Some(1),
        "false" => Some(0),
        _ => match word.parse::<i64>() {
            Ok(value) => Some(kind.wrap(value)),
            Err(_) => word.parse::<u64>().ok().map(|value| value as i64),
        },
    }
}

fn real(word: &str) -> Option<f64> {
    match word {
        "nan" => Some(f64::NAN),
        "-nan" => Some(-f64::NAN),
        "inf" => Some(f64::INFINITY),
        "-inf" => Some(f64::NEG_INFINITY),
        _ if word.starts_with("nan(") || word.starts_with("-nan(") => Some(f64::NAN),
        _ if word.starts_with("0x") || word.starts_with("-0x") => hexadecimal(word),
        _ => word.parse().ok(),
    }
}

/// `0x1.8p3`.
fn hexadecimal(word: &str) -> Option<f64> {
    let (is_negative, digits) = match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    let (mantissa, exponent) = digits.strip_prefix("0x")?.split_once('p')?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digit = |value: f64, c: char| Some(value * 16.0 + f64::from(c.to_digit(16)?));
    let value = whole.chars().chain(fraction.chars()).try_fold(0.0, digit)?;
    let exponent: i32 = exponent.parse().ok()?;
    let scale = exponent.checked_sub(4 * i32::try_from(fraction.len()).ok()?)?;
    let value = value * 2f64.powi(scale);
    Some(if is_negative { -value } else { value })
}

/// A whole array as a literal: `{{1, 2}, {3, 4}}`.
pub fn print(column: &Column, dims: &[i64]) -> String {
    let mut text = String::new();
    let mut next = 0;
    nested(column, dims, &mut next, &mut text);
    text
}

fn nested(column: &Column, dims: &[i64], next: &mut usize, text: &mut String) {
    let Some((&size, inner)) = dims.split_first() else {
        if *next < column.len() {
            *text += &element(column, *next);
        }
        *next += 1;
        return;
    };
    text.push('{');
    for i in 0..size {
        if i > 0 {
            *text += ", ";
        }
        nested(column, inner, next, text);
    }
    text.push('}');
}

/// Element `i` as in a literal.
pub(crate) fn element(column: &Column, i: usize) -> String {
    let float = |x: f64, is_wide: bool| {
        // With an exponent if there would be many zeros.
        let is_plain = x == 0.0 || (1e-5..1e16).contains(&x.abs());
        match x {
            _ if x.is_nan() => "nan".to_owned(),
            _ if x.is_infinite() => if x > 0.0 { "inf" } else { "-inf" }.to_owned(),
            _ if is_wide && is_plain => x.to_string(),
            _ if is_wide => format!("{x:e}"),
            // The shortest text that reads back as this 32-bit float; shorter formats are a subset.
            _ if is_plain => (x as f32).to_string(),
            _ => format!("{:e}", x as f32),
        }
    };
    match &column.values {
        Values::Int(v) if column.kind == Kind::Pred => (v[i] != 0).to_string(),
        Values::Int(v) if column.kind == Kind::Unsigned(64) => (v[i] as u64).to_string(),
        Values::Int(v) => v[i].to_string(),
        Values::Real(v) => float(v[i], column.kind == Kind::F64),
        Values::Complex(v) => {
            let is_wide = column.kind.width() == 128;
            format!("({}, {})", float(v[i][0], is_wide), float(v[i][1], is_wide))
        }
    }
}
