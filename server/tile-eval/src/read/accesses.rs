//! Reads and writes of tiles, and masks.

use eval::Reason;
use mlir_ops::{Mixed, OpText, Operand, SliceLists};

use super::Reader;
use crate::program::{Access, Kind};
use crate::tiles::count;

impl Reader<'_> {
    /// `%arg0[%0, %c0] [2, 128] [1, 1] : memref<8x100xbf16> -> tensor<2x128xbf16>`
    pub(super) fn extract(&self, text: &OpText<'_>) -> Result<(Kind, Vec<Operand>), Reason> {
        let (access, offsets) = self.access(text, 0)?;
        Ok((Kind::Extract(access), offsets))
    }

    /// `%4 into %arg1[%5] [2] [1] : tensor<2xf32> -> memref<8xf32>`
    pub(super) fn insert(&self, text: &OpText<'_>) -> Result<(Kind, Vec<Operand>), Reason> {
        let (access, offsets) = self.access(text, 1)?;
        let tile = text.operand(0).map_err(|why| why.to_string())?;
        Ok((Kind::Insert(access), std::iter::once(tile).chain(offsets).collect()))
    }

    /// The access to the array that is operand `array`, and its offsets that are values.
    fn access(&self, text: &OpText<'_>, array: usize) -> Result<(Access, Vec<Operand>), Reason> {
        let memref = text.operand(array).map_err(|why| why.to_string())?;
        let argument = memref.value.and_then(|value| self.memrefs.get(&value)).copied();
        let argument = argument.ok_or_else(|| format!("{} is no array of the function", memref.name))?;
        let lists = SliceLists::read(text, array + 1).ok_or("its offsets, sizes and strides are not read")?;
        let known = |list: &[Mixed]| list.iter().map(Mixed::as_static).collect::<Option<Vec<i64>>>();
        let (sizes, strides) = (known(&lists.sizes), known(&lists.strides));
        let (sizes, strides) = sizes.zip(strides).ok_or("a size or a stride is no number")?;
        let rank = self.arguments[argument].dims.len();
        if [lists.offsets.len(), sizes.len(), strides.len()] != [rank; 3] {
            return Err(format!("its lists have not the {rank} dimensions of the array").into());
        }
        count(&sizes)?;
        let mut values = Vec::new();
        let mut offsets = Vec::new();
        for offset in lists.offsets {
            offsets.push(offset.as_static());
            if let Mixed::Dynamic(operand) = offset {
                values.push(operand);
            }
        }
        Ok((Access { argument, offsets, sizes, strides }, values))
    }

    /// `%2 bounds [2, 100], %neutral : tensor<2x128xf32>`
    pub(super) fn mask(&self, text: &OpText<'_>) -> Result<Kind, Reason> {
        let bounds = match text.behind_word("bounds") {
            Some(range) => text.integers_in(range),
            None => text.list(&["bounds"]),
        };
        let bounds = bounds.ok_or("its bounds are not read")?;
        let array = text.result_array(0).map_err(|why| why.to_string())?;
        let sizes: Option<Vec<i64>> = array.extents.iter().copied().collect();
        let sizes = sizes.filter(|sizes| sizes.len() == bounds.len()).ok_or("bounds of other dimensions")?;
        count(&sizes)?;
        Ok(Kind::Mask { sizes, bounds })
    }
}
