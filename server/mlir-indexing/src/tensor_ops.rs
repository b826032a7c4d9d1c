//! Ops of the tensor dialect other than slices and reshapes.
//!
//! Source: mlir.llvm.org/docs/Dialects/TensorOps.

use indexing_map::{Expr, Interval};
use mlir_ops::{Mixed, NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;

/// `%x low[1, %n] high[0, 2] { … tensor.yield %v }`: `%x` in the middle, surrounded by what the body yields.
pub(crate) fn pad(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (array, result) = (text.array_of(&source)?, text.result_array(0)?);
    let lists = text.padding(array.rank())?;
    let mut read = |list: &[Mixed]| list.iter().map(|e| builder.mixed(e)).collect::<Vec<_>>();
    let (low, high) = (read(&lists[0]), read(&lists[1]));
    let inner = builder.extents(&source, &array);
    let whole: Vec<Option<Expr>> =
        (0..array.rank()).map(|k| Some(inner[k].clone() + low[k].clone() + high[k].clone())).collect();
    let extents = builder.result_extents(text, 0, &result, &whole);
    let dims = builder.dimensions(&extents);
    let index: Vec<Expr> = dims.iter().zip(&low).map(|(d, low)| d.clone() - low.clone()).collect();
    let when = index.iter().zip(&inner).flat_map(|(i, n)| MapBuilder::within(i, n)).collect();
    let mut accesses = vec![builder.access(&source, Role::Read, index, when)];
    // The border has one value if the yielded value is defined outside the body.
    let parse = text.source.parse;
    let is_inside = |value: mlir::ValueId| match parse.values[value as usize].definition {
        mlir::Definition::Result(op) => op >= text.id && op < parse.op(text.id).behind,
        mlir::Definition::Binder(op) => op == text.id,
        mlir::Definition::BlockArgument(block) => {
            parse.regions[parse.blocks[block as usize].region as usize].op == text.id
        }
    };
    let last = (text.id + 1..parse.op(text.id).behind).rfind(|&op| parse.parent(op) == Some(text.id));
    if let Some(found) = last.and_then(|op| parse.operands_of(op).next()) {
        let value = text.source.operand(found);
        if value.value.is_some_and(|v| !is_inside(v)) {
            let mut access = builder.access(&value, Role::Read, Vec::new(), Vec::new());
            access.note = Some("around it".to_owned());
            accesses.push(access);
        } else if let Some(access) = accesses.first_mut() {
            access.note = Some("around it what the body computes".to_owned());
        }
    }
    Ok(OpMaps::of_result(0, accesses))
}

/// `dim(0) %a, %b`: concatenation.
pub(crate) fn concat(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let dimension = text.concat_dimension().ok_or(NoMap::NotRead("its dimension"))?;
    concatenate(text, &text.operands(), dimension)
}

pub(crate) fn concatenate(
    text: &OpText<'_>,
    operands: &[mlir_ops::Operand],
    dimension: usize,
) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let result = text.result_array(0)?;
    let mut types = Vec::new();
    for operand in operands {
        let ty = text.array_of(operand)?;
        if ty.rank() != result.rank() || dimension >= ty.rank() {
            return Err(NoMap::OtherDimensions { of: "its operands", from: "the result" });
        }
        types.push(ty);
    }
    let (first, first_type) = operands.first().zip(types.first()).ok_or(NoMap::Without("operand"))?;
    let mut starts = Vec::new();
    let mut end = Expr::ZERO;
    for (operand, ty) in operands.iter().zip(&types) {
        let extent = builder.extent(operand, ty, dimension);
        starts.push((end.clone(), extent.clone()));
        end = end + extent;
    }
    let mut known: Vec<Option<Expr>> =
        (0..result.rank()).map(|k| Some(builder.extent(first, first_type, k))).collect();
    known[dimension] = Some(end);
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let mut accesses = Vec::new();
    for (operand, (start, extent)) in operands.iter().zip(&starts) {
        let mut index = dims.clone();
        index[dimension] = dims[dimension].clone() - start.clone();
        let when = MapBuilder::within(&index[dimension], extent);
        accesses.push(builder.access(operand, Role::Read, index, when));
    }
    Ok(OpMaps::of_result(0, accesses))
}

/// `%x[%idx] gather_dims([1])`: reads the positions given by the last dimension of `%idx`.
pub(crate) fn gather(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (source, indices) = (text.operand(0)?, text.operand(1)?);
    let (array, index_type, result) =
        (text.array_of(&source)?, text.array_of(&indices)?, text.result_array(0)?);
    let gathered = text.gather_dims(array.rank())?;
    let batch = index_type.rank().checked_sub(1).ok_or(NoMap::Without("dimension of indices"))?;
    let is_reduced = result.rank() == batch + array.rank() - gathered.len();
    if !is_reduced && result.rank() != batch + array.rank() {
        return Err(NoMap::OtherDimensions { of: "its result", from: "the indices and of the source" });
    }
    let mut known: Vec<Option<Expr>> =
        (0..batch).map(|k| Some(builder.extent(&indices, &index_type, k))).collect();
    for k in 0..array.rank() {
        match gathered.contains(&k) {
            true if is_reduced => {}
            true => known.push(Some(Expr::Const(1))),
            false => known.push(Some(builder.extent(&source, &array, k))),
        }
    }
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let mut inner = dims[batch..].iter();
    let mut index = Vec::new();
    for k in 0..array.rank() {
        match gathered.iter().position(|&g| g == k) {
            Some(nth) => {
                if !is_reduced {
                    inner.next();
                }
                let mut at = dims[..batch].to_vec();
                at.push(Expr::Const(nth as i64));
                let bounds = array.extents[k].map_or(Interval::new(0, i64::MAX), Interval::from_size);
                index.push(builder.element(&indices, nth, at, bounds));
            }
            None => index.push(inner.next().cloned().unwrap_or(Expr::ZERO)),
        }
    }
    let of_source = builder.access(&source, Role::Read, index, Vec::new());
    let mut at = dims[..batch].to_vec();
    at.push(builder.range(None, &Expr::Const(gathered.len() as i64)));
    let of_indices = builder.access(&indices, Role::Read, at, Vec::new());
    Ok(OpMaps::of_result(0, vec![of_source, of_indices]))
}

/// `%s into %d[%idx] scatter_dims([1])`: the replaced elements are unknown.
pub(crate) fn scatter(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (source, into, indices) = (text.operand(0)?, text.operand(1)?, text.operand(2)?);
    let array = text.array_of(&into)?;
    let extents = builder.extents(&into, &array);
    let dims = builder.dimensions(&extents);
    let mut of_into = builder.access(&into, Role::Read, dims, Vec::new());
    of_into.note = Some("where nothing is scattered to".to_owned());
    let mut accesses = vec![of_into];
    for operand in [&source, &indices] {
        let ty = text.array_of(operand)?;
        let all: Vec<Expr> = builder.extents(operand, &ty);
        let ranges = all.iter().map(|extent| builder.range(None, extent)).collect();
        let mut access = builder.access(operand, Role::Read, ranges, Vec::new());
        access.note = Some("at most: which of them, the indices tell".to_owned());
        accesses.push(access);
    }
    Ok(OpMaps::of_result(0, accesses))
}
