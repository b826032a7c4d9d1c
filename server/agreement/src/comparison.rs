//! Selects elements of an output and compares them.

use eval::Reason;
use eval::{Column, Evaluator, Kind};
use ir::ArrayShape;

use crate::buffers::{logical, memory_bits};
use crate::{Effort, Outcome};
use executor::Memory;

/// The elements of an output to compare: those that were written, or a part of them. `Err` if a required
/// element was not written.
pub(crate) fn places(
    memory: &Memory<'_>,
    buffer: usize,
    array: &ArrayShape,
    must_all_be_written: bool,
    effort: Effort,
) -> Result<Vec<u64>, String> {
    let width = memory_bits(array);
    let count = array.elements().unwrap_or(0) as u64;
    let mut ranges = Vec::new();
    let mut total = 0;
    memory.for_each_written(buffer, |offset, bytes| {
        let from = (offset * 8).div_ceil(width);
        let to = ((offset + bytes.len() as u64) * 8 / width).min(count);
        total += to.saturating_sub(from);
        ranges.push(from..to);
    });
    if must_all_be_written && total < count {
        return Err(format!("{total} of {count} elements of an output were written"));
    }
    let step = (total / effort.elements as u64).max(1);
    // The first and last elements, and every step-th with a varying offset.
    let mut all = Vec::new();
    let mut seen = 0;
    for range in ranges {
        for place in range {
            let turn = seen / step;
            if seen % step == turn.wrapping_mul(0x9E37_79B9) % step || seen < 64 || seen + 64 >= total {
                all.push(place);
            }
            seen += 1;
        }
    }
    Ok(all)
}

/// Compares elements of an output with the interpreter's values.
pub(crate) fn compare(
    evaluator: &mut Evaluator<'_>,
    (root, leaf): (u32, usize),
    array: &ArrayShape,
    places: &[u64],
    memory: &Memory<'_>,
    buffer: usize,
    outcome: &mut Outcome,
) -> Result<(), Reason> {
    let kind = Kind::of(array.element).ok_or("a type without values")?;
    let width = memory_bits(array);
    for places in places.chunks(1 << 13) {
        let positions = logical(array, places);
        let expected =
            evaluator.elements(root, leaf, &positions).map_err(|why| format!("reference: {why}"))?;
        let bits = places.iter().map(|&place| {
            let mut bytes = [0u8; 16];
            let len = width.div_ceil(8) as usize;
            let at = place * width;
            _ = memory.read(buffer, at / 8, &mut bytes[..len]);
            let bits = u128::from_le_bytes(bytes) >> (at % 8);
            if width >= 128 { bits } else { bits & ((1 << width) - 1) }
        });
        let got = Column::from_bits(kind, bits);
        for (i, position) in positions.iter().enumerate() {
            outcome.compared += 1;
            outcome.open += u64::from(expected.is_open(i));
            if let Some((want, got)) = expected.differs(i, &got)
                && outcome.wrong.len() < 1000
            {
                let words = format!(
                    "output {leaf}, element {}: {want:e} expected (error {:e}), {got:e} written",
                    position,
                    expected.error_at(i)
                );
                outcome.wrong.push(words);
            }
        }
    }
    Ok(())
}
