//! Assigns the types after the colon to operands, for ops with a known custom form.
//!
//! Sources: `mlir/include/mlir/Dialect/{Arith,Math,Func,SCF,Tensor,MemRef}/IR/*Ops.td`,
//! `stablehlo/dialect/StablehloOps.td`.

use std::sync::LazyLock;

use OperandTypes::*;
use rustc_hash::FxHashMap;

use crate::words::last_segment;

/// The assignment of a custom form's types to its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperandTypes {
    /// `%a, %b : T`: this many operands, all of the same type.
    One(usize),
    /// `%a, %b : A, B`, `%a : A to B`
    Each,
    /// `%p, %a, %b : T`, `%p, %a, %b : P, T`: a selection between two values.
    Choice,
    /// `%x[%i] : T`: the first operand has the first type.
    First,
}

/// `None` for ops that are not in the table.
pub(crate) fn operand_types(name: &str) -> Option<OperandTypes> {
    let Some((dialect, op)) = name.split_once('.') else {
        return (name == "return").then_some(Each);
    };
    match dialect {
        "func" | "scf" | "linalg" | "affine" => {
            matches!(last_segment(op), "return" | "yield").then_some(Each)
        }
        _ => BY_NAME.get(&(if dialect == "mhlo" { "stablehlo" } else { dialect }, op)).copied(),
    }
}

static BY_NAME: LazyLock<FxHashMap<(&str, &str), OperandTypes>> = LazyLock::new(|| {
    let names =
        OPS.iter().flat_map(|&(dialect, types, ops)| ops.iter().map(move |&op| ((dialect, op), types)));
    names.collect()
});

/// The ops of a dialect with each assignment. Ops of MHLO are those of StableHLO.
#[rustfmt::skip]
const OPS: [(&str, OperandTypes, &[&str]); 16] = [
    (
        "arith",
        One(2),
        &[
            "addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi",
            "andi", "ori", "xori", "shli", "shrsi", "shrui", "maxsi", "maxui", "minsi", "minui", "addf", "subf",
            "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf", "cmpi", "cmpf",
        ],
    ),
    ("arith", One(1), &["negf"]),
    ("arith", Choice, &["select"]),
    (
        "arith",
        Each,
        &[
            "bitcast", "extf", "extsi", "extui", "truncf", "trunci", "sitofp", "uitofp", "fptosi", "fptoui",
            "index_cast", "index_castui",
        ],
    ),
    ("math", One(2), &["atan2", "copysign", "powf", "ipowi"]),
    ("math", One(3), &["fma"]),
    (
        "math",
        One(1),
        &[
            "absf", "absi", "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh",
            "ctlz", "ctpop", "cttz", "erf", "erfc", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p",
            "log2", "round", "roundeven", "rsqrt", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
        ],
    ),
    ("tensor", First, &["extract", "dim", "extract_slice", "rank"]),
    ("tensor", Each, &["cast", "collapse_shape", "bitcast"]),
    ("memref", First, &["load", "dim", "rank"]),
    ("memref", Each, &["cast", "collapse_shape", "dealloc"]),
    (
        "stablehlo",
        One(2),
        &[
            "add", "and", "atan2", "divide", "maximum", "minimum", "multiply", "or", "power", "remainder",
            "shift_left", "shift_right_arithmetic", "shift_right_logical", "subtract", "xor",
        ],
    ),
    ("stablehlo", One(3), &["clamp"]),
    (
        "stablehlo",
        One(1),
        &[
            "abs", "cbrt", "ceil", "cosine", "count_leading_zeros", "exponential", "exponential_minus_one",
            "floor", "log", "log_plus_one", "logistic", "negate", "not", "popcnt", "round_nearest_afz",
            "round_nearest_even", "rsqrt", "sign", "sine", "sqrt", "tan", "tanh", "reverse", "reduce_precision",
        ],
    ),
    ("stablehlo", Choice, &["select"]),
    ("stablehlo", Each, &["return", "optimization_barrier"]),
];

/// Dialects whose custom forms define every value visibly in the text, so that an unknown name in them is an
/// error.
#[rustfmt::skip]
const DIALECTS: [&str; 30] = [
    "affine", "arith", "bufferization", "builtin", "cf", "chlo", "complex", "func", "gpu", "index",
    "linalg", "llvm", "math", "memref", "mhlo", "nvvm", "scf", "sdy", "shape", "sparse_tensor",
    "stablehlo", "tensor", "tt", "ub", "vector", "vhlo", "xla", "xla_cpu", "xla_gpu", "xtile",
];

pub(crate) fn is_of_known_dialect(name: &str) -> bool {
    name.split_once('.').is_none_or(|(dialect, _)| DIALECTS.contains(&dialect))
}
