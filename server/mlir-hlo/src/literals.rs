//! Constants: `dense<…>` of MLIR and literals of HLO, both ways, element by element.

use std::fmt;

use ir::{ArrayShape, ElementType, ElementTypeExt};

use crate::floats::{largest_part, number_of_bits, part_bits, shortened, special_bits, with_point};

/// A constant as HLO has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Literal {
    /// All elements are this one.
    Splat(String),
    /// Every element, in the braces of its dimensions.
    Whole(String),
}

/// Why a constant of one language has no literal in the other. Its `Display` is what users read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LiteralError {
    NotDense,
    /// The closing bracket of this part is missing.
    Unterminated(&'static str),
    TooManyElements,
    /// A payload in bytes has another length than the type, or is not hexadecimal.
    OtherBytes,
    NotComplex,
    /// The text is not a number of the element type.
    NotANumber(String),
    /// The element type has no value of this name, such as an infinity.
    NoSuchValue(String, ElementType),
    TooDeep,
    /// `{...}`
    LeftOut,
    OtherCount,
}

impl LiteralError {
    fn number(text: &str) -> LiteralError {
        LiteralError::NotANumber(text.chars().take(40).collect())
    }
}

impl fmt::Display for LiteralError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LiteralError::NotDense => f.write_str("its value is no dense list of numbers"),
            LiteralError::Unterminated(part) => write!(f, "{part} does not end"),
            LiteralError::TooManyElements => f.write_str("it has too many elements"),
            LiteralError::OtherBytes => f.write_str("its bytes are not those of its type"),
            LiteralError::NotComplex => f.write_str("a complex number has two parts"),
            LiteralError::NotANumber(text) => write!(f, "{text} is no number"),
            LiteralError::NoSuchValue(text, element) => write!(f, "{text} is no {element}"),
            LiteralError::TooDeep => f.write_str("its value is deeper than its shape"),
            LiteralError::LeftOut => f.write_str("its elements are left out of the text"),
            LiteralError::OtherCount => f.write_str("its value has not as many elements as its shape"),
        }
    }
}

/// The most elements of a literal; a larger one is printed as `{...}`.
pub(crate) const MAX_ELEMENTS: i64 = 1 << 24;

/// The literal of `dense<…>`, with or without its type, and of the number `4 : i32`.
pub(crate) fn literal_of_dense(value: &str, array: &ArrayShape) -> Result<Literal, LiteralError> {
    let value = value.trim();
    let is_number =
        value.starts_with(|c: char| c.is_ascii_digit() || c == '-') || matches!(value, "true" | "false");
    if is_number && array.rank() == 0 {
        let number = value.split(':').next().unwrap_or_default();
        return Ok(Literal::Whole(element(number.trim(), array.element)?));
    }
    let body = value.strip_prefix("dense<").ok_or(LiteralError::NotDense)?;
    let end = body.find('>').ok_or(LiteralError::Unterminated("its value"))?;
    let body = body[..end].trim();
    let count = array.elements().filter(|&n| n <= MAX_ELEMENTS).ok_or(LiteralError::TooManyElements)?;
    if count == 0 {
        return Ok(Literal::Whole(nest(array, |_| String::new())));
    }
    if let Some(hex) = body.strip_prefix("\"0x").and_then(|b| b.strip_suffix('"')) {
        return literal_of_bytes(hex, array);
    }
    if body.starts_with('[') {
        return Ok(Literal::Whole(list(body, array)?));
    }
    let number = element(body, array.element)?;
    Ok(match array.rank() {
        0 => Literal::Whole(number),
        _ => Literal::Splat(number),
    })
}

