//! Ops of tensors and memrefs: reshapes, padding, gathers, tiles, views.

use std::ops::Range;

use mlir::integers;

use super::linalg::dimensions;
use super::slices::SliceLists;
use crate::affine_map::AffineMap;
use crate::no_map::NoMap;
use crate::op_text::{Mixed, OpText};

/// How `linalg.pack` divides an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tiles {
    /// Outer dimension `k` of the packed array runs over tiles of dimension `outer[k]` of the plain one.
    pub outer: Vec<usize>,
    /// For each inner dimension, the plain dimension that it tiles, and the size of the tiles.
    pub inner: Vec<(usize, Mixed)>,
}

impl OpText<'_> {
    /// The groups of a reshape, `[[0, 1], [2]]`: dimensions of the larger array.
    ///
    /// # Errors
    ///
    /// If they are missing, or name something else than dimensions.
    pub fn reassociation(&self) -> Result<Vec<Vec<usize>>, NoMap> {
        let groups = self.nested("reassociation").ok_or(NoMap::NotRead("its reassociation"))?;
        let groups: Option<Vec<_>> = groups.into_iter().map(|group| dimensions(group, usize::MAX)).collect();
        groups.ok_or(NoMap::GroupOrder)
    }

    /// The extents of an expanded array, `output_shape [3, %n]`, if they are written.
    pub fn output_shape(&self) -> Option<Vec<Mixed>> {
        match self.is_generic() {
            true => self.generic_mixed(1, &["static_output_shape"])?.pop(),
            false => self.mixed(self.behind_word("output_shape")?),
        }
    }

    /// The padding before and after each of `rank` dimensions: `low[1, %n] high[0, 2]`.
    ///
    /// # Errors
    ///
    /// If it is missing, or of other dimensions.
    pub fn padding(&self, rank: usize) -> Result<[Vec<Mixed>; 2], NoMap> {
        let lists = match self.is_generic() {
            true => self.generic_mixed(1, &["static_low", "static_high"]),
            false => ["low", "high"].iter().map(|word| self.mixed(self.behind_word(word)?)).collect(),
        };
        let lists = lists.filter(|lists| lists.iter().all(|list| list.len() == rank));
        lists.and_then(|lists| <[_; 2]>::try_from(lists).ok()).ok_or(NoMap::NotRead("its padding"))
    }

    /// `gather_dims([1])`: dimensions of an array of this rank.
    ///
    /// # Errors
    ///
    /// If they are missing, or name something else.
    pub fn gather_dims(&self, rank: usize) -> Result<Vec<usize>, NoMap> {
        const NAME: &str = "gather_dims";
        let custom = || integers(self.text_of(self.behind_word(NAME)?));
        let list = self.list(&[NAME]).or_else(custom).ok_or(NoMap::ListNotRead(NAME))?;
        dimensions(list, rank).ok_or(NoMap::NoDimensions(NAME))
    }

    /// `dim(0)` of a concatenation.
    pub fn concat_dimension(&self) -> Option<usize> {
        let custom = || self.text_of(self.behind_word("dim")?).trim().parse().ok();
        self.index("dim").or_else(custom)
    }

    /// The list `inner_tiles = [8, %n]` of the custom form.
    pub fn inner_tiles(&self) -> Option<Range<usize>> {
        self.behind_word("inner_tiles")
    }

    /// The number of dimensions that are tiled.
    ///
    /// # Errors
    ///
    /// If their list is missing.
    pub fn tiled_count(&self) -> Result<usize, NoMap> {
        const NAME: &str = "inner_dims_pos";
        self.list(&[NAME]).map(|list| list.len()).ok_or(NoMap::ListNotRead(NAME))
    }

    /// The tiles of `linalg.pack` and `linalg.unpack`, whose plain array has this rank.
    ///
    /// # Errors
    ///
    /// If a list is missing, or does not fit the array.
    pub fn tiles(&self, rank: usize) -> Result<Tiles, NoMap> {
        const OUTER: &str = "outer_dims_perm";
        let outer = match self.list(&[OUTER]) {
            Some(list) => dimensions(list, rank).ok_or(NoMap::NoDimensions(OUTER))?,
            None => Vec::new(),
        };
        let outer = if outer.is_empty() { (0..rank).collect() } else { outer };
        let positions = self.dimensions("inner_dims_pos", rank)?;
        let sizes = match self.inner_tiles() {
            Some(list) => self.mixed(list),
            None => self
                .list(&["static_inner_tiles"])
                .map(|l| l.into_iter().map(Mixed::Static).collect::<Vec<_>>()),
        };
        let sizes = sizes.filter(|t| t.len() == positions.len()).ok_or(NoMap::ListNotRead("inner_tiles"))?;
        if outer.len() != rank || (0..rank).any(|k| !outer.contains(&k)) {
            return Err(NoMap::NoPermutation(OUTER));
        }
        Ok(Tiles { outer, inner: positions.into_iter().zip(sizes).collect() })
    }

    /// The tokens of `padding_value(%v : f32)`.
    pub fn padding_value(&self) -> Option<crate::source::Operand> {
        self.operands_in(self.behind_word("padding_value")?).into_iter().next()
    }

    /// `(i, j) -> (j, i)` of `memref.transpose`, as the order of the dimensions.
    ///
    /// # Errors
    ///
    /// If the map is missing or no permutation.
    pub fn memref_permutation(&self) -> Result<Vec<i64>, NoMap> {
        let map = match self.resolved("permutation") {
            Some(written) => AffineMap::parse(written),
            None => {
                let open = self.top().find(|&at| self.word(at) == "(");
                let open = open.ok_or(NoMap::NotRead("its permutation"))?;
                let end = self.behind(self.behind(open) + 1);
                AffineMap::parse(self.text_of(open..end.min(self.tokens.len())))
            }
        }?;
        let order = map.projected_permutation().ok_or(NoMap::NoPermutation("map"))?;
        Ok(order.into_iter().map(|k| k as i64).collect())
    }

    /// `to offset: [%o], sizes: [4, %n], strides: [%s, 1]`, for a result of this rank.
    ///
    /// # Errors
    ///
    /// If a list is missing or does not fit the result.
    pub fn memory_lists(&self, rank: usize) -> Result<SliceLists, NoMap> {
        let behind = |word: &str| {
            let at = self.top().find(|&at| self.word(at) == word)?;
            self.mixed(self.inside(at + 2))
        };
        let lists = match self.is_generic() {
            true => self.generic_mixed(1, &SliceLists::ATTRIBUTES),
            false => ["offset", "sizes", "strides"].into_iter().map(behind).collect(),
        };
        let lists = lists.and_then(|lists| SliceLists::of(lists).filter(|l| l.offsets.len() == 1));
        let lists = lists.filter(|lists| lists.sizes.len() == rank && lists.strides.len() == rank);
        lists.ok_or(NoMap::ListNotRead("offset, sizes and strides"))
    }
}
