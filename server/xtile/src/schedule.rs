//! Which block works on which tile of the result.
//! Source: `codegen/tiling/experimental/scheduling.cc`.

use gpu::Fused;
use indexing_map::{Expr, ceil_div};
use ir::{AttributeKey, Opcode};

use crate::Reason;
use crate::propagate::delinearized;
use crate::space::TilingSpace;

pub(crate) struct Schedule {
    /// Per dimension of the space, the number of the tile along it as an expression over the number of the tile among all,
    /// which is variable 0. `None` for dimensions that each block visits whole.
    pub tile_along: Vec<Option<Expr>>,
    pub tiles: i64,
    /// The number of a tile as an expression over the number of the block, which is variable 0, and over that of the tile among
    /// those of the block, which is variable 1.
    pub tile: Expr,
    pub blocks: i64,
    /// The most tiles of a block.
    pub tiles_per_block: i64,
}

impl Schedule {
    /// The schedule of blocks that have up to `tiles_per_block` tiles each.
    pub(crate) fn of(space: &TilingSpace, fused: &Fused, tiles_per_block: i64) -> Result<Schedule, Reason> {
        let parallel: Vec<usize> =
            (0..space.dimensions.len()).filter(|&dim| !space.dimensions[dim].is_sequential).collect();
        let parallel = match swapped(space, fused, parallel.len()) {
            Some(permutation) => gpu::permuted(&parallel, &permutation),
            None => parallel,
        };
        let counts: Vec<i64> = parallel.iter().map(|&dim| space.dimensions[dim].tiles()).collect();
        let tiles = counts.iter().try_fold(1i64, |n, &count| n.checked_mul(count));
        let tiles = tiles.ok_or("more blocks than 64 bits count")?;
        let mut tile_along = vec![None; space.dimensions.len()];
        for (&dim, expr) in parallel.iter().zip(delinearized(&counts, Expr::var(0))) {
            tile_along[dim] = Some(expr);
        }
        let asked = tiles_per_block.max(1);
        let blocks = ceil_div(tiles, asked).unwrap_or(0);
        let tiles_per_block = if blocks > 0 { ceil_div(tiles, blocks).unwrap_or(1) } else { 1 };
        let tile = if asked == 1 { Expr::var(0) } else { Expr::var(0) * asked + Expr::var(1) };
        Ok(Schedule { tile_along, tiles, tile, blocks, tiles_per_block })
    }
}

/// For a dot whose left operand is the smaller one, the order of dimensions in which blocks that follow each
/// other share the right operand. Source: `GetParallelDimensionsPermutation`.
fn swapped(space: &TilingSpace, fused: &Fused, parallel: usize) -> Option<Vec<usize>> {
    let [_] = fused.outputs[..] else { return None };
    let root = *fused.roots.first()?;
    let op = fused.op(root);
    if parallel < 2 || !matches!(op.opcode, Opcode::Dot | Opcode::ScaledDot) {
        return None;
    }
    let [left, right, ..] = &op.operand_shapes[..] else { return None };
    let count = |key| op.attributes.ints(key).len();
    let batch = count(AttributeKey::LhsBatchDims);
    let free = |rank: usize, contracted| rank.checked_sub(count(contracted) + batch);
    let has_one = free(left.dims().len(), AttributeKey::LhsContractingDims) == Some(1)
        && free(right.dims().len(), AttributeKey::RhsContractingDims) == Some(1);
    if !has_one || left.bytes()? >= right.bytes()? {
        return None;
    }
    let (rows, columns) = (space.dimension(root, batch)?, space.dimension(root, batch + 1)?);
    let mut permutation: Vec<usize> = (0..parallel).collect();
    if rows.max(columns) >= parallel {
        return None;
    }
    permutation.swap(rows, columns);
    Some(permutation)
}
