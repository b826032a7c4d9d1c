//! Ops of XLA's emitters: the dialects `xla`, `xla_gpu`, `xtile` and `triton_xla`.
//!
//! Source: `xla/codegen/emitters/ir/xla_ops.td`, `xla/codegen/xtile/ir/xtile_ops.td`,
//! `xla/backends/gpu/codegen/triton/ir/triton_xla_ops.td`.

use indexing_map::{Expr, Interval, Variable};
use mlir::TokenKind;
use mlir_ops::{NoMap, OpText, WrittenMap};

use crate::access::{Access, OpMaps, Role, Space};
use crate::map_builder::MapBuilder;

/// `(%d)[%i, %j] -> (%r) in #map`: the points that the loop visits, and its results at each.
pub(crate) fn loop_domain(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let found = text.map_behind("in")?;
    let WrittenMap::Indexing(map) = found.map.as_ref() else {
        return Err(NoMap::NoDomain);
    };
    let mut map = map.clone();
    let arrow = text.top().find(|&t| text.kind(t) == Some(TokenKind::Arrow)).unwrap_or(found.start);
    let names = |kind: TokenKind| -> Vec<String> {
        let list = text.top().take_while(|&t| t < arrow).find(|&t| text.kind(t) == Some(kind));
        let Some(open) = list else { return Vec::new() };
        let values = text.inside(open).filter(|&t| text.kind(t) == Some(TokenKind::Value));
        values.map(|t| text.word(t).trim_start_matches('%').to_owned()).collect()
    };
    let (dims, loops) = (names(TokenKind::OpenParen), names(TokenKind::OpenSquare));
    let named: Vec<&str> = dims.iter().chain(&loops).map(String::as_str).collect();
    map = map.simplified(indexing_map::SimplifyMode::Preserve).with_names(&named);
    let access = Access {
        operand: text.name().to_owned(),
        value: None,
        role: Role::Value,
        map,
        symbols: Vec::new(),
        address: None,
        note: None,
    };
    Ok(OpMaps { space: Space::Loops, accesses: vec![access] })
}

/// `%v(%i, %j) into %t at #map`: the positions of a thread's elements.
pub(crate) fn indexed_insert(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let found = text.map_behind("at")?;
    let WrittenMap::Indexing(map) = found.map.as_ref() else {
        return Err(NoMap::NoDomain);
    };
    let into = text.top().find(|&t| text.word(t) == "into").ok_or(NoMap::NotRead("its array"))? + 1;
    let array = text.operand_at(into).ok_or(NoMap::NotRead("its array"))?;
    let vector = text.operand(0)?;
    let mut builder = MapBuilder::new(text.source);
    builder.around = true;
    let open = text.top().find(|&t| text.kind(t) == Some(TokenKind::OpenParen));
    let dims = open.map_or_else(Vec::new, |open| text.operands_in(text.inside(open)));
    if dims.len() != map.num_dims() {
        return Err(NoMap::MapDimensions { has: map.num_dims(), given: dims.len() });
    }
    let mut variables: Vec<Expr> = dims.iter().map(|d| builder.index_value(d)).collect();
    for (value, dim) in variables.iter().zip(map.dims()) {
        builder.narrow(value, dim.bounds);
    }
    for Variable { bounds, name } in map.ranges() {
        let range = builder.range(name.as_deref(), &Expr::Const(bounds.upper.saturating_add(1)));
        builder.constrain(range.clone(), *bounds);
        variables.push(range);
    }
    let replace = |e: &Expr| e.substitute(&mut |v| variables.get(v as usize).cloned());
    for constraint in map.constraints() {
        builder.constrain(replace(&constraint.expr), constraint.interval);
    }
    let index: Vec<Expr> = map.results().iter().map(replace).collect();
    let access = builder.access(&array, Role::Write, index, Vec::new());
    Ok(OpMaps { space: Space::Stored(vector.name), accesses: vec![access] })
}

/// `(%a, %b) inits(%c, %d) dimensions=[0, 2]`
pub(crate) fn reduce(text: &OpText<'_>, result: usize) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let operands = text.operands();
    let inputs = operands.len() / 2;
    let reduced = text.reduced_dimensions()?;
    let first = text.array_of(operands.first().ok_or(NoMap::Without("operand"))?)?;
    let extents = builder.extents(&operands[0], &first);
    let mut index = Vec::new();
    for (k, extent) in extents.iter().enumerate() {
        index.push(match reduced.contains(&(k as i64)) {
            true => builder.range(None, extent),
            false => builder.dimension(extent),
        });
    }
    let accesses = operands
        .iter()
        .enumerate()
        .map(|(nth, operand)| {
            let index = if nth < inputs { index.clone() } else { Vec::new() };
            builder.access(operand, Role::Read, index, Vec::new())
        })
        .collect();
    Ok(OpMaps::of_result(result, accesses))
}

/// `%t bounds [3, 6], %v`: elements beyond the bounds are `%v`.
pub(crate) fn mask(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (source, value) = (text.operand(0)?, text.operand(1)?);
    let ty = text.array_of(&source)?;
    let bounds = text.mask_bounds(ty.rank())?;
    let extents = builder.extents(&source, &ty);
    let dims = builder.dimensions(&extents);
    let when = dims.iter().zip(&bounds).map(|(d, &n)| (d.clone(), Interval::from_size(n))).collect();
    let of_source = builder.access(&source, Role::Read, dims, when);
    let mut of_value = builder.access(&value, Role::Read, Vec::new(), Vec::new());
    of_value.note = Some("outside of the bounds".to_owned());
    Ok(OpMaps::of_result(0, vec![of_source, of_value]))
}

/// `%x {axis = 1 : i32}`: drops a dimension of extent 1.
pub(crate) fn squeeze(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let ty = text.array_of(&source)?;
    let axis = text.squeezed_axis(ty.rank())?;
    let mut extents = builder.extents(&source, &ty);
    extents.remove(axis);
    let mut index = builder.dimensions(&extents);
    index.insert(axis, Expr::ZERO);
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}
