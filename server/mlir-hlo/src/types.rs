//! Types of MLIR and shapes of HLO, both ways.

use std::borrow::Cow;
use std::fmt::Write as _;

use ir::{ElementType, Shape};
use mlir::lists::split;
use mlir::shaped;

/// Tuples in tuples beyond this depth are not read.
const MAX_DEPTH: usize = 64;

/// Why quantised numbers are not converted: what XLA's own conversion says, and which pass of StableHLO writes integers instead.
pub(crate) const UNQUANTISED: &str =
    "HLO has no quantised types, and XLA refuses them before stablehlo-legalize-quant-to-math";

/// `f32[4,8]` of `tensor<4x8xf32>`; an extent that is not known is `?`, or `<=n` where a bound is stated.
pub(crate) fn hlo_shape(ty: &str) -> Result<String, String> {
    shape_at(ty, 0)
}

/// `f32[4,8]` of `tensor<4x8xf32>`, of a type all of whose extents are known.
pub fn static_hlo_shape(ty: &str) -> Result<String, String> {
    let shape = hlo_shape(ty)?;
    match shape.contains(['?', '=']) {
        true => Err(format!("a dimension of {ty} is not known")),
        false => Ok(shape),
    }
}

fn shape_at(ty: &str, depth: usize) -> Result<String, String> {
    let ty = ty.trim();
    if matches!(ty, "!stablehlo.token" | "!mhlo.token") {
        return Ok("token[]".to_owned());
    }
    if depth > MAX_DEPTH {
        return Err("its type is too deep".to_owned());
    }
    if let Some(elements) = ty.strip_prefix("tuple<").and_then(|rest| rest.strip_suffix('>')) {
        let shapes: Result<Vec<_>, _> = split(elements).into_iter().map(|e| shape_at(e, depth + 1)).collect();
        return Ok(format!("({})", shapes?.join(", ")));
    }
    if let Some(body) = ty.strip_prefix("!mhlo.async_bundle<").and_then(|rest| rest.strip_suffix('>')) {
        let shapes: Result<Vec<_>, _> = split(body).into_iter().map(|e| shape_at(e, depth + 1)).collect();
        let mut shapes = shapes?;
        // What is started is a tuple of operands, whether or not the type writes one.
        if let Some(first) = shapes.first_mut().filter(|first| !first.starts_with('(')) {
            *first = format!("({first})");
        }
        return Ok(format!("({})", shapes.join(", ")));
    }
    let array = shaped(ty).filter(|a| a.kind == "tensor").ok_or_else(|| format!("{ty} is no array"))?;
    let dimensions = array.dimensions.as_ref().ok_or_else(|| format!("the rank of {ty} is not known"))?;
    let bounds = bounds(array.rest);
    let mut shape = hlo_element(array.element)?;
    shape.push('[');
    for (i, extent) in dimensions.iter().enumerate() {
        if i > 0 {
            shape.push(',');
        }
        _ = match (extent, bounds.get(i).copied().flatten()) {
            (Some(extent), _) => write!(shape, "{extent}"),
            (None, Some(bound)) => write!(shape, "<={bound}"),
            (None, None) => write!(shape, "?"),
        };
    }
    shape.push(']');
    Ok(shape)
}

/// `#stablehlo.bounds<4, ?>`, also as `type_extensions` of MHLO.
fn bounds(encoding: &str) -> Vec<Option<u64>> {
    let is_bounds =
        ["#stablehlo.bounds<", "#stablehlo.type_extensions<bounds = [", "#mhlo.type_extensions<bounds = ["]
            .iter()
            .find_map(|head| encoding.strip_prefix(head));
    let Some(body) = is_bounds else { return Vec::new() };
    let list = body.trim_end_matches(['>', ']']);
    list.split(',').map(|bound| bound.trim().parse().ok()).collect()
}

