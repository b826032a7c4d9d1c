//! The ops of StableHLO and MHLO as instructions of HLO: which opcode, and what becomes of their attributes.
//!
//! Source: `stablehlo/dialect/StablehloOps.td` for the ops, `xla/hlo/translate/mhlo_to_hlo` for their twins.

/// What an op takes from its attributes and text, beside its operands and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recipe {
    /// Nothing: elementwise, or told by its shapes alone.
    Plain,
    /// A list of dimensions: the names of the attribute in the generic form and of the clause in the custom form.
    Dimensions(&'static str, &'static str),
    /// One dimension, as a list.
    Dimension(&'static str, &'static str),
    BroadcastInDim,
    Broadcast,
    Compare,
    Constant,
    Slice,
    DynamicSlice,
    Pad,
    TupleElement,
    Reduce,
    ReduceWindow,
    DotGeneral,
    Dot,
    Convolution,
    Gather,
    Scatter,
    Sort,
    Map,
    Fft,
    Cholesky,
    TriangularSolve,
    ReducePrecision,
    BatchNorm,
    Iota,
    SelectAndScatter,
    /// `%x[0, 1] [4, 4] [1, 1]`
    ExtractSlice,
    /// `low[1, 0] high[0, 2]`
    TensorPad,
    /// `dim(0) %a, %b`
    TensorConcat,
    /// Its list names the dimensions that are added.
    LinalgBroadcast,
    LinalgReduce,
    /// A product: dimensions of the left and of the right side that are batches, and those that are contracted.
    Contraction(&'static [i64], [i64; 2]),
    /// Each element from those at the same place: which op it is makes no difference to what is read.
    Pointwise,
}

/// The opcode of HLO and the recipe, by the name of an op without its dialect.
pub(crate) fn hlo_op(name: &str) -> Option<(&'static str, Recipe)> {
    use Recipe::*;
    Some(match name {
        "abs" => ("abs", Plain),
        "add" => ("add", Plain),
        "and" => ("and", Plain),
        "atan2" => ("atan2", Plain),
        "bitcast_convert" => ("bitcast-convert", Plain),
        "bitcast" => ("bitcast", Plain),
        "cbrt" => ("cbrt", Plain),
        "ceil" => ("ceil", Plain),
        "clamp" => ("clamp", Plain),
        "complex" => ("complex", Plain),
        "convert" => ("convert", Plain),
        "copy" => ("copy", Plain),
        "cosine" => ("cosine", Plain),
        "count_leading_zeros" => ("count-leading-zeros", Plain),
        "divide" => ("divide", Plain),
        "dynamic_reshape" => ("reshape", Plain),
        "dynamic_update_slice" => ("dynamic-update-slice", Plain),
        "erf" => ("erf", Plain),
        "exponential" => ("exponential", Plain),
        "exponential_minus_one" => ("exponential-minus-one", Plain),
        "floor" => ("floor", Plain),
        "imag" => ("imag", Plain),
        "is_finite" => ("is-finite", Plain),
        "log" => ("log", Plain),
        "log_plus_one" => ("log-plus-one", Plain),
        "logistic" => ("logistic", Plain),
        "maximum" => ("maximum", Plain),
        "minimum" => ("minimum", Plain),
        "multiply" => ("multiply", Plain),
        "negate" => ("negate", Plain),
        "not" => ("not", Plain),
        "optimization_barrier" => ("opt-barrier", Plain),
        "or" => ("or", Plain),
        "popcnt" => ("popcnt", Plain),
        "power" => ("power", Plain),
        "real" => ("real", Plain),
        "remainder" => ("remainder", Plain),
        "reshape" => ("reshape", Plain),
        "round_nearest_afz" => ("round-nearest-afz", Plain),
        "round_nearest_even" => ("round-nearest-even", Plain),
        "rsqrt" => ("rsqrt", Plain),
        "select" => ("select", Plain),
        "shift_left" => ("shift-left", Plain),
        "shift_right_arithmetic" => ("shift-right-arithmetic", Plain),
        "shift_right_logical" => ("shift-right-logical", Plain),
        "sign" => ("sign", Plain),
        "sine" => ("sine", Plain),
        "sqrt" => ("sqrt", Plain),
        "subtract" => ("subtract", Plain),
        "tan" => ("tan", Plain),
        "tanh" => ("tanh", Plain),
        "tuple" => ("tuple", Plain),
        "xor" => ("xor", Plain),
        "concatenate" => ("concatenate", Dimension("dimension", "dim")),
        "reverse" => ("reverse", Dimensions("dimensions", "dims")),
        "transpose" => ("transpose", Dimensions("permutation", "dims")),
        "get_dimension_size" => ("get-dimension-size", Dimension("dimension", "dim")),
        "set_dimension_size" => ("set-dimension-size", Dimension("dimension", "dim")),
        "broadcast" => ("broadcast", Broadcast),
        "broadcast_in_dim" | "dynamic_broadcast_in_dim" => ("broadcast", BroadcastInDim),
        "compare" => ("compare", Compare),
        "constant" => ("constant", Constant),
        "iota" | "dynamic_iota" => ("iota", Iota),
        "slice" => ("slice", Slice),
        "dynamic_slice" => ("dynamic-slice", DynamicSlice),
        "pad" => ("pad", Pad),
        "get_tuple_element" => ("get-tuple-element", TupleElement),
        "reduce" => ("reduce", Reduce),
        "reduce_window" => ("reduce-window", ReduceWindow),
        "dot_general" => ("dot", DotGeneral),
        "dot" => ("dot", Dot),
        "convolution" => ("convolution", Convolution),
        "gather" => ("gather", Gather),
        "scatter" => ("scatter", Scatter),
        "sort" => ("sort", Sort),
        "map" => ("map", Map),
        "fft" => ("fft", Fft),
        "cholesky" => ("cholesky", Cholesky),
        "triangular_solve" => ("triangular-solve", TriangularSolve),
        "reduce_precision" => ("reduce-precision", ReducePrecision),
        "batch_norm_inference" => ("batch-norm-inference", BatchNorm),
        "batch_norm_training" => ("batch-norm-training", BatchNorm),
        "batch_norm_grad" => ("batch-norm-grad", BatchNorm),
        "select_and_scatter" => ("select-and-scatter", SelectAndScatter),
        _ => return None,
    })
}

