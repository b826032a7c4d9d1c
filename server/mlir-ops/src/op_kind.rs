//! What an op of MLIR does, whichever dialect it is of.

use crate::named_ops::{NamedOp, named_op};
use crate::op_table::kind_of;

/// What an op does with its operands. Ops of several dialects that do the same have one kind; the table of
/// ops gives each name its kind. StableHLO, MHLO and CHLO have a table of their own, but for ops that HLO lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpKind<'a> {
    /// A constant of arith.
    Constant,
    IndexConstant,
    /// An op on integers, which may be indices, or on arrays of them.
    Integer(Arithmetic),
    /// An op of arith or math on other scalars, or on arrays of them.
    Elementwise(Arithmetic),
    /// Quantises each element, or undoes it.
    Quantize,

    /// The results of a map, the least of them, the greatest of them.
    Apply,
    AffineMin,
    AffineMax,
    /// The results of one of XLA's maps.
    ApplyIndexing,
    Delinearize,
    Linearize,
    /// The extent of a dimension.
    Dim,
    HardwareId(HardwareId),
    /// The current iteration of a structured op.
    LinalgIndex,

    Loop(Loop),
    AffineIf,
    ScfIf,
    GpuLaunch,
    GpuFunction,
    /// Of a function by its symbol.
    Call,
    Return,
    Yield,

    /// Reads, writes or replaces the element at the subscripts.
    Load,
    Store,
    InsertElement,
    /// The same for subscripts that may be out of bounds.
    GuardedLoad,
    GuardedInsert,
    /// Updates an element in place; the buffer is this operand.
    AtomicUpdate(usize),

    /// A window of a tensor, and of a memref.
    ExtractSlice,
    Subview,
    InsertSlice,
    ParallelInsertSlice,
    /// A tile, which may be partly outside of its array.
    ExtractTile,
    InsertTile,
    /// A tile of a buffer that a pointer and a type denote.
    ExtractPointedTile,
    InsertPointedTile,

    Collapse,
    Expand,
    /// A reshape to any shape.
    Reshape,
    /// The same array with another type, which may know more or fewer extents.
    Cast,
    /// The same elements with another element type or in another memory.
    Recast,
    Splat,
    FromElements,
    Pad,
    Concat,
    Gather,
    Scatter,
    EmptyTensor,
    /// `memref.alloc`
    Allocate,
    MemrefTranspose,
    ReinterpretCast,
    View,
    CopyBuffer,

    Linalg(Linalg),
    Winograd(Winograd),
    Pack,
    Unpack,

    VectorMask,
    VectorLoad,
    VectorStore,
    MaskedLoad,
    MaskedStore,
    ExpandLoad,
    CompressStore,
    TransferRead,
    TransferWrite,
    VectorGather,
    VectorScatter,
    VectorExtract,
    VectorInsert,
    VectorBroadcast,
    VectorTranspose,
    VectorBitcast,
    ExtractStridedSlice,
    InsertStridedSlice,
    OuterProduct,
    Fma,
    Interleave,
    Deinterleave,
    Shuffle,
    /// Reduces some dimensions, or all.
    MultiReduction,
    Reduction,
    VectorContract,

    /// `xla_gpu.insert`
    IndexedInsert,
    XlaReduce,
    XtileMask,
    XtileScan,
    DotScaled,
    SqueezeDims,
    /// Another op of `xla` or `xla_gpu`.
    Xla,
    /// A product whose dimensions a string names.
    Einsum,

    /// An array whose extents are the numbers of this operand.
    DynamicShape(usize),
    /// The list of an array's extents.
    ShapeOf,
    /// `stablehlo.get_dimension_size`
    DimensionSize,
    /// `shape.const_shape`
    ConstantShape,
    /// `stablehlo.slice`, whose bounds are numbers.
    BoundedSlice,
    /// `stablehlo.reshape`, to the shape of its result.
    StatedReshape,
    /// The same numbers in the same order, with another shape or element type.
    SameNumbers,
    /// Several lists as one.
    JoinedLists,

    /// An op that the table does not have, by its full name.
    Other(&'a str),
}

/// What an op on scalars computes, of integers and floats alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    /// Integers are signed, and rounded to zero.
    Divide,
    DivideUnsigned,
    FloorDivide,
    CeilDivide,
    CeilDivideUnsigned,
    Remainder,
    RemainderUnsigned,
    Minimum,
    MinimumUnsigned,
    Maximum,
    MaximumUnsigned,
    /// The same integer with another width.
    Convert,
    ConvertUnsigned,
    Compare,
    And,
    Or,
    Xor,
    Negate,
    Abs,
    Ceil,
    Cosine,
    Erf,
    Exp,
    Expm1,
    Floor,
    Log,
    Log1p,
    Power,
    Rsqrt,
    Sine,
    Sqrt,
    Tan,
    Tanh,
    /// Any other function.
    Other,
}

/// Loops, by the form of their bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loop {
    AffineFor,
    AffineParallel,
    ScfFor,
    ScfForall,
    ScfParallel,
    /// `xla.loop`, over the domain of a map.
    Xla,
}

/// What an id or a size of the hardware counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HardwareId {
    Thread,
    Block,
    BlockSize,
    GridSize,
    Cluster,
    ClusterSize,
    Lane,
    Subgroup,
    SubgroupCount,
    SubgroupSize,
    Global,
    Workgroup,
}

/// Structured ops of linalg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Linalg {
    Generic,
    Contract,
    Elementwise,
    Map,
    Reduce,
    Transpose,
    Broadcast,
    Softmax,
    Fill,
    /// A function of each element: `linalg.add`.
    Pointwise,
    /// A product, a convolution or a pooling.
    Named(NamedOp),
    /// An op whose maps are not known.
    Other,
}

/// `linalg.winograd_filter_transform` and its siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Winograd {
    Filter,
    Input,
    Output,
}

impl<'a> OpKind<'a> {
    /// The kind of the op with this full name: `tensor.extract_slice`.
    pub fn of(name: &'a str) -> OpKind<'a> {
        if let Some(kind) = kind_of(name) {
            return kind;
        }
        match name.split_once('.') {
            Some(("arith" | "math", _)) => OpKind::Elementwise(Arithmetic::Other),
            Some(("linalg", op)) => OpKind::Linalg(named_op(op).map_or(Linalg::Other, Linalg::Named)),
            Some(("xla" | "xla_gpu", _)) => OpKind::Xla,
            _ => OpKind::Other(name),
        }
    }

    /// Whether it is a constant, in any dialect.
    pub fn is_constant(self) -> bool {
        match self {
            OpKind::Constant | OpKind::IndexConstant => true,
            OpKind::Other(name) => name.ends_with("constant"),
            _ => false,
        }
    }
}
