//! `linalg.pack` and `linalg.unpack` (formerly of the tensor dialect): an array as a sequence of tiles, and
//! back.
//!
//! Source: mlir.llvm.org/docs/Dialects/Linalg, `linalg.pack`.

use indexing_map::{Expr, Interval};
use mlir_ops::{NoMap, OpText, Tiles};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;

/// The correspondence between dimensions of the plain and the packed array.
struct Tiling {
    /// Outer dimension `k` of the packed array runs over tiles of dimension `outer[k]` of the plain one.
    outer: Vec<usize>,
    /// For each inner dimension, the plain dimension it tiles, and the tile size.
    inner: Vec<(usize, Expr)>,
}

impl Tiling {
    fn read(builder: &mut MapBuilder<'_>, text: &OpText<'_>, rank: usize) -> Result<Tiling, NoMap> {
        let Tiles { outer, inner } = text.tiles(rank)?;
        let inner = inner.into_iter().map(|(dimension, size)| (dimension, builder.mixed(&size))).collect();
        Ok(Tiling { outer, inner })
    }

    /// The inner dimension that tiles a plain dimension, and the tile size.
    fn tile_of(&self, dimension: usize) -> Option<(usize, &Expr)> {
        self.inner.iter().enumerate().find(|(_, (d, _))| *d == dimension).map(|(nth, (_, tile))| (nth, tile))
    }
}

/// Element `(o…, i…)` of the result is element `o * tile + i`, or padding beyond the end.
pub(crate) fn pack(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let array = text.array_of(&source)?;
    let tiling = Tiling::read(&mut builder, text, array.rank())?;
    let packed = text.operands().into_iter().find(|o| {
        *o != source && text.array_of(o).is_ok_and(|ty| ty.rank() == array.rank() + tiling.inner.len())
    });
    let result = text.result_array(0).or_else(|e| packed.as_ref().map_or(Err(e), |o| text.array_of(o)))?;
    if result.rank() != array.rank() + tiling.inner.len() {
        return Err(NoMap::OtherDimensions { of: "its result", from: "the tiles and of their inside" });
    }
    let extents = builder.extents(&source, &array);
    let mut known: Vec<Option<Expr>> = tiling
        .outer
        .iter()
        .map(|&k| {
            Some(match tiling.tile_of(k) {
                Some((_, tile)) => extents[k].clone().ceil_div(tile.clone()),
                None => extents[k].clone(),
            })
        })
        .collect();
    known.extend(tiling.inner.iter().map(|(_, tile)| Some(tile.clone())));
    let result_extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&result_extents);
    let mut index = vec![Expr::ZERO; array.rank()];
    let mut when = Vec::new();
    for (k, index) in index.iter_mut().enumerate() {
        let outer = dims[tiling.outer.iter().position(|&o| o == k).unwrap_or(k)].clone();
        *index = match tiling.tile_of(k) {
            Some((nth, tile)) => outer * tile.clone() + dims[array.rank() + nth].clone(),
            None => outer,
        };
        when.extend(MapBuilder::within(index, &extents[k]));
    }
    let mut accesses = vec![builder.access(&source, Role::Read, index, when)];
    if let Some(value) = text.padding_value() {
        let mut access = builder.access(&value, Role::Read, Vec::new(), Vec::new());
        access.note = Some("where the last tile is not full".to_owned());
        accesses.push(access);
    }
    Ok(OpMaps::of_result(0, accesses))
}

/// Element `i` of the result is element `i mod tile` of tile `i floordiv tile`.
pub(crate) fn unpack(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let packed = text.array_of(&source)?;
    let count = text.tiled_count()?;
    let rank = packed
        .rank()
        .checked_sub(count)
        .ok_or(NoMap::MoreDimensions { of: "its tile", than: "the array" })?;
    let tiling = Tiling::read(&mut builder, text, rank)?;
    let plain = text
        .operands()
        .into_iter()
        .find(|o| *o != source && text.array_of(o).is_ok_and(|ty| ty.rank() == rank));
    let result = text.result_array(0).or_else(|e| plain.as_ref().map_or(Err(e), |o| text.array_of(o)))?;
    if result.rank() != rank {
        return Err(NoMap::OtherDimensions { of: "its result", from: "the tiles" });
    }
    let known: Vec<Option<Expr>> = match &plain {
        Some(operand) => {
            let ty = text.array_of(operand)?;
            builder.extents(operand, &ty).into_iter().map(Some).collect()
        }
        None => vec![None; rank],
    };
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let mut index = Vec::new();
    for &k in &tiling.outer {
        index.push(match tiling.tile_of(k) {
            Some((_, tile)) => dims[k].clone().floor_div(tile.clone()),
            None => dims[k].clone(),
        });
    }
    for (k, tile) in &tiling.inner {
        index.push(dims[*k].clone().modulo(tile.clone()));
    }
    for tile in tiling.inner.iter().map(|(_, tile)| tile) {
        builder.narrow(tile, Interval::new(1, i64::MAX));
    }
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}
