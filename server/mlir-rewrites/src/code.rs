//! The replacement code of an op, before it is printed.

use indexing_map::Expr;

use crate::along::Along;
use crate::numbers::{Number, Symbols};
use mlir::ArrayType;

/// The parameters of a slice of a reshape: `extract_slice(collapse_shape(source))`.
#[derive(Debug, Clone)]
pub struct SliceOfCollapse {
    /// `%x`
    pub source: String,
    pub source_type: ArrayType,
    /// The dimensions of the source, grouped by collapsed dimension.
    pub groups: Vec<Vec<usize>>,
    /// The extents of the source: constants or symbols.
    pub extents: Vec<Expr>,
    /// The slice, per dimension of the collapsed tensor.
    pub offsets: Vec<Number>,
    pub sizes: Vec<Number>,
    pub strides: Vec<Number>,
    /// Dimensions that the result drops.
    pub is_dropped: Vec<bool>,
    pub result_type: ArrayType,
    pub symbols: Symbols,
}

/// The form of the code, simplest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// The reshape only drops extents of 1, which a rank-reducing slice can do.
    RankReducing,
    /// Collapsed dimensions are taken whole.
    Unlinearized,
    /// The elements form one box.
    SingleBox,
    /// A sequence of two or three boxes.
    Boxes,
    /// A loop over blocks.
    BlockedLoop,
    /// A loop over single elements, as in upstream's `ExtractSliceFromReshapeUtils.cpp`.
    ScalarLoop,
}

impl Form {
    pub const ALL: [Form; 6] = [
        Form::RankReducing,
        Form::Unlinearized,
        Form::SingleBox,
        Form::Boxes,
        Form::BlockedLoop,
        Form::ScalarLoop,
    ];
}

/// Loops around parts, each of which reads one box of the source and writes one box of the result.
///
/// The variables of its expressions are the symbols, then one loop variable per dimension of the collapsed
/// tensor.
#[derive(Debug, Clone)]
pub(crate) struct Code {
    pub(crate) form: Form,
    /// The loops, outermost first.
    pub(crate) loops: Vec<Loop>,
    pub(crate) parts: Vec<Vec<Along>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Loop {
    /// A dimension of the collapsed tensor.
    pub(crate) dim: usize,
    /// The trip count; the loop starts at 0 with step 1.
    pub(crate) count: Expr,
    /// The elements along `dim` per iteration.
    pub(crate) elements: i64,
}

impl SliceOfCollapse {
    /// The loop variable of a dimension.
    pub(crate) fn loop_variable(&self, dim: usize) -> Expr {
        Expr::var(self.symbols.len() + dim)
    }

    pub(crate) fn rank(&self) -> usize {
        self.groups.len()
    }

    pub(crate) fn group_extents(&self, dim: usize) -> Vec<Expr> {
        self.groups[dim].iter().map(|&axis| self.extents[axis].clone()).collect()
    }
}