/// `pred` of `i1`, `s32` of `i32`, `c64` of `complex<f32>`.
fn hlo_element(element: &str) -> Result<String, String> {
    let none = || match element.starts_with("!quant.") {
        true => format!("{element} is quantised: {UNQUANTISED}"),
        false => format!("{element} is no element type of HLO"),
    };
    let name = match element {
        "i1" => "pred".to_owned(),
        "index" => "s64".to_owned(),
        "complex<f32>" => "c64".to_owned(),
        "complex<f64>" => "c128".to_owned(),
        _ if element.starts_with("ui") => format!("u{}", &element[2..]),
        _ if element.starts_with("si") => format!("s{}", &element[2..]),
        _ if element.starts_with('i') => format!("s{}", &element[1..]),
        _ => element.to_ascii_lowercase(),
    };
    ElementType::from_name(&name)
        .filter(|e| !matches!(e, ElementType::Token | ElementType::Opaque))
        .ok_or_else(none)?;
    Ok(name)
}

/// `f8E4M3FN` of `f8e4m3fn`. Nothing for `s1`: MLIR's `i1` is `pred`.
pub(crate) fn mlir_element(element: ElementType) -> Option<Cow<'static, str>> {
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
pub(crate) fn mlir_type(shape: &Shape) -> Result<String, String> {
    Ok(match shape {
        Shape::Array(array) => {
            let element = mlir_element(array.element)
                .ok_or_else(|| format!("{} is no element type of MLIR", array.element.name()))?;
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
        Shape::Opaque | Shape::Buffer(_) => return Err(format!("{shape} is no type of StableHLO")),
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

/// The extents in `f32[<=4,8]` as they are written, one per dimension: `<=4` and `8`.
pub(crate) fn dimensions(shape: &str) -> Vec<&str> {
    let list = shape.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(list, _)| list);
    if list.is_empty() { Vec::new() } else { list.split(',').collect() }
}

/// The extents in `f32[4,8]`.
///
/// # Errors
///
/// Where one is not known, or only a bound of it.
pub(crate) fn extents(shape: &str) -> Result<Vec<i64>, String> {
    let number = |extent: &str| extent.parse().map_err(|_| format!("an extent of {shape} is not known"));
    dimensions(shape).into_iter().map(number).collect()
}

/// `f32` of `f32[4,8]`
pub(crate) fn element(shape: &str) -> &str {
    shape.split('[').next().unwrap_or(shape)
}

/// An array of the same elements with these extents.
pub(crate) fn array(element: &str, extents: &[impl ToString]) -> String {
    let extents: Vec<_> = extents.iter().map(ToString::to_string).collect();
    format!("{element}[{}]", extents.join(","))
}

/// The literal of a whole number in elements of this type: a truth, or both parts of a complex number, where they are such.
pub(crate) fn number(element: &str, number: &str) -> String {
    match element {
        "pred" => (number != "0").to_string(),
        "c64" | "c128" => format!("({number}, 0)"),
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
            assert_eq!(hlo_shape(ty).as_deref(), Ok(shape));
            let text = format!("HloModule m\nENTRY e {{\n  ROOT p = {shape} parameter(0)\n}}\n");
            let text: std::sync::Arc<str> = text.into();
            let parse = syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER);
            let block = ir::lower(text, std::sync::Arc::new(parse));
            assert_eq!(block.shape(0).map(mlir_type), Some(Ok(ty.to_owned())));
        }
        assert_eq!(hlo_shape("tensor<*xf32>"), Err("the rank of tensor<*xf32> is not known".to_owned()));
        assert_eq!(hlo_shape("memref<2xf32>"), Err("memref<2xf32> is no array".to_owned()));
    }

    #[test]
    fn extents_that_are_not_known_keep_their_places() {
        assert_eq!(dimensions("f32[<=4,8,?]{2,1,0}"), ["<=4", "8", "?"]);
        assert_eq!(extents("f32[<=4,8]"), Err("an extent of f32[<=4,8] is not known".to_owned()));
        assert_eq!(extents("f32[4,8]{1,0}"), Ok(vec![4, 8]));
        assert_eq!(extents("f32[]"), Ok(Vec::new()));
    }
}
