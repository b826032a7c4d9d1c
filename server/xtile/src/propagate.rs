//! From the tile of an op's result to the tiles of its operands.
//! Source: `codegen/tiling/experimental/tile_propagation.cc`.

mod concatenate;
mod contraction;
mod reshape;

pub(crate) use self::reshape::delinearized;

use gpu::Fused;
use indexing_map::Expr;
use ir::{AttributeKey, Op, OpId, Opcode, is_elementwise};

use crate::Reason;
use crate::bitcast::{Bitcast, permutation_of};
use crate::space::{TilingSpace, result_rank, scan_dimension};
use crate::tile::{DimTile, Tile};

/// The tiles of all operands of an op that a tile of its result needs, or XLA's reason why there are none.
pub(crate) fn to_operands(
    space: &TilingSpace,
    fused: &Fused,
    id: OpId,
    tile: &Tile,
) -> Result<Vec<Tile>, Reason> {
    let op = fused.op(id);
    let operands = op.operand_shapes.len();
    if tile.len() != result_rank(op) {
        return Err(format!("a tile of rank {} for {}", tile.len(), op.shape).into());
    }
    match op.opcode {
        Opcode::AllReduce | Opcode::Map => Ok(vec![tile.clone(); operands]),
        opcode if is_elementwise(opcode) => Ok(vec![tile.clone(); operands]),
        Opcode::Bitcast => {
            let from = op.operand_shapes.first().ok_or("a bitcast without an operand")?;
            Ok(vec![through_bitcast(space, tile, &Bitcast::of(&op.shape, from)?)?])
        }
        Opcode::Broadcast => {
            let dims = op.attributes.ints(AttributeKey::Dimensions);
            let of = |&dim: &i64| usize::try_from(dim).ok().and_then(|dim| tile.get(dim).cloned());
            Ok(vec![
                dims.iter().map(of).collect::<Option<Tile>>().ok_or("a broadcast to a missing dimension")?,
            ])
        }
        Opcode::Concatenate => concatenate::to_operands(space, fused, id, tile),
        Opcode::DynamicSlice => dynamic_slice(space, fused, id, tile),
        Opcode::Dot => contraction::of_dot(space, id, op, tile),
        Opcode::ScaledDot => contraction::of_scaled_dot(space, id, op, tile),
        Opcode::Pad => pad(op, tile),
        Opcode::Reduce => contraction::of_reduce(space, id, op, tile),
        Opcode::Scan => {
            let dim =
                scan_dimension(op).filter(|&dim| dim < tile.len()).ok_or("a scan without its dimension")?;
            let mut carried = tile.clone();
            carried.remove(dim);
            let mut tiles = vec![tile.clone(); operands / 2];
            tiles.resize(operands, carried);
            Ok(tiles)
        }
        Opcode::Transpose => {
            let dims = permutation_of(op.attributes.ints(AttributeKey::Dimensions), tile.len())?;
            let mut moved = tile.clone();
            for (dim, &from) in dims.iter().enumerate() {
                moved[from] = tile[dim].clone();
            }
            Ok(vec![moved])
        }
        Opcode::Slice => {
            let triples = op.attributes.triples(AttributeKey::Slice);
            let starts: Vec<Expr> = triples.iter().map(|&[start, ..]| Expr::Const(start)).collect();
            let strides: Vec<i64> = triples.iter().map(|&[_, _, stride]| stride).collect();
            Ok(vec![sliced(tile, &starts, &strides)])
        }
        Opcode::Reshape => {
            let from = op.operand_shapes.first().ok_or("a reshape without an operand")?;
            Ok(vec![reshape::through(space, tile, op.shape.dims(), from.dims())?])
        }
        opcode => Err(format!("Output to input tile propagation not implemented for {opcode}").into()),
    }
}

fn through_bitcast(space: &TilingSpace, tile: &Tile, bitcast: &Bitcast) -> Result<Tile, Reason> {
    match bitcast {
        Bitcast::Transpose(permutation) => Ok(gpu::permuted(tile, permutation)),
        Bitcast::Reshape { from, to } => reshape::through(space, tile, from, to),
        Bitcast::TransposeReshapeTranspose { first, from, to, second } => {
            let moved = reshape::through(space, &gpu::permuted(tile, first), from, to)?;
            Ok(gpu::permuted(&moved, second))
        }
    }
}

/// Element `r` of a slice is element `r * stride + start` of the operand.
fn sliced(tile: &Tile, starts: &[Expr], strides: &[i64]) -> Tile {
    let along = tile.iter().zip(starts).zip(strides).map(|((dim, start), &stride)| DimTile {
        offset: start.clone() + dim.offset.clone() * stride,
        size: dim.size.clone(),
        stride: dim.stride.clone() * stride,
        upper_bound: dim.upper_bound.clone() * stride + start.clone(),
    });
    along.collect()
}

fn dynamic_slice(space: &TilingSpace, fused: &Fused, id: OpId, tile: &Tile) -> Result<Vec<Tile>, Reason> {
    let mut starts = Vec::with_capacity(tile.len());
    for (dim, &operand) in fused.operands(id).iter().skip(1).enumerate() {
        let offset = space.offset(id, 1 + dim).ok_or("a dynamic slice without the sizes of its slice")?;
        let stated = fused.op(operand).literal.as_deref().and_then(|text| text.trim().parse::<i64>().ok());
        starts.push(match stated {
            Some(start) => Expr::Const(start.clamp(0, space.offsets[offset].upper)),
            None => space.offset_variable(offset),
        });
    }
    let mut tiles = vec![sliced(tile, &starts, &vec![1; tile.len()])];
    tiles.extend(starts.iter().map(|_| Tile::new()));
    Ok(tiles)
}

fn pad(op: &Op, tile: &Tile) -> Result<Vec<Tile>, Reason> {
    let operand = op.operand_shapes.first().map_or(&[][..], |shape| shape.dims());
    let padding = op.attributes.triples(AttributeKey::Padding);
    if padding.iter().any(|&[_, _, interior]| interior != 0) {
        return Err("Can't propagate tile to input of pad op with interior padding.".into());
    }
    let along = tile.iter().zip(padding).zip(operand).map(|((dim, &[low, ..]), &size)| DimTile {
        offset: dim.offset.clone() - low,
        upper_bound: Expr::Const(size),
        ..dim.clone()
    });
    Ok(vec![along.collect(), Tile::new()])
}
