//! Ops of StableHLO, MHLO and CHLO with extents that are not known: those are symbols. Where all are known, the op's twin in
//! HLO answers more.
//!
//! Source: `stablehlo/dialect/StablehloOps.td`, openxla.org/stablehlo/spec.

use indexing_map::{Expr, Interval};
use mlir::{Definition, field, integers};

use crate::access::{OpMaps, Role};
use crate::array_type::ArrayType;
use crate::elements;
use crate::map_builder::MapBuilder;
use crate::op_text::OpText;
use crate::reshapes;
use crate::source::Operand;
use crate::stablehlo_gather::gather;
use crate::tensor_ops::concatenate;

pub(crate) fn maps(
    text: &OpText<'_>,
    dialect: &str,
    op: &str,
    result: usize,
) -> Option<Result<OpMaps, String>> {
    if dialect == "chlo" {
        let takes_no_index = matches!(op, "constant" | "constant_like" | "top_k" | "scan" | "ragged_dot");
        return match () {
            () if takes_no_index => None,
            () if op.starts_with("broadcast_") => Some(numpy_broadcast(text)),
            () => Some(elements::elementwise(text, result, usize::MAX)),
        };
    }
    Some(match op {
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
        | "xor" => elements::elementwise(text, result, usize::MAX),
        "set_dimension_size" => elements::elementwise(text, 0, 1),
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
            .ok_or_else(|| "its dimension is not read".to_owned())
            .and_then(|d| concatenate(text, &text.operands(), d)),
        "reduce" => reduce(text, result),
        "dot_general" | "dot" => dot(text, op),
        "gather" | "dynamic_gather" => gather(text),
        "constant" | "iota" | "dynamic_iota" | "get_dimension_size" => return None,
        _ => return None,
    })
}

/// A list of dimensions, by the attribute's name in the generic form and in the custom one.
pub(crate) fn dimensions(text: &OpText<'_>, names: &[&str]) -> Result<Vec<i64>, String> {
    text.list(names).ok_or_else(|| format!("its {} are not read", names[0]))
}

/// The elements of an operand that is a constant.
fn constant_elements(text: &OpText<'_>, operand: &Operand) -> Option<Vec<i64>> {
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
    // Lists of indices are short.
    if written.len() > 1024 {
        return None;
    }
    integers(written).or_else(|| {
        let body = written.strip_prefix("dense<")?.split('>').next()?;
        Some(vec![body.trim().parse().ok()?])
    })
}

/// The value of an operand that is one number.
fn scalar(builder: &mut MapBuilder<'_>, text: &OpText<'_>, operand: &Operand, bounds: Interval) -> Expr {
    match constant_elements(text, operand).as_deref() {
        // What is out of bounds is moved into them.
        Some([value]) => Expr::Const((*value).clamp(bounds.lower, bounds.upper.max(bounds.lower))),
        _ => builder.leaf(operand, bounds),
    }
}

/// Element `k` of an operand that is a list of numbers.
fn entry(builder: &mut MapBuilder<'_>, text: &OpText<'_>, of: &Operand, k: usize, bounds: Interval) -> Expr {
    match constant_elements(text, of).and_then(|list| list.get(k).copied()) {
        Some(value) => Expr::Const(value),
        None => builder.element(of, k, vec![Expr::Const(k as i64)], bounds),
    }
}

const NOT_NEGATIVE: Interval = Interval::new(0, i64::MAX);

