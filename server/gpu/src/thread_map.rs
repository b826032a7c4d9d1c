//! Maps from thread and block ids to elements.
//!
//! The dimensions of every map are `th_x th_y th_z bl_x bl_y bl_z`; range variables are the loops of one
//! thread.

use std::sync::Arc;

use indexing_map::{Expr, IndexingMap, Interval, SimplifyMode, Variable, ceil_div};
use ir::{ArrayShape, ElementType, Layout, Op, Opcode, Shape};

use crate::launch::{Launch, product};

/// Variable ids of the dimensions.
pub(crate) const TH_X: usize = 0;
pub(crate) const BL_X: usize = 3;
pub(crate) const BL_Y: usize = 4;
pub(crate) const BL_Z: usize = 5;
/// Variable id of the first range variable.
pub(crate) const RANGES: usize = 6;

/// Maps each thread to `unroll` neighbouring elements of `shape`, in memory order.
/// Source: `GetDefaultWorkItemIndexingMap`, `codegen/emitters/kernel_api_builder.cc`.
pub fn work_items(launch: &Launch, unroll: i64, shape: &ArrayShape) -> IndexingMap {
    let sizes = launch.sizes();
    let items = product(&sizes).ok().and_then(|n| n.checked_mul(unroll));
    let (Some(items), Ok(elements)) = (items, product(&shape.dims)) else { return IndexingMap::undefined() };
    if elements == 0 {
        return IndexingMap::known_empty(RANGES, 0, shape.rank());
    }
    let chunks = ceil_div(elements, items.max(1)).unwrap_or(1);
    let mut linear = Expr::var(RANGES) * items + Expr::var(RANGES + 1);
    let mut stride = unroll;
    for axis in 0..3 {
        let id = Expr::var(TH_X + axis) + Expr::var(BL_X + axis) * sizes[axis];
        linear = linear + id * stride;
        // The product of all sizes is `items`, which fits unless one of them is 0.
        stride = stride.saturating_mul(sizes[axis]).saturating_mul(sizes[axis + 3]);
    }
    let mut results = vec![Expr::ZERO; shape.rank()];
    let mut size = 1;
    for dim in shape.minor_to_major() {
        results[dim] = linear.clone().floor_div(size).modulo(shape.dims[dim]);
        size *= shape.dims[dim];
    }
    let ranges = vec![Variable::from_size(chunks), Variable::from_size(unroll)];
    let mut map = IndexingMap::new(Variable::gpu_grid(sizes), ranges, Vec::new(), results);
    map.add_constraint(linear, Interval::from_size(elements));
    map.simplify(SimplifyMode::Replace);
    map.remove_unused_symbols();
    map
}

/// A map over the grid of a launch and range variables of these sizes, not simplified.
pub(crate) fn grid_map(launch: &Launch, ranges: &[i64], results: Vec<Expr>) -> IndexingMap {
    let ranges = ranges.iter().map(|&size| Variable::from_size(size)).collect();
    IndexingMap::new(Variable::gpu_grid(launch.sizes()), ranges, Vec::new(), results)
}

/// The components of `linear`, which is below the product of `sizes`. The first needs no `mod`, and a size of
/// 1 no digit.
/// Source: `DelinearizeInBoundsIndex`, `hlo/analysis/indexing_analysis.cc`.
pub(crate) fn delinearize(linear: &Expr, sizes: &[i64]) -> Vec<Expr> {
    if sizes.contains(&0) {
        return vec![Expr::ZERO; sizes.len()];
    }
    let mut results = vec![Expr::ZERO; sizes.len()];
    let first = sizes.iter().position(|&size| size > 1);
    let mut stride = 1i64;
    for (i, &size) in sizes.iter().enumerate().rev().filter(|(_, size)| **size > 1) {
        let digit = linear.clone().floor_div(stride);
        results[i] = if Some(i) == first { digit } else { digit.modulo(size) };
        stride = stride.saturating_mul(size);
    }
    results
}

