//! Matrices in shared memory, as `wgmma` takes them: a descriptor of 64 bits says where the elements are.
//!
//! A matrix is made of core matrices of 8 rows with 16 bytes each. Rows are along the outer dimension (m or n) if the
//! matrix is contiguous in depth, else along the depth. With swizzling, the 16-byte parts of each row of 32, 64 or 128
//! bytes are permuted by bits of the address.

/// Where the elements of a factor are in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    start: u64,
    /// The distances, in bytes, between core matrices in the leading dimension and in the other one.
    leading: u64,
    stride: u64,
    /// The bytes of a swizzled row; 16 without swizzling.
    row: u64,
    /// Whether neighbours in memory are neighbours in the outer dimension.
    is_transposed: bool,
}

impl Layout {
    /// `None` for a pattern that does not start at its natural alignment.
    pub(crate) fn of(descriptor: u64, is_transposed: bool) -> Option<Layout> {
        let field = |bit: u32| (descriptor >> bit & 0x3FFF) << 4;
        let row = match descriptor >> 62 {
            0 => 16,
            1 => 128,
            2 => 64,
            _ => 32,
        };
        let is_aligned = descriptor >> 49 & 7 == 0;
        is_aligned.then(|| Layout {
            start: field(0),
            leading: field(16),
            stride: field(32),
            row,
            is_transposed,
        })
    }

    /// The address of an element of `width` bytes.
    #[inline]
    pub(crate) fn address(&self, outer: u64, depth: u64, width: u64) -> u64 {
        let offset = match (self.is_transposed, self.row) {
            (false, 16) => {
                let byte = depth * width;
                outer % 8 * 16 + outer / 8 * self.stride + byte % 16 + byte / 16 * self.leading
            }
            (false, row) => outer % 8 * row + outer / 8 * self.stride + depth * width,
            (true, 16) => {
                let byte = outer * width;
                byte % 16 + byte / 16 * self.stride + depth % 8 * 16 + depth / 8 * self.leading
            }
            (true, row) => {
                let byte = outer * width;
                byte % row + byte / row * self.leading + depth % 8 * row + depth / 8 * self.stride
            }
        };
        let address = self.start + offset;
        address ^ (address >> 7 & (self.row / 16 - 1)) << 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(start: u64, leading: u64, stride: u64, mode: u64, is_transposed: bool) -> Layout {
        let descriptor = start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | mode << 62;
        Layout::of(descriptor, is_transposed).expect("its pattern is aligned")
    }

    /// Each element of a matrix has bytes of its own, inside the matrix.
    #[test]
    fn elements_have_places_of_their_own() {
        // 64 rows of 16 elements of 16 bits.
        let (rows, depth, width) = (64, 16, 2);
        let layouts = [
            layout(0, 128, 256, 0, false),
            layout(0, 0, 256, 3, false),
            layout(0, 0, 512, 2, false),
            layout(0, 0, 1024, 1, false),
            layout(0, 128, 256, 0, true),
            layout(0, 512, 256, 3, true),
            layout(0, 1024, 512, 2, true),
            layout(0, 2048, 1024, 1, true),
        ];
        for layout in layouts {
            let mut all: Vec<u64> = Vec::new();
            for (row, k) in (0..rows).flat_map(|row| (0..depth).map(move |k| (row, k))) {
                all.push(layout.address(row, k, width));
            }
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), 64 * 16, "{layout:?}");
            assert!(all.iter().all(|address| address % width == 0 && *address < 8192), "{layout:?}");
        }
    }

    #[test]
    fn swizzling_permutes_the_parts_of_a_row() {
        let wide = layout(1024, 0, 1024, 1, false);
        assert_eq!(wide.address(0, 8, 2), 1024 + 16);
        assert_eq!(wide.address(3, 0, 2), 1024 + 3 * 128 + 48);
        assert_eq!(wide.address(3, 8, 2), 1024 + 3 * 128 + 32);
        let narrow = layout(0, 0, 256, 3, false);
        assert_eq!([0, 3, 4, 8].map(|row| narrow.address(row, 0, 2)), [0, 96, 128 + 16, 256]);
        assert_eq!(Layout::of(1 << 49, false), None);
    }
}
