//! The transpose emitter: tiles are read into shared memory along the input's rows and written along the output's.

use indexing::IndexingMap;
use indexing_map::{Expr, SimplifyMode, ceil_div};
use ir::{ElementTypeExt, OpId};

use super::Context;
use crate::Reason;
use crate::heroes::tiling;
use crate::launch::{Launch, product};
use crate::thread_map::{
    BL_X, RANGES, TH_X, bitcast, bitcast_from_sizes, delinearize, grid_map, in_bounds, then,
};
use crate::transpose::{Normalized, TILE, Tiling, permuted};

/// Source: `backends/gpu/codegen/emitters/transpose.cc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransposeEmitter {
    pub launch: Launch,
    pub transpose: Normalized,
    pub keeps_minor: bool,
    /// The number of neighbouring elements that a thread moves at once.
    pub vector: i64,
    /// The number of rows of a tile that the threads of a block move at once.
    pub rows: i64,
    /// The size of a tile in the dimensions that are swapped.
    pub block: i64,
    /// The sizes of a tile, by the input's dimensions.
    pub tile: Vec<i64>,
    /// The number of tiles, by the input's dimensions.
    pub blocks: Vec<i64>,
}

/// The number of rows that a block moves at once, one per warp. AMD's blocks have 256 threads.
const ROWS: i64 = 4;
const ROCM_ROWS: i64 = 8;
/// The maximum number of bytes that a thread moves at once.
const VECTOR_BYTES: i64 = 4;
const ROCM_VECTOR_BYTES: i64 = 16;

/// Whether the hero of the root is a transpose that goes through shared memory.
pub(super) fn has_tiled_hero(context: &Context<'_>, root: usize) -> bool {
    tiling(context.fused, context.heroes[root]).is_some()
}

impl TransposeEmitter {
    pub(super) fn new(context: &Context<'_>) -> Result<TransposeEmitter, Reason> {
        // Each transpose once, whether or not several roots share it as their hero.
        let mut heroes: Vec<OpId> = context.heroes.to_vec();
        heroes.retain(|&hero| tiling(context.fused, hero).is_some());
        heroes.sort_unstable();
        heroes.dedup();
        let first = heroes.first().and_then(|&hero| tiling(context.fused, hero));
        let (transpose, keeps_minor) = match first {
            Some(Tiling::KeptMinor(normal)) => (normal, true),
            Some(Tiling::Swapped(normal)) => (normal, false),
            _ => return Err("no transpose goes through shared memory".into()),
        };
        let is_rocm = context.device.is_rocm();
        let rows = if is_rocm { ROCM_ROWS } else { ROWS };
        let bits: Vec<i64> = heroes.iter().map(|&hero| hero_bits(context, hero)).collect();
        let mut emitter = TransposeEmitter {
            launch: Launch::linear(1, TILE * rows),
            transpose,
            keeps_minor,
            vector: 1,
            rows,
            block: TILE,
            tile: Vec::new(),
            blocks: Vec::new(),
        };
        if keeps_minor {
            emitter.set_vector(emitter.transpose.output.last().copied().unwrap_or(1));
        } else {
            let widest = bits.iter().copied().max().unwrap_or(8);
            let bytes = ceil_div(widest, 8).unwrap_or(1).max(1);
            emitter.choose_vector(
                context,
                (if is_rocm { ROCM_VECTOR_BYTES } else { VECTOR_BYTES }) / bytes,
                &bits,
            );
        }
        let shared = bits.iter().map(|&bits| emitter.shared_bytes(bits)).sum();
        emitter.launch = Launch::linear(product(&emitter.blocks)?, TILE * rows).with_shared_bytes(shared);
        Ok(emitter)
    }

