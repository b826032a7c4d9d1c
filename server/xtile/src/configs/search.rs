//! The configurations that XLA's search looks at, ranked by XLA's model.

use gpu::{FusionAnalysis, best_tilings, estimate};
use indexing::Callees;
use ir::Opcode;
use rustc_hash::FxHashSet;

use super::dot_search::dot_configs;
use super::{ConfigFigures, TileConfig, dots, figures, with_config};
use crate::Reason;

/// The maximum number of ops over all configurations of a dot, which takes a tenth of a second.
const MAX_OPS: usize = 1 << 17;

/// At most `count` configurations with different tiles, the fastest first; or the reason why there is none.
/// Without dots: Source `TryFindTopKBestTilingsForFusion`, `service/gpu/model/gpu_indexing_performance_model.cc`.
/// With a dot: the search space of the GEMM autotuner, of which XLA itself measures a selection.
pub fn best_configs(
    name: &str,
    analysis: &FusionAnalysis,
    callees: &Callees<'_>,
    count: usize,
) -> Result<Vec<ConfigFigures>, Reason> {
    let ranked = match dots(&analysis.fused)[..] {
        [] => {
            let best = best_tilings(analysis, callees, count)?;
            let of = |best: gpu::RankedTiling| TileConfig {
                result: best.tile,
                contracted: Vec::new(),
                warps: best.warps,
                stages: 1,
            };
            best.into_iter().map(of).collect()
        }
        [dot] if analysis.fused.op(dot).opcode == Opcode::Dot => ranked_dots(analysis, callees, dot, count)?,
        [_] => return Err("XLA ranks configurations of scaled dots by running them alone".into()),
        _ => return Err("XLA searches no configuration for several dots".into()),
    };
    let mut best = Vec::with_capacity(ranked.len());
    let mut refused = None;
    for config in ranked {
        match figures(name, analysis, callees, &config) {
            Ok(figures) => best.push(figures),
            Err(why) => refused = Some(why),
        }
    }
    match refused {
        Some(why) if best.is_empty() => Err(why),
        _ => Ok(best),
    }
}

/// The fastest configurations of a dot. Of those with the same tiles, the first one: with the fewest warps and stages.
fn ranked_dots(
    analysis: &FusionAnalysis,
    callees: &Callees<'_>,
    dot: ir::OpId,
    count: usize,
) -> Result<Vec<TileConfig>, Reason> {
    let configs = dot_configs(analysis, dot)?;
    if configs.len().saturating_mul(analysis.fused.graph.ops.len()) > MAX_OPS {
        return Err("too many configurations to look at".into());
    }
    let mut timed = Vec::new();
    let mut problem = None;
    for config in configs {
        cancel::tick();
        let estimate = estimate(&with_config(analysis, &config)?, callees);
        match estimate.xla {
            Some(time) => timed.push((time.exec_us, config)),
            None => problem = estimate.not_modelled,
        }
    }
    if timed.is_empty() {
        return Err(problem.unwrap_or("XLA's search has no configuration").into());
    }
    timed.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut seen = FxHashSet::default();
    let differs = |config: &TileConfig| seen.insert((config.result.clone(), config.contracted.clone()));
    Ok(timed.into_iter().map(|(_, config)| config).filter(differs).take(count).collect())
}
