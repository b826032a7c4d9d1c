//! Types of MLIR and shapes of HLO, both ways.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::not_in_hlo::NotInHlo;
use crate::not_in_stablehlo::NotInStablehlo;
use ir::{ArrayShape, ElementType, Layout, Shape, UNBOUNDED};
use mlir::lists::split;
use mlir::{ArrayKind, ArrayType, NoArrayType};

/// Tuples in tuples beyond this depth are not read.
const MAX_DEPTH: usize = 64;

/// Why quantised numbers are not converted: what XLA's own conversion says, and which pass of StableHLO writes integers instead.
pub(crate) const UNQUANTISED: &str =
    "HLO has no quantised types, and XLA refuses them before stablehlo-legalize-quant-to-math";

/// `f32[4,8]` of `tensor<4x8xf32>`; an extent that is not known is `?`, or `<=n` where a bound is stated.
pub(crate) fn hlo_shape(ty: &str) -> Result<Shape, NotInHlo> {
    shape_at(ty, 0, hlo_element)
}

/// The same with integers for quantised elements: as many bits, at the same indices.
pub(crate) fn stored_shape(ty: &str) -> Result<Shape, NotInHlo> {
    shape_at(ty, 0, |element| hlo_element(element).or_else(|why| storage(element).ok_or(why)))
}

/// The same as [`hlo_shape`], and `s32[]` of `i32`: a scalar is an array without dimensions.
pub(crate) fn computed_shape(ty: &str) -> Result<Shape, NotInHlo> {
    hlo_shape(ty).or_else(|why| match hlo_element(ty.trim()) {
        Ok(element) => Ok(Shape::array(element, &[])),
        Err(_) => Err(why),
    })
}

/// `s8` of `!quant.uniform<u8<0:250>:f32, 0.1>`.
fn storage(quantised: &str) -> Option<ElementType> {
    let (_, expressed) = quantised.strip_prefix("!quant.")?.split_once('<')?;
    let digits = expressed.trim_start_matches(['i', 'u']);
    let end = digits.find(|c: char| !c.is_ascii_digit())?;
    ElementType::from_name(&format!("s{}", &digits[..end]))
}

/// Whether a type has quantised elements.
pub(crate) fn is_quantised(ty: &str) -> bool {
    ty.contains("!quant.")
}

/// `f32[4,8]` of `tensor<4x8xf32>`, of a type all of whose extents are known.
pub fn static_hlo_shape(ty: &str) -> Result<Shape, NotInHlo> {
    let shape = hlo_shape(ty)?;
    match shape.is_static() {
        true => Ok(shape),
        false => Err(NotInHlo::of_type(format!("a dimension of {ty} is not known"))),
    }
}

fn shape_at(
    ty: &str,
    depth: usize,
    element_of: fn(&str) -> Result<ElementType, NotInHlo>,
) -> Result<Shape, NotInHlo> {
    let ty = ty.trim();
    if let Some(shape) = plain_shape(ty) {
        return Ok(shape);
    }
    if matches!(ty, "!stablehlo.token" | "!mhlo.token") {
        return Ok(Shape::Token);
    }
    if depth > MAX_DEPTH {
        return Err(NotInHlo::Type("its type is too deep".into()));
    }
    let elements = |list| split(list).into_iter().map(|element| shape_at(element, depth + 1, element_of));
    if let Some(list) = ty.strip_prefix("tuple<").and_then(|rest| rest.strip_suffix('>')) {
        return Ok(Shape::tuple(elements(list).collect::<Result<Vec<_>, _>>()?));
    }
    if let Some(list) = ty.strip_prefix("!mhlo.async_bundle<").and_then(|rest| rest.strip_suffix('>')) {
        let mut shapes = elements(list).collect::<Result<Vec<_>, _>>()?;
        // What is started is a tuple of operands, whether or not the type writes one.
        if let Some(first) = shapes.first_mut().filter(|first| first.tuple_elements().is_none()) {
            *first = Shape::tuple([first.clone()]);
        }
        return Ok(Shape::tuple(shapes));
    }
    let array = ArrayType::parse(ty)?;
    if array.kind != ArrayKind::Tensor {
        return Err(NoArrayType::NotAnArray(ty.into()).into());
    }
    let element = element_of(&array.element)?;
    let extent =
        |(at, extent): (usize, &Option<i64>)| extent.or_else(|| array.bound(at)).unwrap_or(UNBOUNDED);
    let dims = array.extents.iter().enumerate().map(extent).collect();
    let dynamic = match array.extents.contains(&None) {
        true => array.extents.iter().map(Option::is_none).collect(),
        false => Vec::new(),
    };
    Ok(Shape::Array(ArrayShape { element, dims, dynamic, layout: None }.into()))
}

