//! Layouts of arrays, and of all arrays in a tuple.

use std::sync::Arc;

use ir::{ArrayShape, Layout, Shape};
use smallvec::{SmallVec, smallvec};

/// Per array in a shape, in the order of [`leaves`], its layout; `None` where none is chosen yet.
pub(super) type Layouts = Vec<Option<Arc<Layout>>>;

/// The arrays in a shape, elements of tuples in order.
pub(super) fn leaves(shape: &Shape) -> SmallVec<[&Arc<ArrayShape>; 1]> {
    if let Shape::Array(array) = shape {
        return smallvec![array];
    }
    let mut found = SmallVec::new();
    let mut open = vec![shape];
    while let Some(shape) = open.pop() {
        match shape {
            Shape::Array(array) => found.push(array),
            Shape::Tuple(elements) => open.extend(elements.iter().rev()),
            Shape::Buffer(_) | Shape::Token | Shape::Opaque => {}
        }
    }
    found
}

/// The number of the first array of element `index` among those of the tuple.
pub(super) fn first_leaf(tuple: &Shape, index: usize) -> usize {
    let elements = tuple.tuple_elements().unwrap_or_default();
    elements.iter().take(index).map(|element| leaves(element).len()).sum()
}

/// A layout with nothing but this order.
pub(super) fn of_order(minor_to_major: Vec<i64>) -> Arc<Layout> {
    Arc::new(Layout { minor_to_major, ..Layout::row_major(0) })
}

pub(super) fn row_major(rank: usize) -> Arc<Layout> {
    Arc::new(Layout::row_major(rank))
}

/// The layout that an array has.
pub(super) fn layout_of(array: &ArrayShape) -> Arc<Layout> {
    Arc::new(array.layout.clone().unwrap_or_else(|| Layout::row_major(array.rank())))
}

/// The layouts that all arrays of a shape have.
pub(super) fn layouts_of(shape: &Shape) -> Layouts {
    leaves(shape).into_iter().map(|array| Some(layout_of(array))).collect()
}

/// As [`layouts_of`], all in the memory of the device: where arrays are on the host is decided later.
pub(super) fn in_device_memory(shape: &Shape) -> Layouts {
    let mut layouts = layouts_of(shape);
    for layout in layouts.iter_mut().flatten().filter(|layout| layout.memory_space != 0) {
        Arc::make_mut(layout).memory_space = 0;
    }
    layouts
}

/// The array in another layout.
pub(super) fn laid_out(array: &ArrayShape, layout: &Layout) -> Shape {
    let layout = Some(layout.clone()).filter(|layout| layout.minor_to_major.len() == array.rank());
    Shape::Array(Arc::new(ArrayShape { layout, ..array.clone() }))
}

/// The shape with these layouts in place of its own.
pub(super) fn with_layouts(shape: &Shape, layouts: &[Option<Arc<Layout>>]) -> Shape {
    fn next(shape: &Shape, rest: &mut std::slice::Iter<'_, Option<Arc<Layout>>>) -> Shape {
        match shape {
            Shape::Array(array) => match rest.next() {
                Some(Some(layout)) => laid_out(array, layout),
                _ => shape.clone(),
            },
            Shape::Tuple(elements) => {
                recursion::grow(|| Shape::tuple(elements.iter().map(|element| next(element, rest))))
            }
            Shape::Buffer(_) | Shape::Token | Shape::Opaque => shape.clone(),
        }
    }
    next(shape, &mut layouts.iter())
}

/// Whether the order of dimensions is the same; nothing else counts here.
pub(super) fn is_same_order(a: &Layout, b: &Layout) -> bool {
    a.minor_to_major == b.minor_to_major
}

/// [`is_same_order`] of each array. A layout that is not chosen equals none but itself.
pub(super) fn are_same_orders(a: &[Option<Arc<Layout>>], b: &[Option<Arc<Layout>>]) -> bool {
    let is_same = |pair: (&Option<Arc<Layout>>, &Option<Arc<Layout>>)| match pair {
        (Some(a), Some(b)) => is_same_order(a, b),
        (a, b) => a.is_none() && b.is_none(),
    };
    a.len() == b.len() && a.iter().zip(b).all(is_same)
}

/// The layout in which a dimension is the slowest. Source: `LayoutUtil::MoveDimToMajor`.
pub(super) fn with_major(layout: &Layout, dim: i64) -> Arc<Layout> {
    let mut layout = layout.clone();
    layout.minor_to_major.retain(|&own| own != dim);
    layout.minor_to_major.push(dim);
    Arc::new(layout)
}

/// The layout in which a dimension is the fastest. Source: `LayoutUtil::MoveDimToMinor`.
pub(super) fn with_minor(layout: &Layout, dim: i64) -> Arc<Layout> {
    let mut layout = layout.clone();
    layout.minor_to_major.retain(|&own| own != dim);
    layout.minor_to_major.insert(0, dim);
    Arc::new(layout)
}

/// The layout of the array without the dimensions for which `is_kept` does not hold.
/// Source: `ShapeUtil::FilterDimensions`.
pub(super) fn filtered(layout: &Layout, is_kept: impl Fn(i64) -> bool) -> Arc<Layout> {
    let kept = layout.minor_to_major.iter().copied().filter(|&dim| is_kept(dim));
    let number = |dim: i64| (0..dim).filter(|&before| is_kept(before)).count() as i64;
    let minor_to_major = kept.map(number).collect();
    Arc::new(Layout { minor_to_major, ..layout.clone() })
}
