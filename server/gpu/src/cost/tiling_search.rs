//! The tilings that XLA would choose for a block-level fusion: the fastest ones by its model.

use indexing::Callees;

use super::KernelTime;
use super::tiled::{TiledKernel, Tiles};
use crate::fusion_analysis::FusionAnalysis;

/// The maximum number of op tiles over all tilings, which takes a tenth of a second. A result of four
/// dimensions of 1024 elements has 14641 tilings.
const MAX_TILES: usize = 1 << 22;

/// A tiling with its time.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedTiling {
    /// The tile of the result, a size per dimension; behind it, those of the dimensions that dots contract.
    pub tile: Vec<i64>,
    /// As many as XLA takes for the largest tile.
    pub warps: i64,
    pub time: KernelTime,
}

/// At most `count` tilings, the fastest first, and of equally fast ones that with smaller first sizes; or the
/// reason why there is none.
/// Source: `TryFindTopKBestTilingsForFusion`, `service/gpu/model/gpu_indexing_performance_model.cc`.
pub fn best_tilings(
    analysis: &FusionAnalysis,
    callees: &Callees<'_>,
    count: usize,
) -> Result<Vec<RankedTiling>, &'static str> {
    let kernel = TiledKernel::of(analysis, callees)?;
    let dims = kernel.dimensions();
    let choices: Vec<Vec<i64>> = dims.iter().map(|&size| sizes(size)).collect();
    let tilings = choices.iter().try_fold(1usize, |n, sizes| n.checked_mul(sizes.len()));
    let tiles = tilings.and_then(|tilings| tilings.checked_mul(kernel.tile_count()));
    if tiles.is_none_or(|tiles| tiles > MAX_TILES) {
        return Err("too many tilings to look at");
    }
    let mut best: Vec<(Vec<i64>, KernelTime)> = Vec::with_capacity(count + 1);
    let mut at = vec![0; dims.len()];
    let (mut tile, mut tiles) = (Vec::with_capacity(dims.len()), Tiles::default());
    loop {
        cancel::tick();
        tile.clear();
        tile.extend(at.iter().zip(&choices).map(|(&i, sizes)| sizes[i]));
        if let Ok(time) = kernel.time_at(&tile, None, &mut tiles) {
            let place = best.partition_point(|(_, other)| other.exec_us <= time.exec_us);
            if place < count {
                best.insert(place, (tile.clone(), time));
                best.truncate(count);
            }
        }
        let Some(dim) = (0..dims.len()).rev().find(|&dim| at[dim] + 1 < choices[dim].len()) else { break };
        at[dim] += 1;
        at[dim + 1..].fill(0);
    }
    if best.is_empty() {
        return Err("no tiling fits");
    }
    let ranked = best.into_iter().map(|(tile, time)| {
        let warps = kernel.warps_at(&tile)?;
        Ok(RankedTiling { tile, warps, time })
    });
    ranked.collect()
}

/// Powers of two below the size, and the size.
fn sizes(size: i64) -> Vec<i64> {
    let powers = (0..62).map(|power| 1i64 << power).take_while(|&power| power < size);
    powers.chain([size.max(1)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    const ROWS: &str = "\
p = f32[512,1000] parameter(0)
 z = f32[] constant(0)
 r = f32[512] reduce(p, z), dimensions={1}, to_apply=add
 b = f32[512,1000] broadcast(r), dimensions={0}
 ROOT d = f32[512,1000] divide(p, b)";

    /// The ranking is that of all tilings, whatever the number that is asked for.
    #[test]
    fn the_fastest_come_first() {
        let analysis = fixture::analysis(ROWS, "h100-sxm").unwrap();
        let ranked = |count| best_tilings(&analysis, &fixture::callees(), count).unwrap();
        let all = ranked(1000);
        assert!(all.len() > 20, "{}", all.len());
        assert!(all.is_sorted_by(|a, b| a.time.exec_us <= b.time.exec_us));
        assert_eq!(ranked(3), all[..3]);
        let kernel = TiledKernel::of(&analysis, &fixture::callees()).unwrap();
        for one in &all {
            let again = kernel.time_at(&one.tile, None, &mut Tiles::default());
            assert_eq!(again.as_ref(), Ok(&one.time), "{:?}", one.tile);
            assert_eq!(kernel.warps_at(&one.tile), Ok(one.warps));
        }
    }

    #[test]
    fn what_has_no_tiling() {
        let check = |text: &str, expect: &str| {
            let analysis = fixture::analysis(text, "h100-sxm").unwrap();
            assert_eq!(best_tilings(&analysis, &fixture::callees(), 1), Err(expect));
        };
        let wide = "f32[64,64,64,64,64,64,64,64]";
        check(&format!("p = {wide} parameter(0)\n ROOT n = {wide} negate(p)"), "too many tilings to look at");
        let two = "p = f32[8] parameter(0)\n n = f32[8] negate(p)\n a = f32[8] abs(p)\n ROOT t = (f32[8], f32[8]) tuple(n, a)";
        check(two, "a Triton fusion with several results");
    }
}