/// The shape of a tensor of known extents and common elements, as nearly all types are, without the general parser.
fn plain_shape(ty: &str) -> Option<Shape> {
    let mut rest = ty.strip_prefix("tensor<")?.strip_suffix('>')?;
    let mut dims = Vec::new();
    while rest.starts_with(|c: char| c.is_ascii_digit()) {
        let (extent, behind) = rest.split_once('x')?;
        dims.push(extent.parse().ok()?);
        rest = behind;
    }
    let element = match rest {
        "bf16" | "f16" | "f32" | "f64" => ElementType::from_name(rest)?,
        "i1" => ElementType::Pred,
        "i8" => ElementType::S8,
        "i32" => ElementType::S32,
        "i64" => ElementType::S64,
        "ui8" => ElementType::U8,
        "ui32" => ElementType::U32,
        _ => return None,
    };
    Some(Shape::Array(ArrayShape { element, dims, dynamic: Vec::new(), layout: None }.into()))
}

/// `pred` of `i1`, `s32` of `i32`, `c64` of `complex<f32>`.
fn hlo_element(element: &str) -> Result<ElementType, NotInHlo> {
    let none = || {
        NotInHlo::of_type(match element.starts_with("!quant.") {
            true => format!("{element} is quantised: {UNQUANTISED}"),
            false => format!("{element} is no element type of HLO"),
        })
    };
    let name: Cow<'_, str> = match element {
        "i1" => "pred".into(),
        "index" => "s64".into(),
        "complex<f32>" => "c64".into(),
        "complex<f64>" => "c128".into(),
        _ if element.starts_with("ui") => format!("u{}", &element[2..]).into(),
        _ if element.starts_with("si") => format!("s{}", &element[2..]).into(),
        _ if element.starts_with('i') => format!("s{}", &element[1..]).into(),
        _ => element.to_ascii_lowercase().into(),
    };
    ElementType::from_name(&name)
        .filter(|e| !matches!(e, ElementType::Token | ElementType::Opaque))
        .ok_or_else(none)
}

/// `f8E4M3FN` of `f8e4m3fn`. Nothing for `s1`: MLIR's `i1` is `pred`.
pub fn mlir_element(element: ElementType) -> Option<Cow<'static, str>> {
    let name = element.name();
    Some(match element {
        ElementType::Pred => "i1".into(),
        ElementType::S1 | ElementType::Token | ElementType::Opaque => return None,
        ElementType::C64 => "complex<f32>".into(),
        ElementType::C128 => "complex<f64>".into(),
        ElementType::Bf16 | ElementType::F16 | ElementType::F32 | ElementType::F64 => name.into(),
        ElementType::S32 => "i32".into(),
        _ => match name.split_at(1) {
            ("s", width) => format!("i{width}").into(),
            ("u", width) => format!("ui{width}").into(),
            (_, rest) => format!("f{}", rest.to_ascii_uppercase()).into(),
        },
    })
}

