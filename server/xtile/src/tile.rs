//! A tile: the elements of an array that one step of one block works on.

use indexing_map::Expr;

use crate::space::{TilingSpace, power_of_two};

/// A tile along one dimension, over the variables of the [`TilingSpace`].
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DimTile {
    pub offset: Expr,
    /// The number of elements, a power of two where the tile is valid.
    pub size: Expr,
    pub stride: Expr,
    /// Elements at this index and above are outside the array.
    pub upper_bound: Expr,
}

/// A tile of an op's result: one [`DimTile`] per dimension.
pub type Tile = Vec<DimTile>;

impl DimTile {
    /// The tile that covers a dimension.
    pub fn full(size: i64) -> DimTile {
        DimTile {
            offset: Expr::ZERO,
            size: power_of_two(size).map_or(Expr::TOO_LARGE, Expr::Const),
            stride: Expr::Const(1),
            upper_bound: Expr::Const(size),
        }
    }

    /// The tile of a dimension of the space.
    pub fn of_dimension(space: &TilingSpace, number: usize) -> DimTile {
        let dimension = &space.dimensions[number];
        let size = space.tile_size(number);
        let offset = match !space.is_symbolic && dimension.tile >= dimension.size {
            true => Expr::ZERO,
            false => Expr::var(number) * size.clone(),
        };
        DimTile { offset, size, stride: Expr::Const(1), upper_bound: Expr::Const(dimension.size) }
    }

    #[must_use]
    pub fn simplified(&self, space: &TilingSpace) -> DimTile {
        DimTile {
            offset: space.simplified(&self.offset),
            size: space.simplified(&self.size),
            stride: space.simplified(&self.stride),
            upper_bound: space.simplified(&self.upper_bound),
        }
    }
}

/// A tile's sizes as numbers; `None` if one depends on the block.
pub fn static_sizes(tile: &Tile) -> Option<Vec<i64>> {
    tile.iter().map(|dim| constant(&dim.size)).collect()
}

/// A tile's strides as numbers; `None` if one depends on the block.
pub fn static_strides(tile: &Tile) -> Option<Vec<i64>> {
    tile.iter().map(|dim| constant(&dim.stride)).collect()
}

pub(crate) fn constant(expr: &Expr) -> Option<i64> {
    expr.canonicalize().as_const()
}

/// Whether every value of the expression is known to be a multiple of `factor`.
/// Source: `SymbolicExpr::IsMultipleOf`, `hlo/analysis/symbolic_expr.cc`.
pub(crate) fn is_multiple_of(expr: &Expr, factor: i64) -> bool {
    factor != 0 && expr.divisor(&|_| 1).is_multiple_of(factor.unsigned_abs())
}
