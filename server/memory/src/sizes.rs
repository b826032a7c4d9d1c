//! Bytes of a value in memory.

use ir::{ArrayShape, ElementTypeExt, Shape, Tile};

/// Bytes of a pointer in the table of a tuple.
const POINTER: u64 = 8;

/// Bytes of the size of a dimension that only the running program knows; they stand after the elements.
const DYNAMIC_SIZE: u64 = 4;

/// Bytes of one value: of an array with its padding, of a tuple its table of pointers. `None` where 64 bits do not hold
/// the number, or a dimension has no bound.
/// Source: `ShapeSizeBytesFunction`, `service/gpu/gpu_executable.cc`; of tiled layouts: `xla/layout.h`.
pub fn bytes(shape: &Shape) -> Option<u64> {
    match shape {
        Shape::Array(array) => {
            let sizes = if array.dynamic.contains(&true) { DYNAMIC_SIZE * array.rank() as u64 } else { 0 };
            array_bytes(array)?.checked_add(sizes)
        }
        Shape::Tuple(elements) => Some(POINTER * elements.len() as u64),
        Shape::Buffer(inner) => bytes(inner),
        Shape::Token => Some(0),
        Shape::Opaque => Some(POINTER),
    }
}

/// Bytes that XLA counts when it looks for the moment of the peak: as [`bytes`], without sizes of dimensions.
pub(crate) fn plain_bytes(shape: &Shape) -> Option<u64> {
    match shape.as_array() {
        Some(array) => array_bytes(array),
        None => bytes(shape),
    }
}

fn array_bytes(array: &ArrayShape) -> Option<u64> {
    let layout = array.layout.as_ref();
    let Some(tile) = layout.and_then(|layout| layout.tiles.first()) else { return array.bytes() };
    let mut sizes: Vec<i64> = array.minor_to_major().iter().rev().map(|&dim| array.dims[dim]).collect();
    pad(&mut sizes, tile)?;
    let elements = sizes.iter().try_fold(1u64, |n, &size| n.checked_mul(u64::try_from(size).ok()?))?;
    let stated = layout.and_then(|layout| u64::try_from(layout.element_bits).ok()).filter(|&bits| bits > 0);
    let bits = match stated {
        Some(bits) => bits,
        None => u64::from(array.element.bits()?).next_multiple_of(8),
    };
    elements.checked_mul(bits).map(|n| n.div_ceil(8))
}

/// Rounds the minor dimensions up to multiples of a tile's. A tile of more dimensions than the array treats it as one
/// with dimensions of size 1 in front; `*` joins a dimension with the next one.
fn pad(sizes: &mut Vec<i64>, Tile(tile): &Tile) -> Option<()> {
    while sizes.len() < tile.len() {
        sizes.insert(0, 1);
    }
    let mut at = sizes.len() - tile.len();
    for &size in tile {
        if size == i64::MIN {
            let joined = sizes.remove(at);
            *sizes.get_mut(at)? = sizes.get(at)?.checked_mul(joined)?;
            continue;
        }
        if size > 0 {
            let padded = sizes[at].checked_add(size - 1)? / size;
            sizes[at] = padded.checked_mul(size)?;
        }
        at += 1;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(shape: &str, expected: u64) {
        assert_eq!(bytes(&Shape::from_text(shape).expect("a shape")), Some(expected), "{shape}");
    }

    #[test]
    fn padding_sizes_and_pointers_count() {
        check("f32[8,16]", 512);
        check("s4[3]{0:E(4)}", 2);
        check("s4[3]", 3);
        check("f32[<=8]", 36);
        check("f32[2,0]", 0);
        check("token[]", 0);
        check("(f32[1000], (f32[], f32[]))", 16);
        // 3 × 5 in tiles of 8 × 128.
        check("f32[3,5]{1,0:T(8,128)}", 4 * 8 * 128);
        check("bf16[3,5]{0,1:T(8,128)(2,1)}", 2 * 8 * 128);
        check("f32[5]{0:T(8,128)}", 4 * 8 * 128);
        check("f32[7,130]{1,0:T(256)}", 4 * 7 * 256);
    }
}
