//! Array types: `tensor<4x?xf32, #encoding>`, `memref<…>`, `vector<…>`.

use std::fmt;

/// A tensor, memref or vector of known rank.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayType {
    pub kind: ArrayKind,
    /// The extents in elements; `None` for a dynamic one. A scalable extent `[4]` counts as 4.
    pub extents: Vec<Option<i64>>,
    /// `f32`, `complex<f32>`, `!quant.uniform<…>`.
    pub element: Box<str>,
    /// The text after the first comma: an encoding, a layout, a memory space. Empty if there is none.
    pub rest: Box<str>,
    /// The alias by which the text names the type.
    pub alias: Option<Box<str>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayKind {
    Tensor,
    Memref,
    Vector,
}

/// Why a type is not an [`ArrayType`]. Each variant holds the type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoArrayType {
    NotAnArray(Box<str>),
    /// `tensor<*xf32>`
    UnknownRank(Box<str>),
    /// An extent or a bound has more than 63 bits.
    TooLarge(Box<str>),
}

impl fmt::Display for NoArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoArrayType::NotAnArray(ty) => write!(f, "{ty} is no array"),
            NoArrayType::UnknownRank(ty) => write!(f, "the rank of {ty} is not known"),
            NoArrayType::TooLarge(ty) => write!(f, "an extent of {ty} is no number of 64 bits"),
        }
    }
}

impl std::error::Error for NoArrayType {}

/// The parts of an array type as written.
pub(crate) struct Parts<'t> {
    kind: ArrayKind,
    /// `4x?x`
    dimensions: &'t str,
    pub(crate) element: &'t str,
    pub(crate) rest: &'t str,
}

/// `None` if this is not an array type.
pub(crate) fn parts(ty: &str) -> Option<Parts<'_>> {
    let (head, body) = ty.split_once('<')?;
    let kind = match head.trim() {
        "tensor" => ArrayKind::Tensor,
        "memref" => ArrayKind::Memref,
        "vector" => ArrayKind::Vector,
        _ => return None,
    };
    let body = body.trim_end().strip_suffix('>')?;
    let mut depth = 0usize;
    let end = body.bytes().position(|b| {
        match b {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        b == b',' && depth == 0
    });
    let (array, rest) = match end {
        Some(at) => (&body[..at], body[at + 1..].trim()),
        None => (body, ""),
    };
    let array = array.trim();
    let mut element = array;
    while let Some((dimension, behind)) = element.split_once('x') {
        if !is_dimension(number_of(dimension)) {
            break;
        }
        element = behind.trim_start();
    }
    Some(Parts { kind, dimensions: array[..array.len() - element.len()].trim_end(), element, rest })
}

/// `4` of `4`, and of the scalable `[4]`.
fn number_of(dimension: &str) -> &str {
    dimension.trim().trim_start_matches('[').trim_end_matches(']')
}

fn is_dimension(dimension: &str) -> bool {
    matches!(dimension, "?" | "*") || !dimension.is_empty() && dimension.bytes().all(|b| b.is_ascii_digit())
}

