//! How reshapes, transposes and layouts relate the dimensions of two shapes.

use std::sync::Arc;

use ir::{ArrayShape, ElementType, ElementTypeExt as _, Layout, Shape};

use crate::shapes;
use crate::shapes::unmodified_dims;
pub(crate) use crate::shapes::{common_factors, inverse as inverse_permutation, is_identity};

/// The dimensions that a reshape keeps as they are: in the operand and in the result.
///
/// Source: `ShapeUtil::DimensionsUnmodifiedByReshape`.
pub(crate) fn kept_dimensions(from: &[i64], to: &[i64]) -> Vec<(usize, usize)> {
    let cuts = common_factors(from, to);
    let is_kept = |pair: &&[(usize, usize)]| pair[0].0 + 1 == pair[1].0 && pair[0].1 + 1 == pair[1].1;
    cuts.windows(2).filter(is_kept).map(|pair| pair[0]).collect()
}

/// Where these dimensions of a reshape's operand are in its result, if the reshape keeps all of them.
///
/// Source: `ShapeUtil::ReshapeLeavesDimensionsUnmodified`.
pub(crate) fn kept_by_reshape(from: &[i64], to: &[i64], dims: &[i64]) -> Option<Vec<i64>> {
    dims.is_sorted().then(|| unmodified_dims(from, to, dims))?
}

/// The dimensions of size 1 that a reshape deletes and inserts, if it does nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnitChanges {
    /// Dimensions of the operand.
    pub(crate) deleted: Vec<usize>,
    /// Dimensions of the result.
    pub(crate) inserted: Vec<usize>,
}

impl UnitChanges {
    /// Source: `ShapeUtil::InsertedOrDeleted1SizedDimensions`.
    pub(crate) fn of(from: &[i64], to: &[i64]) -> Option<UnitChanges> {
        let kept = kept_dimensions(from, to);
        let unkept = |all: &[i64], kept: Vec<usize>| -> Option<Vec<usize>> {
            let others: Vec<_> = (0..all.len()).filter(|dim| !kept.contains(dim)).collect();
            others.iter().all(|&dim| all[dim] <= 1).then_some(others)
        };
        Some(UnitChanges {
            deleted: unkept(from, kept.iter().map(|pair| pair.0).collect())?,
            inserted: unkept(to, kept.iter().map(|pair| pair.1).collect())?,
        })
    }
}

/// The same array with elements of another type.
pub(crate) fn with_element(shape: &Shape, element: ElementType) -> Shape {
    edited(shape, |array| {
        array.element = element;
        if let Some(layout) = array.layout.as_mut().filter(|layout| layout.element_bits != 0) {
            let bits = element.bits().filter(|&bits| bits < 8 && element != ElementType::Pred);
            layout.element_bits = bits.map_or(0, i64::from);
        }
    })
    .without_default_layouts()
}

/// The same array with other extents, as many as before.
pub(crate) fn with_dims(shape: &Shape, dims: Vec<i64>) -> Shape {
    edited(shape, |array| array.dims = dims)
}

/// The same array in the layout of another one of its rank.
pub(crate) fn with_layout_of(shape: &Shape, other: &Shape) -> Shape {
    let layout = other.as_array().and_then(|other| other.layout.clone());
    let new = edited(shape, |array| array.layout = layout);
    // The bits of elements stay.
    new.element().map_or(new.clone(), |element| with_element(&new, element))
}

/// The same array with its dimensions in this order in memory, the fastest first.
pub(crate) fn with_order(shape: &Shape, minor_to_major: Vec<i64>) -> Shape {
    edited(shape, |array| {
        let layout = array.layout.take().unwrap_or_else(|| Layout::row_major(0));
        array.layout = Some(Layout { minor_to_major, ..layout });
    })
}

/// The array without some dimensions; the others keep their order in memory.
pub(crate) fn without_dimensions(shape: &Shape, dims: &[i64]) -> Shape {
    edited(shape, |array| {
        let is_kept = |dim: usize| !dims.contains(&(dim as i64));
        let order = array.minor_to_major();
        let before = |dim: usize| (0..dim).filter(|&dim| is_kept(dim)).count() as i64;
        let order = order.into_iter().filter(|&dim| is_kept(dim)).map(before).collect();
        let mut dim = 0..array.rank();
        array.dims.retain(|_| dim.next().is_some_and(is_kept));
        let layout = array.layout.take().unwrap_or_else(|| Layout::row_major(0));
        array.layout = Some(Layout { minor_to_major: order, ..layout });
    })
}

/// The array without its dimensions of size 1.
pub(crate) fn without_unit_dimensions(shape: &Shape) -> Shape {
    let units = (0..).zip(shape.dims()).filter(|(_, size)| **size == 1).map(|(dim, _)| dim);
    without_dimensions(shape, &units.collect::<Vec<i64>>())
}

/// The result of a transpose whose layout makes it a bitcast.
///
/// Source: `ShapeUtil::PermuteDimensions`.
pub(crate) fn permuted(shape: &Shape, permutation: &[i64]) -> Shape {
    shapes::transposed(shape, permutation).unwrap_or_else(|| shape.clone())
}

fn edited(shape: &Shape, edit: impl FnOnce(&mut ArrayShape)) -> Shape {
    let Some(array) = shape.as_array() else { return shape.clone() };
    let mut array = array.clone();
    array.dynamic = Vec::new();
    edit(&mut array);
    Shape::Array(Arc::new(array))
}

