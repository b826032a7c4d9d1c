//! The configurations of a dot among which XLA's GEMM autotuner searches.
//! Source: `backends/gpu/autotuner/triton/dot_search_space.cc`.

use gpu::{Device, Fused, FusionAnalysis, Platform};
use indexing_map::ceil_div;
use ir::{AttributeKey, ElementTypeExt, OpId, Opcode};

use super::{DotConfig, TileConfig};
use crate::Reason;
use crate::space::power_of_two;

/// The maximum number of stages.
const WARPS_PER_SCHEDULER: i64 = 5;
const SCHEDULERS_PER_CORE: i64 = 4;

/// The number of warps per scheduler that large tiles must give. Observed in XLA's output: 591 tiles are enough for 132 cores. The source
/// has the 5 of above.
const ENOUGH_WARPS_PER_SCHEDULER: i64 = 4;

/// Warps of a block where matrix instructions of warp groups are used, and where they are not.
const WARPS_OF_GROUP: i64 = 4;
const LEAST_WARPS: i64 = 2;

/// The least size of a contracted tile, in elements and in bits.
const LEAST_CONTRACTED: i64 = 16;
const LEAST_CONTRACTED_BITS: i64 = 128;

/// Of so many tiles, XLA drops those of which the result has fewer than there are cores.
const MANY_TILES: usize = 24;

/// A dot of two matrices, or of a batch of them.
pub(super) struct Problem<'a> {
    device: &'a Device,
    /// Rows, columns, the contracted size.
    sizes: [i64; 3],
    batch: i64,
    operand_bits: i64,
    result_bits: i64,
    /// Whether an op that is expensive per element is computed for the operand.
    is_expensive: [bool; 2],
}

/// All configurations, in XLA's order. The result of the fusion must have the dimensions of the dot.
pub(super) fn dot_configs(analysis: &FusionAnalysis, dot: OpId) -> Result<Vec<TileConfig>, Reason> {
    let fused = &analysis.fused;
    let problem = Problem::of(fused, analysis.device, dot).ok_or("a dot of more than two free dimensions")?;
    let dims = fused.op(dot).shape.dims();
    if fused.roots.first().is_none_or(|&root| fused.op(root).shape.dims() != dims) {
        return Err("the result has other dimensions than the dot".into());
    }
    let config = |config: DotConfig| {
        let mut result = vec![1; dims.len() - 2];
        result.extend(config.result);
        let DotConfig { contracted, warps, stages, .. } = config;
        TileConfig { result, contracted: vec![contracted], warps, stages }
    };
    Ok(problem.configs().map(config).collect())
}

impl<'a> Problem<'a> {
    pub(super) fn of(fused: &Fused, device: &'a Device, dot: OpId) -> Option<Problem<'a>> {
        let op = fused.op(dot);
        let [left, right] = [op.operand_shapes.first()?, op.operand_shapes.get(1)?];
        let batch = op.attributes.ints(AttributeKey::LhsBatchDims);
        let [contracted] = op.attributes.ints(AttributeKey::LhsContractingDims) else { return None };
        let dims = op.shape.dims();
        let (batches, &[rows, columns]) = dims.split_at_checked(batch.len())? else { return None };
        let contracted = *left.dims().get(usize::try_from(*contracted).ok()?)?;
        let bits = |shape: &ir::Shape| Some(i64::from(shape.element()?.bits()?));
        right.element()?;
        let operands = fused.operands(dot);
        let is_expensive =
            [0, 1].map(|at| operands.get(at).is_some_and(|&of| computes_expensively(fused, of)));
        Some(Problem {
            device,
            sizes: [rows, columns, contracted].map(|size| size.max(1)),
            batch: batches.iter().try_fold(1i64, |n, &size| n.checked_mul(size))?,
            operand_bits: bits(left)?,
            result_bits: bits(&op.shape)?,
            is_expensive,
        })
    }

    /// All configurations without bulk copies, in XLA's order.
    pub(super) fn configs(&self) -> impl Iterator<Item = DotConfig> + '_ {
        self.tiles().into_iter().flat_map(move |result| {
            powers(self.least_warps(), self.most_warps(result)).flat_map(move |warps| {
                let (from, to) = self.contracted_range(result);
                powers(from, to).flat_map(move |contracted| {
                    (1..=self.most_stages(result, contracted)).map(move |stages| DotConfig {
                        result,
                        contracted,
                        warps,
                        stages,
                        is_tma_allowed: false,
                    })
                })
            })
        })
    }