/// `tensor<4x8xf32>` of `f32[4,8]{1,0}`: the layout is left out.
pub(crate) fn mlir_type(shape: &Shape) -> Result<String, NotInStablehlo> {
    Ok(match shape {
        Shape::Array(array) => {
            let element = mlir_element(array.element).ok_or_else(|| {
                NotInStablehlo::Type(format!("{} is no element type of MLIR", array.element.name()))
            })?;
            // Most modules are types for the most part: numbers are written without the machinery of formats.
            let mut ty = String::with_capacity(16 + 6 * array.dims.len());
            ty.push_str("tensor<");
            if !array.dims.iter().enumerate().any(|(i, &extent)| array.is_dynamic(i) || extent < 0) {
                for &extent in &array.dims {
                    push_number(&mut ty, extent);
                    ty.push('x');
                }
                ty += &element;
                ty.push('>');
                return Ok(ty);
            }
            let mut bounds = String::new();
            for (i, &extent) in array.dims.iter().enumerate() {
                let comma = if i > 0 { ", " } else { "" };
                if array.is_dynamic(i) {
                    ty.push_str("?x");
                    _ = match extent {
                        i64::MIN => write!(bounds, "{comma}?"),
                        _ => write!(bounds, "{comma}{extent}"),
                    };
                } else {
                    _ = write!(ty, "{extent}x");
                    _ = write!(bounds, "{comma}?");
                }
            }
            ty += &element;
            if bounds.contains(|c: char| c.is_ascii_digit()) {
                _ = write!(ty, ", #stablehlo.bounds<{bounds}>");
            }
            ty + ">"
        }
        Shape::Tuple(elements) => {
            let types: Result<Vec<_>, _> = elements.iter().map(mlir_type).collect();
            format!("tuple<{}>", types?.join(", "))
        }
        Shape::Token => "!stablehlo.token".to_owned(),
        Shape::Opaque | Shape::Buffer(_) => {
            return Err(NotInStablehlo::Type(format!("{shape} is no type of StableHLO")));
        }
    })
}

/// Adds a number that is not negative.
fn push_number(out: &mut String, mut number: i64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|&digit| char::from(digit)));
}

/// The extents of an array.
///
/// # Errors
///
/// Where one is not known, or only a bound of it.
pub(crate) fn extents(shape: &Shape) -> Result<&[i64], NotInHlo> {
    match shape.is_static() {
        true => Ok(shape.dims()),
        false => Err(NotInHlo::of_type(format!("an extent of {shape} is not known"))),
    }
}

/// Whether two arrays have the same extents, and the same bounds of dynamic ones.
pub(crate) fn has_dimensions_of(one: &Shape, other: &Shape) -> bool {
    one.dims() == other.dims() && is_dynamic_as(one, other)
}

fn is_dynamic_as(one: &Shape, other: &Shape) -> bool {
    let flags = |shape: &Shape| (0..shape.dims().len()).map(|d| is_dynamic(shape, d)).collect::<Vec<_>>();
    flags(one) == flags(other)
}

/// Whether dimension `d` is dynamic.
pub(crate) fn is_dynamic(shape: &Shape, d: usize) -> bool {
    shape.as_array().is_some_and(|array| array.is_dynamic(d))
}

/// The element type; `opaque` of what is no array.
pub(crate) fn element(shape: &Shape) -> ElementType {
    shape.element().unwrap_or(ElementType::Opaque)
}

/// An array of the same dimensions.
pub(crate) fn with_element(shape: &Shape, element: ElementType) -> Shape {
    match shape.as_array() {
        Some(array) => Shape::Array(ArrayShape { element, layout: None, ..array.clone() }.into()),
        None => shape.clone(),
    }
}

/// An array with the dimensions of these numbers and nothing else.
pub(crate) fn with_dimensions(shape: &Shape, kept: &[usize]) -> Shape {
    let Some(array) = shape.as_array() else { return shape.clone() };
    let dims = kept.iter().filter_map(|&d| array.dims.get(d)).copied().collect();
    let dynamic = match array.dynamic.is_empty() {
        true => Vec::new(),
        false => kept.iter().map(|&d| array.is_dynamic(d)).collect(),
    };
    Shape::Array(ArrayShape { element: array.element, dims, dynamic, layout: None }.into())
}

/// The array with this layout; other shapes unchanged.
pub(crate) fn with_layout(shape: &Shape, minor_to_major: &[i64]) -> Shape {
    match shape {
        Shape::Array(array) if array.rank() == minor_to_major.len() && array.rank() > 0 => {
            let layout = Layout { minor_to_major: minor_to_major.to_vec(), ..Layout::row_major(0) };
            Shape::Array(ArrayShape { layout: Some(layout), ..ArrayShape::clone(array) }.into())
        }
        _ => shape.clone(),
    }
}

/// The stated shape, if it differs from `shape` only in layouts.
pub(crate) fn stated_layout(stated: &str, shape: &Shape) -> Option<Shape> {
    Shape::from_text(stated).filter(|stated| is_same_but_layout(stated, shape))
}

