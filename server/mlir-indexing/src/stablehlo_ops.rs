//! Ops of StableHLO, MHLO and CHLO with dynamic extents, which become symbols. For static shapes the HLO
//! counterpart of the op gives more.
//!
//! Source: `stablehlo/dialect/StablehloOps.td`, openxla.org/stablehlo/spec.

use indexing_map::{Expr, Interval};
use mlir::{Definition, integers};
use mlir_ops::{NoMap, OpText, Operand};

use crate::access::{OpMaps, Role};
use crate::elements;
use crate::map_builder::MapBuilder;
use crate::reshapes;
use crate::stablehlo_convolution::convolution;
use crate::stablehlo_einsum::einsum;
use crate::stablehlo_gather::gather;
use crate::stablehlo_products::{dot, reduce, sort};
use crate::stablehlo_ragged_dot::ragged_dot;
use crate::stablehlo_rows::{fft, top_k};
use crate::stablehlo_scan::scan;
use crate::stablehlo_scatter::scatter;
use crate::stablehlo_sizes::{bitcast_convert, set_dimension_size};
use crate::stablehlo_slices::{dynamic_slice, dynamic_update_slice, pad, real_dynamic_slice, slice};
use crate::stablehlo_windows::reduce_window;
use crate::tensor_ops::concatenate;

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
            _ => Some(elements::elementwise(text, result, usize::MAX)),
        };
    }
    Some(match op {
        _ if is_elementwise(op) => elements::elementwise(text, result, usize::MAX),
        "bitcast_convert" => bitcast_convert(text),
        "set_dimension_size" => set_dimension_size(text),
        "optimization_barrier" => elements::same_number(text, result),
        "reshape" | "dynamic_reshape" => reshapes::reshape(text),
        "transpose" => dimensions(text, &["permutation", "dims"]).and_then(|o| elements::transpose(text, &o)),
        "broadcast_in_dim" | "dynamic_broadcast_in_dim" => broadcast_in_dim(text),
        "broadcast" => broadcast(text),
        "reverse" => reverse(text),
        "slice" => slice(text),
        "real_dynamic_slice" => real_dynamic_slice(text),
        "dynamic_slice" => dynamic_slice(text),
        "dynamic_update_slice" => dynamic_update_slice(text),
        "pad" | "dynamic_pad" => pad(text),
        "concatenate" => text
            .attribute("dimension")
            .or_else(|| text.attribute("dim"))
            .and_then(mlir::integer)
            .and_then(|d| usize::try_from(d).ok())
            .ok_or(NoMap::from("its dimension is not read"))
            .and_then(|d| concatenate(text, &text.operands(), d)),
        "reduce" => reduce(text, result),
        "dot_general" | "dot" => dot(text, op),
        "sort" => sort(text, result),
        "gather" | "dynamic_gather" => gather(text),
        "einsum" | "unary_einsum" => einsum(text),
        "fft" => fft(text),
        "topk" => top_k(text, result),
        "scan" => scan(text, result),
        "ragged_dot" => ragged_dot(text),
        "reduce_window" => reduce_window(text, result),
        "convolution" | "dynamic_conv" => convolution(text),
        "scatter" => scatter(text, result),
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

/// A list of dimensions, by the attribute's names in the generic and the custom form.
pub(crate) fn dimensions(text: &OpText<'_>, names: &[&str]) -> Result<Vec<i64>, NoMap> {
    text.list(names).ok_or_else(|| NoMap::from(format!("its {} are not read", names[0])))
}

/// The elements of a constant operand.
pub(crate) fn constant_elements(text: &OpText<'_>, operand: &Operand) -> Option<Vec<i64>> {
    let (parse, all) = (text.source.parse, text.source.text);
    let Definition::Result(op) = parse.values.get(operand.value? as usize)?.definition else { return None };
    if !parse.name(op, all).ends_with(".constant") {
        return None;
    }
    let written = match parse.attribute(op, "value", all) {
        Some(value) => value,
        None => {
            let found = parse.op(op);
            let from = (found.name.end - found.span.start) as usize;
            found.head.of(all).get(from..)?.trim()
        }
    };
    // Index lists are short.
    if written.len() > 1024 {
        return None;
    }
    integers(written).or_else(|| {
        let body = written.strip_prefix("dense<")?.split('>').next()?;
        Some(vec![body.trim().parse().ok()?])
    })
}

/// The value of a one-element operand.
pub(crate) fn scalar(
    builder: &mut MapBuilder<'_>,
    text: &OpText<'_>,
    operand: &Operand,
    bounds: Interval,
) -> Expr {
    match constant_elements(text, operand).as_deref() {
        // Out-of-bounds values are clamped.
        Some([value]) => Expr::Const((*value).clamp(bounds.lower, bounds.upper.max(bounds.lower))),
        _ => builder.leaf(operand, bounds),
    }
}

/// Element `k` of an operand that is a list of numbers.
pub(crate) fn entry(
    builder: &mut MapBuilder<'_>,
    text: &OpText<'_>,
    of: &Operand,
    k: usize,
    bounds: Interval,
) -> Expr {
    match constant_elements(text, of).and_then(|list| list.get(k).copied()) {
        Some(value) => Expr::Const(value),
        None => builder.element(of, k, vec![Expr::Const(k as i64)], bounds),
    }
}

pub(crate) const NOT_NEGATIVE: Interval = Interval::new(0, i64::MAX);

/// Operand dimension `i` is result dimension `dims[i]`; a dimension of extent 1 is repeated. For a dynamic
/// extent the remainder is right in both cases.
fn broadcast_in_dim(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    let into = dimensions(text, &["broadcast_dimensions", "dims"])?;
    let whole = text.list(&["known_nonexpanding_dimensions"]).unwrap_or_default();
    if into.len() != ty.rank()
        || into.iter().any(|&d| usize::try_from(d).map_or(true, |d| d >= result.rank()))
    {
        return Err("its broadcast_dimensions are not as many as the operand's".into());
    }
    let mut known = vec![None; result.rank()];
    if let Ok(shape) = text.operand(1) {
        for (k, known) in known.iter_mut().enumerate() {
            *known = Some(entry(&mut builder, text, &shape, k, NOT_NEGATIVE));
        }
    }
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let index = into
        .iter()
        .enumerate()
        .map(|(i, &d)| {
            let place = dims[d as usize].clone();
            match ty.extents[i] {
                Some(1) if result.extents[d as usize] != Some(1) => Expr::ZERO,
                Some(_) => place,
                None if whole.contains(&(i as i64)) => place,
                None => place.modulo(builder.extent(&source, &ty, i)),
            }
        })
        .collect();
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

/// Adds leading dimensions.
fn broadcast(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    let first = result.rank().checked_sub(ty.rank()).ok_or("its operand has more dimensions")?;
    let mut known = vec![None; first];
    known.extend(builder.extents(&source, &ty).into_iter().map(Some));
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, dims[first..].to_vec(), Vec::new())]))
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

fn reverse(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let ty = text.array_of(&source)?;
    let reversed = dimensions(text, &["dimensions", "dims"])?;
    let extents = builder.extents(&source, &ty);
    let mut index = builder.dimensions(&extents);
    for (k, (index, extent)) in index.iter_mut().zip(&extents).enumerate() {
        if reversed.contains(&(k as i64)) {
            *index = extent.clone() - 1 - index.clone();
        }
    }
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}
