//! Which transposes go through shared memory, and how.

use indexing_map::ceil_div;
use ir::{AttributeKey, ElementTypeExt, Op, Opcode};

/// Rows and columns of a tile, in the elements or vectors that a warp moves at once. The same on all devices:
/// the emitters are written for 32 banks of shared memory.
pub(crate) const TILE: i64 = 32;
/// Bits of one bank of shared memory.
const BANK_BITS: i64 = 32;
/// The maximum number of bits of the kept minor dimension.
const MAX_MINOR_BITS: i64 = 64;
/// The minimum number of bits of the kept minor dimension times the one next to it.
const MIN_ROW_BITS: i64 = 128;
/// Both swapped dimensions have at least this size …
const MIN_DIM: i64 = 16;
/// … or both have at least this size and their product is at least the next one.
const MIN_SMALL_DIM: i64 = 8;
const MIN_SMALL_PRODUCT: i64 = 64 * 128;

/// A transpose without dimensions of size 1, and with dimensions that stay adjacent merged.
/// Source: `ShapeUtil::GetNormalizedLogicalTransposeShape`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Normalized {
    pub input: Vec<i64>,
    pub output: Vec<i64>,
    /// Output dimension `i` is input dimension `permutation[i]`.
    pub permutation: Vec<usize>,
}

/// How a transpose is done through shared memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tiling {
    /// Elements below 32 bits are moved as words of a bank.
    Packed(Packed),
    /// The minor dimension stays, and vectors are moved.
    KeptMinor(Normalized),
    /// The minor dimension moves.
    Swapped(Normalized),
}

/// The canonical form of a packed transpose, `[…, T2, …, A, T1, B]` to `[…, T1, …, A, T2, B]`, and its tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    pub input: Vec<i64>,
    pub output: Vec<i64>,
    pub permutation: Vec<usize>,
    /// The number of elements in a bank.
    pub vector: i64,
    /// Tile sizes of T1, A, T2.
    pub t1: i64,
    pub a: i64,
    pub t2: i64,
}

impl Normalized {
    /// Normalises a transpose. `None` if sizes and attributes do not fit, or a layout is not row-major.
    pub fn of(operand: &Op, transpose: &Op) -> Option<Normalized> {
        if transpose.opcode != Opcode::Transpose {
            return None;
        }
        let (from, to) = (operand.shape.as_array()?, transpose.shape.as_array()?);
        let is_row_major =
            |array: &ir::ArrayShape| array.minor_to_major().into_iter().rev().eq(0..array.rank());
        if !is_row_major(from) || !is_row_major(to) || from.rank() != to.rank() || from.dims.contains(&0) {
            return None;
        }
        let dims = transpose.attributes.ints(AttributeKey::Dimensions);
        let order: Option<Vec<usize>> = dims.iter().map(|&d| usize::try_from(d).ok()).collect();
        let order = order.filter(|order| order.len() == to.rank())?;
        let mut seen = vec![false; order.len()];
        for &dim in &order {
            if std::mem::replace(seen.get_mut(dim)?, true) {
                return None;
            }
        }
        if !order.iter().zip(&to.dims).all(|(&dim, size)| from.dims[dim] == *size && *size > 0) {
            return None;
        }
        Some(Normalized::new(&from.dims, &order))
    }

    fn new(input: &[i64], permutation: &[usize]) -> Normalized {
        let kept: Vec<usize> = (0..input.len()).filter(|&dim| input[dim] > 1).collect();
        let rank_of = |dim: usize| kept.partition_point(|&k| k < dim);
        let order: Vec<usize> =
            permutation.iter().filter(|&&dim| input[dim] > 1).map(|&d| rank_of(d)).collect();
        // Runs of dimensions that are adjacent in input and output, by the input dimension they start at.
        let mut runs: Vec<(usize, i64)> = Vec::new();
        for (i, &dim) in order.iter().enumerate() {
            let size = input[kept[dim]];
            match runs.last_mut() {
                Some((_, product)) if i > 0 && order[i - 1] + 1 == dim => {
                    *product = product.saturating_mul(size)
                }
                _ => runs.push((dim, size)),
            }
        }
        let position = |start: usize| runs.iter().filter(|(other, _)| *other < start).count();
        let permutation: Vec<usize> = runs.iter().map(|&(start, _)| position(start)).collect();
        let output: Vec<i64> = runs.iter().map(|&(_, size)| size).collect();
        let mut input = vec![1; runs.len()];
        for (&dim, &size) in permutation.iter().zip(&output) {
            input[dim] = size;
        }
        Normalized { input, output, permutation }
    }

    fn keeps_minor(&self) -> bool {
        self.permutation.last().is_some_and(|&dim| dim + 1 == self.permutation.len())
    }
}

impl Tiling {
    /// How the emitter tiles the transpose; `None` if it does not.
    /// Source: `GetDescriptionForTiledTransposeEmitter`, `service/gpu/ir_emission_utils.cc`.
    pub fn of(operand: &Op, transpose: &Op) -> Option<Tiling> {
        let normal = Normalized::of(operand, transpose)?;
        let rank = normal.output.len();
        if rank < 2 {
            return None;
        }
        let bits = i64::from(transpose.shape.element()?.bits()?);
        if let Some(packed) = Packed::of(&normal, bits) {
            return Some(Tiling::Packed(packed));
        }
        let (minor_in, minor_out) = (normal.input[rank - 1], normal.output[rank - 1]);
        if normal.keeps_minor() {
            let row = bits.saturating_mul(minor_out);
            let second = normal.input[rank - 2].min(normal.output[rank - 2]);
            let fits = row <= MAX_MINOR_BITS && row.saturating_mul(second) >= MIN_ROW_BITS;
            return fits.then_some(Tiling::KeptMinor(normal));
        }
        let is_large = minor_in >= MIN_DIM && minor_out >= MIN_DIM;
        let is_long = minor_in >= MIN_SMALL_DIM
            && minor_out >= MIN_SMALL_DIM
            && minor_in.saturating_mul(minor_out) >= MIN_SMALL_PRODUCT;
        ((is_large || is_long) && bits > 4).then_some(Tiling::Swapped(normal))
    }

