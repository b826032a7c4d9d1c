//! Ops of which some extents are not known, as other languages than HLO have them.

use std::sync::Arc;

use ir::{ArrayShape, Op, Shape};
use random::Rng;

/// The op with unknown extents in place of some sizes: mostly of a few dimensions, sometimes of all.
pub fn without_some_extents(op: &Op, rng: &mut Rng) -> Op {
    let one_in = *rng.pick(&[1, 2, 4]);
    let mut open = |shape: &Shape| without_some(shape, one_in, rng);
    let operand_shapes = op.operand_shapes.iter().map(&mut open).collect();
    Op { shape: open(&op.shape), operand_shapes, ..op.clone() }
}

fn without_some(shape: &Shape, one_in: u64, rng: &mut Rng) -> Shape {
    match shape {
        Shape::Array(array) => {
            let extent = |&size: &i64| match (rng.one_in(one_in), rng.one_in(3)) {
                (false, _) => size,
                (true, false) => ir::UNBOUNDED,
                // At most so many.
                (true, true) => !(size + rng.range(0, 3)),
            };
            let dims = array.dims.iter().map(extent).collect();
            Shape::Array(Arc::new(ArrayShape { dims, ..ArrayShape::clone(array) }))
        }
        Shape::Tuple(elements) => Shape::tuple(elements.iter().map(|shape| without_some(shape, one_in, rng))),
        other => other.clone(),
    }
}
