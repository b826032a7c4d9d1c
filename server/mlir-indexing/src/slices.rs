//! Windows into arrays: `tensor.extract_slice`, `tensor.insert_slice`, `memref.subview`, tiles of `xtile` and
//! `triton_xla`.
//!
//! Source: mlir.llvm.org/docs/Dialects/TensorOps, `xla/codegen/xtile/ir/xtile_ops.td`.

use indexing_map::{Expr, Interval};
use mlir::ArrayType;
use mlir_ops::{Mixed, NoMap, OpKind, OpText, Operand, SliceLists};

use crate::access::{OpMaps, Role, Space};
use crate::map_builder::MapBuilder;

/// Offsets, sizes and strides, one of each per dimension of the array that is sliced.
pub(crate) struct Window {
    pub(crate) offsets: Vec<Expr>,
    pub(crate) sizes: Vec<Expr>,
    pub(crate) strides: Vec<Expr>,
    lists: SliceLists,
}

impl Window {
    /// Reads the three lists of an op with `fixed` leading operands.
    pub(crate) fn read(
        builder: &mut MapBuilder<'_>,
        text: &OpText<'_>,
        fixed: usize,
        rank: usize,
    ) -> Result<Window, NoMap> {
        let lists = SliceLists::read(text, fixed).ok_or(NoMap::ListNotRead("offsets, sizes and strides"))?;
        if [&lists.offsets, &lists.sizes, &lists.strides].iter().any(|list| list.len() != rank) {
            return Err(NoMap::ListLengths { rank });
        }
        let mut read = |list: &[Mixed]| list.iter().map(|e| builder.mixed(e)).collect();
        let (offsets, sizes, strides) = (read(&lists.offsets), read(&lists.sizes), read(&lists.strides));
        Ok(Window { offsets, sizes, strides, lists })
    }

    /// Narrows offsets to windows inside the array; others are undefined behaviour. A tile of XLA may be
    /// partly outside.
    pub(crate) fn narrow_offsets(&self, builder: &mut MapBuilder<'_>, whole: &ArrayType, is_tile: bool) {
        for (k, offset) in self.offsets.iter().enumerate() {
            let last = || {
                if is_tile {
                    return whole.extents[k]?.checked_sub(1);
                }
                let stride = self.strides[k].as_const().filter(|&s| s >= 0)?;
                let size = self.sizes[k].as_const().filter(|&n| n > 0)?;
                whole.extents[k]?.checked_sub(1)?.checked_sub(stride.checked_mul(size - 1)?)
            };
            builder.narrow(offset, Interval::new(0, last().unwrap_or(i64::MAX)));
        }
    }

    /// The index into the whole array for an index into the slice.
    pub(crate) fn outward(&self, kept: &[bool], slice: &[Expr]) -> Vec<Expr> {
        let mut slice = slice.iter();
        (0..kept.len())
            .map(|k| {
                let index = if kept[k] { slice.next().cloned() } else { None };
                index.unwrap_or(Expr::ZERO) * self.strides[k].clone() + self.offsets[k].clone()
            })
            .collect()
    }

    /// The constraints that an element of a tile is inside its array. Elements outside are neither read nor
    /// written.
    fn inside(
        builder: &mut MapBuilder<'_>,
        array: (&Operand, &ArrayType),
        place: &[Expr],
        is_tile: bool,
    ) -> Vec<(Expr, Interval)> {
        if !is_tile {
            return Vec::new();
        }
        let extents = builder.extents(array.0, array.1);
        place.iter().zip(&extents).flat_map(|(index, extent)| MapBuilder::within(index, extent)).collect()
    }

    /// The index into the slice for an index into the whole array, and the constraints under which it exists.
    pub(crate) fn inward(&self, kept: &[bool], whole: &[Expr]) -> (Vec<Expr>, Vec<(Expr, Interval)>) {
        let (mut slice, mut when) = (Vec::new(), Vec::new());
        for k in 0..kept.len() {
            let distance = whole[k].clone() - self.offsets[k].clone();
            if !kept[k] {
                when.push((distance, Interval::point(0)));
                continue;
            }
            match self.strides[k].as_const() {
                Some(1) => slice.push(distance.clone()),
                _ => {
                    let stride = self.strides[k].clone();
                    when.push((distance.clone().modulo(stride.clone()), Interval::point(0)));
                    slice.push(distance.clone().floor_div(stride));
                }
            }
            let end = self.sizes[k].clone() * self.strides[k].clone();
            when.extend(MapBuilder::within(&distance, &end));
        }
        (slice, when)
    }