/// Ops of other dialects that read as an instruction of HLO does: the opcode, the recipe, and how many of the operands
/// are read. Facts: the documentation of the dialects, mlir.llvm.org/docs/Dialects.
pub(crate) fn other_op(name: &str) -> Option<(&'static str, Recipe, usize)> {
    use Recipe::*;
    let (dialect, op) = name.split_once('.')?;
    Some(match (dialect, op) {
        ("tensor", "collapse_shape" | "expand_shape" | "reshape") => ("reshape", Plain, 1),
        ("tensor", "cast") => ("copy", Plain, 1),
        ("tensor", "extract_slice") => ("slice", ExtractSlice, 1),
        ("tensor", "pad") => ("pad", TensorPad, 1),
        ("tensor", "concat") => ("concatenate", TensorConcat, usize::MAX),
        ("linalg", "transpose") => ("transpose", Dimensions("permutation", "permutation"), 1),
        ("linalg", "broadcast") => ("broadcast", LinalgBroadcast, 1),
        ("linalg", "reduce") => ("reduce", LinalgReduce, 1),
        ("linalg", "matmul") => ("dot", Contraction(&[], [1, 0]), 2),
        ("linalg", "batch_matmul") => ("dot", Contraction(&[0], [2, 1]), 2),
        ("linalg", "matvec") => ("dot", Contraction(&[], [1, 0]), 2),
        ("linalg", "batch_matvec") => ("dot", Contraction(&[0], [2, 1]), 2),
        ("linalg", "vecmat" | "dot") => ("dot", Contraction(&[], [0, 0]), 2),
        (
            "linalg",
            "abs" | "ceil" | "copy" | "erf" | "exp" | "floor" | "log" | "negf" | "reciprocal" | "round"
            | "rsqrt" | "sqrt" | "square" | "tanh",
        ) => ("", Pointwise, 1),
        ("linalg", "add" | "div" | "div_unsigned" | "max" | "min" | "mul" | "powf" | "sub") => {
            ("", Pointwise, 2)
        }
        ("arith", "constant") => return None,
        ("arith" | "math", _) => ("", Pointwise, usize::MAX),
        ("chlo", "constant" | "constant_like" | "top_k" | "scan" | "ragged_dot") => return None,
        ("chlo", _) if !op.starts_with("dynamic") => ("", Pointwise, usize::MAX),
        ("sdy", "sharding_constraint" | "reshard") => ("copy", Plain, 1),
        _ => return None,
    })
}

/// The name of an op without its dialect, where that is one of those whose ops are HLO's.
pub(crate) fn mnemonic(name: &str) -> Option<&str> {
    ["stablehlo.", "mhlo."].iter().find_map(|dialect| name.strip_prefix(dialect))
}