fn is_same_but_layout(one: &Shape, other: &Shape) -> bool {
    match (one, other) {
        (Shape::Array(_), Shape::Array(_)) => {
            one.element() == other.element() && has_dimensions_of(one, other)
        }
        (Shape::Tuple(one), Shape::Tuple(other)) => {
            let mut pairs = one.iter().zip(other.iter());
            one.len() == other.len() && pairs.all(|(one, other)| is_same_but_layout(one, other))
        }
        _ => one == other,
    }
}

/// The literal of a whole number in elements of this type: a truth, or both parts of a complex number, where they are such.
pub(crate) fn number(element: ElementType, number: &str) -> String {
    match element {
        ElementType::Pred => (number != "0").to_string(),
        ElementType::C64 | ElementType::C128 => format!("({number}, 0)"),
        _ => number.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_go_both_ways() {
        for (ty, shape) in [
            ("tensor<4x8xf32>", "f32[4,8]"),
            ("tensor<i1>", "pred[]"),
            ("tensor<2xui4>", "u4[2]"),
            ("tensor<2xcomplex<f64>>", "c128[2]"),
            ("tensor<2xf8E4M3B11FNUZ>", "f8e4m3b11fnuz[2]"),
            ("tensor<0x3xbf16>", "bf16[0,3]"),
            ("tensor<?x8xf32, #stablehlo.bounds<4, ?>>", "f32[<=4,8]"),
            ("tensor<?xf32>", "f32[?]"),
            ("tuple<tensor<2xf32>, tuple<>, !stablehlo.token>", "(f32[2], (), token[])"),
        ] {
            let read = Shape::from_text(shape).expect("it is a shape");
            assert_eq!(hlo_shape(ty).as_ref(), Ok(&read));
            assert_eq!(read.to_string(), shape);
            assert_eq!(mlir_type(&read).as_deref(), Ok(ty));
        }
        // The general parser gives the same as the short way.
        for ty in ["tensor<4x8xf32>", "tensor< 4 x 8 x f32 >", "tensor<4x8xF32>"] {
            assert_eq!(hlo_shape(ty), Ok(Shape::array(ElementType::F32, &[4, 8])), "{ty}");
        }
        let refused = |ty: &str| hlo_shape(ty).map_err(|why| why.to_string());
        assert_eq!(refused("tensor<*xf32>"), Err("the rank of tensor<*xf32> is not known".into()));
        assert_eq!(refused("memref<2xf32>"), Err("memref<2xf32> is no array".into()));
    }

    #[test]
    fn extents_that_are_not_known_keep_their_places() {
        let shape = |text: &str| Shape::from_text(text).expect("it is a shape");
        let bounded = shape("f32[<=4,8,?]{2,1,0}");
        assert_eq!(with_dimensions(&bounded, &[0, 2]), shape("f32[<=4,?]"));
        assert_eq!(with_element(&bounded, ElementType::Pred), shape("pred[<=4,8,?]"));
        assert!(!has_dimensions_of(&shape("f32[<=4,8]"), &shape("f32[4,8]")));
        let dynamic = shape("f32[<=4,8]");
        assert_eq!(
            extents(&dynamic).map_err(|why| why.to_string()),
            Err("an extent of f32[<=4,8] is not known".into())
        );
        assert_eq!(extents(&shape("f32[4,8]{1,0}")), Ok(&[4, 8][..]));
        assert_eq!(extents(&shape("f32[]")), Ok(&[][..]));
    }

    #[test]
    fn layouts_are_those_of_the_same_shape() {
        let shape = |text: &str| Shape::from_text(text).expect("it is a shape");
        assert_eq!(with_layout(&shape("f32[4,8]"), &[0, 1]), shape("f32[4,8]{0,1}"));
        assert_eq!(with_layout(&shape("f32[4,8]"), &[0]), shape("f32[4,8]"));
        assert_eq!(stated_layout("f32[4]{0:T(128)}", &shape("f32[4]")), Some(shape("f32[4]{0:T(128)}")));
        assert_eq!(stated_layout("f32[5]{0}", &shape("f32[4]")), None);
    }
}
