//! Precisions of operands, and algorithms of dots.

use ir::AttributeValue;

use super::{Context, Proto};
use crate::scan::Scanner;

const PRECISIONS: &[&str] = &["default", "high", "highest"];

/// By their numbers. Source: XLA `xla_data.proto` PrecisionConfig.Algorithm.
pub(super) const ALGORITHMS: &[&str] = &[
    "unset",
    "dot_any_f8_any_f8_f32",
    "dot_any_f8_any_f8_f32_fast_accum",
    "dot_f16_f16_f16",
    "dot_f16_f16_f32",
    "dot_bf16_bf16_bf16",
    "dot_bf16_bf16_f32",
    "dot_bf16_bf16_f32_x3",
    "dot_bf16_bf16_f32_x6",
    "dot_tf32_tf32_f32",
    "dot_tf32_tf32_f32_x3",
    "dot_f32_f32_f32",
    "dot_f64_f64_f64",
    "dot_bf16_bf16_f32_x9",
    "dot_bf16_bf16_fp8x3",
    "dot_bf16_bf16_fp8x4",
];

pub(super) fn take(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let precisions = &mut proto.precision_config.as_mut()?.operand_precision;
    let words: Option<Vec<&str>> =
        precisions.iter().map(|&n| PRECISIONS.get(usize::try_from(n).ok()?).copied()).collect();
    let words = words?;
    let is_default = precisions.iter().all(|&precision| precision == 0);
    precisions.clear();
    (!is_default).then(|| AttributeValue::Text(format!("{{{}}}", words.join(","))))
}

pub(super) fn put(proto: &mut Proto, value: &AttributeValue, _: &mut Context<'_>) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    let words = Scanner::new(text).list('{', '}', Scanner::word).map_err(|_| String::new())?;
    let number = |word: &str| match PRECISIONS.iter().position(|known| known.eq_ignore_ascii_case(word)) {
        Some(number) => Ok(number as i32),
        None => Err(format!("operand_precision={word} has no number in XLA's messages")),
    };
    let numbers: Result<Vec<i32>, String> = words.into_iter().map(number).collect();
    proto.precision_config.get_or_insert_default().operand_precision = numbers?;
    Ok(())
}