    /// The smallest and the largest tile of the result that XLA looks at.
    pub(super) fn tile_range(&self) -> ([i64; 2], [i64; 2]) {
        let least = if self.wants_groups() { [64, 8] } else { [16, 8] };
        let largest = self.largest();
        (least, [least[0].max(largest[0]), least[1].max(largest[1])])
    }

    /// The smallest and the largest tile of the contracted dimension.
    pub(super) fn contracted_range(&self, tile: [i64; 2]) -> (i64, i64) {
        (self.least_contracted(), self.most_contracted(tile))
    }

    /// The largest tile of the result: as many elements as a block has registers, and no larger than the result.
    fn largest(&self) -> [i64; 2] {
        let registers = self.device.registers_per_block.unwrap_or(1 << 16);
        let elements = (registers * 32 / self.result_bits.max(1)).max(1);
        let other = |size: i64| previous_power(elements / size);
        let limits = [self.sizes[0], self.sizes[1]].map(next_power);
        let rows = previous_power((elements as f64).sqrt() as i64);
        let mut tile = [rows, other(rows)];
        if limits[0] < tile[0] {
            tile = [limits[0], other(limits[0]).min(limits[1])];
        }
        if limits[1] < tile[1] {
            tile = [other(limits[1]).min(limits[0]), limits[1]];
        }
        tile
    }

    fn tiles_of_result(&self, tile: [i64; 2]) -> i64 {
        let along = |dim: usize| ceil_div(self.sizes[dim], tile[dim]).unwrap_or(i64::MAX);
        self.batch.saturating_mul(along(0)).saturating_mul(along(1))
    }

    /// Whether even the largest tiles leave cores without enough warps.
    fn is_small(&self) -> bool {
        let warps = ENOUGH_WARPS_PER_SCHEDULER * SCHEDULERS_PER_CORE * self.device.cores;
        warps / WARPS_OF_GROUP > self.tiles_of_result(self.largest())
    }

    /// Whether XLA wants matrix instructions of groups of warps.
    fn wants_groups(&self) -> bool {
        matches!(self.device.platform, Platform::Cuda { major, .. } if major >= 9) && !self.is_small()
    }

    /// Tiles of the result: from the least that matrix instructions take, close to squares where there are any.
    fn tiles(&self) -> Vec<[i64; 2]> {
        let (least, most) = self.tile_range();
        let mut tiles = Vec::new();
        for rows in powers(least[0], most[0]) {
            let (mut from, mut to) = (least[1], most[1]);
            if rows < self.sizes[0] && rows / 2 <= to && from <= rows * 2 {
                // A large tile of the other operand computes an expensive op less often.
                if !self.is_expensive[1] {
                    from = from.max(rows / 2);
                }
                if !self.is_expensive[0] {
                    to = to.min(rows * 2);
                }
            }
            tiles.extend(powers(from, to).map(|columns| [rows, columns]));
        }
        if tiles.len() >= MANY_TILES {
            tiles.retain(|&tile| self.tiles_of_result(tile) >= self.device.cores);
        }
        // A result that is too small for all cores.
        if tiles.is_empty() { vec![least] } else { tiles }
    }

    fn least_warps(&self) -> i64 {
        if self.operand_bits < 32 && self.wants_groups() { WARPS_OF_GROUP } else { LEAST_WARPS }
    }

    /// One matrix instruction of 16×8 for each warp.
    fn most_warps(&self, [rows, columns]: [i64; 2]) -> i64 {
        let most = self.device.threads_per_block_limit / self.device.threads_per_warp.max(1);
        let instructions = ((rows + 15) / 16).saturating_mul((columns + 7) / 8);
        most.min(instructions).max(self.least_warps())
    }

    fn least_contracted(&self) -> i64 {
        LEAST_CONTRACTED.max(LEAST_CONTRACTED_BITS / self.operand_bits.max(1))
    }

    /// The contracted size with which the operands of one step fill the shared memory. XLA takes the bits of
    /// the result's elements for those of the operands.
    fn contracted_that_fits(&self, [rows, columns]: [i64; 2]) -> i64 {
        let bytes = self.device.shared_memory_per_block_optin;
        8 * bytes / self.result_bits.max(1) / (rows + columns).max(1)
    }

    fn most_contracted(&self, tile: [i64; 2]) -> i64 {
        let fits = previous_power(self.contracted_that_fits(tile));
        next_power(self.sizes[2]).min(fits).max(self.least_contracted())
    }

    fn most_stages(&self, tile: [i64; 2], contracted: i64) -> i64 {
        let steps = ceil_div(self.sizes[2], contracted).unwrap_or(1);
        let fits = ceil_div(self.contracted_that_fits(tile), contracted).unwrap_or(1).max(1);
        steps.min(fits).min(WARPS_PER_SCHEDULER)
    }
}

