//! Ops of StableHLO, MHLO and CHLO that no op of HLO stands for: CHLO's own, and those whose places or paddings only
//! the running program knows.
//!
//! Source: `stablehlo/dialect/StablehloOps.td`, openxla.org/stablehlo/spec.

use indexing_map::Expr;
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::elements;
use crate::map_builder::MapBuilder;
use crate::stablehlo_einsum::einsum;
use crate::stablehlo_ragged_dot::ragged_dot;
use crate::stablehlo_rows::top_k;
use crate::stablehlo_scan::scan;

pub(crate) fn maps(
    text: &OpText<'_>,
    dialect: &str,
    op: &str,
    result: usize,
) -> Option<Result<OpMaps, NoMap>> {
    if dialect == "chlo" {
        return match op {
            "constant" | "constant_like" => None,
            "top_k" => Some(top_k(text, result)),
            "scan" => Some(scan(text, result)),
            "ragged_dot" => Some(ragged_dot(text)),
            _ if op.starts_with("broadcast_") => Some(numpy_broadcast(text)),
            _ => None,
        };
    }
    Some(match op {
        "optimization_barrier" => elements::same_number(text, result),
        "einsum" | "unary_einsum" => einsum(text),
        "topk" => top_k(text, result),
        "scan" => scan(text, result),
        "constant" | "iota" | "dynamic_iota" | "get_dimension_size" => return None,
        _ => return None,
    })
}

/// Whether each element of the result depends only on the operands' elements at the same index.
pub(crate) fn is_elementwise(op: &str) -> bool {
    matches!(
        op,
        "abs"
            | "add"
            | "and"
            | "atan2"
            | "cbrt"
            | "ceil"
            | "clamp"
            | "compare"
            | "complex"
            | "convert"
            | "copy"
            | "cosine"
            | "count_leading_zeros"
            | "divide"
            | "erf"
            | "exponential"
            | "exponential_minus_one"
            | "floor"
            | "imag"
            | "is_finite"
            | "log"
            | "log_plus_one"
            | "logistic"
            | "map"
            | "maximum"
            | "minimum"
            | "multiply"
            | "negate"
            | "not"
            | "or"
            | "popcnt"
            | "power"
            | "real"
            | "reduce_precision"
            | "remainder"
            | "round_nearest_afz"
            | "round_nearest_even"
            | "rsqrt"
            | "select"
            | "shift_left"
            | "shift_right_arithmetic"
            | "shift_right_logical"
            | "sign"
            | "sine"
            | "sqrt"
            | "subtract"
            | "tan"
            | "tanh"
            | "uniform_quantize"
            | "uniform_dequantize"
            | "xor"
    )
}

/// The operands of a broadcasting CHLO op, aligned at their last dimensions or by `broadcast_dimensions`.
fn numpy_broadcast(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let result = text.result_array(0)?;
    let extents = builder.result_extents(text, 0, &result, &[]);
    let dims = builder.dimensions(&extents);
    let into = text.list(&["broadcast_dimensions"]);
    let mut accesses = Vec::new();
    for operand in text.operands() {
        let ty = text.array_of(&operand)?;
        let first = result.rank().checked_sub(ty.rank()).ok_or("an operand has more dimensions")?;
        let listed = into.as_ref().filter(|l| first > 0 && l.len() == ty.rank());
        let mut index = Vec::new();
        for k in 0..ty.rank() {
            let d = match listed {
                Some(list) => usize::try_from(list[k]).ok().filter(|&d| d < dims.len()),
                None => Some(first + k),
            };
            let d = d.ok_or("its broadcast_dimensions are no dimensions")?;
            index.push(match ty.extents[k] {
                Some(1) if result.extents[d] != Some(1) => Expr::ZERO,
                Some(_) => dims[d].clone(),
                None => dims[d].clone().modulo(builder.extent(&operand, &ty, k)),
            });
        }
        accesses.push(builder.access(&operand, Role::Read, index, Vec::new()));
    }
    Ok(OpMaps::of_result(0, accesses))
}