    pub(crate) fn kept_sizes(&self, kept: &[bool]) -> Vec<Option<Expr>> {
        kept.iter().zip(&self.sizes).filter(|(kept, _)| **kept).map(|(_, size)| Some(size.clone())).collect()
    }
}

/// Whether the window of an op may be partly outside of its array.
pub(crate) fn is_tile(text: &OpText<'_>) -> bool {
    use OpKind::{ExtractPointedTile, ExtractTile, InsertPointedTile, InsertTile};
    matches!(text.op, ExtractTile | InsertTile | ExtractPointedTile | InsertPointedTile)
}

/// `%x[offsets] [sizes] [strides] : A to B`: each element of the result is one of `%x`.
pub(crate) fn extract(text: &OpText<'_>, array: ArrayType) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let result = text.result_array(0)?;
    let window = Window::read(&mut builder, text, 1, array.rank())?;
    let kept = window.lists.kept(&result)?;
    let is_tile = is_tile(text);
    window.narrow_offsets(&mut builder, &array, is_tile);
    builder.guard(text.id);
    let extents = builder.result_extents(text, 0, &result, &window.kept_sizes(&kept));
    let dims = builder.dimensions(&extents);
    let place = window.outward(&kept, &dims);
    let when = Window::inside(&mut builder, (&source, &array), &place, is_tile);
    let mut access = builder.access(&source, Role::Read, place.clone(), when);
    access.locate(&mut builder, &source, &array, &place, &dims);
    Ok(OpMaps::of_result(0, vec![access]))
}

/// `%s into %t[offsets] [sizes] [strides] : S into T`: the elements of `%s` inside the window, those of `%t`
/// outside.
pub(crate) fn insert(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (slice, whole) = (text.operand(0)?, text.operand(1)?);
    let (slice_type, array) = (text.array_of(&slice)?, text.array_of(&whole)?);
    let window = Window::read(&mut builder, text, 2, array.rank())?;
    let kept = window.lists.kept(&slice_type)?;
    window.narrow_offsets(&mut builder, &array, false);
    builder.guard(text.id);
    let extents = builder.extents(&whole, &array);
    let dims = builder.dimensions(&extents);
    let (inner, when) = window.inward(&kept, &dims);
    let elsewhere = MapBuilder::otherwise(&when);
    let from_slice = builder.access(&slice, Role::Read, inner, when);
    let mut from_whole = builder.access(&whole, Role::Read, dims, elsewhere);
    from_whole.note = Some("outside of the window only".to_owned());
    let is_stored = text.source.result_count(text.id) == 0;
    Ok(OpMaps {
        space: if is_stored { Space::Written(whole.name.clone()) } else { Space::Result(0) },
        accesses: if is_stored { vec![from_slice] } else { vec![from_slice, from_whole] },
    })
}

/// `xtile.insert %t into %m[offsets][tile][strides] : tensor -> memref`: stores each element of the tile.
pub(crate) fn store_tile(text: &OpText<'_>, buffer: &Operand, array: ArrayType) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let tile = text.operand(0)?;
    let tile_type = text.array_of(&tile)?;
    let window = Window::read(&mut builder, text, 2, array.rank())?;
    let kept = window.lists.kept(&tile_type)?;
    window.narrow_offsets(&mut builder, &array, true);
    builder.guard(text.id);
    let extents = builder.extents(&tile, &tile_type);
    let dims = builder.dimensions(&extents);
    let place = window.outward(&kept, &dims);
    let when = Window::inside(&mut builder, (buffer, &array), &place, true);
    let mut access = builder.access(buffer, Role::Write, place.clone(), when);
    access.locate(&mut builder, buffer, &array, &place, &dims);
    Ok(OpMaps { space: Space::Stored(tile.name), accesses: vec![access] })
}
