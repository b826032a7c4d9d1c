//! Shapes and layouts. Source: XLA `shape.cc` and `layout.cc`, FromProto and ToProto.

use std::sync::Arc;

use ir::{ArrayShape, Layout, Shape, Tile, UNBOUNDED};

use crate::element_type::{BUFFER, OPAQUE, TOKEN, TUPLE, element_type, number_of};
use crate::messages::{LayoutProto, ProgramShapeProto, ShapeProto, SplitConfigProto, TileProto};

/// Takes a shape out of a message; what is not understood stays in it.
pub(crate) fn take_shape(proto: &mut ShapeProto) -> Result<Shape, String> {
    let number = std::mem::take(&mut proto.element_type);
    match number {
        TUPLE => {
            let elements: Result<Vec<Shape>, String> = proto
                .tuple_shapes
                .iter_mut()
                .map(|element| recursion::grow(|| take_shape(element)))
                .collect();
            Ok(Shape::tuple(elements?))
        }
        OPAQUE => Ok(Shape::Opaque),
        TOKEN => Ok(Shape::Token),
        BUFFER => match proto.tuple_shapes.pop() {
            Some(mut inner) => Ok(Shape::Buffer(Arc::new(recursion::grow(|| take_shape(&mut inner))?))),
            None => Err("a buffer without a shape".to_owned()),
        },
        _ => {
            let element =
                element_type(number).ok_or_else(|| format!("element type {number} is not known"))?;
            let dims = std::mem::take(&mut proto.dimensions);
            let mut dynamic = std::mem::take(&mut proto.is_dynamic_dimension);
            if !dynamic.is_empty() && dynamic.len() != dims.len() {
                return Err(format!(
                    "{} dimensions, {} of which it says whether they are dynamic",
                    dims.len(),
                    dynamic.len()
                ));
            }
            if !dynamic.contains(&true) {
                dynamic.clear();
            }
            if let Some(dim) = dims.iter().find(|&&dim| dim < 0 && dim != UNBOUNDED) {
                return Err(format!("a dimension of size {dim}"));
            }
            let layout = match &mut proto.layout {
                Some(layout) => take_layout(layout)?,
                None => None,
            };
            Ok(Shape::Array(Arc::new(ArrayShape { element, dims, dynamic, layout })))
        }
    }
}

/// `None` for a layout without dimensions that says nothing, which a scalar has.
fn take_layout(proto: &mut LayoutProto) -> Result<Option<Layout>, String> {
    let named = |number: &mut i32| match std::mem::take(number) {
        0 => Ok(None),
        number => match element_type(number) {
            Some(element) => Ok(Some(element)),
            None => Err(format!("element type {number} is not known")),
        },
    };
    let mut splits = std::mem::take(&mut proto.split_configs);
    let split = match splits.len() {
        0 => None,
        _ => {
            let first = splits.remove(0);
            proto.split_configs = splits;
            Some([&[first.dimension][..], &first.split_indices].concat())
        }
    };
    let layout = Layout {
        minor_to_major: std::mem::take(&mut proto.minor_to_major),
        tiles: proto.tiles.drain(..).map(|tile| Tile(tile.dimensions)).collect(),
        element_bits: std::mem::take(&mut proto.element_size_in_bits),
        memory_space: std::mem::take(&mut proto.memory_space),
        tail_alignment: std::mem::take(&mut proto.tail_padding_alignment_in_elements).max(1),
        index_type: named(&mut proto.index_primitive_type)?,
        pointer_type: named(&mut proto.pointer_primitive_type)?,
        split,
        dynamic_metadata_bytes: std::mem::take(&mut proto.dynamic_shape_metadata_prefix_bytes),
        unknown: String::new(),
    };
    Ok((layout != Layout::row_major(0)).then_some(layout))
}

pub(crate) fn shape_proto(shape: &Shape) -> ShapeProto {
    let mut proto = ShapeProto::default();
    match shape {
        Shape::Tuple(elements) => {
            proto.element_type = TUPLE;
            proto.tuple_shapes =
                elements.iter().map(|element| recursion::grow(|| shape_proto(element))).collect();
        }
        Shape::Opaque => proto.element_type = OPAQUE,
        Shape::Token => proto.element_type = TOKEN,
        Shape::Buffer(inner) => {
            proto.element_type = BUFFER;
            proto.tuple_shapes = vec![recursion::grow(|| shape_proto(inner))];
        }
        Shape::Array(array) => {
            proto.element_type = number_of(array.element);
            proto.dimensions.clone_from(&array.dims);
            proto.is_dynamic_dimension = (0..array.rank()).map(|dim| array.is_dynamic(dim)).collect();
            let default = || Layout::row_major(array.rank());
            proto.layout = Some(layout_proto(array.layout.as_ref().unwrap_or(&default())));
        }
    }
    proto
}

fn layout_proto(layout: &Layout) -> LayoutProto {
    let number = |element: Option<ir::ElementType>| element.map_or(0, number_of);
    LayoutProto {
        minor_to_major: layout.minor_to_major.clone(),
        tiles: layout.tiles.iter().map(|tile| TileProto { dimensions: tile.0.clone() }).collect(),
        element_size_in_bits: layout.element_bits,
        memory_space: layout.memory_space,
        index_primitive_type: number(layout.index_type),
        pointer_primitive_type: number(layout.pointer_type),
        dynamic_shape_metadata_prefix_bytes: layout.dynamic_metadata_bytes,
        tail_padding_alignment_in_elements: layout.tail_alignment,
        split_configs: match layout.split.as_deref() {
            Some([dimension, indices @ ..]) => {
                vec![SplitConfigProto { dimension: *dimension, split_indices: indices.to_vec() }]
            }
            _ => Vec::new(),
        },
        ..LayoutProto::default()
    }
}

/// The names are those of the parameters.
pub(crate) fn program_shape<'s>(
    parameters: impl Iterator<Item = (&'s Shape, String)>,
    result: &Shape,
) -> ProgramShapeProto {
    let (shapes, names) = parameters.map(|(shape, name)| (shape_proto(shape), name)).unzip();
    ProgramShapeProto { parameters: shapes, result: Some(shape_proto(result)), parameter_names: names }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_survive_both_ways() {
        for text in [
            "f32[]",
            "f32[8,16]{1,0}",
            "bf16[2,3,4]{0,2,1:T(8,128)(2,1)L(64)#(u32)*(u8)E(16)S(5)SC(1:2,3)M(32)}",
            "s4[<=8,?]{1,0}",
            "pred[0]{0}",
            "(f32[2]{0}, (token[], opaque[]), b(s32[4]{0}))",
            "()",
        ] {
            let shape = Shape::from_text(text).unwrap_or_else(|| panic!("{text}"));
            let mut proto = shape_proto(&shape);
            assert_eq!(take_shape(&mut proto).as_ref(), Ok(&shape), "{text}");
            assert_eq!(crate::notes::fields_left(&proto), Vec::<&str>::new(), "{text}");
        }
    }

    #[test]
    fn what_is_no_shape_is_an_error() {
        let check = |proto: ShapeProto, expect: &str| {
            assert_eq!(take_shape(&mut proto.clone()).unwrap_err(), expect);
        };
        check(ShapeProto { element_type: 99, ..ShapeProto::default() }, "element type 99 is not known");
        check(ShapeProto { element_type: BUFFER, ..ShapeProto::default() }, "a buffer without a shape");
        let negative = ShapeProto { element_type: 11, dimensions: vec![-5], ..ShapeProto::default() };
        check(negative, "a dimension of size -5");
    }
}
