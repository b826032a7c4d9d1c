//! Bitcast: the same bytes under another shape.

use indexing_map::{IndexingMap, SimplifyMode};
use ir::{ElementTypeExt, Shape};

use crate::checks::{self, Checked, ensure};
use crate::layouts::{logical_to_physical, physical_sizes, physical_to_logical};
use crate::operand_indexing::OperandIndexing;
use crate::reshape::reshape;

/// From the elements of `from` to those of `to` that lie at the same place in memory.
///
/// Logical to physical, a reshape between the physical sizes, physical to logical. XLA looks for a transpose or a reshape
/// that does the same first, which changes how the map reads, not what it says. Needs equal element widths.
/// Source: `GetBitcastMap`, `ShapeUtil::DecomposeBitcast`.
pub(crate) fn bitcast(from: &Shape, to: &Shape) -> Checked<OperandIndexing> {
    let (a, b) = (checks::array(from, "the output")?, checks::array(to, "the operand")?);
    ensure(a.element.bits() == b.element.bits(), "a bitcast between element widths")?;
    let tiles = |array: &ir::ArrayShape| array.layout.as_ref().is_some_and(|layout| !layout.tiles.is_empty());
    let reshape = reshape(&physical_sizes(a).0, &physical_sizes(b).0)?;
    let map: IndexingMap = logical_to_physical(from).compose(&reshape).compose(&physical_to_logical(to));
    let access = OperandIndexing::from(map.simplified(SimplifyMode::Preserve));
    Ok(if tiles(a) || tiles(b) {
        access.with_note("the tiles of the layouts are not looked at")
    } else {
        access
    })
}