/// Operand dimension `i` is result dimension `dims[i]`; one of one element is repeated. Where the extent is not known, the
/// remainder is right in both cases.
fn broadcast_in_dim(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    let into = dimensions(text, &["broadcast_dimensions", "dims"])?;
    let whole = text.list(&["known_nonexpanding_dimensions"]).unwrap_or_default();
    if into.len() != ty.rank()
        || into.iter().any(|&d| usize::try_from(d).map_or(true, |d| d >= result.rank()))
    {
        return Err("its broadcast_dimensions are not as many as the operand's".to_owned());
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

/// New dimensions in front.
fn broadcast(text: &OpText<'_>) -> Result<OpMaps, String> {
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

/// Each operand of an op of CHLO whose operands are aligned at their last dimensions, or where `broadcast_dimensions` says.
fn numpy_broadcast(text: &OpText<'_>) -> Result<OpMaps, String> {
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

fn reverse(text: &OpText<'_>) -> Result<OpMaps, String> {
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

/// `%x [0:8:2, 1:4]`
fn slice(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    let (starts, strides) = match text.list(&["start_indices"]) {
        Some(starts) => {
            let strides = text.list(&["strides"]).unwrap_or_else(|| vec![1; starts.len()]);
            (starts, strides)
        }
        None => {
            let list = text.squares().into_iter().next().ok_or("its bounds are not read")?;
            let (mut starts, mut strides) = (Vec::new(), Vec::new());
            for item in text.items(list) {
                let mut numbers = text.text_of(item).split(':').map(|n| n.trim().parse::<i64>());
                let missing = "its bounds are not read";
                starts.push(numbers.next().ok_or(missing)?.map_err(|_| missing)?);
                strides.push(numbers.nth(1).map_or(Ok(1), |n| n.map_err(|_| missing))?);
            }
            (starts, strides)
        }
    };
    if starts.len() != ty.rank() || strides.len() != ty.rank() || result.rank() != ty.rank() {
        return Err("its bounds are not as many as the operand's dimensions".to_owned());
    }
    let extents = builder.result_extents(text, 0, &result, &[]);
    let mut index = builder.dimensions(&extents);
    for (index, (start, stride)) in index.iter_mut().zip(starts.iter().zip(&strides)) {
        *index = index.clone() * *stride + *start;
    }
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

/// `%x, %start, %limit, %stride`, each a list of numbers.
fn real_dynamic_slice(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    let (start, stride) = (text.operand(1)?, text.operand(3)?);
    if ty.rank() != result.rank() {
        return Err("its result has not the dimensions of the operand".to_owned());
    }
    let extents = builder.result_extents(text, 0, &result, &[]);
    let mut index = builder.dimensions(&extents);
    for (k, index) in index.iter_mut().enumerate() {
        let most = ty.extents[k].unwrap_or(i64::MAX);
        let from = entry(&mut builder, text, &start, k, Interval::new(0, most));
        let by = entry(&mut builder, text, &stride, k, Interval::new(1, i64::MAX));
        *index = index.clone() * by + from;
    }
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

/// Where a window of `size` may start.
fn starts(whole: Option<i64>, size: Option<i64>) -> Interval {
    match (whole, size) {
        (Some(whole), Some(size)) => Interval::new(0, whole.saturating_sub(size).max(0)),
        _ => NOT_NEGATIVE,
    }
}

/// `%x, %i, %j, sizes = [..]`
fn dynamic_slice(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    let operands = text.operands();
    if operands.len() != 1 + ty.rank() || result.rank() != ty.rank() {
        return Err("its indices are not as many as the operand's dimensions".to_owned());
    }
    let extents = builder.result_extents(text, 0, &result, &[]);
    let mut index = builder.dimensions(&extents);
    for (k, index) in index.iter_mut().enumerate() {
        let bounds = starts(ty.extents[k], result.extents[k]);
        *index = index.clone() + scalar(&mut builder, text, &operands[1 + k], bounds);
    }
    let mut accesses = vec![builder.access(&source, Role::Read, index, Vec::new())];
    for operand in &operands[1..] {
        accesses.push(builder.access(operand, Role::Read, Vec::new(), Vec::new()));
    }
    Ok(OpMaps::of_result(0, accesses))
}

/// `%x, %u, %i, %j`
fn dynamic_update_slice(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let operands = text.operands();
    let (source, update) = (text.operand(0)?, text.operand(1)?);
    let (ty, part) = (text.array_of(&source)?, text.array_of(&update)?);
    if operands.len() != 2 + ty.rank() || part.rank() != ty.rank() {
        return Err("its indices are not as many as the operand's dimensions".to_owned());
    }
    let extents = builder.extents(&source, &ty);
    let dims = builder.dimensions(&extents);
    let (mut index, mut when) = (Vec::new(), Vec::new());
    for (k, d) in dims.iter().enumerate() {
        let bounds = starts(ty.extents[k], part.extents[k]);
        let from = scalar(&mut builder, text, &operands[2 + k], bounds);
        let extent = builder.extent(&update, &part, k);
        index.push(d.clone() - from);
        when.extend(MapBuilder::within(&index[k], &extent));
    }
    let of_update = builder.access(&update, Role::Read, index, when);
    let mut of_source = builder.access(&source, Role::Read, dims, Vec::new());
    of_source.note = Some("outside of the update only".to_owned());
    let mut accesses = vec![of_source, of_update];
    for operand in &operands[2..] {
        accesses.push(builder.access(operand, Role::Read, Vec::new(), Vec::new()));
    }
    Ok(OpMaps::of_result(0, accesses))
}

/// `%x, %pv, low = [..], high = [..], interior = [..]`, or the lists as operands.
fn pad(text: &OpText<'_>) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let (source, value) = (text.operand(0)?, text.operand(1)?);
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    let operands = text.operands();
    let mut list = |names: [&str; 2], nth: usize, least: i64| -> Result<Vec<Expr>, String> {
        match (text.list(&names), operands.get(nth)) {
            (Some(list), _) if list.len() == ty.rank() => Ok(list.into_iter().map(Expr::Const).collect()),
            (None, Some(operand)) => Ok((0..ty.rank())
                .map(|k| entry(&mut builder, text, operand, k, Interval::new(least, i64::MAX)))
                .collect()),
            _ => Err("its padding is not read".to_owned()),
        }
    };
    let low = list(["edge_padding_low", "low"], 2, i64::MIN)?;
    let high = list(["edge_padding_high", "high"], 3, i64::MIN)?;
    let interior = list(["interior_padding", "interior"], 4, 0)?;
    let inner = builder.extents(&source, &ty);
    let known: Vec<Option<Expr>> = (0..ty.rank())
        .map(|k| {
            let gaps = (inner[k].clone() - 1).max(0) * interior[k].clone();
            Some(inner[k].clone() + low[k].clone() + high[k].clone() + gaps)
        })
        .collect();
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let (mut index, mut when) = (Vec::new(), Vec::new());
    for (k, d) in dims.iter().enumerate() {
        let distance = d.clone() - low[k].clone();
        let step = interior[k].clone() + 1;
        let place = distance.clone().floor_div(step.clone());
        when.push((distance.modulo(step), Interval::point(0)));
        when.extend(MapBuilder::within(&place, &inner[k]));
        index.push(place);
    }
    let of_source = builder.access(&source, Role::Read, index, when);
    let of_value = builder.access(&value, Role::Read, Vec::new(), Vec::new());
    Ok(OpMaps::of_result(0, vec![of_source, of_value]))
}

fn reduce(text: &OpText<'_>, result: usize) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let mut operands = text.operands();
    if !text.is_generic() {
        // `(%a init: %i), (%b init: %j)`: the arrays first.
        let (arrays, inits): (Vec<_>, Vec<_>) =
            operands.into_iter().enumerate().partition(|(nth, _)| nth % 2 == 0);
        operands = arrays.into_iter().chain(inits).map(|(_, o)| o).collect();
    }
    let reduced = dimensions(text, &["dimensions"])?;
    let first = operands.first().ok_or("it has no operand")?;
    let ty = text.array_of(first)?;
    let extents = builder.extents(first, &ty);
    let mut index = Vec::new();
    for (k, extent) in extents.iter().enumerate() {
        index.push(match reduced.contains(&(k as i64)) {
            true => builder.range(None, extent),
            false => builder.dimension(extent),
        });
    }
    let arrays = operands.len() / 2;
    let accesses = operands
        .iter()
        .enumerate()
        .map(|(nth, operand)| {
            let index = if nth < arrays { index.clone() } else { Vec::new() };
            builder.access(operand, Role::Read, index, Vec::new())
        })
        .collect();
    Ok(OpMaps::of_result(result, accesses))
}

/// Batches, then what is left of the left side, then of the right; what is contracted is summed over.
fn dot(text: &OpText<'_>, op: &str) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    let (left, right) = (text.operand(0)?, text.operand(1)?);
    let (left_type, right_type) = (text.array_of(&left)?, text.array_of(&right)?);
    let [batch, contracted] = match op {
        "dot" => {
            let last = left_type.rank().checked_sub(1).ok_or("its operand has no dimension")?;
            [[Vec::new(), Vec::new()], [vec![last], vec![0]]]
        }
        _ => [pairs(text, "batching")?, pairs(text, "contracting")?],
    };
    let fits = |list: &[usize], ty: &ArrayType| list.iter().all(|&k| k < ty.rank());
    for pair in [&batch, &contracted] {
        if pair[0].len() != pair[1].len() || !fits(&pair[0], &left_type) || !fits(&pair[1], &right_type) {
            return Err("its dimension numbers are no dimensions of its operands".to_owned());
        }
    }
    let mut index = [vec![Expr::ZERO; left_type.rank()], vec![Expr::ZERO; right_type.rank()]];
    for (&l, &r) in batch[0].iter().zip(&batch[1]) {
        let extent = shared_extent(&mut builder, (&left, &left_type, l), (&right, &right_type, r));
        let d = builder.dimension(&extent);
        index[0][l] = d.clone();
        index[1][r] = d;
    }
    for (side, operand, ty) in [(0, &left, &left_type), (1, &right, &right_type)] {
        for k in (0..ty.rank()).filter(|k| !batch[side].contains(k) && !contracted[side].contains(k)) {
            let extent = builder.extent(operand, ty, k);
            index[side][k] = builder.dimension(&extent);
        }
    }
    for (&l, &r) in contracted[0].iter().zip(&contracted[1]) {
        let extent = shared_extent(&mut builder, (&left, &left_type, l), (&right, &right_type, r));
        let s = builder.range(None, &extent);
        index[0][l] = s.clone();
        index[1][r] = s;
    }
    let [left_index, right_index] = index;
    let accesses = vec![
        builder.access(&left, Role::Read, left_index, Vec::new()),
        builder.access(&right, Role::Read, right_index, Vec::new()),
    ];
    Ok(OpMaps::of_result(0, accesses))
}

/// Of two dimensions that are of one extent, that one which is written.
fn shared_extent(
    builder: &mut MapBuilder<'_>,
    left: (&Operand, &ArrayType, usize),
    right: (&Operand, &ArrayType, usize),
) -> Expr {
    let (operand, ty, k) = if left.1.extents[left.2].is_some() { left } else { right };
    let (operand, ty, k) = if ty.extents[k].is_some() { (operand, ty, k) } else { left };
    builder.extent(operand, ty, k)
}

/// `batching_dims = [0] x [0]`, or the fields of `#stablehlo.dot<…>`.
fn pairs(text: &OpText<'_>, kind: &str) -> Result<[Vec<usize>; 2], String> {
    let as_dims =
        |list: Vec<i64>| list.into_iter().map(|d| usize::try_from(d).ok()).collect::<Option<Vec<_>>>();
    let missing = || format!("its {kind} dimensions are not read");
    if let Some(written) = text.attribute(&format!("{kind}_dims")) {
        let (left, right) = written.split_once('x').ok_or_else(missing)?;
        let read = |list: &str| integers(list.trim()).and_then(as_dims);
        return Ok([read(left).ok_or_else(missing)?, read(right).ok_or_else(missing)?]);
    }
    let Some(numbers) = text.attribute("dot_dimension_numbers") else {
        return if text.is_generic() { Err(missing()) } else { Ok([Vec::new(), Vec::new()]) };
    };
    let numbers = text.source.resolved(numbers, text.source.parse.op(text.id).span.start);
    let side = |side: &str| {
        let list = field(&numbers, &format!("{side}_{kind}_dimensions"));
        list.map_or(Some(Vec::new()), |l| integers(l).and_then(as_dims)).ok_or_else(missing)
    };
    Ok([side("lhs")?, side("rhs")?])
}
