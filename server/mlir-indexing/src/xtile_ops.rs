//! Ops of `xtile` that compute tiles: `xtile.scan`, `xtile.dot_scaled`.
//!
//! Source: `xla/codegen/xtile/ir/xtile_ops.td`; Triton's `tt.dot_scaled`, which has the same operands as
//! `xtile.dot_scaled`.

use indexing_map::{Expr, Interval};
use mlir::ArrayType;
use mlir_ops::{NoMap, OpText, Operand, ScaledOperand, Scan};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;

/// `(%a) inits(%c) dimension = 2`: an element of an output depends on all elements up to it, a carry on all
/// elements.
pub(crate) fn scan(text: &OpText<'_>, result: usize) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let operands = text.operands();
    let Scan { inputs, dimension: along, is_reverse, size } = text.scan()?;
    let ty = text.array_of(&text.operand(0)?)?;
    let is_carry = text.result_array(result)?.rank() < ty.rank();
    let extents = builder.extents(&operands[0], &ty);
    let mut index = Vec::new();
    for (k, extent) in extents.iter().enumerate() {
        index.push(if k == along && is_carry { Expr::ZERO } else { builder.dimension(extent) });
    }
    let mut kept = index.clone();
    let at = kept.remove(along);
    // A tile may be longer than the scanned dimension.
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

fn side(text: &OpText<'_>, nth: usize) -> Result<Side, NoMap> {
    let ScaledOperand { operand, scale, dimensions, is_f4, is_packed_along_k } = text.scaled_operand(nth)?;
    let ty = text.array_of(&operand)?;
    let rank = ty.rank();
    let usual = || {
        let contracted = rank.checked_sub(if nth == 0 { 1 } else { 2 });
        [(0..rank.saturating_sub(2)).collect(), contracted.into_iter().collect()]
    };
    let [batch, contracted] = dimensions.unwrap_or_else(usual);
    let [contracted] = contracted[..] else { return Err(NoMap::OneDimension("its contraction")) };
    if contracted >= rank || batch.iter().any(|&k| k >= rank || k == contracted) {
        return Err(NoMap::NoDimensions("dimension numbers"));
    }
    let free: Vec<usize> = (0..rank).filter(|k| *k != contracted && !batch.contains(k)).collect();
    let packed = match is_f4 && &*ty.element == "i8" {
        false => None,
        true if is_packed_along_k => Some(contracted),
        true => Some(*free.last().ok_or(NoMap::Without("dimension that is packed"))?),
    };
    Ok(Side { operand, ty, scale, batch, contracted, free, packed })
}

/// `%a scale %sa, %b scale %sb`: a product in which each block of numbers along the contracted dimension has
/// a scale. The dimensions of a scale are batches, free dimensions, blocks.
pub(crate) fn dot_scaled(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let sides = [side(text, 0)?, side(text, 1)?];
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
