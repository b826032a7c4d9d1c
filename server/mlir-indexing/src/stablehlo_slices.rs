//! Slices and paddings of StableHLO whose bounds are operands.
//!
//! Source: openxla.org/stablehlo/spec.

use indexing_map::{Expr, Interval};
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;
use crate::stablehlo_ops::entry;

/// `%x, %start, %limit, %stride`, each a list of numbers.
pub(crate) fn real_dynamic_slice(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    let (start, stride) = (text.operand(1)?, text.operand(3)?);
    if ty.rank() != result.rank() {
        return Err("its result has not the dimensions of the operand".into());
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

/// `%x, %pv, low = [..], high = [..], interior = [..]`, or the lists as operands.
pub(crate) fn pad(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (source, value) = (text.operand(0)?, text.operand(1)?);
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    let operands = text.operands();
    let mut list = |names: [&str; 2], nth: usize, least: i64| -> Result<Vec<Expr>, NoMap> {
        match (text.list(&names), operands.get(nth)) {
            (Some(list), _) if list.len() == ty.rank() => Ok(list.into_iter().map(Expr::Const).collect()),
            (None, Some(operand)) => Ok((0..ty.rank())
                .map(|k| entry(&mut builder, text, operand, k, Interval::new(least, i64::MAX)))
                .collect()),
            _ => Err(NoMap::from("its padding is not read")),
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
