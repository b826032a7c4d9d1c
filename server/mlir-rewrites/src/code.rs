//! The code that replaces an op, before it is text.

use indexing_map::Expr;

use crate::along::Along;
use crate::numbers::{Number, Symbols};
use mlir_indexing::ArrayType;

/// A slice of a reshape, in numbers: `extract_slice(collapse_shape(source))`.
#[derive(Debug, Clone)]
pub struct SliceOfCollapse {
    /// `%x`
    pub source: String,
    pub source_type: ArrayType,
    /// The dimensions of the source, by the dimension that they are collapsed into.
    pub groups: Vec<Vec<usize>>,
    /// Extents of the source: constants, or symbols.
    pub extents: Vec<Expr>,
    /// Of the slice, per dimension of the collapsed tensor.
    pub offsets: Vec<Number>,
    pub sizes: Vec<Number>,
    pub strides: Vec<Number>,
    /// Dimensions that the result does not have.
    pub is_dropped: Vec<bool>,
    pub result_type: ArrayType,
    pub symbols: Symbols,
}

/// What the code looks like, the simplest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Form {
    /// The reshape only dropped extents of 1, which a slice can do by itself.
    RankReducing,
    /// What is collapsed is taken whole.
    Unlinearized,
    /// The elements are a box.
    SingleBox,
    /// Two or three boxes, one after the other.
    Boxes,
    /// A loop over blocks.
    BlockedLoop,
    /// A loop over single elements, as upstream's `ExtractSliceFromReshapeUtils.cpp` has it.
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
/// Variables of its expressions are the symbols, then one loop variable for each dimension of the collapsed tensor.
#[derive(Debug, Clone)]
pub(crate) struct Code {
    pub(crate) form: Form,
    /// The outermost first.
    pub(crate) loops: Vec<Loop>,
    pub(crate) parts: Vec<Vec<Along>>,
}

#[derive(Debug, Clone)]
pub(crate) struct Loop {
    /// Of the collapsed tensor.
    pub(crate) dim: usize,
    /// From 0, by 1.
    pub(crate) count: Expr,
    /// Elements along `dim` of one iteration.
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