/// The elements in memory order, two letters a byte: the payload of `dense<"0x…">` and of resources.
pub(crate) fn literal_of_bytes(hex: &str, array: &ArrayShape) -> Result<Literal, LiteralError> {
    let count =
        array.elements().filter(|&n| n <= MAX_ELEMENTS).ok_or(LiteralError::TooManyElements)? as usize;
    let parts = if array.element.is_complex() { 2 } else { 1 };
    let width = part_bits(array.element).div_ceil(8) as usize;
    let bytes = hex.len() / 2;
    let is_packed = array.element == ElementType::Pred && bytes == count.div_ceil(8) && bytes != count;
    let is_splat = !is_packed && bytes == width * parts && count > 1;
    if width == 0
        || !hex.len().is_multiple_of(2)
        || !(is_packed || is_splat || bytes == width * parts * count)
    {
        return Err(LiteralError::OtherBytes);
    }
    let byte = |at: usize| hex.get(2 * at..2 * at + 2).and_then(|b| u8::from_str_radix(b, 16).ok());
    if (0..bytes).any(|at| byte(at).is_none()) {
        return Err(LiteralError::OtherBytes);
    }
    let part = |at: usize| {
        let bits =
            (0..width).rev().fold(0u64, |bits, i| bits << 8 | u64::from(byte(at * width + i).unwrap_or(0)));
        number_of_bits(bits, array.element)
    };
    let number = |at: usize| match (is_packed, parts) {
        (true, _) => (byte(at / 8).unwrap_or(0) >> (at % 8) & 1).to_string(),
        (_, 2) => format!("({}, {})", part(2 * at), part(2 * at + 1)),
        _ => part(at),
    };
    Ok(match is_splat {
        true => Literal::Splat(number(0)),
        false => Literal::Whole(nest(array, number)),
    })
}

/// `[[1, 2], [3, 4]]` as `{ {1, 2}, {3, 4} }`.
fn list(body: &str, array: &ArrayShape) -> Result<String, LiteralError> {
    let mut out = String::with_capacity(body.len());
    let bytes = body.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'[' => out.push('{'),
            b']' => out.push('}'),
            b',' => out.push_str(", "),
            b' ' | b'\n' | b'\t' | b'\r' => {}
            b'(' => {
                let end = body[at..].find(')').ok_or(LiteralError::Unterminated("a complex number"))? + at;
                out.push_str(&element(&body[at..=end], array.element)?);
                at = end;
            }
            _ => {
                let end = body[at..].find([',', ']']).map_or(body.len(), |n| at + n);
                out.push_str(&element(body[at..end].trim(), array.element)?);
                at = end;
                continue;
            }
        }
        at += 1;
    }
    Ok(out)
}

/// One element of MLIR as one of HLO.
fn element(text: &str, element: ElementType) -> Result<String, LiteralError> {
    if let Some(parts) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        let (real, imaginary) = parts.split_once(',').ok_or(LiteralError::NotComplex)?;
        return Ok(format!(
            "({}, {})",
            real_part(real.trim(), element)?,
            real_part(imaginary.trim(), element)?
        ));
    }
    match element.is_complex() {
        true => Err(LiteralError::NotComplex),
        false => real_part(text, element),
    }
}

fn real_part(text: &str, element: ElementType) -> Result<String, LiteralError> {
    let broken = || LiteralError::number(text);
    match text {
        "true" => return Ok("1".to_owned()),
        "false" => return Ok("0".to_owned()),
        _ => {}
    }
    let is_real = element.is_floating() || element.is_complex();
    if let Some(digits) = text.strip_prefix("0x") {
        let bits = u64::from_str_radix(digits, 16).map_err(|_| broken())?;
        return Ok(if is_real { number_of_bits(bits, element) } else { bits.to_string() });
    }
    match is_real {
        true => {
            let value = text.parse::<f64>().map_err(|_| broken())?;
            Ok(match element {
                ElementType::C64 => largest_part(value, || shortened(text)),
                _ => shortened(text),
            })
        }
        false => text.parse::<i128>().map(|n| n.to_string()).map_err(|_| broken()),
    }
}

