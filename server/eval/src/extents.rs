//! Dynamic dimensions. An extent is traced from where it is read to the `set-dimension-size` that defines it,
//! through ops that keep the dimension. The extent of a parameter is unknown.

use ir::{AttributeKey, Graph, OpId, Opcode, is_elementwise};

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of};
use super::positions::{array, count, each_index, strides};
use crate::checks::{Checked, dimensions, ensure};

/// The largest number of ops on that path.
const MAX_STEPS: usize = 1 << 12;

fn dimension(asked: &Asked<'_>) -> Checked<usize> {
    let rank = array(asked.operand_shape(0)?)?.dims.len();
    let dims = dimensions(asked.op.attributes.ints(AttributeKey::Dimensions), rank)?;
    dims.first().copied().ok_or_else(|| "dimensions is missing".into())
}

/// `get-dimension-size`.
pub(crate) fn size_of(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let extent = extent(evaluator, asked.frame, asked.operand(0)?, dimension(asked)?)?;
    let kind = kind_of(&asked.op.shape)?;
    Ok(Column::int(kind, vec![kind.wrap(extent); asked.batch.positions.len()]))
}

/// `set-dimension-size`: elements stay in place. Those past the extent are undefined.
pub(crate) fn resized(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let dim = dimension(asked)?;
    ensure(asked.operand_shape(0)?.dims() == asked.op.shape.dims(), "the bounds of the dimensions differ")?;
    given_extent(evaluator, asked.frame, asked.graph, asked.id, dim)?;
    let column = evaluator.at(asked.frame, asked.operand(0)?, 0, asked.batch.positions.clone())?;
    Ok(Column::clone(&column))
}

/// `dynamic-reshape`: existing elements keep their order. Those past the sizes are undefined, and zero here.
pub(crate) fn reshaped(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let (bounds, operand) = (array(&asked.op.shape)?, array(asked.operand_shape(0)?)?);
    let (mut sizes, mut given) = (Vec::new(), Vec::new());
    for (dim, &bound) in bounds.dims.iter().enumerate() {
        let size = evaluator.scalar(asked.frame, asked.operand(dim + 1)?)?;
        ensure(size.error.is_none(), "the size of a dimension is not exact")?;
        let size = size.ints().first().copied().ok_or("the size of a dimension is no whole number")?;
        ensure((0..=bound).contains(&size), format!("size {size} is outside of the bound {bound}"))?;
        sizes.push(size);
    }
    for dim in 0..operand.dims.len() {
        given.push(extent(evaluator, asked.frame, asked.operand(0)?, dim)?);
    }
    let counts = [&sizes, &given].map(|sizes| sizes.iter().product::<i64>());
    ensure(counts[0] == counts[1], format!("{} elements become {}", counts[1], counts[0]))?;
    let (own, steps) = (strides(&sizes), strides(&operand.dims));
    let (mut places, mut is_behind) = (Vec::new(), Vec::new());
    each_index(&asked.batch.positions, &bounds.dims, |_, index| {
        let is_outside = index.iter().zip(&sizes).any(|(i, size)| i >= size);
        let mut rest: i64 = index.iter().zip(&own).map(|(i, step)| i * step).sum();
        let mut place = 0;
        for (size, step) in given.iter().zip(&steps).rev() {
            place += rest % size.max(&1) * step;
            rest /= size.max(&1);
        }
        places.push(if is_outside { 0 } else { place });
        is_behind.push(is_outside);
    });
    if count(operand) == 0 {
        let kind = kind_of(&asked.op.shape)?;
        return Ok(super::fill::Fill::Zeros.column(kind, 0, 0, &asked.batch.positions));
    }
    let mut column = super::moves::shared(evaluator, asked, 0, &places)?;
    column.zero_where(|i| is_behind[i]);
    Ok(column)
}

/// The size set by a `set-dimension-size`, which must be within the bound.
fn given_extent(
    evaluator: &mut Evaluator<'_>,
    frame: usize,
    graph: &Graph,
    id: OpId,
    dim: usize,
) -> Checked<i64> {
    let operand = graph.operands[id as usize].get(1).copied().ok_or("operand 1 is missing")?;
    let size = evaluator.scalar(frame, operand)?;
    ensure(size.error.is_none(), "the size of a dimension is not exact")?;
    let extent = size.ints().first().copied().ok_or("the size of a dimension is no whole number")?;
    let bound = graph.ops[id as usize].shape.dims().get(dim).copied().unwrap_or(0);
    ensure((0..=bound).contains(&extent), format!("size {extent} is outside of the bound {bound}"))?;
    Ok(extent)
}

