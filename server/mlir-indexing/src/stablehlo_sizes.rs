//! The same elements with another extent or element width: `stablehlo.set_dimension_size`,
//! `stablehlo.bitcast_convert`.
//!
//! Source: openxla.org/stablehlo/spec.

use indexing_map::Expr;
use mlir::element_bits;
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::elements;
use crate::map_builder::MapBuilder;

/// The operand with another extent in one dimension. Only elements that exist are read.
pub(crate) fn set_dimension_size(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    if ty.rank() != result.rank() {
        return Err("its result has not the dimensions of the operand".into());
    }
    let resized = text.attribute("dimension").or_else(|| text.attribute("dim")).and_then(mlir::integer);
    let inner = builder.extents(&source, &ty);
    let is_same = |k: usize| resized != i64::try_from(k).ok();
    let known: Vec<Option<Expr>> = (0..ty.rank()).map(|k| is_same(k).then(|| inner[k].clone())).collect();
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let when = (0..ty.rank())
        .filter(|&k| inner[k] != extents[k])
        .flat_map(|k| MapBuilder::within(&dims[k], &inner[k]))
        .collect();
    let of_source = builder.access(&source, Role::Read, dims, when);
    let of_size = builder.access(&text.operand(1)?, Role::Read, Vec::new(), Vec::new());
    Ok(OpMaps::of_result(0, vec![of_source, of_size]))
}

/// Elements of the operand's width; or narrower ones, where a new last dimension counts the parts of one
/// element; or wider ones, each made of all elements along the operand's last dimension.
pub(crate) fn bitcast_convert(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (from, to) = (text.array_of(&source)?, text.result_array(0)?);
    let bits = |element: &str| {
        element_bits(element).ok_or_else(|| NoMap::from(format!("how wide {element} is is not known")))
    };
    let (old, new) = (bits(&from.element), bits(&to.element));
    // Equal element types have equal widths, even unknown ones.
    if from.element == to.element || matches!((&old, &new), (Ok(old), Ok(new)) if old == new) {
        return elements::elementwise(text, 0, 1);
    }
    let (old, new) = (old?, new?);
    let inner = builder.extents(&source, &from);
    // The extent that counts parts of an element may be dynamic.
    let counts = |extents: &[Option<i64>], wide: u64, narrow: u64| {
        let parts =
            wide.is_multiple_of(narrow.max(1)).then(|| i64::try_from(wide / narrow.max(1)).ok()).flatten();
        parts.filter(|n| extents.last().is_some_and(|e| e.is_none_or(|e| e == *n)))
    };
    let is_split = to.rank() == from.rank() + 1 && counts(&to.extents, old, new).is_some();
    let joined = counts(&from.extents, new, old).filter(|_| from.rank() == to.rank() + 1);
    let mut known: Vec<Option<Expr>> = inner.into_iter().take(to.rank()).map(Some).collect();
    if is_split {
        known.push(counts(&to.extents, old, new).map(Expr::Const));
    }
    let extents = match is_split || joined.is_some() {
        true => builder.result_extents(text, 0, &to, &known),
        false => return Err("its dimensions are not those of its elements' widths".into()),
    };
    let mut index = builder.dimensions(&extents);
    index.truncate(from.rank());
    if let Some(parts) = joined {
        index.push(builder.range(None, &Expr::Const(parts)));
    }
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}