/// The elements, in the order of memory, in the braces of the dimensions. What has none is as deep as its first dimension of
/// no extent. Elements, or empty braces, are at most [`MAX_ELEMENTS`].
fn nest(array: &ArrayShape, number: impl Fn(usize) -> String) -> String {
    let zero = array.dims.iter().position(|&d| d == 0);
    let dims = &array.dims[..zero.unwrap_or(array.rank())];
    let mut strides: Vec<usize> = Vec::with_capacity(dims.len());
    for &dim in dims.iter().rev() {
        let inner = strides.last().copied().unwrap_or(1);
        match inner.checked_mul(dim as usize).filter(|&n| n <= MAX_ELEMENTS as usize) {
            Some(stride) => strides.push(stride),
            None => return "{}".to_owned(),
        }
    }
    let count = strides.last().copied().unwrap_or(1);
    let mut out = String::new();
    for at in 0..count {
        if at > 0 {
            out.push_str(", ");
        }
        strides.iter().filter(|&&stride| at % stride == 0).for_each(|_| out.push('{'));
        match zero {
            Some(_) => out.push_str("{}"),
            None => out.push_str(&number(at)),
        }
        strides.iter().filter(|&&stride| (at + 1) % stride == 0).for_each(|_| out.push('}'));
    }
    out
}

/// `dense<…>`, without its type, of a literal of HLO. Elements that the text leaves out are a reason for none.
pub(crate) fn dense_of_literal(literal: &str, array: &ArrayShape) -> Result<String, LiteralError> {
    if array.elements() == Some(0) {
        return Ok("dense<>".to_owned());
    }
    let mut out = "dense<".to_owned();
    let bytes = literal.as_bytes();
    let mut at = 0;
    let mut depth = 0usize;
    let mut numbers = 0i64;
    while at < bytes.len() {
        match bytes[at] {
            b'{' if depth >= array.rank() => return Err(LiteralError::TooDeep),
            b'{' => {
                out.push('[');
                depth += 1;
            }
            b'}' => {
                out.push(']');
                depth = depth.saturating_sub(1);
            }
            b',' => out.push_str(", "),
            b'/' => {
                let end = literal[at..].find("*/").ok_or(LiteralError::Unterminated("a comment"))?;
                at += end + 1;
            }
            c if c.is_ascii_whitespace() => {}
            b'(' => {
                let end = literal[at..].find(')').ok_or(LiteralError::Unterminated("a complex number"))? + at;
                let (real, imaginary) =
                    literal[at + 1..end].split_once(',').ok_or(LiteralError::NotComplex)?;
                let part = |text: &str| mlir_number(text.trim(), array.element);
                out.push_str(&format!("({}, {})", part(real)?, part(imaginary)?));
                numbers += 1;
                at = end;
            }
            _ => {
                let end = literal[at..].find([',', '}', '/', ' ', '\n']).map_or(bytes.len(), |n| at + n);
                let word = &literal[at..end];
                if word == "..." {
                    return Err(LiteralError::LeftOut);
                }
                out.push_str(&mlir_number(word, array.element)?);
                numbers += 1;
                at = end;
                continue;
            }
        }
        at += 1;
    }
    match array.elements() == Some(numbers) {
        true => Ok(out + ">"),
        false => Err(LiteralError::OtherCount),
    }
}

