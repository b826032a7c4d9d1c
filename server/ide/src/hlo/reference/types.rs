//! Element types: range, precision, special values.

use ir::{ElementType, ElementTypeExt};

use crate::rich_text::{Line, RichText, code, page_link, parts};

/// One element type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypeReference {
    pub(super) element: ElementType,
    summary: &'static str,
}

const fn row(element: ElementType, summary: &'static str) -> TypeReference {
    TypeReference { element, summary }
}

pub(super) const ROWS: &[TypeReference] = &[
    row(ElementType::Pred, "true or false; a byte in memory"),
    row(ElementType::S1, "signed integer: -1 to 0"),
    row(ElementType::S2, "signed integer: -2 to 1"),
    row(ElementType::S4, "signed integer: -8 to 7"),
    row(ElementType::S8, "signed integer: -128 to 127"),
    row(ElementType::S16, "signed integer: -32768 to 32767"),
    row(ElementType::S32, "signed integer: -2³¹ to 2³¹ - 1"),
    row(ElementType::S64, "signed integer: -2⁶³ to 2⁶³ - 1"),
    row(ElementType::U1, "unsigned integer: 0 to 1"),
    row(ElementType::U2, "unsigned integer: 0 to 3"),
    row(ElementType::U4, "unsigned integer: 0 to 15"),
    row(ElementType::U8, "unsigned integer: 0 to 255"),
    row(ElementType::U16, "unsigned integer: 0 to 65535"),
    row(ElementType::U32, "unsigned integer: 0 to 2³² - 1"),
    row(ElementType::U64, "unsigned integer: 0 to 2⁶⁴ - 1"),
    row(
        ElementType::F4e2m1fn,
        "float, exponent 2, mantissa 1: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives; no infinity, no NaN (MXFP4)",
    ),
    row(ElementType::F6e2m3fn, "float, exponent 2, mantissa 3: up to 7.5; no infinity, no NaN (MXFP6)"),
    row(ElementType::F6e3m2fn, "float, exponent 3, mantissa 2: up to 28; no infinity, no NaN (MXFP6)"),
    row(ElementType::F8e3m4, "float, exponent 3, mantissa 4: up to 15.5; with infinity and NaN"),
    row(ElementType::F8e4m3, "float, exponent 4, mantissa 3: up to 240; with infinity and NaN"),
    row(
        ElementType::F8e4m3b11fnuz,
        "float, exponent 4 (bias 11), mantissa 3: up to 30; no infinity, no -0, one NaN",
    ),
    row(
        ElementType::F8e4m3fn,
        "float, exponent 4, mantissa 3: up to 448; no infinity (FP8 of recent GPUs, forward)",
    ),
    row(
        ElementType::F8e4m3fnuz,
        "float, exponent 4 (bias 8), mantissa 3: up to 240; no infinity, no -0, one NaN",
    ),
    row(
        ElementType::F8e5m2,
        "float, exponent 5, mantissa 2: up to 57344; with infinity and NaN (FP8 of gradients)",
    ),
    row(
        ElementType::F8e5m2fnuz,
        "float, exponent 5 (bias 16), mantissa 2: up to 57344; no infinity, no -0, one NaN",
    ),
    row(ElementType::F8e8m0fnu, "power of two, 2⁻¹²⁷ to 2¹²⁷; no sign, no zero (scale of MX blocks)"),
    row(ElementType::F16, "IEEE half: exponent 5, mantissa 10: up to 65504, about 3 digits"),
    row(ElementType::Bf16, "bfloat16: exponent 8, mantissa 7: the range of f32, about 2 digits"),
    row(ElementType::F32, "IEEE single: exponent 8, mantissa 23: up to 3.4·10³⁸, about 7 digits"),
    row(ElementType::F64, "IEEE double: exponent 11, mantissa 52: up to 1.8·10³⁰⁸, about 16 digits"),
    row(ElementType::C64, "complex number of two f32"),
    row(ElementType::C128, "complex number of two f64"),
    row(ElementType::Token, "no data: orders side effects"),
    row(ElementType::Opaque, "a value that only its maker understands"),
];

/// `32 bits, IEEE single: …`
pub(super) fn summary(row: &TypeReference) -> String {
    match row.element.bits() {
        Some(1) => format!("1 bit, {}", row.summary),
        Some(bits) => format!("{bits} bits, {}", row.summary),
        None => row.summary.to_owned(),
    }
}

pub(super) fn reference(row: &TypeReference) -> RichText {
    let packing = match row.element.bits() {
        Some(bits) if bits < 8 => "Takes a byte in memory unless the layout says `E(bits)`. ",
        _ => "",
    };
    let mut text = RichText::default();
    text.paragraph(parts![code(row.element.name()), ": ", summary(row)]);
    let link = page_link("reference", "https://openxla.org/xla/shapes");
    text.line(parts![Line::documentation(packing), link]);
    text
}
