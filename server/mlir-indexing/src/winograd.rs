//! Winograd convolution: `linalg.winograd_filter_transform`, `…_input_transform`, `…_output_transform`.
//!
//! Each is a product with constant matrices from both sides, so an element depends on a whole tile. A side
//! along which the kernel has extent 1 is not transformed. Source: mlir.llvm.org/docs/Dialects/Linalg;
//! `mlir/lib/Dialect/Linalg/Transforms/WinogradConv2D.cpp`.

use indexing_map::Expr;
use mlir::ArrayType;
use mlir_ops::{NoMap, OpText, Winograd, WinogradTile};

use crate::access::{OpMaps, Role, Space};
use crate::map_builder::MapBuilder;

pub(crate) fn maps(text: &OpText<'_>, side: Winograd) -> Result<OpMaps, NoMap> {
    let WinogradTile { m, r } = text.winograd_tile().ok_or(NoMap::ListNotRead("m and r"))?;
    let (ins, outs) = text.ins_and_outs()?;
    let ([source], [into]) = (ins.as_slice(), outs.as_slice()) else {
        return Err(NoMap::Inputs(1));
    };
    let (from, to) = (text.array_of(source)?, text.array_of(into)?);
    let mut builder = MapBuilder::new(text.source);
    let expect = |from_rank: usize, to_rank: usize| match (from.rank(), to.rank()) == (from_rank, to_rank) {
        true => Ok(()),
        false => Err(NoMap::TwoRanks { input: from_rank, output: to_rank }),
    };
    // The side of a tile before and after, and whether it is transformed.
    let is_transformed = |ty: &ArrayType, k: usize| ty.extents[k] != Some(1);
    let whole = m + r - 1;
    let extents = builder.extents(into, &to);
    let index: Vec<Expr> = match side {
        // Kernels (f, h, w, c) become (h, w, c, f).
        Winograd::Filter => {
            expect(4, 4)?;
            let d = builder.dimensions(&extents);
            let inside: Vec<Expr> = (1..3)
                .map(|k| {
                    let extent = builder.extent(source, &from, k);
                    builder.range(None, &extent)
                })
                .collect();
            vec![d[3].clone(), inside[0].clone(), inside[1].clone(), d[2].clone()]
        }
        // Inputs (n, h, w, c) become (h, w, tile h, tile w, n, c). Tiles overlap by r - 1.
        Winograd::Input => {
            expect(4, 6)?;
            let d = builder.dimensions(&extents);
            let mut place = |k: usize| match is_transformed(&to, k) {
                true => d[2 + k].clone() * m + builder.range(None, &Expr::Const(whole)),
                false => d[2 + k].clone(),
            };
            vec![d[4].clone(), place(0), place(1), d[5].clone()]
        }
        // Tiles (h, w, tile h, tile w, n, f) become (n, h, w, f).
        Winograd::Output => {
            expect(6, 4)?;
            let d = builder.dimensions(&extents);
            let mut place = |k: usize| match is_transformed(&from, k) {
                true => (builder.range(None, &Expr::Const(whole)), d[1 + k].clone().floor_div(m)),
                false => (Expr::ZERO, d[1 + k].clone()),
            };
            let ((h, tile_h), (w, tile_w)) = (place(0), place(1));
            vec![h, w, tile_h, tile_w, d[0].clone(), d[3].clone()]
        }
    };
    let access = builder.access(source, Role::Read, index, Vec::new());
    let space = match text.source.result_count(text.id) {
        0 => Space::Written(into.name.clone()),
        _ => Space::Result(0),
    };
    Ok(OpMaps { space, accesses: vec![access] })
}
