//! A tile program: typed values that are tiles, and structured control flow.

use std::sync::Arc;

use codegen::Constant;
use indexing_map::IndexingMap;
use ir::OpId;
use syntax::hlo::{ElementType, Opcode};

/// A value of a program, by number.
pub type ValueId = u32;

/// What one block of a Triton kernel does.
#[derive(Debug, Clone)]
pub struct Program {
    /// The name: letters, digits and `_`.
    pub name: String,
    /// The arguments: operands of the fusion, then its result. Argument `n` is value `n`; the number of the
    /// block is the value after them.
    pub arguments: Vec<Memory>,
    pub blocks: i64,
    /// Types, by [`ValueId`]. Arguments have the type of their elements.
    pub values: Vec<Type>,
    pub body: Block,
}

/// An array in global memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Memory {
    /// The type of the elements in memory: `pred` is stored as `s8`.
    pub element: ElementType,
    pub dims: Vec<i64>,
    /// Dimension numbers, the fastest first.
    pub minor_to_major: Vec<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Type {
    /// An index, or the number of the block.
    Index,
    Scalar(ElementType),
    /// A tile, with its sizes.
    Tile(ElementType, Vec<i64>),
}

impl Type {
    /// The sizes of a tile; none for other types.
    pub fn sizes(&self) -> &[i64] {
        match self {
            Type::Tile(_, sizes) => sizes,
            Type::Index | Type::Scalar(_) => &[],
        }
    }

    /// `None` for an index.
    pub fn element(&self) -> Option<ElementType> {
        match self {
            Type::Tile(element, _) | Type::Scalar(element) => Some(*element),
            Type::Index => None,
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct Block {
    pub arguments: Vec<ValueId>,
    pub ops: Vec<Op>,
    pub yields: Vec<ValueId>,
}

#[derive(Debug, Clone)]
pub struct Op {
    pub kind: Kind,
    pub operands: Vec<ValueId>,
    /// `None` for [`Kind::Insert`].
    pub result: Option<ValueId>,
    /// The body of a loop, the branches of a condition, the combiner of a reduction.
    pub blocks: Vec<Block>,
    /// The op of the fused computation to which it belongs.
    pub origin: Option<OpId>,
}

#[derive(Debug, Clone)]
pub enum Kind {
    /// A number, in every element of a tile.
    Constant(Constant),
    IndexConstant(i64),
    /// An index by a map of one result from the operands.
    Apply(Arc<IndexingMap>),
    /// Reads a tile of an argument at the offsets that are the operands. Elements outside the array are
    /// undefined.
    Extract {
        argument: usize,
        strides: Vec<i64>,
    },
    /// Writes the first operand at the offsets that follow it. Elements outside the array are not written.
    Insert {
        argument: usize,
        strides: Vec<i64>,
    },
    /// Replaces elements at or above `bounds` by the second operand.
    Mask {
        bounds: Vec<i64>,
    },
    /// An op of HLO on each element.
    Elementwise(Opcode),
    Arithmetic(Arithmetic),
    /// `stablehlo.compare` with a direction: `LT`.
    Compare(&'static str),
    Convert,
    IndexCast,
    /// The bits as another type of the same size.
    Bitcast,
    Select,
    Iota {
        dim: usize,
    },
    /// Dimension `i` of the operand becomes dimension `dims[i]`.
    Broadcast {
        dims: Vec<usize>,
    },
    Reshape,
    /// Dimension `i` of the result is dimension `permutation[i]` of the operand.
    Transpose {
        permutation: Vec<usize>,
    },
    /// A tile without dimensions from a number, and back.
    FromElement,
    ToElement,
    /// Combines the elements along dimensions, starting from the second operand.
    Reduce {
        dims: Vec<usize>,
    },
    Dot(DotDims),
    /// A dot of scaled operands: left, right, and the scales that it has.
    ScaledDot {
        dims: DotDims,
        has_scales: [bool; 2],
        elements: [ElementType; 2],
    },
    /// From the first operand to the second by steps of the third; the rest is carried.
    For,
    If,
}

/// Arithmetic of the `arith` dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Minimum,
    Maximum,
    And,
    Or,
    /// Comparisons of signed integers.
    Less,
    AtLeast,
}

/// The dimensions of a dot on tiles, and what it says of precision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DotDims {
    pub batch: [Vec<i64>; 2],
    pub contracted: [Vec<i64>; 2],
    /// `DEFAULT`, `HIGH` or `HIGHEST`, per operand.
    pub precision: [&'static str; 2],
    /// The name of the algorithm in HLO, if the dot states one: `dot_bf16_bf16_f32`.
    pub algorithm: Option<String>,
}
