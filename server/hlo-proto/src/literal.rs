//! Literals: elements in the order of memory, and their text in the order of indices.
//!
//! Source: XLA `literal.cc`, WriteToProto and CopyFromProto.

mod codes;
mod elements;

use ir::{ArrayShape, Shape, split_top_level};

use crate::messages::{LiteralProto, ShapeProto};
use crate::shapes::{shape_proto, take_shape};

/// How many elements a text may still hold. Larger literals are `{...}`.
#[derive(Debug)]
pub(crate) struct Budget(pub(crate) i64);

/// What is written of a literal that a text leaves out.
pub(crate) const ELIDED: &str = "{...}";

/// The text of a literal without its shape, of arrays in braces; [`ELIDED`] where it is larger than the budget.
pub(crate) fn take_literal(proto: &mut LiteralProto, budget: &mut Budget) -> Result<String, String> {
    let shape = match &mut proto.shape {
        Some(shape) => take_shape(shape)?,
        None => return Err("a literal without a shape".to_owned()),
    };
    let mut out = String::new();
    take_value(&mut out, proto, &shape, budget)?;
    Ok(out)
}

fn take_value(
    out: &mut String,
    proto: &mut LiteralProto,
    shape: &Shape,
    budget: &mut Budget,
) -> Result<(), String> {
    match shape {
        Shape::Tuple(elements) => {
            if elements.len() != proto.tuple_literals.len() {
                return Err(format!(
                    "a literal of {} elements, whose shape has {}",
                    proto.tuple_literals.len(),
                    elements.len()
                ));
            }
            out.push('(');
            for (i, (literal, shape)) in proto.tuple_literals.iter_mut().zip(elements.iter()).enumerate() {
                out.push_str(if i > 0 { ", " } else { "" });
                literal.shape = None;
                recursion::grow(|| take_value(out, literal, shape, budget))?;
            }
            out.push(')');
            Ok(())
        }
        Shape::Array(array) => take_array(out, proto, array, budget),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => Err(format!("a literal of shape {shape}")),
    }
}

fn take_array(
    out: &mut String,
    proto: &mut LiteralProto,
    array: &ArrayShape,
    budget: &mut Budget,
) -> Result<(), String> {
    let codes = codes::take(proto, array.element);
    let per_element = codes::per_element(array.element);
    let elements = array.elements().and_then(|n| usize::try_from(n).ok());
    if elements.and_then(|n| n.checked_mul(per_element)) != Some(codes.len()) {
        return Err(format!("a literal of shape {} with {} elements", array, codes.len() / per_element));
    }
    budget.0 -= codes.len() as i64;
    if budget.0 < 0 {
        out.push_str(ELIDED);
        return Ok(());
    }
    let order = Order::of(array);
    let mut index = Vec::with_capacity(array.rank());
    write_nested(out, array, &order, &mut index, &mut |out, at| {
        let at = at * per_element;
        codes::write(out, &codes[at..at + per_element], array.element);
    });
    Ok(())
}

fn write_nested(
    out: &mut String,
    array: &ArrayShape,
    order: &Order,
    index: &mut Vec<i64>,
    element: &mut dyn FnMut(&mut String, usize),
) {
    let Some(&size) = array.dims.get(index.len()) else { return element(out, order.place(index)) };
    out.push('{');
    for i in 0..size {
        cancel::tick();
        out.push_str(if i > 0 { ", " } else { "" });
        index.push(i);
        recursion::grow(|| write_nested(out, array, order, index, element));
        index.pop();
    }
    out.push('}');
}

/// Where elements lie in memory.
struct Order {
    strides: Vec<usize>,
}

impl Order {
    fn of(array: &ArrayShape) -> Order {
        let mut strides = vec![0; array.rank()];
        let mut stride = 1usize;
        for dim in array.minor_to_major() {
            strides[dim] = stride;
            stride = stride.saturating_mul(usize::try_from(array.dims[dim]).unwrap_or_default());
        }
        Order { strides }
    }

    fn place(&self, index: &[i64]) -> usize {
        index.iter().zip(&self.strides).map(|(&i, &stride)| i as usize * stride).sum()
    }
}

/// The literal of a text without its shape; `None` where the text leaves out elements.
pub(crate) fn literal_proto(text: &str, shape: &Shape) -> Result<Option<LiteralProto>, String> {
    let mut proto = LiteralProto { shape: Some(shape_proto(shape)), ..LiteralProto::default() };
    match shape {
        Shape::Tuple(shapes) => {
            let text = text.trim();
            if text == ELIDED {
                return Ok(None);
            }
            let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
            let parts = split_top_level(inner.ok_or("expects a tuple in parentheses")?);
            if parts.len() != shapes.len() {
                return Err(format!("{} elements for a tuple of {}", parts.len(), shapes.len()));
            }
            for (part, shape) in parts.into_iter().zip(shapes.iter()) {
                match recursion::grow(|| literal_proto(part, shape))? {
                    Some(element) => proto.tuple_literals.push(element),
                    None => return Ok(None),
                }
            }
        }
        Shape::Array(array) => {
            let Some(codes) = elements::codes(text, array)? else { return Ok(None) };
            codes::put(&mut proto, array.element, codes);
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => return Err(format!("a literal of shape {shape}")),
    }
    Ok(Some(proto))
}

/// `f32[2]{0} {1, 2}`, `(s32[] 1, f32[1]{0} {2})`: each array after its shape. `None` where the text leaves out elements.
pub(crate) fn shaped_literal_proto(text: &str) -> Result<Option<LiteralProto>, String> {
    let text = text.trim();
    if let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
        let mut proto = LiteralProto::default();
        let mut shape = ShapeProto { element_type: crate::element_type::TUPLE, ..ShapeProto::default() };
        for part in split_top_level(inner) {
            match recursion::grow(|| shaped_literal_proto(part))? {
                Some(element) => {
                    shape.tuple_shapes.extend(element.shape.clone());
                    proto.tuple_literals.push(element);
                }
                None => return Ok(None),
            }
        }
        proto.shape = Some(shape);
        return Ok(Some(proto));
    }
    // The layout follows at once, the value after a blank.
    let end = text.find(']').map_or(0, |at| at + 1);
    let layout = text[end..].strip_prefix('{').and_then(|layout| layout.find('}')).map_or(0, |at| at + 2);
    for end in [end + layout, end] {
        let (shape, value) = text.split_at(end);
        if let Some(shape) = Shape::from_text(shape)
            && !value.trim().is_empty()
        {
            return literal_proto(value, &shape);
        }
    }
    Err(format!("expects a shape before the literal {text}"))
}