/// Whether an op like a logarithm is among those that compute a value. Source: `HasExpensiveTransitiveParent`.
fn computes_expensively(fused: &Fused, of: OpId) -> bool {
    use Opcode::*;
    let mut seen = vec![false; fused.graph.ops.len()];
    let mut work = vec![of];
    while let Some(id) = work.pop() {
        if std::mem::replace(&mut seen[id as usize], true) {
            continue;
        }
        let is_expensive = matches!(
            fused.op(id).opcode,
            Atan2
                | Cosine
                | Exponential
                | ExponentialMinusOne
                | Log
                | LogPlusOne
                | Logistic
                | Power
                | Rsqrt
                | Sine
                | Sqrt
                | Tan
                | Tanh
        );
        if is_expensive && fused.is_inside(id) {
            return true;
        }
        work.extend(fused.operands(id));
    }
    false
}

/// `from`, doubled as long as it is at most `to`.
fn powers(from: i64, to: i64) -> impl Iterator<Item = i64> {
    std::iter::successors(Some(from), |&size| size.checked_mul(2)).take_while(move |&size| size <= to)
}

fn next_power(size: i64) -> i64 {
    power_of_two(size).unwrap_or(1 << 62)
}

/// The largest power of two that is at most `size`; 1 for zero.
fn previous_power(size: i64) -> i64 {
    1 << size.max(1).ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tiles and warps of a product of matrices on an H100; `left` is an op on the left operand.
    fn configs(rows: i64, columns: i64, contracted: i64, element: &str, left: &str) -> Vec<TileConfig> {
        let module = format!(
            "HloModule m\nfused {{\n p = {element}[{rows},{contracted}] parameter(0)\n e = {element}[{rows},{contracted}] \
             {left}(p)\n q = {element}[{contracted},{columns}] parameter(1)\n ROOT d = {element}[{rows},{columns}] dot(e, q), \
             lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n}}\n"
        );
        let graphs = ir::graphs_of_text(&module);
        let (_, graph) = graphs.iter().find(|(name, _)| name == "fused").expect("a computation");
        let fused = Fused::of_fusion(&ir::Op::leaf(ir::Shape::Token), graph, &|_| None).expect("a fusion");
        let analysis =
            FusionAnalysis::new(fused, Device::find("h100-sxm").expect("a device")).expect("a kernel");
        dot_configs(&analysis, super::super::dots(&analysis.fused)[0]).expect("configurations")
    }

    /// What the tests of XLA's search space state of an H100.
    #[test]
    fn the_space_is_that_of_xla() {
        let has = |configs: &[TileConfig], rows: i64, columns: std::ops::RangeInclusive<i64>, warps: i64| {
            configs.iter().any(|c| c.result[0] == rows && columns.contains(&c.result[1]) && c.warps == warps)
        };
        let square = configs(1024, 1024, 1024, "f16", "negate");
        let columns = |rows| square.iter().filter(move |c| c.result[0] == rows).map(|c| c.result[1]);
        assert_eq!((columns(64).min(), columns(64).max()), (Some(32), Some(128)));
        assert!(square.iter().all(|c| (16..=256).contains(&c.result[0]) && (8..=512).contains(&c.result[1])));
        assert!(
            square
                .iter()
                .all(|c| (2..=32).contains(&c.warps) && (1..=5).contains(&c.stages) && c.contracted[0] >= 16)
        );
        let large = configs(4096, 4096, 1024, "f16", "negate");
        assert!(has(&large, 64, 32..=32, 4) && has(&large, 64, 64..=64, 8));
        // Matrix instructions of groups of four warps, and of 64 rows.
        let huge = configs(16384, 16384, 1024, "f16", "negate");
        assert!(huge.iter().all(|c| c.warps >= 4 && c.result[0] >= 64));
        assert!(has(&configs(8192, 8192, 1024, "f32", "negate"), 64, 32..=32, 2));
        let expensive = configs(1024, 4096, 4096, "f16", "exponential");
        assert!(expensive.iter().any(|c| c.result[1] > 2 * c.result[0]), "less often on the left");
        let tiny = configs(12, 8, 16, "f16", "negate");
        assert!(!tiny.is_empty() && tiny.iter().all(|c| c.result[0] >= 16 && c.result[1] >= 8));
        assert!(configs(1024, 15, 1024, "f16", "negate").iter().any(|c| c.result[1] == 16));
    }
}
