//! A program as it is executed: ops whose operands are numbered values.

use std::ops::RangeInclusive;
use std::sync::Arc;

use indexing_map::IndexingMap;
use ir::{ElementType, Graph};
use rustc_hash::FxHashMap;

/// The work of one block.
#[derive(Debug, Clone)]
pub struct Program {
    /// The name of the entry function, without `@`.
    pub name: String,
    /// The arrays, in the order of the function's arguments.
    pub arguments: Vec<Argument>,
    /// The numbers of the blocks of the launch.
    pub blocks: RangeInclusive<i64>,
    /// How many values the program has.
    pub(crate) values: usize,
    /// The value that is the number of the block.
    pub(crate) block_number: Value,
    pub(crate) body: Block,
}

/// An array: its type in memory. The layout does not matter to indices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    pub element: ElementType,
    /// In elements.
    pub dims: Vec<i64>,
}

/// A number that stands for a value: a tile, or a scalar, which is a tile without dimensions. An index is an `s64`.
pub(crate) type Value = usize;

#[derive(Debug, Clone, Default)]
pub(crate) struct Block {
    pub arguments: Vec<Value>,
    pub ops: Vec<Op>,
    pub yields: Vec<Value>,
}

#[derive(Debug, Clone)]
pub(crate) struct Op {
    /// From 1.
    pub line: usize,
    pub kind: Kind,
    pub operands: Vec<Value>,
    pub results: Vec<Value>,
    pub blocks: Vec<Block>,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    /// An op of HLO; a parameter of its graph is the operand of its number.
    Compute(Computed),
    /// The results are the operands.
    Same,
    /// The results of a map at a point, which is the operands.
    Apply(IndexingMap),
    /// Reads a tile of an argument. The operands are the offsets that are not known.
    Extract(Access),
    /// Writes a tile, operand 0. The other operands are the offsets that are not known.
    Insert(Access),
    /// Replaces elements of operand 0 that are not below the bounds by operand 1.
    Mask {
        sizes: Vec<i64>,
        bounds: Vec<i64>,
    },
    /// From operand 0 below operand 1 in steps of operand 2; the other operands are carried.
    For,
    If,
}

/// An op of HLO with what it calls.
#[derive(Debug, Clone)]
pub(crate) struct Computed {
    pub graph: Arc<Graph>,
    pub callees: FxHashMap<String, Arc<Graph>>,
}

/// Which elements of an argument a tile has.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    pub argument: usize,
    /// Per dimension; the next operand where it is `None`.
    pub offsets: Vec<Option<i64>>,
    pub sizes: Vec<i64>,
    pub strides: Vec<i64>,
}