fn mlir_number(word: &str, element: ElementType) -> Result<String, LiteralError> {
    let broken = || LiteralError::number(word);
    if element == ElementType::Pred {
        let is_true = word == "true" || word != "false" && word.parse::<i64>().map_err(|_| broken())? != 0;
        return Ok(is_true.to_string());
    }
    if !(element.is_floating() || element.is_complex()) {
        let value: i128 = match word {
            "true" => 1,
            "false" => 0,
            _ => word.parse().map_err(|_| broken())?,
        };
        // A pattern of 64 bits: -1 is the largest number without sign.
        let wrapped = element.is_unsigned_integer() && value < 0;
        let width = element.bits().unwrap_or(64).min(64);
        return Ok(if wrapped { (value & ((1i128 << width) - 1)).to_string() } else { value.to_string() });
    }
    let (is_negative, magnitude) = match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    let is_nan = magnitude.starts_with("nan");
    if is_nan || magnitude == "inf" {
        let payload = magnitude.strip_prefix("nan(0x").and_then(|p| p.strip_suffix(')'));
        let payload = payload.and_then(|p| u64::from_str_radix(p, 16).ok()).unwrap_or(0);
        let bits = special_bits(element, is_negative, is_nan, payload);
        let digits = (part_bits(element) as usize).div_ceil(4);
        return bits
            .map(|bits| format!("0x{bits:0digits$X}"))
            .ok_or_else(|| LiteralError::NoSuchValue(word.to_owned(), element));
    }
    word.parse::<f64>().map_err(|_| broken())?;
    Ok(with_point(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(element: ElementType, dims: &[i64]) -> ArrayShape {
        ArrayShape { element, dims: dims.to_vec(), dynamic: Vec::new(), layout: None }
    }

    fn whole(text: &str) -> Result<Literal, LiteralError> {
        Ok(Literal::Whole(text.to_owned()))
    }

    #[test]
    fn lists_splats_and_bytes() {
        use ElementType::*;
        let check = |value, element, dims: &[i64], expect| {
            assert_eq!(literal_of_dense(value, &shape(element, dims)), expect, "{value}");
        };
        check("dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>", S32, &[2, 2], whole("{{1, 2}, {3, 4}}"));
        check("dense<1.000000e+00> : tensor<f32>", F32, &[], whole("1"));
        check("dense<0xFF800000> : tensor<4xf32>", F32, &[4], Ok(Literal::Splat("-inf".into())));
        check("dense<\"0x0000803F00000040\"> : tensor<2xf32>", F32, &[2], whole("{1, 2}"));
        check("dense<\"0x0000803F\">", F32, &[2, 3], Ok(Literal::Splat("1".into())));
        check(
            "dense<\"0x01020304050607080910111213141516\">",
            S8,
            &[2, 2, 4],
            whole("{{{1, 2, 3, 4}, {5, 6, 7, 8}}, {{9, 16, 17, 18}, {19, 20, 21, 22}}}"),
        );
        check("dense<\"0x05\">", Pred, &[3], whole("{1, 0, 1}"));
        check("dense<[(1.0, -2.0)]>", C64, &[1], whole("{(1, -2)}"));
        let largest = whole("{(-3.4028234663852886e38, inf)}");
        check("dense<\"0xFFFF7FFF0000807F\">", C64, &[1], largest.clone());
        check("dense<[(-3.40282347E+38, 0x7F800000)]>", C64, &[1], largest);
        check("dense<>", F32, &[0], whole("{}"));
        check("dense<>", F32, &[2, 0], whole("{{}, {}}"));
        check("dense<true>", Pred, &[], whole("1"));
        check("dense<\"0x01\">", S32, &[2], Err(LiteralError::OtherBytes));
    }

    #[test]
    fn literals_become_lists() {
        use ElementType::*;
        let check = |literal, element, dims: &[i64], expect: &str| {
            let dense = dense_of_literal(literal, &shape(element, dims));
            assert_eq!(dense.unwrap_or_else(|why| why.to_string()), expect, "{literal}");
        };
        check("{ { 1, 2 }, { 3, 4 } }", S32, &[2, 2], "dense<[[1, 2], [3, 4]]>");
        check("{ /*i0=0*/ {1e-05} }", F32, &[1, 1], "dense<[[1.0e-05]]>");
        check("-inf", Bf16, &[], "dense<0xFF80>");
        check("nan(0x1)", F32, &[], "dense<0x7F800001>");
        check("{-1}", U64, &[1], "dense<[18446744073709551615]>");
        check("{(1, 2)}", C128, &[1], "dense<[(1.0, 2.0)]>");
        check("{...}", F32, &[100], "its elements are left out of the text");
        check("5", F32, &[3], "its value has not as many elements as its shape");
        check("{{},{}}", F32, &[2, 0], "dense<>");
        check("1", Pred, &[], "dense<true>");
    }
}
