//! Tiles of the operands of dots and reductions: the contracted dimensions are dimensions of the space.

use indexing_map::Expr;
use ir::{AttributeKey, Op, OpId};

use crate::Reason;
use crate::space::TilingSpace;
use crate::tile::{DimTile, Tile};

const MALFORMED: &str = "a dot whose dimensions contradict its operands";

pub(super) fn of_dot(space: &TilingSpace, id: OpId, op: &Op, tile: &Tile) -> Result<Vec<Tile>, Reason> {
    use AttributeKey::*;
    let [left, right, ..] = &op.operand_shapes[..] else { return Err(MALFORMED.into()) };
    let mut results = tile.iter();
    let (mut lhs, mut rhs) = (vec![None; left.dims().len()], vec![None; right.dims().len()]);
    let batch = op.attributes.ints(LhsBatchDims).iter().zip(op.attributes.ints(RhsBatchDims));
    for (&of_lhs, &of_rhs) in batch {
        let dim = results.next().ok_or(MALFORMED)?;
        *slot(&mut lhs, of_lhs)? = Some(dim.clone());
        *slot(&mut rhs, of_rhs)? = Some(dim.clone());
    }
    let contracted =
        op.attributes.ints(LhsContractingDims).iter().zip(op.attributes.ints(RhsContractingDims));
    let rank = op.shape.dims().len();
    for (position, (&of_lhs, &of_rhs)) in contracted.enumerate() {
        let number = space.dimension(id, rank + position).ok_or(MALFORMED)?;
        let dim = DimTile::of_dimension(space, number);
        *slot(&mut lhs, of_lhs)? = Some(dim.clone());
        *slot(&mut rhs, of_rhs)? = Some(dim);
    }
    for free in lhs.iter_mut().chain(&mut rhs).filter(|dim| dim.is_none()) {
        *free = results.next().cloned();
    }
    let whole = |dims: Vec<Option<DimTile>>| dims.into_iter().collect::<Option<Tile>>().ok_or(MALFORMED);
    Ok(vec![whole(lhs)?, whole(rhs)?])
}

fn slot(dims: &mut [Option<DimTile>], at: i64) -> Result<&mut Option<DimTile>, Reason> {
    usize::try_from(at).ok().and_then(|at| dims.get_mut(at)).ok_or_else(|| MALFORMED.into())
}

/// The operands, then their scales: one for each block of elements.
pub(super) fn of_scaled_dot(
    space: &TilingSpace,
    id: OpId,
    op: &Op,
    tile: &Tile,
) -> Result<Vec<Tile>, Reason> {
    let mut tiles = of_dot(space, id, op, tile)?;
    for operand in 0..2 {
        let (Some(shape), Some(scale)) = (op.operand_shapes.get(operand), op.operand_shapes.get(2 + operand))
        else {
            return Err("a scaled dot without its scales".into());
        };
        let along = tiles[operand].iter().zip(shape.dims().iter().zip(scale.dims()));
        let scaled = along.map(|(dim, (&size, &scales))| scale_of(dim, size, scales)).collect();
        tiles.push(scaled);
    }
    Ok(tiles)
}

fn scale_of(dim: &DimTile, size: i64, scales: i64) -> DimTile {
    if size == scales {
        return dim.clone();
    }
    let block = size / scales.max(1);
    let last = dim.offset.clone() + (dim.size.clone() - 1) * dim.stride.clone();
    let first = dim.offset.clone().floor_div(block);
    DimTile {
        offset: first.clone(),
        size: last.floor_div(block) - first + 1,
        stride: Expr::Const(1),
        upper_bound: dim.upper_bound.clone().floor_div(block),
    }
}

pub(super) fn of_reduce(space: &TilingSpace, id: OpId, op: &Op, tile: &Tile) -> Result<Vec<Tile>, Reason> {
    const MALFORMED: &str = "a reduction whose dimensions contradict its operands";
    let reduced = op.attributes.ints(AttributeKey::Dimensions);
    let operand = op.operand_shapes.first().ok_or(MALFORMED)?;
    let mut results = tile.iter();
    let mut input = Tile::new();
    for dim in 0..operand.dims().len() {
        let Some(position) = reduced.iter().position(|&reduced| reduced == dim as i64) else {
            input.push(results.next().ok_or(MALFORMED)?.clone());
            continue;
        };
        let number = space.dimension(id, tile.len() + position).ok_or(MALFORMED)?;
        input.push(DimTile::of_dimension(space, number));
    }
    let inputs = op.operand_shapes.len() / 2;
    let mut tiles = vec![input; inputs];
    tiles.extend((0..op.operand_shapes.len() - inputs).map(|_| Tile::new()));
    Ok(tiles)
}
