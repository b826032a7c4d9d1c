//! The tile of an operand that a tile of an output needs. Its offset, size and stride are functions of the
//! output tile's sizes. Source: XLA `codegen/tiling/symbolic_tile.cc`.

mod constraint;
mod size_and_stride;

use indexing_map::{
    Expr, IndexingMap, Interval, PrintStyle, RangeContext, Simplifier, SimplifyMode, Variable, print_map,
};

pub use constraint::TileConstraint;
use size_and_stride::{SizeAndStride, extract};

/// A tile of an operand, per operand dimension. The expressions are over the output's tile sizes (`d0`, …, at
/// least 1 and at most the dimension's size), followed by runtime variables (`s0`, …; only in offsets).
///
/// The values are those of a tile at the origin; another tile is shifted by the map's value at its start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SymbolicTile {
    /// The results are offsets, then sizes, then strides.
    map: IndexingMap,
    rank: usize,
    num_tile_sizes: usize,
    /// The tile sizes for which the needed elements are a tile.
    pub constraint: TileConstraint,
}

/// A symbolic tile evaluated at certain tile sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileValues {
    /// The offsets. `None` if an offset depends on a runtime variable, or a value exceeds 64 bits.
    pub offsets: Vec<Option<i64>>,
    pub sizes: Vec<Option<i64>>,
    pub strides: Vec<Option<i64>>,
    /// Whether the constraint holds.
    pub is_tile: bool,
}

impl SymbolicTile {
    /// The tile of an operand that `map`, from an output to it, reads for a tile of the output. `None` if the
    /// elements are not a tile that XLA's rules can describe: a constraint that is not on a result alone, a
    /// range variable that does not start at 0, sums whose parts do not nest, other operators than `+`, `*`,
    /// `mod` and `floordiv`.
    pub fn from_map(map: &IndexingMap) -> Option<SymbolicTile> {
        let map = map.clone().simplified(SimplifyMode::Preserve);
        if !map.is_mapped() {
            return None;
        }
        let bounds_only =
            |c: &indexing_map::Constraint| c.interval.lower == 0 && map.results().contains(&c.expr);
        if !map.constraints().iter().all(bounds_only) {
            return None;
        }
        let first_runtime = map.num_dims() + map.num_ranges();
        let (mut offsets, mut sizes, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        let mut constraint = TileConstraint::always();
        for result in map.results() {
            let mut simplifier = Simplifier::new(
                RangeContext::new(map.variables(), map.constraints()),
                SimplifyMode::Preserve,
            );
            let at_origin = result.substitute(&mut |v| ((v as usize) < first_runtime).then_some(Expr::ZERO));
            let offset = simplifier.simplify(&at_origin);
            let strided = simplifier.simplify(&(result.clone() - offset.clone()));
            let SizeAndStride { size, stride, constraint: own } = extract(&strided, &map)?;
            constraint = constraint.and(own);
            offsets.push(offset);
            sizes.push(size);
            strides.push(stride);
        }
        let rank = map.results().len();
        let tile_sizes = map.dims().iter().map(|v| tile_size(v.bounds)).collect::<Option<Vec<_>>>()?;
        // Range variables precede the runtime variables in the map; no expression uses them any more.
        let moved = |e: Expr| {
            e.substitute(&mut |v| {
                let runtime = (v as usize).checked_sub(first_runtime)?;
                Some(Expr::var(map.num_dims() + runtime))
            })
        };
        let runtime = map.runtime().iter().map(|v| Variable::from(v.bounds)).collect();
        let results = offsets.into_iter().chain(sizes).chain(strides).map(moved);
        let mut tile = IndexingMap::new(tile_sizes, runtime, Vec::new(), results.collect());
        tile.remove_unused_symbols();
        let num_tile_sizes = tile.num_dims();
        tile.is_mapped().then_some(SymbolicTile { map: tile, rank, num_tile_sizes, constraint })
    }

    /// The number of dimensions of the operand.
    pub fn rank(&self) -> usize {
        self.rank
    }

    pub fn offsets(&self) -> &[Expr] {
        &self.map.results()[..self.rank]
    }

    pub fn sizes(&self) -> &[Expr] {
        &self.map.results()[self.rank..2 * self.rank]
    }

    pub fn strides(&self) -> &[Expr] {
        &self.map.results()[2 * self.rank..]
    }

    /// The bounds of the runtime variables `s0`, … on which offsets depend.
    pub fn runtime_bounds(&self) -> impl Iterator<Item = Interval> + '_ {
        self.map.ranges().iter().map(|v| v.bounds)
    }