/// The permutation by which a bitcast transposes its operand, if it does just that.
///
/// Source: `ShapeUtil::DeduceTransposeDimensionsForBitcast`.
pub(crate) fn bitcast_as_transpose(from: &Shape, to: &Shape) -> Option<Vec<i64>> {
    let (from, to) = (from.as_array()?, to.as_array()?);
    if from.rank() != to.rank() {
        return None;
    }
    let mut permutation = vec![0; to.rank()];
    for (from, to) in from.minor_to_major().into_iter().zip(to.minor_to_major()) {
        permutation[to] = from as i64;
    }
    (permute(&from.dims, &permutation) == to.dims).then_some(permutation)
}

/// Whether a transpose leaves every element where it is in memory.
///
/// Source: `ShapeUtil::TransposeIsBitcast`.
pub(crate) fn transpose_is_bitcast(from: &Shape, to: &Shape, permutation: &[i64]) -> bool {
    let (Some(from), Some(to)) = (from.as_array(), to.as_array()) else { return false };
    let order = to.minor_to_major().into_iter().map(|dim| permutation.get(dim).copied());
    from.element == to.element && order.eq(from.minor_to_major().into_iter().map(|dim| Some(dim as i64)))
}

/// The array `to` in the layout that makes a reshape of `from` a bitcast, if there is one. Dimensions of size 1 come last.
///
/// Source: `ShapeUtil::AlignLayouts`.
pub(crate) fn aligned(from: &Shape, to: &Shape) -> Option<Shape> {
    let small = without_unit_dimensions(from);
    let from = small.as_array()?;
    let whole: Vec<usize> = (0..to.dims().len()).filter(|&dim| to.dims()[dim] != 1).collect();
    let sizes: Vec<i64> = whole.iter().map(|&dim| to.dims()[dim]).collect();
    if from.elements().is_none_or(|elements| elements == 0) {
        return None;
    }
    let cuts = common_factors(&from.dims, &sizes);
    let layout = from.minor_to_major();
    let mut part_of = vec![0; from.rank()];
    for (part, ends) in cuts.windows(2).enumerate() {
        let mut dims = ends[0].0..ends[1].0;
        let first = dims.next()?;
        part_of[first] = part;
        // The dimensions of a part are next to each other in memory, the last one the fastest.
        let mut place = layout.iter().position(|&dim| dim == first)?;
        for dim in dims {
            place = place.checked_sub(1)?;
            if layout[place] != dim {
                return None;
            }
            part_of[dim] = part;
        }
    }
    let mut order = Vec::with_capacity(to.dims().len());
    let mut next = 0;
    while order.len() < whole.len() {
        let part = *part_of.get(*layout.get(next)?)?;
        let (start, end) = (*cuts.get(part)?, *cuts.get(part + 1)?);
        order.extend((start.1..end.1).rev().map(|dim| whole[dim] as i64));
        next += end.0 - start.0;
    }
    order.extend((0..to.dims().len()).rev().filter(|&dim| to.dims()[dim] == 1).map(|dim| dim as i64));
    Some(edited(to, |array| {
        array.layout = Some(Layout { minor_to_major: order, ..Layout::row_major(0) });
    }))
}

/// The values in the order that a permutation says: `values[permutation[i]]` at `i`.
pub(crate) fn permute<T: Copy>(values: &[T], permutation: &[i64]) -> Vec<T> {
    permutation.iter().filter_map(|&dim| values.get(dim as usize).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_of_size_1_come_and_go() {
        let changes = UnitChanges::of(&[8, 1, 3], &[1, 8, 3, 1]).unwrap();
        assert_eq!((changes.deleted, changes.inserted), (vec![1], vec![0, 3]));
        assert_eq!(UnitChanges::of(&[8, 3], &[24]), None);
        assert_eq!(kept_by_reshape(&[2, 3, 4], &[6, 4], &[2]), Some(vec![1]));
        assert_eq!(kept_by_reshape(&[2, 3, 4], &[6, 4], &[0]), None);
    }

    #[test]
    fn reshapes_become_bitcasts_in_aligned_layouts() {
        let from = Shape::from_text("f32[4,6]{0,1}").unwrap();
        let to = Shape::from_text("f32[4,2,1,3]").unwrap();
        let aligned = aligned(&from, &to).unwrap();
        assert_eq!(aligned.to_string(), "f32[4,2,1,3]{0,3,1,2}");
        assert!(gpu::reshape_is_bitcast(&from, &aligned));
        assert_eq!(super::aligned(&from, &Shape::from_text("f32[24]").unwrap()), None);
    }

    #[test]
    fn layouts_follow_the_dimensions() {
        let shape = Shape::from_text("f32[2,3,4]{0,2,1}").unwrap();
        assert_eq!(without_dimensions(&shape, &[1]).to_string(), "f32[2,4]{0,1}");
        let moved = permuted(&shape, &[2, 0, 1]);
        assert_eq!(moved.to_string(), "f32[4,2,3]{1,0,2}");
        assert!(transpose_is_bitcast(&shape, &moved, &[2, 0, 1]));
        assert_eq!(bitcast_as_transpose(&shape, &moved), Some(vec![2, 0, 1]));
        assert!(!transpose_is_bitcast(&shape, &Shape::array(ElementType::F32, &[4, 2, 3]), &[2, 0, 1]));
    }
}
