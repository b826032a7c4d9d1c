//! Fragments: which lane holds which elements of a matrix, in which register. The layouts are those of PTX's "Matrix
//! multiply-accumulate operation"; one rule each covers all types and depths.
//!
//! Lane `4g + t` holds row `g` of the left factor and of the sum, and column `g` of the right factor.

/// The register, from 0, of a factor that a lane holds, and the elements in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packed {
    /// Elements in one register.
    pub(crate) per_register: usize,
    /// 8 or 16 rows; those of a right factor are 8 columns.
    pub(crate) rows: usize,
}

impl Packed {
    /// The row and the depth of the first element of a register; the others follow in depth.
    ///
    /// With 16 rows, odd registers hold the lower half.
    #[inline]
    pub(crate) fn first(self, lane: usize, register: usize) -> (usize, usize) {
        let (group, thread) = (lane / 4, lane % 4);
        let (lower, block) = if self.rows == 16 { (register & 1, register >> 1) } else { (0, register) };
        (group + 8 * lower, (thread + 4 * block) * self.per_register)
    }

    /// How many registers of each lane hold a factor of this depth.
    pub(crate) fn registers(self, depth: usize) -> usize {
        self.rows * depth / (32 * self.per_register)
    }
}

/// The row and the column of the `nth` element of a sum that a lane holds. Pairs of neighbours alternate between the
/// upper and the lower 8 rows where there are 16.
#[inline]
pub(crate) fn of_sum(rows: usize, lane: usize, nth: usize) -> (usize, usize) {
    let (group, thread) = (lane / 4, lane % 4);
    let (lower, block) = if rows == 16 { (nth >> 1 & 1, nth >> 2) } else { (0, nth >> 1) };
    (group + 8 * lower, 8 * block + 2 * thread + (nth & 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each element is in one place.
    #[test]
    fn fragments_hold_each_element_once() {
        for (rows, depth, per_register) in
            [(16, 16, 2), (16, 8, 1), (16, 32, 4), (8, 16, 2), (8, 4, 1), (16, 8, 2)]
        {
            let packed = Packed { per_register, rows };
            let mut held = vec![0; rows * depth];
            for (lane, register) in
                (0..32).flat_map(|lane| (0..packed.registers(depth)).map(move |r| (lane, r)))
            {
                let (row, first) = packed.first(lane, register);
                (0..per_register).for_each(|i| held[row * depth + first + i] += 1);
            }
            assert!(held.iter().all(|&count| count == 1), "{rows}×{depth}: {held:?}");
        }
        for (rows, columns) in [(16, 8), (8, 8), (16, 64)] {
            let mut held = vec![0; rows * columns];
            for (lane, nth) in (0..32).flat_map(|lane| (0..rows * columns / 32).map(move |nth| (lane, nth))) {
                let (row, column) = of_sum(rows, lane, nth);
                held[row * columns + column] += 1;
            }
            assert!(held.iter().all(|&count| count == 1), "{rows}×{columns}: {held:?}");
        }
    }

    /// Examples of the document: `m16n8k16` with 16 bits, `m16n8k8` with tf32, `m8n8k4` with 64 bits.
    #[test]
    fn fragments_are_those_of_the_document() {
        let halves = Packed { per_register: 2, rows: 16 };
        assert_eq!([0, 1, 2, 3].map(|r| halves.first(5, r)), [(1, 2), (9, 2), (1, 10), (9, 10)]);
        let words = Packed { per_register: 1, rows: 16 };
        assert_eq!([0, 1, 2, 3].map(|r| words.first(5, r)), [(1, 1), (9, 1), (1, 5), (9, 5)]);
        let right = Packed { per_register: 2, rows: 8 };
        assert_eq!([0, 1].map(|r| right.first(5, r)), [(1, 2), (1, 10)]);
        assert_eq!([0, 1, 2, 3, 4].map(|n| of_sum(16, 5, n)), [(1, 2), (1, 3), (9, 2), (9, 3), (1, 10)]);
        assert_eq!([0, 1].map(|n| of_sum(8, 5, n)), [(1, 2), (1, 3)]);
    }
}
