//! `sub-byte-size-setter`: states in layouts how many bits elements below a byte take.
//!
//! Source: XLA `hlo/transforms/simplifiers/sub_byte_normalization.cc`.

use std::sync::Arc;

use ir::{ArrayShape, ElementType, ElementTypeExt as _, Layout, Shape};

use crate::driver::{Run, Stop};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.computations() {
        for id in run.module.instructions(computation) {
            cancel::tick();
            if let Some(shape) = with_sizes(run.module[id].shape()) {
                run.changed(id, "states the bits of its elements");
                run.module.set_shape(id, shape);
            }
        }
    }
    if let Some((parameters, result)) = &mut run.module.header.entry_layout {
        for shape in parameters.iter_mut().chain([result]) {
            if let Some(sized) = with_sizes(shape) {
                *shape = sized;
            }
        }
    }
    Ok(())
}

/// The shape with the bits of elements in its layouts, where that changes anything.
fn with_sizes(shape: &Shape) -> Option<Shape> {
    match shape {
        Shape::Tuple(elements) => {
            let sized: Vec<_> =
                elements.iter().map(|element| recursion::grow(|| with_sizes(element))).collect();
            let has_changed = sized.iter().any(Option::is_some);
            let whole = sized
                .into_iter()
                .zip(elements.iter())
                .map(|(sized, old)| sized.unwrap_or_else(|| old.clone()));
            has_changed.then(|| Shape::tuple(whole))
        }
        Shape::Array(array) => {
            let bits = array.element.bits().filter(|&bits| bits < 8 && array.element != ElementType::Pred);
            let bits = bits.map_or(0, i64::from);
            if array.layout.as_ref().map_or(0, |layout| layout.element_bits) == bits {
                return None;
            }
            let layout = array.layout.clone().unwrap_or_else(|| Layout::row_major(array.rank()));
            let layout = Some(Layout { element_bits: bits, ..layout });
            Some(
                Shape::Array(Arc::new(ArrayShape { layout, ..ArrayShape::clone(array) }))
                    .without_default_layouts(),
            )
        }
        _ => None,
    }
}