    /// Chooses the widest vector with which the device stays full, the tiles fit, and no vector crosses an
    /// edge.
    fn choose_vector(&mut self, context: &Context<'_>, widest: i64, bits: &[i64]) {
        let device = context.device;
        self.set_vector(1);
        let threads = product(&self.blocks).unwrap_or(i64::MAX).saturating_mul(TILE * self.rows);
        let tiles: i64 = bits.iter().map(|&bits| self.shared_bytes(bits)).sum();
        let minor = [self.transpose.input.last(), self.transpose.output.last()];
        let mut vector = widest.max(1);
        while vector > 1 {
            let is_full = threads >= (vector * vector).saturating_mul(device.threads());
            let fits = tiles.saturating_mul(vector * vector) <= device.shared_memory_per_block;
            let divides = minor.iter().flatten().all(|size| **size % vector == 0);
            if is_full && fits && divides {
                break;
            }
            vector /= 2;
        }
        self.set_vector(vector);
    }

    fn set_vector(&mut self, vector: i64) {
        let Normalized { input, permutation, .. } = &self.transpose;
        let rank = input.len();
        self.vector = vector;
        self.tile = vec![1; rank];
        if self.keeps_minor {
            self.block = TILE;
            self.tile[rank - 1] = vector;
            self.tile[rank - 2] = self.block;
            self.tile[permutation[rank - 2]] = self.block;
        } else {
            self.block = TILE * vector;
            self.tile[rank - 1] = self.block;
            self.tile[permutation[rank - 1]] = self.block;
        }
        let counts = input.iter().zip(&self.tile).map(|(&size, &tile)| ceil_div(size, tile).unwrap_or(1));
        self.blocks = counts.collect();
    }

    /// Sizes of a tile in shared memory.
    pub fn shared_dims(&self) -> Vec<i64> {
        let mut dims = vec![self.block, self.block + 1];
        dims.extend(self.keeps_minor.then_some(self.vector));
        dims
    }

    /// The position in shared memory of the element that a thread reads from the input (`is_input`) or writes
    /// to the output: from the variables of the thread map to an index into [`Self::shared_dims`].
    pub fn shared_index(&self, is_input: bool) -> Vec<Expr> {
        let permutation = &self.transpose.permutation;
        let rank = permutation.len();
        let tile = if is_input { self.tile.clone() } else { permuted(&self.tile, permutation) };
        let at_once = TILE * self.rows * self.vector;
        let linear = Expr::var(RANGES) * at_once + Expr::var(TH_X) * self.vector + Expr::var(RANGES + 1);
        let inside = delinearize(&linear, &tile);
        // By the input's dimensions.
        let of = |dim: usize| match is_input {
            true => inside[dim].clone(),
            false => {
                let at = permutation.iter().position(|&from| from == dim);
                at.map_or(Expr::ZERO, |at| inside[at].clone())
            }
        };
        let moved = if self.keeps_minor { rank - 2 } else { rank - 1 };
        let mut index = vec![of(moved), of(permutation[moved])];
        index.extend(self.keeps_minor.then(|| of(rank - 1)));
        index
    }

    /// Bytes of a tile in shared memory; an additional column spreads each column over the banks.
    fn shared_bytes(&self, bits: i64) -> i64 {
        let minor = if self.keeps_minor { self.vector } else { 1 };
        ceil_div(self.block * (self.block + 1) * minor * bits, 8).unwrap_or(0)
    }
}

impl TransposeEmitter {
    /// Maps threads to the elements of `shape`, the input's or the output's, that they move.
    pub fn moved(&self, is_input: bool, shape: &ir::Shape) -> IndexingMap {
        self.tile_map(is_input, shape)
    }
}

