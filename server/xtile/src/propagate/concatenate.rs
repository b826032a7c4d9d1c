//! Tiles of the operands of a concatenation. A tile lies in one operand: the sizes have to agree.

use gpu::Fused;
use indexing_map::Expr;
use ir::{AttributeKey, OpId};

use crate::Reason;
use crate::space::TilingSpace;
use crate::tile::{DimTile, Tile, constant, is_multiple_of};

pub(super) fn to_operands(
    space: &TilingSpace,
    fused: &Fused,
    id: OpId,
    tile: &Tile,
) -> Result<Vec<Tile>, Reason> {
    let op = fused.op(id);
    let along =
        op.attributes.ints(AttributeKey::Dimensions).first().and_then(|&dim| usize::try_from(dim).ok());
    let along = along.filter(|&dim| dim < tile.len()).ok_or("a concatenation without its dimension")?;
    let sizes: Option<Vec<i64>> =
        op.operand_shapes.iter().map(|shape| shape.dims().get(along).copied()).collect();
    let sizes = sizes.ok_or("a concatenation of arrays of other ranks")?;
    check_alignment(space, fused.name(id), &tile[along], &sizes)?;
    let mut start = 0i64;
    let mut tiles = Vec::with_capacity(sizes.len());
    for size in sizes {
        let mut operand = tile.clone();
        let upper_bound = (tile[along].upper_bound.clone() - start).min(size).max(0);
        let offset = tile[along].offset.clone() - start;
        operand[along] = DimTile { offset, upper_bound, ..tile[along].clone() };
        tiles.push(operand);
        start = start.checked_add(size).ok_or("a concatenation beyond 64 bits")?;
    }
    Ok(tiles)
}

/// Refuses a tile that may reach over the end of an operand other than the last one.
/// Source: `VerifyConcatenateAlignment`.
fn check_alignment(space: &TilingSpace, name: &str, tile: &DimTile, sizes: &[i64]) -> Result<(), Reason> {
    let refused = |why: String| Err(format!("Tiling propagation rejected for %{name}: {why}").into());
    let at_origin = |v: u32| ((v as usize) < space.dimensions.len()).then_some(Expr::ZERO);
    let Some(base) = constant(&tile.offset.substitute(&mut |v| at_origin(v))) else {
        return refused("The base offset is not a constant.".to_owned());
    };
    if base < 0 {
        return refused(format!("The base offset {base} is negative."));
    }
    let mut end = 0i64;
    let first = sizes.iter().position(|&size| {
        end = end.saturating_add(size);
        base < end
    });
    let Some(first) = first else {
        return refused(format!(
            "The base offset {base} falls completely outside the total concatenate dimension size {end}"
        ));
    };
    let Some(size) = constant(&tile.size) else {
        return refused("The tile size is not a constant.".to_owned());
    };
    let step = (tile.offset.clone() - base).canonicalize();
    if !is_multiple_of(&step, size) {
        return refused(format!(
            "The variable step expression must be a clean multiple of its tile size {size} to prevent \
             correctness bugs from tiles covering multiple concat operands."
        ));
    }
    let last = sizes.len() - 1;
    if first < last && (end - base) % size != 0 {
        return refused(format!(
            "The remaining dimension size {} in the concatenate operand {first} must be a clean multiple of its \
             tile size {size}",
            end - base
        ));
    }
    let inner = sizes.iter().take(last).skip(first + 1);
    match inner.copied().find(|operand| operand % size != 0) {
        None => Ok(()),
        Some(operand) => refused(format!(
            "The operand dimension size {operand} in the concatenate dimension must be a multiple of the tile \
             size {size}"
        )),
    }
}
