//! Shapes as a printed module has them: layouts filled in, or left out.

use std::fmt::Write as _;

use crate::shape::{ArrayShape, Shape};

/// Every how many elements a comment counts them.
const COUNTED: usize = 5;

/// With its layout; where the text gave none, the default one. Tuples count their elements.
pub(super) fn write_shape(out: &mut String, shape: &Shape) {
    write(out, shape, true);
}

/// Element types and dimensions alone, as in the header of a computation.
pub(super) fn write_shape_without_layout(out: &mut String, shape: &Shape) {
    write(out, shape, false);
}

fn write(out: &mut String, shape: &Shape, with_layout: bool) {
    match shape {
        Shape::Array(array) => write_array(out, array, with_layout),
        Shape::Tuple(elements) => {
            out.push('(');
            for (i, element) in elements.iter().enumerate() {
                separate(out, i, true);
                write(out, element, with_layout);
            }
            out.push(')');
        }
        Shape::Buffer(inner) => {
            out.push_str("b(");
            write(out, inner, with_layout);
            out.push(')');
        }
        Shape::Token => out.push_str("token[]"),
        Shape::Opaque => out.push_str("opaque[]"),
    }
}

/// What comes before item `i` of a list.
pub(super) fn separate(out: &mut String, i: usize, counted: bool) {
    if i > 0 {
        out.push_str(", ");
        if counted && i.is_multiple_of(COUNTED) {
            let _ = write!(out, "/*index={i}*/");
        }
    }
}

fn write_array(out: &mut String, array: &ArrayShape, with_layout: bool) {
    out.push_str(array.element.name());
    out.push('[');
    for (i, &dim) in array.dims.iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        match dim {
            i64::MIN => out.push('?'),
            _ => {
                if array.is_dynamic(i) {
                    out.push_str("<=");
                }
                let _ = write!(out, "{dim}");
            }
        }
    }
    out.push(']');
    if !with_layout {
        return;
    }
    match &array.layout {
        Some(layout) => {
            let _ = write!(out, "{layout}");
        }
        None if array.rank() > 0 => {
            out.push('{');
            for d in (0..array.rank()).rev() {
                let _ = write!(out, "{d}{}", if d > 0 { "," } else { "}" });
            }
        }
        None => {}
    }
}
