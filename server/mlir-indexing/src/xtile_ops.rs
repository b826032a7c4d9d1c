//! Ops of `xtile` that compute tiles: `xtile.scan`, `xtile.dot_scaled`.
//!
//! Source: `xla/codegen/xtile/ir/xtile_ops.td`; Triton's `tt.dot_scaled`, which has the same operands as
//! `xtile.dot_scaled`.

use indexing_map::{Expr, Interval};
use mlir::{ArrayType, TokenKind, field, integers};
use mlir_ops::{NoMap, OpText, Operand};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;

/// `(%a) inits(%c) dimension = 2`: an element of an output depends on all elements up to it, a carry on all
/// elements.
pub(crate) fn scan(text: &OpText<'_>, result: usize) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let operands = text.operands();
    let inputs = match text.is_generic() {
        true => text.list(&["operandSegmentSizes"]).and_then(|s| usize::try_from(*s.first()?).ok()),
        false => text
            .top()
            .find(|&at| text.kind(at) == Some(TokenKind::OpenParen))
            .map(|at| text.operands_in(text.inside(at)).len()),
    };
    let inputs = inputs.filter(|&n| (1..=operands.len()).contains(&n)).ok_or(NoMap::ListNotRead("inputs"))?;
    let ty = text.array_of(&operands[0])?;
    let along = text.index("dimension").filter(|&d| d < ty.rank()).ok_or(NoMap::NotRead("its dimension"))?;
    let is_reverse = text.attribute("is_reverse").is_some_and(|value| value.trim() == "true");
    let is_carry = text.result_array(result)?.rank() < ty.rank();
    let extents = builder.extents(&operands[0], &ty);
    let mut index = Vec::new();
    for (k, extent) in extents.iter().enumerate() {
        index.push(if k == along && is_carry { Expr::ZERO } else { builder.dimension(extent) });
    }
    let mut kept = index.clone();
    let at = kept.remove(along);
    // A tile may be longer than the scanned dimension.
    let size = text.attribute("scan_dim_size").and_then(mlir::integer);
    let length = match (is_carry, size, extents[along].as_const()) {
        (true, Some(size), Some(extent)) => Expr::Const(size.clamp(0, extent)),
        _ => extents[along].clone(),
    };
    index[along] = builder.range(None, &length);
    let distance = if is_reverse { index[along].clone() - at } else { at - index[along].clone() };
    let when = if is_carry { Vec::new() } else { vec![(distance, Interval::new(0, i64::MAX))] };
    let accesses = operands
        .iter()
        .enumerate()
        .map(|(nth, operand)| match nth < inputs {
            true => Ok(builder.access(operand, Role::Read, index.clone(), when.clone())),
            false => match text.is_scalar(operand) || text.array_of(operand)?.rank() == 0 {
                true => Ok(builder.access(operand, Role::Read, Vec::new(), Vec::new())),
                false => Ok(builder.access(operand, Role::Read, kept.clone(), Vec::new())),
            },
        })
        .collect::<Result<Vec<_>, NoMap>>()?;
    Ok(OpMaps::of_result(result, accesses))
}

/// An operand of a scaled product: its dimensions by role, and how many numbers one element packs.
struct Side {
    operand: Operand,
    ty: ArrayType,
    scale: Option<Operand>,
    batch: Vec<usize>,
    contracted: usize,
    free: Vec<usize>,
    /// The dimension along which two 4-bit numbers share a byte: the contracted one or the last free one.
    packed: Option<usize>,
}

impl Side {
    /// The number of (unpacked) numbers along a dimension.
    fn length(&self, builder: &mut MapBuilder<'_>, k: usize) -> Expr {
        let extent = builder.extent(&self.operand, &self.ty, k);
        if self.packed == Some(k) { extent * 2 } else { extent }
    }

    /// The index of the numbers at `free` and `k` in the operand, and the index of their scale.
    fn places(&self, batch: &[Expr], free: &[Expr], k: &Expr, block: &Expr) -> (Vec<Expr>, Vec<Expr>) {
        let mut place = vec![Expr::ZERO; self.ty.rank()];
        let of = |dims: &[usize], values: &[Expr], place: &mut Vec<Expr>| {
            dims.iter().zip(values).for_each(|(&k, e)| place[k] = e.clone());
        };
        of(&self.batch, batch, &mut place);
        of(&self.free, free, &mut place);
        place[self.contracted] = k.clone();
        if let Some(packed) = self.packed {
            place[packed] = place[packed].clone().floor_div(2);
        }
        let scale = batch.iter().chain(free).cloned().chain([k.clone().floor_div(block.clone())]).collect();
        (place, scale)
    }
}

