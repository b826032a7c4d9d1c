//! Winograd convolution: `linalg.winograd_filter_transform`, `…_input_transform`, `…_output_transform`.
//!
//! Each is a product with constant matrices from both sides, so an element depends on a whole tile. A side
//! along which the kernel has extent 1 is not transformed. Source: mlir.llvm.org/docs/Dialects/Linalg;
//! `mlir/lib/Dialect/Linalg/Transforms/WinogradConv2D.cpp`.

use indexing_map::Expr;
use mlir::ArrayType;
use mlir_ops::{NoMap, OpText, Winograd};

use crate::access::{OpMaps, Role, Space};
use crate::linalg_ops::ins_and_outs;
use crate::map_builder::MapBuilder;

/// `F(m, r)`: `m` results per side of a tile, for a kernel of side `r`.
struct Tile {
    m: i64,
    r: i64,
}

/// `fmr(F_4_3)`, or `m(4) r(3)`
fn tile(text: &OpText<'_>) -> Option<Tile> {
    let behind = |word: &str| {
        let at = text.top().find(|&at| text.word(at) == word)?;
        Some(text.text_of(text.inside(at + 1)).trim())
    };
    let named = behind("fmr").or_else(|| text.attribute("fmr"));
    let numbers: Vec<i64> = match named {
        Some(named) => named.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect(),
        None => ["m", "r"]
            .iter()
            .map(|name| match behind(name) {
                Some(number) => number.parse().ok(),
                None => text.attribute(name).and_then(mlir::integer),
            })
            .collect::<Option<_>>()?,
    };
    match *numbers.as_slice() {
        // `fmr = 0`, stored for a kernel of one element, gives no sizes.
        [m, r] if (1..1 << 16).contains(&m) && (1..1 << 16).contains(&r) => Some(Tile { m, r }),
        _ => None,
    }
}

pub(crate) fn maps(text: &OpText<'_>, side: Winograd) -> Result<OpMaps, NoMap> {
    let Tile { m, r } = tile(text).ok_or(NoMap::ListNotRead("m and r"))?;
    let (ins, outs) = ins_and_outs(text).ok_or(NoMap::ListNotRead("operands"))?;
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