/// `f32` of `tensor<4x8xf32, #sparse>`; `None` if this is not an array type.
pub fn element_type(ty: &str) -> Option<&str> {
    parts(ty).map(|parts| parts.element)
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

/// The bounds in an encoding, `?` where there is none.
fn bounds(encoding: &str) -> impl Iterator<Item = &str> {
    let list = || {
        let encoding = encoding.strip_prefix("#stablehlo.").or_else(|| encoding.strip_prefix("#mhlo."))?;
        encoding.split_once("bounds")?.1.split_once(['<', '['])?.1.split(['>', ']']).next()
    };
    list().into_iter().flat_map(|list| list.split(',').map(str::trim))
}

impl ArrayType {
    /// Reads `tensor<4x?xf32, #encoding>`. Aliases are not resolved.
    ///
    /// # Errors
    ///
    /// If `ty` is not an array type, has no rank, or an extent does not fit in an `i64`.
    pub fn parse(ty: &str) -> Result<ArrayType, NoArrayType> {
        let Parts { kind, dimensions, element, rest } =
            parts(ty).ok_or_else(|| NoArrayType::NotAnArray(ty.into()))?;
        let mut extents = Vec::new();
        for dimension in dimensions.split_terminator('x') {
            extents.push(match number_of(dimension) {
                "?" => None,
                "*" => return Err(NoArrayType::UnknownRank(ty.into())),
                number => Some(number.parse().map_err(|_| NoArrayType::TooLarge(ty.into()))?),
            });
        }
        let is_too_large = |bound: &str| is_dimension(bound) && bound != "?" && bound.parse::<i64>().is_err();
        if bounds(rest).any(is_too_large) {
            return Err(NoArrayType::TooLarge(ty.into()));
        }
        Ok(ArrayType { kind, extents, element: element.into(), rest: rest.into(), alias: None })
    }

    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    /// All extents, if every one is static.
    pub fn static_extents(&self) -> Option<Vec<i64>> {
        self.extents.iter().copied().collect()
    }

    /// The upper bound of the extent of a dimension, if the encoding gives one: `#stablehlo.bounds<4, ?>`, or
    /// `type_extensions<bounds = [4, ?]>` of StableHLO and MHLO.
    pub fn bound(&self, dimension: usize) -> Option<i64> {
        bounds(&self.rest).nth(dimension)?.parse().ok().filter(|&bound| bound >= 0)
    }

    /// The number of elements; `None` if an extent is dynamic, or on overflow.
    pub fn elements(&self) -> Option<u64> {
        self.extents.iter().try_fold(1u64, |n, extent| n.checked_mul(u64::try_from((*extent)?).ok()?))
    }

    /// The size in bytes; elements take whole bytes, as in memory.
    pub fn bytes(&self) -> Option<u64> {
        self.elements()?.checked_mul(element_bits(&self.element)?.div_ceil(8))
    }

    /// Whether the two types are equal, ignoring the text after the first comma.
    pub fn is_like(&self, other: &ArrayType) -> bool {
        self.kind == other.kind && self.extents == other.extents && self.element == other.element
    }

    /// The same type with other extents.
    pub fn with_extents(&self, extents: &[Option<i64>]) -> ArrayType {
        if extents == self.extents {
            return self.clone();
        }
        ArrayType { extents: extents.to_vec(), alias: None, ..self.clone() }
    }
}

/// The alias if there is one, else the type.
impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(alias) = &self.alias {
            return f.write_str(alias);
        }
        f.write_str(match self.kind {
            ArrayKind::Tensor => "tensor<",
            ArrayKind::Memref => "memref<",
            ArrayKind::Vector => "vector<",
        })?;
        for extent in &self.extents {
            match extent {
                Some(extent) => write!(f, "{extent}x")?,
                None => f.write_str("?x")?,
            }
        }
        f.write_str(&self.element)?;
        if !self.rest.is_empty() {
            write!(f, ", {}", self.rest)?;
        }
        f.write_str(">")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn array_types_are_taken_apart() {
        let check = |ty: &str, expect: (&str, Option<u64>, &str)| {
            let read = ArrayType::parse(ty).expect("it is an array");
            assert_eq!((&*read.element, read.bytes(), &*read.rest), expect, "{ty}");
            assert_eq!(element_type(ty), Some(expect.0));
            if !ty.contains("<[") {
                assert_eq!(read.to_string(), ty);
            }
        };
        check("tensor<4x8xf32>", ("f32", Some(128), ""));
        check("tensor<f32>", ("f32", Some(4), ""));
        check("tensor<?x3xi1, #enc<a, b>>", ("i1", None, "#enc<a, b>"));
        check("vector<[4]x2xcomplex<f64>>", ("complex<f64>", Some(128), ""));
        check(
            "memref<2xf8E4M3FN, strided<[1], offset: ?>, 1>",
            ("f8E4M3FN", Some(2), "strided<[1], offset: ?>, 1"),
        );
        check("tensor<0x4xbf16>", ("bf16", Some(0), ""));
        check("tensor<2x!quant.uniform<i8:f32, 1.0:17>>", ("!quant.uniform<i8:f32, 1.0:17>", None, ""));
        assert_eq!(element_type("tensor<*xf32>"), Some("f32"));
    }

    #[test]
    fn extents_and_their_bounds() {
        let read = |ty: &str| ArrayType::parse(ty).map_err(|why| why.to_string());
        for bounds in ["#stablehlo.bounds<4, ?>", "#mhlo.type_extensions<bounds = [4, ?]>"] {
            let ty = read(&format!("tensor<?x?xf32, {bounds}>")).expect("it is an array");
            assert_eq!((ty.extents.as_slice(), ty.bound(0), ty.bound(1)), (&[None, None][..], Some(4), None));
        }
        let ty = read("tensor<4x?xf32, #e<a>>").expect("it is an array");
        assert_eq!(ty.with_extents(&[None]).to_string(), "tensor<?xf32, #e<a>>");
        for (ty, why) in [
            ("tuple<tensor<f32>>", "tuple<tensor<f32>> is no array"),
            ("tensor<4xf32", "tensor<4xf32 is no array"),
            ("tensor<*xf32>", "the rank of tensor<*xf32> is not known"),
            (
                "tensor<9223372036854775808xi8>",
                "an extent of tensor<9223372036854775808xi8> is no number of 64 bits",
            ),
        ] {
            assert_eq!(read(ty), Err(why.to_owned()));
        }
    }
}