    /// `(d0, d1)[s0] -> (s0, 0)`.
    pub fn offset_text(&self, style: PrintStyle) -> String {
        self.text(self.offsets(), true, style)
    }

    /// `(d0, d1) -> (d0, d1)`.
    pub fn size_text(&self, style: PrintStyle) -> String {
        self.text(self.sizes(), false, style)
    }

    /// `(d0, d1) -> (1, 1)`.
    pub fn stride_text(&self, style: PrintStyle) -> String {
        self.text(self.strides(), false, style)
    }

    fn text(&self, results: &[Expr], with_runtime: bool, style: PrintStyle) -> String {
        let runtime = if with_runtime { self.map.ranges().to_vec() } else { Vec::new() };
        let map = IndexingMap::new(self.map.dims().to_vec(), runtime, Vec::new(), results.to_vec());
        let text = print_map(&map, style);
        text.split(", domain:").next().unwrap_or_default().to_owned()
    }

    /// Evaluates sizes and strides as [`SymbolicTile::at`] does, into `sizes` and `strides`, which are replaced. False if the needed
    /// elements are no tile, or a value exceeds 64 bits.
    pub fn extents_at(&self, tile_sizes: &[i64], sizes: &mut Vec<i64>, strides: &mut Vec<i64>) -> bool {
        sizes.clear();
        strides.clear();
        if tile_sizes.len() != self.num_tile_sizes || !self.constraint.holds(tile_sizes) {
            return false;
        }
        sizes.extend(self.sizes().iter().map_while(|size| size.evaluate(tile_sizes)));
        let is_constant = |stride: &Expr| stride.as_const().is_some();
        if self.strides().iter().all(is_constant) {
            strides.extend(self.strides().iter().filter_map(Expr::as_const));
        } else {
            let bounds = tile_sizes.iter().zip(self.map.dims());
            let clamped: Vec<i64> = bounds.map(|(&size, v)| size.min(v.bounds.upper)).collect();
            strides.extend(self.strides().iter().map_while(|stride| stride.evaluate(&clamped)));
        }
        (sizes.len(), strides.len()) == (self.rank, self.rank)
    }

    /// Evaluates the tile at these tile sizes, one per dimension of the output. As in XLA, strides are
    /// evaluated at sizes clamped to the dimension. `None` if the number of sizes does not match.
    pub fn at(&self, tile_sizes: &[i64]) -> Option<TileValues> {
        if tile_sizes.len() != self.num_tile_sizes {
            return None;
        }
        let clamped: Vec<i64> =
            tile_sizes.iter().zip(self.map.dims()).map(|(&size, v)| size.min(v.bounds.upper)).collect();
        let at = |exprs: &[Expr], point: &[i64]| exprs.iter().map(|e| e.evaluate(point)).collect();
        Some(TileValues {
            offsets: at(self.offsets(), tile_sizes),
            sizes: at(self.sizes(), tile_sizes),
            strides: at(self.strides(), &clamped),
            is_tile: self.constraint.holds(tile_sizes),
        })
    }
}