/// Constrains every result to the sizes of a shape.
pub(crate) fn in_bounds(map: IndexingMap, sizes: &[i64]) -> IndexingMap {
    let results = map.results().to_vec();
    let bounds = results.into_iter().zip(sizes);
    bounds.fold(map, |map, (result, &size)| map.with_constraint(result, Interval::from_size(size)))
}

/// Maps the elements of a row-major array of these sizes to the elements of `to` at the same place in memory.
pub(crate) fn bitcast_from_sizes(sizes: &[i64], to: &Shape) -> IndexingMap {
    bitcast(&Shape::array(ElementType::F32, sizes), to)
}

/// Maps the elements of `from` to the elements of `to` at the same place in memory. Element types do not
/// matter.
pub fn bitcast(from: &Shape, to: &Shape) -> IndexingMap {
    let (Some(from), Some(to)) = (untyped(from), untyped(to)) else { return IndexingMap::undefined() };
    if from == to {
        return IndexingMap::identity(from.dims());
    }
    let op = Op { opcode: Opcode::Bitcast, operand_shapes: vec![to], ..Op::leaf(from) };
    let mut indexing = indexing::output_to_input(&op, 0);
    let access = indexing.operands.first_mut().and_then(Vec::pop);
    access.map_or_else(IndexingMap::undefined, |access| access.map)
}

/// The shape with the same sizes and dimension order, and elements of one byte.
fn untyped(shape: &Shape) -> Option<Shape> {
    let array = shape.as_array()?;
    let minor_to_major = array.minor_to_major().into_iter().map(|dim| dim as i64).collect();
    Some(Shape::Array(Arc::new(ArrayShape {
        element: ElementType::S8,
        dims: array.dims.clone(),
        dynamic: Vec::new(),
        layout: Some(Layout { minor_to_major, ..Layout::row_major(array.rank()) }),
    })))
}

/// The composition of `first` and `second`, simplified.
pub(crate) fn then(first: &IndexingMap, second: &IndexingMap) -> IndexingMap {
    if second.is_identity() && first.results().len() == second.num_dims() {
        return first.clone();
    }
    first.compose(second).simplified(SimplifyMode::Replace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;

    #[track_caller]
    fn check(dims: &[i64], unroll: i64, expect: &str) {
        let launch = Launch::for_elements(dims.iter().product(), unroll, Device::find("h100-sxm").unwrap());
        let shape = Shape::array(ElementType::F32, dims);
        let map = work_items(&launch, unroll, shape.as_array().unwrap());
        assert_eq!(map.to_string().replace(" floordiv ", " / "), expect);
    }

    #[test]
    fn a_full_grid_has_no_constraint() {
        check(
            &[6, 512, 4096],
            4,
            "(th_x, th_y, th_z, bl_x, bl_y, bl_z)[s0] -> (bl_x / 4096, (bl_x / 8) mod 512, \
             (bl_x mod 8) * 512 + th_x * 4 + s0), domain: th_x in [0, 127], th_y in [0, 0], th_z in [0, 0], \
             bl_x in [0, 24575], bl_y in [0, 0], bl_z in [0, 0], s0 in [0, 3]",
        );
    }

    #[test]
    fn the_last_block_is_cut() {
        check(
            &[300],
            1,
            "(th_x, th_y, th_z, bl_x, bl_y, bl_z) -> (bl_x * 128 + th_x), domain: th_x in [0, 127], \
             th_y in [0, 0], th_z in [0, 0], bl_x in [0, 2], bl_y in [0, 0], bl_z in [0, 0], \
             bl_x * 128 + th_x in [0, 299]",
        );
    }

    #[test]
    fn components() {
        let parts = delinearize(&Expr::var(0), &[1, 4, 1, 8]);
        assert_eq!(parts[0], Expr::ZERO);
        assert_eq!(parts[1], Expr::var(0).floor_div(8));
        assert_eq!(parts[3], Expr::var(0).modulo(8));
    }
}
