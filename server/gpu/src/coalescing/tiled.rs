//! The part of a block-level kernel's traffic that its tiles need.

/// The part of the bytes moved that a tile needs, above 0 and up to 1, if memory moves in units of
/// `transaction_bytes`. Dimensions are ordered from minor to major by `minor_to_major`; sizes and strides of
/// the tile are per dimension, as the array's `dims`. Source: XLA
/// `BandwidthUtilizationRateHeuristicForTiledMemoryAccess`, `service/gpu/model/coalescing_analysis.cc`.
pub fn tiled_efficiency(
    dims: &[i64],
    minor_to_major: &[usize],
    tile_sizes: &[i64],
    tile_strides: &[i64],
    element_bytes: i64,
    transaction_bytes: i64,
) -> f64 {
    let mut contiguous = 1i64;
    for &dim in minor_to_major {
        let (Some(&size), Some(&tile), Some(&stride)) =
            (dims.get(dim), tile_sizes.get(dim), tile_strides.get(dim))
        else {
            break;
        };
        if stride != 1 {
            break;
        }
        contiguous = contiguous.saturating_mul(tile.min(size).max(1));
        if tile < size {
            break;
        }
    }
    let bytes = contiguous.saturating_mul(element_bytes).max(1) as f64;
    let transactions = (bytes / transaction_bytes as f64).ceil();
    bytes / (transactions * transaction_bytes as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(tile: [i64; 2], expect: f64) {
        assert_eq!(tiled_efficiency(&[256, 16], &[1, 0], &tile, &[1, 1], 1, 64), expect);
    }

    #[test]
    fn whole_rows_follow_each_other() {
        check([1, 1], 1.0 / 64.0);
        check([1, 16], 0.25);
        check([4, 16], 1.0);
        check([6, 16], 0.75);
        check([8, 8], 0.125);
    }
}