/// As [`take_literal`], each array after its shape.
pub(crate) fn take_shaped_literal(proto: &mut LiteralProto, budget: &mut Budget) -> Result<String, String> {
    let shape = match &mut proto.shape {
        Some(shape) => take_shape(shape)?,
        None => return Err("a literal without a shape".to_owned()),
    };
    if let Shape::Tuple(shapes) = &shape {
        let mut parts = Vec::with_capacity(shapes.len());
        for literal in &mut proto.tuple_literals {
            parts.push(recursion::grow(|| take_shaped_literal(literal, budget))?);
        }
        return Ok(format!("({})", parts.join(", ")));
    }
    let mut out = format!("{shape} ");
    take_value(&mut out, proto, &shape, budget)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shape: &str, text: &str) {
        let shape = Shape::from_text(shape).unwrap_or_else(|| panic!("{shape}"));
        let mut proto = literal_proto(text, &shape).unwrap().unwrap();
        let bytes = prost::Message::encode_to_vec(&proto);
        let again = <LiteralProto as prost::Message>::decode(&*bytes).unwrap();
        assert_eq!(prost::Message::encode_to_vec(&again), bytes);
        assert_eq!(take_literal(&mut proto, &mut Budget(100)).as_deref(), Ok(text), "{shape}");
        assert_eq!(crate::notes::fields_left(&proto), Vec::<&str>::new());
    }

    #[test]
    fn values_of_every_type_survive() {
        check("s32[]", "-5");
        check("pred[2]{0}", "{1, 0}");
        check("s4[3]{0}", "{-8, 7, -1}");
        check("u1[2]{0}", "{1, 0}");
        check("s16[2]{0}", "{-32768, 32767}");
        check("u64[1]{0}", "{18446744073709551615}");
        check("f32[4]{0}", "{-0.0, inf, 1.401298464324817e-45, 0.10000000149011612}");
        check("bf16[3]{0}", "{nan(0x7f), -nan, 3.3895313892515355e38}");
        check("f64[2]{0}", "{nan, 5e-324}");
        check("f8e4m3b11fnuz[3]{0}", "{-nan, 30.0, -0.125}");
        check("f8e8m0fnu[2]{0}", "{nan, 1.0}");
        check("f4e2m1fn[2]{0}", "{6.0, -0.5}");
        check("f6e3m2fn[1]{0}", "{28.0}");
        check("c64[2]{0}", "{(1.0, -0.0), (inf, nan)}");
        check("(s32[], f32[2]{0})", "(1, {1.0, 2.0})");
        check("f32[0,3]{1,0}", "{}");
        check("f32[2,0]{1,0}", "{{}, {}}");
    }

    #[test]
    fn elements_lie_in_the_order_of_the_layout() {
        let of = |shape: &str| {
            let shape = Shape::from_text(shape).unwrap();
            literal_proto("{{1, 2, 3}, {4, 5, 6}}", &shape).unwrap().unwrap().s32s
        };
        assert_eq!(of("s32[2,3]{1,0}"), [1, 2, 3, 4, 5, 6]);
        assert_eq!(of("s32[2,3]{0,1}"), [1, 4, 2, 5, 3, 6]);
        check("s32[2,3]{0,1}", "{{1, 2, 3}, {4, 5, 6}}");
    }

    #[test]
    fn shapes_may_come_with_their_values() {
        for text in ["s32[2]{0} {1, 2}", "f32[] 1.0", "(s32[] 1, (f32[1]{0} {2.0}))"] {
            let mut proto = shaped_literal_proto(text).unwrap().unwrap();
            assert_eq!(take_shaped_literal(&mut proto, &mut Budget(100)).as_deref(), Ok(text));
        }
        assert_eq!(shaped_literal_proto("s32[2] {...}"), Ok(None));
        assert!(shaped_literal_proto("5").is_err());
    }

    #[test]
    fn lengths_are_checked() {
        let shape = Shape::from_text("s32[2,3]{1,0}").unwrap();
        let mut proto = literal_proto("{{1, 2, 3}, {4, 5, 6}}", &shape).unwrap().unwrap();
        proto.s32s.pop();
        let error = take_literal(&mut proto, &mut Budget(100)).unwrap_err();
        assert_eq!(error, "a literal of shape s32[2,3]{1,0} with 5 elements");
        let huge = Shape::from_text("s32[9223372036854775807,9223372036854775807]{1,0}").unwrap();
        let mut huge = LiteralProto { shape: Some(shape_proto(&huge)), ..LiteralProto::default() };
        assert!(take_literal(&mut huge, &mut Budget(100)).is_err());
        assert_eq!(literal_proto("{...}", &shape), Ok(None));
        let mut proto = literal_proto("{{1, 2, 3}, {4, 5, 6}}", &shape).unwrap().unwrap();
        assert_eq!(take_literal(&mut proto, &mut Budget(5)).as_deref(), Ok(ELIDED));
    }
}
