//! A tile program: typed values that are tiles, and structured control flow.

use std::sync::Arc;

use codegen::Constant;
use indexing_map::{IndexingMap, Interval};
use ir::{ElementTypeExt, OpId};
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
    /// Where XLA's rules give other values than the module says.
    pub doubts: Vec<Doubt>,
}

/// An instruction for which XLA's emitter writes code that computes other values than the module says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    pub op: OpId,
    /// A sentence without a full stop.
    pub why: String,
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

    /// The same with other elements. An index becomes a number.
    #[must_use]
    pub fn with_element(&self, element: ElementType) -> Type {
        match self {
            Type::Tile(_, sizes) => Type::Tile(element, sizes.clone()),
            Type::Index | Type::Scalar(_) => Type::Scalar(element),
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

/// The integer of the same size without a sign, which is spelled as the signed one; other types as they are.
pub(crate) fn signless(element: ElementType) -> ElementType {
    match element {
        ElementType::U4 => ElementType::S4,
        ElementType::U8 => ElementType::S8,
        ElementType::U16 => ElementType::S16,
        ElementType::U32 => ElementType::S32,
        ElementType::U64 => ElementType::S64,
        other => other,
    }
}

/// The integer without a sign of the same size: integers as they are.
pub(crate) fn integer_of(element: ElementType) -> Option<ElementType> {
    match element.bits()? {
        8 => Some(ElementType::S8),
        16 => Some(ElementType::S16),
        32 => Some(ElementType::S32),
        64 => Some(ElementType::S64),
        _ => None,
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
    /// Empty for [`Kind::Insert`].
    pub results: Vec<ValueId>,
    /// The body of a loop, the branches of a condition, the combiner of a reduction.
    pub blocks: Vec<Block>,
    /// The op of the fused computation to which it belongs.
    pub origin: Option<OpId>,
}

impl Op {
    /// The first result.
    pub fn result(&self) -> Option<ValueId> {
        self.results.first().copied()
    }
}

#[derive(Debug, Clone)]
pub enum Kind {
    /// A number, in every element of a tile.
    Constant(Constant),
    IndexConstant(i64),
    /// An index by a map of one result from the operands, and the range of the result where the program states it.
    Apply {
        map: Arc<IndexingMap>,
        range: Option<Interval>,
    },
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
    /// A conversion of the `arith` dialect.
    Cast(Cast),
    /// A function of the `math` dialect that is no op of HLO on floats: `absi`.
    Math(&'static str),
    IndexCast,
    /// The bits as another type of the same size.
    Bitcast,
    /// An integer without a sign as an unsigned one.
    Unsigned,
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
    /// The sums from the start along a dimension, and the last ones, with that dimension of size 1. The second operand is what
    /// they start from, and the block combines an element with the sum so far.
    Scan {
        dim: usize,
        is_reverse: bool,
    },
    Dot(DotDims),
    /// A dot of scaled operands: left, right, and the scales that it has.
    ScaledDot {
        dims: DotDims,
        has_scales: [bool; 2],
        elements: [ElementType; 2],
        /// Per operand of two elements in a byte, whether they are neighbours along the contracted dimension; `true` for others.
        is_packed_along_k: [bool; 2],
    },
    /// From the first operand to the second by steps of the third; the rest is carried, and what the last step yields is the
    /// results.
    For,
    If,
    /// Only in programs of Triton's operations.
    Triton(Triton),
}

/// An op of the `tt` dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Triton {
    Bitcast,
    /// Repeats the element along dimensions of size 1.
    Broadcast,
    /// The product of the first two operands, added to the third.
    Dot {
        precision: DotPrecision,
        /// Whether sums are kept in the tensor core's own precision: of operands of 8 bits.
        is_imprecise: bool,
    },
    /// A dot of scaled operands, added to the last operand: left, right, and the scales that it has.
    ScaledDot {
        has_scales: [bool; 2],
        elements: [ElementType; 2],
        /// Per operand of two elements in a byte, whether they are neighbours along the contracted dimension; `true` for others.
        is_packed_along_k: [bool; 2],
    },
    /// Inserts a dimension of size 1.
    ExpandDims {
        axis: usize,
    },
    /// A function of libdevice on each element: `__nv_expf`.
    Extern {
        symbol: String,
    },
    /// From or to a float of 8 bits.
    FloatToFloat {
        rounds: bool,
    },
    /// The numbers from 0.
    Range {
        end: i64,
    },
    /// Combines the elements along a dimension by its block, which has two scalars as arguments.
    Reduce {
        axis: usize,
    },
    Reshape,
    /// Combines each element with those before it along a dimension, by its block, which has two scalars as arguments.
    Scan {
        axis: usize,
        is_reverse: bool,
    },
    /// A tile from a number, and back from a tile of one element.
    Splat,
    Unsplat,
    /// Dimension `i` of the result is dimension `order[i]` of the operand.
    Transpose {
        order: Vec<usize>,
    },
}

/// The precision in which a dot reads operands of 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DotPrecision {
    Ieee,
    Tf32,
    /// Three products of operands of 19 bits.
    Tf32x3,
}

/// Arithmetic of the `arith` dialect, on integers or floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Minimum,
    Maximum,
    MinimumUnsigned,
    MaximumUnsigned,
    /// Divisions of integers of HLO, which are defined for the divisor 0.
    CheckedDivide,
    CheckedDivideUnsigned,
    Remainder,
    CheckedRemainder,
    CheckedRemainderUnsigned,
    And,
    Or,
    Xor,
    ShiftRightUnsigned,
    Negate,
    Compare(Predicate),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Predicate {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
    LessUnsigned,
    AtMostUnsigned,
    GreaterUnsigned,
    AtLeastUnsigned,
    /// One of the floats is NaN.
    Unordered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cast {
    ExtendFloat,
    TruncateFloat,
    ExtendSigned,
    ExtendUnsigned,
    Truncate,
    SignedToFloat,
    UnsignedToFloat,
    FloatToSigned,
    FloatToUnsigned,
    /// The bits of a float of 8 bits as an integer.
    Bits,
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
