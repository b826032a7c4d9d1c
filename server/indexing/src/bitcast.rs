//! Bitcast: the same bytes under another shape.

use indexing_map::{Expr, IndexingMap, SimplifyMode};
use ir::{ArrayShape, ElementTypeExt, Op, Shape};

use crate::checks::{self, Checked, Reason, ensure};
use crate::layouts::{logical_to_physical, physical_sizes, physical_to_logical};
use crate::operand_indexing::{OpIndexing, OperandIndexing};
use crate::reshape::reshape;

/// Maps the elements of `from` to the elements of `to` at the same place in memory.
///
/// The map goes from logical to physical, through a reshape between the physical sizes, and from physical to
/// logical. XLA first looks for an equivalent transpose or reshape, which changes the form of the map but not
/// its meaning. Needs equal element widths. Source: `GetBitcastMap`, `ShapeUtil::DecomposeBitcast`.
pub(crate) fn bitcast(from: &Shape, to: &Shape) -> Checked<OperandIndexing> {
    let (a, b) = (checks::array(from, "the output")?, checks::array(to, "the operand")?);
    ensure(a.element.bits() == b.element.bits(), "a bitcast between element widths")?;
    between(from, to, 1, 1)
}

/// As [`bitcast`], for element widths of which one divides the other. The wider elements get one more, most
/// minor dimension, which counts their parts. A wider output element reads all parts, a narrower one reads
/// one.
pub(crate) fn bitcast_any_width(from: &Shape, to: &Shape) -> Checked<OperandIndexing> {
    let width = |shape, what| stored_bits(checks::array(shape, what)?);
    let (a, b) = (width(from, "the output")?, width(to, "the operand")?);
    ensure(a % b == 0 || b % a == 0, "a bitcast between element widths of which none divides the other")?;
    between(from, to, (a / b).max(1), (b / a).max(1))
}

pub(crate) fn bitcast_op(op: &Op) -> Checked<OpIndexing> {
    ensure(op.operand_shapes.len() == 1, "bitcast takes 1 operand")?;
    Ok(OpIndexing::of([bitcast_any_width(&op.shape, &op.operand_shapes[0])?]))
}

/// Bits of an element in memory: as the layout states, else rounded up to whole bytes.
fn stored_bits(array: &ArrayShape) -> Checked<i64> {
    let stated = array.layout.as_ref().map_or(0, |layout| layout.element_bits);
    let bits = match stated {
        bits if bits > 0 => Some(bits),
        _ => array.element.bits().map(|bits| i64::from(bits.next_multiple_of(8))),
    };
    bits.ok_or_else(|| Reason::from("elements without a width"))
}

/// `from_parts` and `to_parts`: the number of units of the narrower width per element; one of the two is 1.
fn between(from: &Shape, to: &Shape, from_parts: i64, to_parts: i64) -> Checked<OperandIndexing> {
    let (a, b) = (checks::array(from, "the output")?, checks::array(to, "the operand")?);
    let units = |array: &ArrayShape, parts: i64| {
        let mut sizes = physical_sizes(array).0;
        sizes.extend((parts > 1).then_some(parts));
        sizes
    };
    let mut before = logical_to_physical(from);
    if from_parts > 1 {
        // The parts of an output element are a range variable.
        let results = (0..=a.rank()).map(Expr::var).collect();
        before = before.compose(&IndexingMap::from_sizes(&physical_sizes(a).0, &[from_parts], results));
    }
    let reshape = reshape(&units(a, from_parts), &units(b, to_parts))?;
    let mut after = physical_to_logical(to);
    if to_parts > 1 {
        let results = (0..b.rank()).map(Expr::var).collect();
        after = IndexingMap::from_sizes(&units(b, to_parts), &[], results).compose(&after);
    }
    let map = before.compose(&reshape).compose(&after);
    let access = OperandIndexing::from(map.simplified(SimplifyMode::Preserve));
    let tiles = |array: &ArrayShape| array.layout.as_ref().is_some_and(|layout| !layout.tiles.is_empty());
    Ok(if tiles(a) || tiles(b) {
        access.with_note("the tiles of the layouts are not looked at")
    } else {
        access
    })
}
