//! The tiling that XLA would choose for a block-level fusion: the fastest one.

use indexing::Callees;

use crate::cost::TiledKernel;
use crate::fusion_analysis::FusionAnalysis;

/// The maximum number of op tiles over all tilings, which takes a tenth of a second. A result of four
/// dimensions of 1024 elements has 14641 tilings.
const MAX_TILES: usize = 1 << 17;

/// The time of the best tiling in microseconds, or the reason why there is none.
/// Source: `TryFindBestTilingForFusion`, `service/gpu/model/gpu_indexing_performance_model.cc`.
pub(super) fn best_time(analysis: &FusionAnalysis, callees: &Callees<'_>) -> Result<f64, &'static str> {
    let [root] = analysis.fused.roots[..] else { return Err("a fusion with several results") };
    let kernel = TiledKernel::of(analysis, root)?;
    let dims = analysis.fused.op(root).shape.dims();
    let choices: Vec<Vec<i64>> = dims.iter().map(|&size| sizes(size)).collect();
    let count = choices.iter().try_fold(1usize, |n, sizes| n.checked_mul(sizes.len()));
    let tiles = count.and_then(|count| count.checked_mul(analysis.fused.graph.ops.len()));
    if tiles.is_none_or(|tiles| tiles > MAX_TILES) {
        return Err("too many tilings to look at");
    }
    let mut best: Option<f64> = None;
    let mut at = vec![0; dims.len()];
    loop {
        let tile: Vec<i64> = at.iter().zip(&choices).map(|(&i, sizes)| sizes[i]).collect();
        if let Ok(time) = kernel.time_at(&tile, None, callees) {
            best = Some(best.map_or(time.exec_us, |best| best.min(time.exec_us)));
        }
        let Some(dim) = (0..dims.len()).rev().find(|&dim| at[dim] + 1 < choices[dim].len()) else { break };
        at[dim] += 1;
        at[dim + 1..].fill(0);
    }
    best.ok_or("no tiling fits")
}

/// Powers of two below the size, and the size.
fn sizes(size: i64) -> Vec<i64> {
    let powers = (0..62).map(|power| 1i64 << power).take_while(|&power| power < size);
    powers.chain([size.max(1)]).collect()
}
