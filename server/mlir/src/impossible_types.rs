//! Types that are impossible in any MLIR text: extents without an `x` between them, floats of 31 bits,
//! unknown builtin types.
//!
//! Source: `mlir/lib/AsmParser/TypeParser.cpp`, `mlir/include/mlir/IR/BuiltinTypes.td`.

use crate::array_type::element_type;

/// The error in a type; `None` if it may be valid. A word that is not an array is only checked if `is_type`
/// says that it must be a builtin type, because dialects omit the sigil of their types inside their own ops.
pub(crate) fn impossible(ty: &str, is_type: bool) -> Option<String> {
    let ty = ty.trim();
    if is_scalar(ty) {
        return None;
    }
    if let Some(element) = element_type(ty) {
        if !is_word(element) || is_scalar(element) {
            return None;
        }
        let is_number = element.bytes().all(|b| b.is_ascii_digit());
        return Some(match is_number {
            true => format!("missing element type after extent {element}"),
            false => format!("there is no type {element}"),
        });
    }
    let end = ty.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(ty.len());
    let (head, body) = ty.split_at(end);
    let is_builtin = matches!(head, "tensor" | "memref" | "vector" | "complex" | "tuple" | "none");
    let may_be = is_builtin || body.is_empty() && is_scalar(head) || !is_word(head);
    let is_whole = body.is_empty() || body.starts_with('<');
    (is_type && is_whole && !may_be).then(|| format!("there is no type {head}"))
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Whether a word is a builtin type without brackets.
pub(crate) fn is_scalar(word: &str) -> bool {
    if matches!(word, "index" | "none" | "bf16" | "f16" | "tf32" | "f32" | "f64" | "f80" | "f128") {
        return true;
    }
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    let is_integer = ["i", "si", "ui"].iter().any(|sign| word.strip_prefix(sign).is_some_and(digits));
    // `f8E4M3FN`: the bits, those of the exponent, those of the mantissa, and which values are not finite.
    let is_small_float = || {
        let (bits, rest) = word.strip_prefix('f')?.split_once('E')?;
        let (exponent, rest) = rest.split_once('M')?;
        let mantissa = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let is_one = matches!(bits, "4" | "6" | "8") && digits(exponent) && mantissa > 0;
        Some(is_one && rest[mantissa..].bytes().all(|b| b.is_ascii_alphanumeric()))
    };
    is_integer || is_small_float().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_that_cannot_be() {
        let is_wrong = |ty: &str| impossible(ty, true).is_some();
        for ty in [
            "tensor<8x64xf31>",
            "tensor<8,64xf32>",
            "tensr<8x64xf32>",
            "f31",
            "vector<4xfloat>",
            "i",
            "memref<8 x bf32, strided<[1]>>",
        ] {
            assert!(is_wrong(ty), "{ty}");
        }
        for ty in [
            "tensor<8x64xf32>",
            "tensor<*xui4>",
            "tensor<?x3xf8E4M3B11FNUZ, #enc<a, b>>",
            "vector<[4]x2xcomplex<f64>>",
            "memref<2x!llvm.ptr>",
            "memref<index>",
            "tuple<tensor<f32>, i1>",
            "!x.y<f31>",
            "(i1) -> f31",
            "f4E2M1FN",
            "none",
        ] {
            assert!(!is_wrong(ty), "{ty}");
        }
        assert_eq!(impossible("ptr", false), None);
    }
}