impl Tiles for TransposeEmitter {
    fn tile_map(&self, is_input: bool, shape: &ir::Shape) -> IndexingMap {
        let order = |values: &[i64]| match is_input {
            true => values.to_vec(),
            false => permuted(values, &self.transpose.permutation),
        };
        let tile = order(&self.tile);
        let blocks = delinearize(&Expr::var(BL_X), &self.blocks);
        let blocks = if is_input { blocks } else { permuted(&blocks, &self.transpose.permutation) };
        let sizes = if is_input { &self.transpose.input } else { &self.transpose.output };
        let at_once = TILE * self.rows * self.vector;
        let linear = Expr::var(RANGES) * at_once + Expr::var(TH_X) * self.vector + Expr::var(RANGES + 1);
        let inside = delinearize(&linear, &tile);
        let results = blocks.into_iter().zip(inside).zip(&tile).map(|((b, i), &size)| b * size + i).collect();
        let map = grid_map(&self.launch, &[self.block / self.rows, self.vector], results);
        let map = in_bounds(map, sizes);
        map.compose(&bitcast_from_sizes(sizes, shape)).simplified(SimplifyMode::Replace)
    }
}

/// The common interface of the transpose emitters. Each defines how threads map to the elements of their
/// tiles.
pub(super) trait Tiles {
    /// Maps threads to the elements of the input (`is_input`) or of the output, indexed as in `shape`.
    fn tile_map(&self, is_input: bool, shape: &ir::Shape) -> IndexingMap;

    fn thread_to_output(&self, context: &Context<'_>, root: usize) -> IndexingMap {
        let hero = context.fused.op(context.heroes[root]);
        if has_tiled_hero(context, root) {
            return context.on_to_root(self.tile_map(false, &hero.shape), root);
        }
        self.beside(context, root)
    }

    /// The map of other results, which are written at the indices that the transposes read.
    fn beside(&self, context: &Context<'_>, root: usize) -> IndexingMap {
        let input = input_shape(context);
        then(&self.tile_map(true, &input), &bitcast(&input, context.fused.root_shape(root)))
    }

    fn thread_to_input(&self, context: &Context<'_>, root: usize) -> Vec<IndexingMap> {
        let hero = context.heroes[root];
        if has_tiled_hero(context, root) {
            return vec![self.tile_map(true, &context.fused.op(hero).operand_shapes[0])];
        }
        context.through_operands(&self.beside(context, root), context.fused.roots[root])
    }
}

/// The shape that the first transpose reads.
pub(super) fn input_shape(context: &Context<'_>) -> ir::Shape {
    let first = (0..context.heroes.len()).find(|&root| has_tiled_hero(context, root)).unwrap_or(0);
    context.fused.op(context.heroes[first]).operand_shapes[0].clone()
}

pub(super) fn hero_bits(context: &Context<'_>, hero: OpId) -> i64 {
    context.fused.op(hero).shape.element().and_then(|e| e.bits()).map_or(8, i64::from)
}

#[cfg(test)]
mod tests {
    use crate::fixture::{check, check_reads_once};

    #[test]
    fn minor_dimension_moves() {
        let text = "\
p = f32[2,33,70] parameter(0)
 e = f32[2,33,70] exponential(p)
            t = f32[2,70,33] transpose(e), dimensions={0,2,1}
 ROOT a = f32[2,70,33] abs(t)";
        check_reads_once(&check(text, "h100-sxm", "transpose t 12x128 +4224"));
        check_reads_once(&check(text, "mi350", "transpose t 12x256 +4224"));
    }

    #[test]
    fn minor_dimension_stays() {
        let text = "p = f32[40,50,2] parameter(0)\n ROOT t = f32[50,40,2] transpose(p), dimensions={1,0,2}";
        check_reads_once(&check(text, "h100-sxm", "transpose t 4x128 +8448"));
    }

    #[test]
    fn other_results_are_written_where_it_reads() {
        let text = "\
p = f32[40,50] parameter(0)
 t = f32[50,40] transpose(p), dimensions={1,0}
            n = f32[40,50] negate(p)
 ROOT r = (f32[50,40], f32[40,50]) tuple(t, n)";
        check_reads_once(&check(text, "h100-sxm", "transpose t 4x128 +4224"));
    }

    #[test]
    fn small_and_narrow_ones_are_loops() {
        let text = "p = f32[8,50] parameter(0)\n ROOT t = f32[50,8] transpose(p), dimensions={1,0}";
        check(text, "h100-sxm", "loop t 4x128");
    }
}