/// The extent of dimension `dim` of an op's result.
pub(crate) fn extent(evaluator: &mut Evaluator<'_>, frame: usize, op: OpId, dim: usize) -> Checked<i64> {
    let (mut op, mut dim) = (op, dim);
    for _ in 0..MAX_STEPS {
        let (graph, at) = evaluator.op(frame, op)?;
        let own = &graph.ops[at];
        let shape = own.shape.as_array().ok_or("not an array")?;
        let size = *shape.dims.get(dim).ok_or("there is no such dimension")?;
        if !shape.dynamic.get(dim).copied().unwrap_or(false) {
            return Ok(size);
        }
        let first = graph.operands[at].first().copied();
        let next = || first.ok_or_else(|| crate::checks::Reason::from("operand 0 is missing"));
        let unknown = || format!("the size of dimension {dim} of {} is not known", graph.names[at]).into();
        (op, dim) = match own.opcode {
            Opcode::SetDimensionSize => {
                let given = own.attributes.ints(AttributeKey::Dimensions).first().copied();
                if given == Some(dim as i64) {
                    return given_extent(evaluator, frame, &graph, op, dim);
                }
                (next()?, dim)
            }
            Opcode::Transpose => {
                let from = own.attributes.ints(AttributeKey::Dimensions).get(dim).copied();
                (next()?, from.and_then(|d| usize::try_from(d).ok()).ok_or_else(unknown)?)
            }
            Opcode::Broadcast => {
                let dims = own.attributes.ints(AttributeKey::Dimensions);
                (next()?, dims.iter().position(|&d| d == dim as i64).ok_or_else(unknown)?)
            }
            Opcode::Reduce => {
                let reduced = own.attributes.ints(AttributeKey::Dimensions);
                let rank = own.operand_shapes.first().map_or(0, |shape| shape.dims().len());
                let kept = (0..rank).filter(|&d| !reduced.contains(&(d as i64))).nth(dim);
                (next()?, kept.ok_or_else(unknown)?)
            }
            Opcode::DynamicReshape => {
                let operand = graph.operands[at].get(dim + 1).copied().ok_or_else(unknown)?;
                let size = evaluator.scalar(frame, operand)?;
                return size.ints().first().copied().ok_or_else(unknown);
            }
            Opcode::Copy | Opcode::OptBarrier | Opcode::Reverse | Opcode::Sort => (next()?, dim),
            opcode if is_elementwise(opcode) => {
                // Operands agree, except for scalars that are broadcast.
                let operands = graph.operands[at].iter().zip(&own.operand_shapes);
                let full =
                    operands.into_iter().find(|(_, shape)| shape.dims().len() == shape_rank(&graph, at));
                (full.map(|(&id, _)| id).ok_or_else(unknown)?, dim)
            }
            _ => return Err(unknown()),
        };
    }
    Err("too many ops between a size and where it is read".into())
}

fn shape_rank(graph: &Graph, at: usize) -> usize {
    graph.ops[at].shape.dims().len()
}

/// Whether an op reads across a dimension whose size is not its bound, so that undefined elements would
/// count.
pub(crate) fn is_exposed(op: &ir::Op) -> bool {
    let has_dynamic =
        op.operand_shapes.iter().filter_map(ir::Shape::as_array).any(|array| array.dynamic.contains(&true));
    let moves_along = matches!(
        op.opcode,
        Opcode::SetDimensionSize
            | Opcode::GetDimensionSize
            | Opcode::DynamicReshape
            | Opcode::Transpose
            | Opcode::Broadcast
            | Opcode::Copy
            | Opcode::OptBarrier
            | Opcode::Tuple
            | Opcode::GetTupleElement
            | Opcode::Call
            | Opcode::Fusion
    );
    has_dynamic && !moves_along && !is_elementwise(op.opcode)
}
