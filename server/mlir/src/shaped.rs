//! Array types: `tensor<4x?xf32, #encoding>`, `memref<…>`, `vector<…>`.

/// The parts of an array type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shaped<'t> {
    /// `tensor`, `memref` or `vector`.
    pub kind: &'t str,
    /// `None` if the rank is unknown: `tensor<*xf32>`. A dimension is `None` if its extent is dynamic.
    pub dimensions: Option<Vec<Option<u64>>>,
    /// `f32`, `complex<f32>`, `!quant.uniform<…>`.
    pub element: &'t str,
    /// The text after the first comma: an encoding, a layout.
    pub rest: &'t str,
}

/// `None` if this is not an array type.
pub fn shaped(ty: &str) -> Option<Shaped<'_>> {
    let (head, body) = ty.split_once('<')?;
    let kind = head.trim();
    if !matches!(kind, "tensor" | "memref" | "vector") {
        return None;
    }
    let body = body.trim_end().strip_suffix('>')?;
    let mut depth = 0usize;
    let end = body.char_indices().find_map(|(at, c)| {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => return Some(at),
            _ => {}
        }
        None
    });
    let (array, rest) = match end {
        Some(at) => (&body[..at], body[at + 1..].trim()),
        None => (body, ""),
    };
    let mut element = array.trim();
    let mut dimensions = Some(Vec::new());
    while let Some((dimension, behind)) = element.split_once('x') {
        let dimension = dimension.trim().trim_start_matches('[').trim_end_matches(']');
        match dimension {
            "?" => dimensions.iter_mut().for_each(|d: &mut Vec<_>| d.push(None)),
            "*" => dimensions = None,
            _ if !dimension.is_empty() && dimension.bytes().all(|b| b.is_ascii_digit()) => {
                let extent = dimension.parse().ok();
                dimensions.iter_mut().for_each(|d| d.push(extent));
            }
            _ => break,
        }
        element = behind.trim_start();
    }
    Some(Shaped { kind, dimensions, element, rest })
}

/// `f32` of `tensor<4x8xf32, #sparse>`.
pub fn element_type(ty: &str) -> Option<&str> {
    shaped(ty).map(|s| s.element)
}

/// The bits of a scalar type with a width in its name: `f32`, `ui8`, `bf16`, `f8E4M3FN`, `complex<f32>`,
/// `i1`.
pub fn element_bits(element: &str) -> Option<u64> {
    if let Some(part) = element.strip_prefix("complex<").and_then(|rest| rest.strip_suffix('>')) {
        // The parts are real: complex types do not nest.
        return scalar_bits(part)?.checked_mul(2);
    }
    scalar_bits(element)
}

fn scalar_bits(element: &str) -> Option<u64> {
    let digits = element.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let letters = &element[..element.len() - digits.len()];
    let width = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let is_scalar = match letters {
        "i" | "si" | "ui" | "bf" | "tf" => width == digits.len(),
        "f" => true,
        _ => false,
    };
    digits[..width].parse().ok().filter(|_| is_scalar)
}

impl Shaped<'_> {
    /// The number of elements; `None` if an extent is dynamic, or on overflow.
    pub fn elements(&self) -> Option<u64> {
        self.dimensions.as_ref()?.iter().try_fold(1u64, |n, d| n.checked_mul((*d)?))
    }

    /// The size in bytes; elements take whole bytes, as in memory.
    pub fn bytes(&self) -> Option<u64> {
        self.elements()?.checked_mul(element_bits(self.element)?.div_ceil(8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_types_are_taken_apart() {
        let check = |ty: &str, expect: (&str, Option<u64>, &str)| {
            let read = shaped(ty).expect("it is an array");
            assert_eq!((read.element, read.bytes(), read.rest), expect, "{ty}");
        };
        check("tensor<4x8xf32>", ("f32", Some(128), ""));
        check("tensor<f32>", ("f32", Some(4), ""));
        check("tensor<?x3xi1, #enc<a, b>>", ("i1", None, "#enc<a, b>"));
        check("tensor<*xf32>", ("f32", None, ""));
        check("vector<[4]x2xcomplex<f64>>", ("complex<f64>", Some(128), ""));
        check(
            "memref<2xf8E4M3FN, strided<[1], offset: ?>, 1>",
            ("f8E4M3FN", Some(2), "strided<[1], offset: ?>, 1"),
        );
        check("tensor<0x4xbf16>", ("bf16", Some(0), ""));
        check("tensor<2x!quant.uniform<i8:f32, 1.0:17>>", ("!quant.uniform<i8:f32, 1.0:17>", None, ""));
        assert_eq!(shaped("tuple<tensor<f32>>"), None);
        assert_eq!(shaped("tensor<4xf32"), None);
    }
}