fn side(text: &OpText<'_>, name: &str, nth: usize) -> Result<Side, NoMap> {
    let [lists_batch, lists_contracted] = match text.attribute("dot_dimension_numbers") {
        Some(_) => [Some(pairs(text, "batching_dims")?), Some(pairs(text, "contracting_dims")?)],
        None => [None, None],
    };
    let (operand, scale) = match text.is_generic() {
        true => {
            let sizes = text.list(&["operandSegmentSizes"]).ok_or(NoMap::ListNotRead("operands"))?;
            let size = |&size: &i64| usize::try_from(size).ok();
            let before = sizes.iter().take(2 + nth).try_fold(0usize, |n, s| n.checked_add(size(s)?));
            let before = before.ok_or(NoMap::ListNotRead("operands"))?;
            let is_scaled = sizes.get(2 + nth) == Some(&1);
            (text.operand(nth)?, is_scaled.then(|| text.operand(before)).transpose()?)
        }
        false => {
            let mut items = text
                .items(
                    0..text
                        .top()
                        .find(|&t| matches!(text.kind(t), Some(TokenKind::OpenBrace | TokenKind::Colon)))
                        .unwrap_or(text.tokens.len()),
                )
                .into_iter();
            let item = items.nth(nth).ok_or(NoMap::ListNotRead("operands"))?;
            let mut operands = text.operands_in(item).into_iter();
            (operands.next().ok_or(NoMap::ListNotRead("operands"))?, operands.next())
        }
    };
    let ty = text.array_of(&operand)?;
    let rank = ty.rank();
    let batch = match lists_batch {
        Some(lists) => lists[nth].clone(),
        None => (0..rank.saturating_sub(2)).collect(),
    };
    let contracted = match lists_contracted {
        Some(lists) => lists[nth].clone(),
        None => rank.checked_sub(if nth == 0 { 1 } else { 2 }).into_iter().collect(),
    };
    let [contracted] = contracted[..] else { return Err(NoMap::OneDimension("its contraction")) };
    if contracted >= rank || batch.iter().any(|&k| k >= rank || k == contracted) {
        return Err(NoMap::NoDimensions("dimension numbers"));
    }
    let free: Vec<usize> = (0..rank).filter(|k| *k != contracted && !batch.contains(k)).collect();
    let element = text.attribute(&format!("{name}_elem_type")).unwrap_or_default();
    let along_k = text.attribute(&format!("{name}_k_pack")).is_none_or(|value| value.trim() != "false");
    let packed = match element.starts_with("f4") && &*ty.element == "i8" {
        false => None,
        true if along_k => Some(contracted),
        true => Some(*free.last().ok_or(NoMap::Without("dimension that is packed"))?),
    };
    Ok(Side { operand, ty, scale, batch, contracted, free, packed })
}

/// `%a scale %sa, %b scale %sb`: a product in which each block of numbers along the contracted dimension has
/// a scale. The dimensions of a scale are batches, free dimensions, blocks.
pub(crate) fn dot_scaled(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let sides = [side(text, "lhs", 0)?, side(text, "rhs", 1)?];
    if sides[0].batch.len() != sides[1].batch.len() {
        return Err(NoMap::BatchPairs);
    }
    let batch: Vec<Expr> = sides[0]
        .batch
        .iter()
        .map(|&k| {
            let extent = sides[0].length(&mut builder, k);
            builder.dimension(&extent)
        })
        .collect();
    let mut free = Vec::new();
    for side in &sides {
        let lengths: Vec<Expr> = side.free.iter().map(|&k| side.length(&mut builder, k)).collect();
        free.push(builder.dimensions(&lengths));
    }
    let length = sides[0].length(&mut builder, sides[0].contracted);
    let k = builder.range(None, &length);
    let mut accesses = Vec::new();
    for (side, free) in sides.iter().zip(&free) {
        let mut block = Expr::Const(1);
        if let Some(scale) = &side.scale {
            let ty = text.array_of(scale)?;
            let fits = ty.rank() == side.ty.rank();
            let last = ty
                .rank()
                .checked_sub(1)
                .filter(|_| fits)
                .ok_or(NoMap::OtherDimensions { of: "a scale", from: "its operand" })?;
            let blocks = builder.extent(scale, &ty, last);
            if blocks.as_const().is_some_and(|n| n < 1 || length.as_const().is_some_and(|l| l % n != 0)) {
                return Err(NoMap::Blocks(scale.name.as_str().into()));
            }
            block = length.clone().floor_div(blocks);
        }
        let (place, of_scale) = side.places(&batch, free, &k, &block);
        accesses.push(builder.access(&side.operand, Role::Read, place, Vec::new()));
        if let Some(scale) = &side.scale {
            accesses.push(builder.access(scale, Role::Read, of_scale, Vec::new()));
        }
    }
    Ok(OpMaps::of_result(0, accesses))
}

/// `batching_dims = [0] x [0]`, or the fields of `#stablehlo.dot<…>`.
fn pairs(text: &OpText<'_>, dims: &'static str) -> Result<[Vec<usize>; 2], NoMap> {
    let as_dims =
        |list: Vec<i64>| list.into_iter().map(|d| usize::try_from(d).ok()).collect::<Option<Vec<_>>>();
    let missing = || NoMap::ListNotRead(dims);
    if let Some(written) = text.attribute(dims) {
        let (left, right) = written.split_once('x').ok_or_else(missing)?;
        let read = |list: &str| integers(list.trim()).and_then(as_dims);
        return Ok([read(left).ok_or_else(missing)?, read(right).ok_or_else(missing)?]);
    }
    let Some(numbers) = text.attribute("dot_dimension_numbers") else {
        return if text.is_generic() { Err(missing()) } else { Ok([Vec::new(), Vec::new()]) };
    };
    let numbers = text.source.resolved(numbers, text.source.parse.op(text.id).span.start);
    let side = |side: &str| {
        let list = field(numbers, &format!("{side}_{dims}").replace("_dims", "_dimensions"));
        list.map_or(Some(Vec::new()), |l| integers(l).and_then(as_dims)).ok_or_else(missing)
    };
    Ok([side("lhs")?, side("rhs")?])
}