    /// Whether the two move elements of equally shaped arrays in the same way.
    pub fn is_equivalent(&self, other: &Tiling) -> bool {
        match (self, other) {
            (Tiling::Packed(a), Tiling::Packed(b)) => a.input == b.input && a.permutation == b.permutation,
            (Tiling::KeptMinor(a), Tiling::KeptMinor(b)) | (Tiling::Swapped(a), Tiling::Swapped(b)) => a == b,
            _ => false,
        }
    }
}

impl Packed {
    /// Source: `GetPackedTransposeTileSizes`, `CanEmitPackedTranspose`, as above.
    fn of(normal: &Normalized, bits: i64) -> Option<Packed> {
        if bits >= BANK_BITS || BANK_BITS % bits != 0 {
            return None;
        }
        let vector = BANK_BITS / bits;
        let (mut permutation, mut output) = (normal.permutation.clone(), normal.output.clone());
        if !normal.keeps_minor() {
            permutation.push(permutation.len());
            output.push(1);
        }
        let rank = permutation.len();
        if rank < 3 {
            return None;
        }
        // A, the dimension before the last moved one; of size 1 if the dimension there is moved itself.
        if permutation[rank - 3] != rank - 3 {
            permutation.iter_mut().filter(|dim| **dim > rank - 3).for_each(|dim| *dim += 1);
            permutation.insert(rank - 2, rank - 2);
            output.insert(rank - 2, 1);
        }
        let rank = permutation.len();
        let mut input = vec![1; rank];
        for (&dim, &size) in permutation.iter().zip(&output) {
            input[dim] = size;
        }
        let size = TILE * vector;
        let t1 = input[rank - 2].min(size);
        let a = input[rank - 3].min(size / t1);
        let t2 = output[rank - 2].min(size);
        let (rows, cols) = (t2, a * t1);
        let is_wide = |n: i64| n >= 10 * vector && n % vector == 0;
        let fits =
            output[rank - 1] == 1 && is_wide(rows) && is_wide(cols) && (output[rank - 2] % t2) % vector == 0;
        fits.then_some(Packed { input, output, permutation, vector, t1, a, t2 })
    }

    /// The number of rows, and of columns, of the tile in shared memory.
    pub fn tile(&self) -> i64 {
        TILE * self.vector
    }

    /// Tile sizes of the input's dimensions.
    pub fn input_tile(&self) -> Vec<i64> {
        let rank = self.input.len();
        let mut tile = vec![1; rank];
        tile[rank - 2] = self.t1;
        tile[rank - 3] = self.a;
        tile[self.permutation[rank - 2]] = self.t2;
        tile
    }

    /// The number of tiles along each of the input's dimensions.
    pub fn input_blocks(&self) -> Vec<i64> {
        let tiles = self.input_tile();
        self.input.iter().zip(tiles).map(|(&size, tile)| ceil_div(size, tile).unwrap_or(1)).collect()
    }
}

/// Reorders values from input order to output order.
pub fn permuted<T: Clone>(values: &[T], permutation: &[usize]) -> Vec<T> {
    permutation.iter().filter_map(|&from| values.get(from).cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &[i64], permutation: &[usize], expect: (&[i64], &[usize])) {
        let normal = Normalized::new(input, permutation);
        assert_eq!((normal.output.as_slice(), normal.permutation.as_slice()), expect);
        assert_eq!(normal.output, permuted(&normal.input, &normal.permutation));
    }

    #[test]
    fn neighbours_are_merged() {
        check(&[2, 3, 4], &[2, 0, 1], (&[4, 6], &[1, 0]));
        check(&[2, 3, 4], &[0, 2, 1], (&[2, 4, 3], &[0, 2, 1]));
        check(&[2, 1, 4], &[2, 1, 0], (&[4, 2], &[1, 0]));
        check(&[2, 3], &[0, 1], (&[6], &[0]));
        check(&[1, 1], &[1, 0], (&[], &[]));
        check(&[5, 6, 7, 8], &[3, 2, 1, 0], (&[8, 7, 6, 5], &[3, 2, 1, 0]));
    }

    #[test]
    fn canonical_form_of_packed_transposes() {
        let packed = Packed::of(&Normalized::new(&[20, 160, 170], &[0, 2, 1]), 16).unwrap();
        assert_eq!(packed.input, [20, 160, 1, 170, 1]);
        assert_eq!(packed.output, [20, 170, 1, 160, 1]);
        assert_eq!((packed.t1, packed.a, packed.t2), (64, 1, 64));
        assert_eq!(packed.input_blocks(), [20, 3, 1, 3, 1]);
        // 32-bit elements are not packed, nor are rows that do not fill whole words.
        assert!(Packed::of(&Normalized::new(&[160, 170], &[1, 0]), 32).is_none());
        assert!(Packed::of(&Normalized::new(&[161, 170], &[1, 0]), 16).is_none());
    }
}
