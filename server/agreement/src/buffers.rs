//! Arrays in memory: element widths, positions, and the contents of inputs.

use eval::Kind;
use ir::ArrayShape;

use crate::Effort;
use crate::values;

/// The bits of an element in memory.
pub fn memory_bits(array: &ArrayShape) -> u64 {
    let Some(kind) = Kind::of(array.element) else { return 8 };
    let stated = array.layout.as_ref().map_or(0, |layout| layout.element_bits);
    match u64::try_from(stated) {
        Ok(bits) if bits > 0 => bits,
        // XLA's GPU compiler packs these whether or not the layout says so.
        _ if matches!(kind, Kind::Signed(2 | 4) | Kind::Unsigned(2 | 4)) => u64::from(kind.width()),
        _ => u64::from(kind.width()).next_multiple_of(8),
    }
}

/// The memory contents of a parameter's array from a byte offset.
pub(crate) fn fill(array: &ArrayShape, effort: Effort, parameter: u32, offset: u64, bytes: &mut [u8]) {
    let width = memory_bits(array);
    bytes.fill(0);
    let count = array.elements().unwrap_or(0) as u64;
    if width < 8 {
        let per_byte = 8 / width;
        for (i, byte) in bytes.iter_mut().enumerate() {
            for k in 0..per_byte {
                let place = (offset + i as u64) * per_byte + k;
                if place < count {
                    let bits = values::bits(array.element, effort.seed, parameter, place, effort.flavour);
                    *byte |= (bits as u8) << (k * width);
                }
            }
        }
        return;
    }
    let width = width / 8;
    let mut place = offset / width;
    let mut at = 0i64 - (offset % width) as i64;
    while at < bytes.len() as i64 && place < count {
        let bits = values::bits(array.element, effort.seed, parameter, place, effort.flavour);
        for k in 0..width as i64 {
            if let Some(byte) = usize::try_from(at + k).ok().and_then(|i| bytes.get_mut(i)) {
                *byte = (bits >> (8 * k)) as u8;
            }
        }
        at += width as i64;
        place += 1;
    }
}

/// The row-major positions of the elements at these places in memory.
pub(crate) fn logical(array: &ArrayShape, places: &[u64]) -> Vec<i64> {
    let order = array.minor_to_major();
    let mut strides = vec![1i64; array.dims.len()];
    for d in (1..array.dims.len()).rev() {
        strides[d - 1] = strides[d] * array.dims[d];
    }
    let of = |&place: &u64| {
        let mut rest = place as i64;
        order.iter().fold(0, |position, &d| {
            let index = rest % array.dims[d];
            rest /= array.dims[d];
            position + index * strides[d]
        })
    };
    places.iter().map(of).collect()
}

/// The place in memory of the element at a row-major position. `strides` are the memory strides.
pub(crate) fn physical(array: &ArrayShape, position: i64, strides: &[i64]) -> u64 {
    let mut rest = position;
    let mut place = 0;
    for d in (0..array.dims.len()).rev() {
        place += rest % array.dims[d] * strides[d];
        rest /= array.dims[d];
    }
    place as u64
}
