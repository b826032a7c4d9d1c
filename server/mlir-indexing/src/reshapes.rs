//! Reshapes, which keep the order of elements: `collapse_shape`, `expand_shape`, `reshape`, `shape_cast`.
//!
//! Source: mlir.llvm.org/docs/Dialects/TensorOps.

use indexing_map::{Expr, delinearized, linearized, only_unknown};
use mlir::ArrayType;
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;

/// The groups of a reassociation. Each is a run of dimensions; together they are all dimensions, in order.
pub(crate) fn groups(text: &OpText<'_>, rank: usize) -> Result<Vec<Vec<usize>>, NoMap> {
    let groups = text.reassociation()?;
    let has = groups.iter().map(Vec::len).sum();
    if !groups.iter().flatten().copied().eq(0..has) {
        return Err(NoMap::GroupOrder);
    }
    // If the other side has rank 0 the list is empty, and all extents are 1.
    if has != rank && !groups.is_empty() {
        return Err(NoMap::GroupedDimensions { has, rank });
    }
    Ok(groups)
}

/// `%x [[0, 1], [2]] : A into B`
pub(crate) fn collapse(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (array, result) = (text.array_of(&source)?, text.result_array(0)?);
    let groups = groups(text, array.rank())?;
    check_count(&groups, &result)?;
    let extents = builder.extents(&source, &array);
    let of_group = |group: &Vec<usize>| -> Vec<Expr> { group.iter().map(|&k| extents[k].clone()).collect() };
    let products: Vec<Option<Expr>> =
        groups.iter().map(|g| Some(of_group(g).into_iter().fold(Expr::Const(1), |n, e| n * e))).collect();
    let result_extents = builder.result_extents(text, 0, &result, &products);
    let dims = builder.dimensions(&result_extents);
    let mut index = vec![Expr::ZERO; array.rank()];
    for (group, d) in groups.iter().zip(&dims) {
        for (&k, digit) in group.iter().zip(delinearized(d, &of_group(group))) {
            index[k] = digit;
        }
    }
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

pub(crate) fn check_count(groups: &[Vec<usize>], array: &ArrayType) -> Result<(), NoMap> {
    match groups.len() == array.rank() {
        true => Ok(()),
        false => Err(NoMap::GroupCount { has: groups.len(), rank: array.rank() }),
    }
}

/// `%x [[0, 1], [2]] output_shape [3, %n, 7] : A into B`
pub(crate) fn expand(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (array, result) = (text.array_of(&source)?, text.result_array(0)?);
    let groups = groups(text, result.rank())?;
    check_count(&groups, &array)?;
    let mut known = vec![None; result.rank()];
    if let Some(list) = text.output_shape() {
        for (known, entry) in known.iter_mut().zip(&list) {
            *known = Some(builder.mixed(entry));
        }
    }
    // A single dynamic extent of a group follows from the others.
    for (g, group) in groups.iter().enumerate() {
        let Some((at, others)) = only_unknown(group.iter().map(|&k| result.extents[k])) else { continue };
        let known = &mut known[group[at]];
        if known.is_none() {
            *known = Some(builder.extent(&source, &array, g).floor_div(others));
        }
    }
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let index = groups
        .iter()
        .map(|group| {
            let pick = |list: &[Expr]| -> Vec<Expr> { group.iter().map(|&k| list[k].clone()).collect() };
            linearized(&pick(&dims), &pick(&extents))
        })
        .collect();
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

/// A reshape to any shape with the same number of elements.
pub(crate) fn reshape(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (array, result) = (text.array_of(&source)?, text.result_array(0)?);
    let count = |ty: &ArrayType| ty.static_extents()?.iter().try_fold(1i64, |n, &e| n.checked_mul(e));
    if let (Some(from), Some(to)) = (count(&array), count(&result))
        && from != to
    {
        return Err(NoMap::ElementCount { from, to });
    }
    // A single dynamic extent follows from the others.
    let from = builder.extents(&source, &array);
    let mut known = vec![None; result.rank()];
    if let Some((at, others)) = only_unknown(result.extents.iter().copied()) {
        let whole = from.iter().cloned().fold(Expr::Const(1), |n, e| n * e);
        known[at] = Some(whole.floor_div(others));
    }
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let index = delinearized(&linearized(&dims, &extents), &from);
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}
