//! Dispatches an op to the maps of its dialect.

use mlir::OpId;
use mlir_ops::{NoMap, OpText, Source};

use crate::access::OpMaps;
use crate::{index_ops, linalg_ops, memref_ops, stablehlo_ops, tensor_ops, vector_ops, xla_ops};

/// The maps of one result of an op: the operand elements that each result element is made of, or the elements
/// that each iteration reads and writes. `None` for ops that access nothing by index, and for unknown ops.
/// The error says why an op that should have maps has none.
pub fn op_maps(source: &Source<'_>, id: OpId, result: usize) -> Option<Result<OpMaps, NoMap>> {
    let name = source.parse.name(id, source.text);
    let (dialect, op) = name.split_once('.')?;
    if !matches!(
        dialect,
        "affine"
            | "arith"
            | "bufferization"
            | "chlo"
            | "linalg"
            | "math"
            | "memref"
            | "mhlo"
            | "stablehlo"
            | "tensor"
            | "triton_xla"
            | "vector"
            | "xla"
            | "xla_gpu"
            | "xtile"
    ) {
        return None;
    }
    let text = OpText::new(source, id)?;
    match dialect {
        "affine" | "arith" | "math" => index_ops::maps(&text, dialect, op, result),
        "linalg" => linalg_ops::maps(&text, op, result),
        "memref" | "bufferization" => memref_ops::maps(&text, op),
        "tensor" if matches!(op, "pack" | "unpack") => linalg_ops::maps(&text, op, result),
        "tensor" => tensor_ops::maps(&text, op),
        "vector" => vector_ops::maps(&text, op, result),
        "stablehlo" | "mhlo" | "chlo" => stablehlo_ops::maps(&text, dialect, op, result),
        _ => xla_ops::maps(&text, dialect, op, result),
    }
}
