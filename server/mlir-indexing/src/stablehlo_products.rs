//! Reductions and products of StableHLO.
//!
//! Source: openxla.org/stablehlo/spec.

use indexing_map::Expr;
use mlir::{ArrayType, field, integers};
use mlir_ops::{NoMap, OpText, Operand};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;
use crate::stablehlo_ops::dimensions;

pub(crate) fn reduce(text: &OpText<'_>, result: usize) -> Result<OpMaps, NoMap> {
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

/// Along the sorted dimension any element may move to any index.
pub(crate) fn sort(text: &OpText<'_>, result: usize) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let operands = text.operands();
    let first = operands.first().ok_or("it has no operand")?;
    let ty = text.array_of(first)?;
    let last = i64::try_from(ty.rank()).unwrap_or(0) - 1;
    let along = text.attribute("dimension").and_then(mlir::integer).unwrap_or(last);
    let extents = builder.extents(first, &ty);
    let mut index = builder.dimensions(&extents);
    let along = usize::try_from(along).ok().filter(|&k| k < index.len()).ok_or("its dimension is none")?;
    index[along] = builder.range(None, &extents[along]);
    let accesses =
        operands.iter().map(|o| builder.access(o, Role::Read, index.clone(), Vec::new())).collect();
    Ok(OpMaps::of_result(result, accesses))
}

/// The result has the batch dimensions, then the free ones of the left side, then of the right. Contracted
/// dimensions are summed over.
pub(crate) fn dot(text: &OpText<'_>, op: &str) -> Result<OpMaps, NoMap> {
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
            return Err("its dimension numbers are no dimensions of its operands".into());
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

/// The extent shared by two dimensions, static if either is.
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
pub(crate) fn pairs(text: &OpText<'_>, kind: &str) -> Result<[Vec<usize>; 2], NoMap> {
    let as_dims =
        |list: Vec<i64>| list.into_iter().map(|d| usize::try_from(d).ok()).collect::<Option<Vec<_>>>();
    let missing = || NoMap::from(format!("its {kind} dimensions are not read"));
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
