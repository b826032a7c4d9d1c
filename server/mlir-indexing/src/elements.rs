//! Accesses to single elements, and elementwise ops: `tensor.extract`, `tensor.insert`, `memref.load`,
//! `affine.store`, casts.

use indexing_map::{Expr, Interval};
use mlir::ArrayType;
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role, Space};
use crate::map_builder::MapBuilder;

/// The largest number of scalars of a `tensor.from_elements` that are shown.
const MAX_ELEMENTS: usize = 64;

/// Each array operand is read at the index of the result; a scalar has one element.
pub(crate) fn elementwise(text: &OpText<'_>, result: usize, read: usize) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let array = text.result_array(result)?;
    let operands: Vec<_> = text.operands().into_iter().take(read).collect();
    let mut types = Vec::new();
    for operand in &operands {
        types.push(if text.is_scalar(operand) { None } else { Some(text.array_of(operand)?) });
    }
    let is_like = |ty: &ArrayType| {
        let agree = |(a, b): (&Option<i64>, &Option<i64>)| a.is_none() || b.is_none() || a == b;
        ty.rank() == array.rank() && ty.extents.iter().zip(&array.extents).all(agree)
    };
    if types.iter().flatten().any(|ty| ty.rank() > 0 && !is_like(ty)) {
        return Err(NoMap::OtherShapes);
    }
    // All have the same extents: an extent known for an operand is known for the result.
    let mut known: Vec<Option<Expr>> = vec![None; array.rank()];
    for (operand, ty) in operands.iter().zip(&types) {
        let Some(ty) = ty.as_ref().filter(|ty| ty.rank() == array.rank()) else { continue };
        for (k, known) in known.iter_mut().enumerate() {
            if known.as_ref().is_none_or(|e| e.as_const().is_none())
                && (known.is_none() || ty.extents[k].is_some())
            {
                *known = Some(builder.extent(operand, ty, k));
            }
        }
    }
    let extents = builder.result_extents(text, result, &array, &known);
    let dims = builder.dimensions(&extents);
    let accesses = operands
        .iter()
        .zip(&types)
        .map(|(operand, ty)| {
            let rank = ty.as_ref().map_or(0, ArrayType::rank);
            let index = if rank == 0 { Vec::new() } else { dims.clone() };
            builder.access(operand, Role::Read, index, Vec::new())
        })
        .collect();
    Ok(OpMaps::of_result(result, accesses))
}

/// `%m[%i, %j + 1]`: one element per iteration of the enclosing loops. `nth` is the accessed operand.
pub(crate) fn point(text: &OpText<'_>, nth: usize, role: Role) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    builder.around = true;
    let array = text.operand(nth)?;
    let ty = text.array_of(&array)?;
    let index = subscripts(&mut builder, text, nth + 1)?;
    if index.len() != ty.rank() {
        return Err(NoMap::Subscripts { has: index.len(), rank: ty.rank() });
    }
    builder.guard(text.id);
    let mut access = builder.access(&array, role, index.clone(), Vec::new());
    access.locate(&mut builder, &array, &ty, &index, &[]);
    Ok(OpMaps { space: Space::Around, accesses: vec![access] })
}

/// The indices of an op: its first bracketed list, or the operands after the first `fixed` ones and a map of
/// them.
pub(crate) fn subscripts(
    builder: &mut MapBuilder<'_>,
    text: &OpText<'_>,
    fixed: usize,
) -> Result<Vec<Expr>, NoMap> {
    if !text.is_generic() {
        return builder.subscripts(text, 0).ok_or(NoMap::ListNotRead("subscripts"));
    }
    let operands: Vec<_> = text.operands().into_iter().skip(fixed).collect();
    let values: Vec<Expr> = operands.iter().map(|o| builder.index_value(o)).collect();
    let Some(map) = text.subscript_map()? else { return Ok(values) };
    let dims = map.dims.len().min(values.len());
    map.apply(&values[..dims], &values[dims..]).ok_or(NoMap::OtherArguments)
}

/// `%v into %t[%i]`: the tensor with one element replaced.
pub(crate) fn insert(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (value, array) = (text.operand(0)?, text.operand(1)?);
    let ty = text.array_of(&array)?;
    let index = subscripts(&mut builder, text, 2)?;
    if index.len() != ty.rank() {
        return Err(NoMap::Subscripts { has: index.len(), rank: ty.rank() });
    }
    for (k, index) in index.iter().enumerate() {
        builder.narrow(index, ty.extents[k].map_or(Interval::new(0, i64::MAX), Interval::from_size));
    }
    let extents = builder.extents(&array, &ty);
    let dims = builder.dimensions(&extents);
    let here: Vec<_> =
        dims.iter().zip(&index).map(|(d, i)| (d.clone() - i.clone(), Interval::point(0))).collect();
    let elsewhere = MapBuilder::otherwise(&here);
    let of_value = builder.access(&value, Role::Read, Vec::new(), here);
    let mut of_array = builder.access(&array, Role::Read, dims, elsewhere);
    of_array.note = Some("but for the one element".to_owned());
    Ok(OpMaps::of_result(0, vec![of_value, of_array]))
}

/// The result's elements are the scalar operands, in order.
pub(crate) fn from_elements(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let operands = text.operands();
    if operands.len() > MAX_ELEMENTS {
        return Err(NoMap::TooManyElements(MAX_ELEMENTS));
    }
    let mut builder = MapBuilder::new(text.source);
    let array = text.result_array(0)?;
    let extents: Vec<Expr> =
        array.static_extents().ok_or(NoMap::UnknownShape)?.into_iter().map(Expr::Const).collect();
    let dims = builder.dimensions(&extents);
    let mut accesses = Vec::new();
    for (nth, operand) in operands.iter().enumerate() {
        let here = indexing_map::delinearized(&Expr::Const(nth as i64), &extents);
        let when = dims.iter().zip(here).map(|(d, i)| (d.clone() - i, Interval::point(0))).collect();
        accesses.push(builder.access(operand, Role::Read, Vec::new(), when));
    }
    Ok(OpMaps::of_result(0, accesses))
}

/// A permutation of dimensions: result dimension `k` is operand dimension `order[k]`.
pub(crate) fn transpose(text: &OpText<'_>, order: &[i64]) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let ty = text.array_of(&source)?;
    let order: Vec<usize> = order.iter().filter_map(|&k| usize::try_from(k).ok()).collect();
    let is_permutation = order.len() == ty.rank() && (0..ty.rank()).all(|k| order.contains(&k));
    if !is_permutation {
        return Err(NoMap::NoPermutation("permutation"));
    }
    let extents: Vec<Expr> = order.iter().map(|&k| builder.extent(&source, &ty, k)).collect();
    let dims = builder.dimensions(&extents);
    let mut index = vec![Expr::ZERO; ty.rank()];
    for (d, &k) in dims.iter().zip(&order) {
        index[k] = d.clone();
    }
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}
