//! The lists of slices: `%x[0, %i] [4, %n] [1, 1]`, and `%x [0:4:2]` of StableHLO.

use mlir::ArrayType;

use crate::no_map::NoMap;
use crate::op_text::{Mixed, OpText};

/// Offsets, sizes and strides.
#[derive(Debug, Clone)]
pub struct SliceLists {
    pub offsets: Vec<Mixed>,
    pub sizes: Vec<Mixed>,
    pub strides: Vec<Mixed>,
}

impl SliceLists {
    /// The lists' static entries in the generic form.
    pub const ATTRIBUTES: [&'static str; 3] = ["static_offsets", "static_sizes", "static_strides"];

    /// The lists of an op with `fixed` leading operands.
    pub fn read(text: &OpText<'_>, fixed: usize) -> Option<SliceLists> {
        let lists: Vec<_> = match text.is_generic() {
            true => text.generic_mixed(fixed, &SliceLists::ATTRIBUTES)?,
            false => {
                text.squares().into_iter().take(3).map(|list| text.mixed(list)).collect::<Option<_>>()?
            }
        };
        SliceLists::of(lists)
    }

    pub(super) fn of(lists: Vec<Vec<Mixed>>) -> Option<SliceLists> {
        let [offsets, sizes, strides] = <[_; 3]>::try_from(lists).ok()?;
        Some(SliceLists { offsets, sizes, strides })
    }

    /// Which dimensions a slice of this type keeps; some of size 1 may be dropped. Rule: MLIR
    /// `computeRankReductionMask`.
    ///
    /// # Errors
    ///
    /// If the type does not match the sizes.
    pub fn kept(&self, slice: &ArrayType) -> Result<Vec<bool>, NoMap> {
        let mut extents = slice.extents.iter().peekable();
        let mut kept = Vec::with_capacity(self.sizes.len());
        for size in self.sizes.iter().map(Mixed::as_static) {
            // If several extents of 1 could be dropped, it makes no difference which.
            let is_here = extents.next_if(|&&extent| extent == size).is_some();
            if !is_here && size != Some(1) {
                return Err(NoMap::SliceShape);
            }
            kept.push(is_here);
        }
        match extents.next() {
            None => Ok(kept),
            Some(_) => Err(NoMap::MoreDimensions { of: "the slice", than: "its sizes" }),
        }
    }
}

/// The lists of `stablehlo.slice` in the generic form.
pub const SLICE_BOUNDS: [&str; 3] = ["start_indices", "limit_indices", "strides"];

impl OpText<'_> {
    /// Start, limit and stride of each dimension of `stablehlo.slice %x [0:4:2]`.
    pub fn slice_bounds(&self) -> Option<Vec<[i64; 3]>> {
        if self.is_generic() {
            let [starts, limits, strides] = SLICE_BOUNDS.map(|name| self.list(&[name]));
            let (starts, limits) = (starts?, limits?);
            let strides = strides.unwrap_or_else(|| vec![1; starts.len()]);
            let fits = starts.len() == limits.len() && limits.len() == strides.len();
            return fits.then(|| (0..starts.len()).map(|i| [starts[i], limits[i], strides[i]]).collect());
        }
        let entry = |item: std::ops::Range<usize>| {
            let numbers: Option<Vec<i64>> =
                self.text_of(item).split(':').map(|n| n.trim().parse().ok()).collect();
            match numbers?[..] {
                [start, limit] => Some([start, limit, 1]),
                [start, limit, stride] => Some([start, limit, stride]),
                _ => None,
            }
        };
        self.items(self.squares().into_iter().next()?).into_iter().map(entry).collect()
    }
}
