//! The packed transpose emitter: elements below 32 bits move through shared memory as whole words of its banks.

use indexing::IndexingMap;
use indexing_map::{Expr, Interval, SimplifyMode, ceil_div};
use ir::{OpId, Shape};

use super::Context;
use super::transpose::{Tiles, hero_bits};
use crate::Reason;
use crate::heroes::tiling;
use crate::launch::{Launch, product};
use crate::thread_map::{BL_X, RANGES, TH_X, bitcast_from_sizes, delinearize, grid_map};
use crate::transpose::{Packed, TILE, Tiling, permuted};

/// Source: `PackedTranspose`, `backends/gpu/codegen/emitters/transpose.cc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackedTransposeEmitter {
    pub launch: Launch,
    pub transpose: Packed,
    /// Groups of 32 threads in a block.
    pub groups: i64,
}

/// The number of threads of a block; AMD's blocks have twice as many.
const THREADS: i64 = 128;
const ROCM_THREADS: i64 = 256;

impl PackedTransposeEmitter {
    /// `None` if the transposes are not packed.
    pub(super) fn new(context: &Context<'_>) -> Result<Option<PackedTransposeEmitter>, Reason> {
        let mut heroes: Vec<OpId> = context.heroes.to_vec();
        heroes.retain(|&hero| matches!(tiling(context.fused, hero), Some(Tiling::Packed(_))));
        heroes.sort_unstable();
        heroes.dedup();
        let Some(Tiling::Packed(transpose)) = heroes.first().and_then(|&hero| tiling(context.fused, hero))
        else {
            return Ok(None);
        };
        let threads = if context.device.is_rocm() { ROCM_THREADS } else { THREADS };
        let elements = transpose.tile() * transpose.tile();
        let shared =
            heroes.iter().map(|&hero| ceil_div(elements * hero_bits(context, hero), 8).unwrap_or(0)).sum();
        let launch = Launch::linear(product(&transpose.input_blocks())?, threads).with_shared_bytes(shared);
        Ok(Some(PackedTransposeEmitter { launch, transpose, groups: threads / TILE }))
    }

    /// Maps threads to the elements of `shape`, the input's or the output's, that they move.
    pub fn moved(&self, is_input: bool, shape: &Shape) -> IndexingMap {
        self.tile_map(is_input, shape)
    }

    /// Sizes of a tile in shared memory.
    pub fn shared_dims(&self) -> Vec<i64> {
        vec![self.transpose.tile(); 2]
    }

    /// The position in shared memory of the element that a thread reads from the input (`is_input`) or writes
    /// to the output: from the variables of the thread map to an index into [`Self::shared_dims`]. Rows are
    /// swizzled, so that a column of words is spread over the banks.
    pub fn shared_index(&self, is_input: bool) -> Vec<Expr> {
        let vector = self.transpose.vector;
        let (row, column, _) = self.row_and_column(is_input);
        let turned = column + row.clone().floor_div(vector) * vector;
        vec![row, turned.modulo(self.transpose.tile())]
    }

    /// Row and column in the tile before swizzling, and the sizes of the range variables they use.
    fn row_and_column(&self, is_input: bool) -> (Expr, Expr, Vec<i64>) {
        let vector = self.transpose.vector;
        let (group, lane) = (Expr::var(TH_X).floor_div(TILE), Expr::var(TH_X).modulo(TILE));
        let turn = Expr::var(RANGES) * self.groups + group;
        let turns = |n: i64, by: i64| ceil_div(n, by).unwrap_or(1);
        let (rows, columns) = (self.transpose.t2, self.transpose.a * self.transpose.t1);
        if is_input {
            let column = lane * vector + Expr::var(RANGES + 1);
            (turn, column, vec![turns(rows, self.groups), vector])
        } else {
            let row = lane * vector + Expr::var(RANGES + 2);
            let column = turn * vector + Expr::var(RANGES + 1);
            (row, column, vec![turns(columns, vector * self.groups), vector, vector])
        }
    }
}

impl Tiles for PackedTransposeEmitter {
    fn tile_map(&self, is_input: bool, shape: &Shape) -> IndexingMap {
        let packed = &self.transpose;
        let rank = packed.input.len();
        let order = |values: &[i64]| permuted(values, &packed.permutation);
        let output_tile = order(&packed.input_tile());
        let output_blocks = delinearize(&Expr::var(BL_X), &order(&packed.input_blocks()));
        let (row, column, ranges) = self.row_and_column(is_input);
        // By output dimension: T2 is the last moved one, T1 is where the input's last moved one is in the
        // output.
        let t1 = packed.permutation.iter().position(|&dim| dim == rank - 2).unwrap_or(0);
        let mut inside = vec![Expr::ZERO; rank];
        inside[rank - 2] = row.clone();
        inside[rank - 3] = column.clone().floor_div(packed.t1);
        inside[t1] = match packed.a {
            1 => column.clone(),
            _ => column.clone().modulo(packed.t1),
        };
        if packed.a == 1 && t1 != rank - 3 {
            inside[rank - 3] = Expr::ZERO;
        }
        let in_output: Vec<Expr> = inside
            .into_iter()
            .zip(output_blocks)
            .zip(&output_tile)
            .map(|((i, b), &size)| b * size + i)
            .collect();
        let (results, sizes) = if is_input {
            let mut results = vec![Expr::ZERO; rank];
            for (&dim, result) in packed.permutation.iter().zip(in_output) {
                results[dim] = result;
            }
            (results, &packed.input)
        } else {
            (in_output, &packed.output)
        };
        let map = grid_map(&self.launch, &ranges, results)
            .with_constraint(row, Interval::from_size(packed.t2))
            .with_constraint(column, Interval::from_size(packed.a * packed.t1));
        map.compose(&bitcast_from_sizes(sizes, shape)).simplified(SimplifyMode::Replace)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::{check, check_reads_once};

    #[test]
    fn sixteen_bits() {
        let text = "p = bf16[2,66,70] parameter(0)\n ROOT t = bf16[2,70,66] transpose(p), dimensions={0,2,1}";
        check_reads_once(&check(text, "h100-sxm", "transpose t 8x128 +8192"));
    }

    #[test]
    fn eight_bits_and_a_dimension_between() {
        let text = "p = s8[48,3,40] parameter(0)\n ROOT t = s8[40,3,48] transpose(p), dimensions={2,1,0}";
        check_reads_once(&check(text, "h100-sxm", "transpose t 1x128 +16384"));
        check_reads_once(&check(text, "mi350", "transpose t 1x256 +16384"));
    }

    #[test]
    fn a_cycle() {
        let text =
            "p = s8[48,2,3,40] parameter(0)\n ROOT t = s8[40,3,2,48] transpose(p), dimensions={3,2,1,0}";
        check_reads_once(&check(text, "h100-sxm", "transpose t 6x128 +16384"));
    }
}