/// The range of tile sizes of a dimension with these indices: from one to all of its elements.
fn tile_size(bounds: Interval) -> Option<Variable> {
    Some(Variable::new(bounds.lower.checked_add(1)?, bounds.upper.checked_add(1)?))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use indexing_map::parse_map;

    use super::*;

    fn tile(map: &str) -> Option<SymbolicTile> {
        SymbolicTile::from_map(&parse_map(map).expect("a map"))
    }

    #[track_caller]
    fn check(map: &str, offsets: &str, sizes: &str, strides: &str, constraint: &str) {
        let tile = tile(map).expect("a tile");
        let style = PrintStyle::Symbolic;
        assert_eq!(tile.offset_text(style), offsets);
        assert_eq!(tile.size_text(style), sizes);
        assert_eq!(tile.stride_text(style), strides);
        assert_eq!(tile.constraint.to_string(), constraint);
    }

    #[test]
    fn transposed_and_reduced() {
        check(
            "(d0, d1)[s0] -> (d1, s0, d0), domain: d0 in [0, 9], d1 in [0, 19], s0 in [0, 29]",
            "(d0, d1) -> (0, 0, 0)",
            "(d0, d1) -> (d1, 30, d0)",
            "(d0, d1) -> (1, 1, 1)",
            "always satisfied",
        );
    }

    #[test]
    fn reversed_and_sliced() {
        check(
            "(d0, d1) -> (-d0 + 9, d1 * 3 + 2), domain: d0 in [0, 9], d1 in [0, 5]",
            "(d0, d1) -> (9, 2)",
            "(d0, d1) -> (d0, d1)",
            "(d0, d1) -> (-1, 3)",
            "always satisfied",
        );
    }

    #[test]
    fn a_dynamic_offset_is_a_symbol() {
        check(
            "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 12]",
            "(d0)[s0] -> (s0)",
            "(d0) -> (d0)",
            "(d0) -> (1)",
            "always satisfied",
        );
    }

    #[test]
    fn split_dimensions_need_tiles_that_divide() {
        check(
            "(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 47]",
            "(d0) -> (0, 0)",
            "(d0) -> ((d0 + 5) / 6, d0 - ((d0 - 1) / 6) * 6)",
            "(d0) -> (1, 1)",
            "6 mod d0 in [0, 0] || d0 mod 6 in [0, 0]",
        );
    }

    #[test]
    fn what_is_no_tile() {
        assert_eq!(tile("(d0, d1) -> (d0 * 7 + d1), domain: d0 in [0, 3], d1 in [0, 5]"), None);
        assert_eq!(tile("(d0)[s0] -> (d0, s0), domain: d0 in [0, 3], s0 in [1, 5]"), None);
        assert_eq!(tile("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 5 in [0, 0]"), None);
        assert_eq!(SymbolicTile::from_map(&IndexingMap::undefined()), None);
    }

    /// At every allowed tile size, the elements that the map reads from a tile at the origin are exactly the
    /// tile.
    #[test]
    fn a_tile_is_what_is_read() {
        let maps = [
            "(d0, d1) -> (d1, d0), domain: d0 in [0, 4], d1 in [0, 6]",
            "(d0) -> (d0 floordiv 6, d0 mod 6), domain: d0 in [0, 23]",
            "(d0) -> (d0 floordiv 6, (d0 floordiv 2) mod 3, d0 mod 2), domain: d0 in [0, 23]",
            "(d0, d1) -> (d0 * 6 + d1), domain: d0 in [0, 3], d1 in [0, 5]",
            "(d0, d1, d2) -> (d0 * 24 + d1 * 6 + d2), domain: d0 in [0, 2], d1 in [0, 3], d2 in [0, 5]",
            "(d0)[s0] -> (d0 * 5 + s0), domain: d0 in [0, 3], s0 in [0, 4]",
            "(d0, d1) -> (-d0 + 4, d1 * 3 + 1), domain: d0 in [0, 4], d1 in [0, 3]",
        ];
        let mut tiles = 0;
        for text in maps {
            let map = parse_map(text).expect("a map");
            let tile = SymbolicTile::from_map(&map).expect("a tile");
            let largest = IndexingMap::from_sizes(
                &map.dims().iter().map(|v| v.bounds.upper + 1).collect::<Vec<_>>(),
                &[],
                Vec::new(),
            );
            for (point, _) in largest.points(10_000).expect("few tile sizes") {
                let sizes: Vec<i64> = point.iter().map(|d| d + 1).collect();
                let at = tile.at(&sizes).expect("as many sizes as dimensions");
                let (mut extents, mut strides) = (Vec::new(), Vec::new());
                let is_tile = tile.extents_at(&sizes, &mut extents, &mut strides);
                assert_eq!(is_tile, at.is_tile, "{text} at {sizes:?}");
                if !at.is_tile {
                    continue;
                }
                let some = |values: &[i64]| values.iter().copied().map(Some).collect::<Vec<_>>();
                assert_eq!((some(&extents), some(&strides)), (at.sizes.clone(), at.strides.clone()));
                tiles += 1;
                let read: BTreeSet<Vec<i64>> = (map.points(1_000_000).expect("few points"))
                    .filter(|(point, _)| point.iter().zip(&sizes).all(|(d, size)| d < size))
                    .map(|(_, element)| element)
                    .collect();
                assert_eq!(elements(&at), read, "{text} at {sizes:?}");
            }
        }
        assert!(tiles > 100, "{tiles}");
    }

    fn elements(tile: &TileValues) -> BTreeSet<Vec<i64>> {
        let mut all = BTreeSet::from([Vec::new()]);
        for ((offset, size), stride) in tile.offsets.iter().zip(&tile.sizes).zip(&tile.strides) {
            let (offset, size, stride) = (offset.unwrap(), size.unwrap(), stride.unwrap());
            all = (all.into_iter())
                .flat_map(|prefix| {
                    (0..size).map(move |i| {
                        let mut element = prefix.clone();
                        element.push(offset + i * stride);
                        element
                    })
                })
                .collect();
        }
        all
    }
}
