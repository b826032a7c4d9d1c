//! Other block-level configurations of a Triton fusion: "what if the tiles were 64×128?"
//!
//! * [`TileConfig`]: tile sizes, warps and stages; [`TileConfig::of`] reads those of a fusion, and
//!   [`TileConfig::changed`] changes them as a user asks.
//! * [`with_config`]: the same fusion with another configuration.
//! * [`figures()`]: what a configuration costs, or why XLA refuses it.
//! * [`first_dot_config()`]: the one that XLA takes for a dot where it measures none.
//! * [`best_configs`]: the fastest ones by XLA's model, among those that XLA's search looks at.

mod dot_search;
mod figures;
mod first_dot_config;
mod search;

use std::fmt;

use gpu::{BlockLevel, Fused, FusionAnalysis, post_order, stated_steps};
use ir::{AttributeKey, AttributeValue, OpId, Opcode};

use crate::Reason;
use crate::space::power_of_two;

pub(crate) use figures::MAX_ELEMENTS;
pub use figures::{ConfigFigures, figures};
pub use first_dot_config::{DotConfig, first_dot_config};
pub use search::best_configs;

/// What decides the tiles of a Triton fusion and its launch.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TileConfig {
    /// The tile of the result, a size per dimension.
    pub result: Vec<i64>,
    /// The tiles of the dimensions that dots contract, dot after dot. Empty without dots.
    pub contracted: Vec<i64>,
    pub warps: i64,
    /// The number of steps of a loop whose operands are in flight at once.
    pub stages: i64,
}

/// A change of a configuration. What is absent stays.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ConfigChange {
    /// The tile of the result; behind it, those of the dimensions that dots contract, or nothing.
    pub tiles: Option<Vec<i64>>,
    pub warps: Option<i64>,
    pub stages: Option<i64>,
}

impl ConfigChange {
    /// The sizes in `64x128` or `64×128`.
    pub fn parse_tiles(text: &str) -> Result<Vec<i64>, String> {
        let size = |part: &str| part.trim().parse().ok().filter(|&size| size > 0);
        let sizes: Option<Vec<i64>> = text.split(['x', '×', ',']).map(size).collect();
        sizes.ok_or_else(|| format!("{text} is no list of sizes such as 64x128"))
    }
}

impl TileConfig {
    /// The configuration that a fusion states; `None` if it states no tiles.
    pub fn of(fused: &Fused) -> Option<TileConfig> {
        let level = fused.block_level.as_ref()?;
        let contracted =
            dots(fused).into_iter().map(|dot| contracted(fused, dot)).collect::<Option<Vec<_>>>()?;
        Some(TileConfig {
            result: level.output_tiles.first()?.clone(),
            contracted: contracted.concat(),
            warps: level.warps,
            stages: level.stages.max(1),
        })
    }

    /// The same with a change, or what is wrong with the change.
    pub fn changed(&self, change: &ConfigChange) -> Result<TileConfig, Reason> {
        let mut config = self.clone();
        if let Some(tiles) = &change.tiles {
            let rank = self.result.len();
            let (result, contracted) = tiles.split_at(rank.min(tiles.len()));
            let fits = contracted.is_empty() || contracted.len() == self.contracted.len();
            if result.len() != rank || !fits {
                let more = match self.contracted.len() {
                    0 => String::new(),
                    n => format!(", or {} with those of the contracted dimensions", rank + n),
                };
                return Err(
                    format!("{} tile sizes; the result has {rank} dimensions{more}", tiles.len()).into()
                );
            }
            if let Some(size) = tiles.iter().find(|&&size| size < 1) {
                return Err(format!("a tile size of {size}").into());
            }
            config.result = result.to_vec();
            if !contracted.is_empty() {
                config.contracted = contracted.to_vec();
            }
        }
        if let Some(warps) = change.warps {
            if !(1..=MAX_WARPS).contains(&warps) || !(warps as u64).is_power_of_two() {
                return Err(format!("{warps} warps; Triton takes a power of two up to {MAX_WARPS}").into());
            }
            config.warps = warps;
        }
        if let Some(stages) = change.stages {
            if !(1..=MAX_STAGES).contains(&stages) {
                return Err(format!("{stages} stages; 1 to {MAX_STAGES} are understood").into());
            }
            config.stages = stages;
        }
        Ok(config)
    }

    /// Whether both give the same kernel: Triton's tiles are powers of two.
    pub fn is_same_kernel(&self, other: &TileConfig) -> bool {
        let padded = |config: &TileConfig| {
            let sizes = config.result.iter().chain(&config.contracted);
            sizes.map(|&size| power_of_two(size)).collect::<Vec<_>>()
        };
        let own = (self.result.len(), self.warps, self.stages);
        own == (other.result.len(), other.warps, other.stages) && padded(self) == padded(other)
    }

    /// `64×128`, behind it the contracted sizes: `64×128, k 32`.
    pub fn tiles(&self) -> String {
        let sizes = |sizes: &[i64]| sizes.iter().map(i64::to_string).collect::<Vec<_>>().join("×");
        let result = if self.result.is_empty() { "one number".to_owned() } else { sizes(&self.result) };
        match &self.contracted[..] {
            [] => result,
            contracted => format!("{result}, k {}", sizes(contracted)),
        }
    }
}

/// `64×128, k 32, 4 warps, 3 stages`
impl fmt::Display for TileConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |n: i64, unit: &str| format!("{n} {unit}{}", if n == 1 { "" } else { "s" });
        write!(f, "{}, {}, {}", self.tiles(), counted(self.warps, "warp"), counted(self.stages, "stage"))
    }
}

/// The maximum number of warps of a block, on any device.
const MAX_WARPS: i64 = 64;

const MAX_STAGES: i64 = 64;

/// The dots of a fusion, operands first.
pub fn dots(fused: &Fused) -> Vec<OpId> {
    let is_dot = |&id: &OpId| matches!(fused.op(id).opcode, Opcode::Dot | Opcode::ScaledDot);
    post_order(&fused.graph).into_iter().filter(is_dot).collect()
}

/// The tiles of the dimensions that a dot contracts: those that it states, else the whole dimensions.
fn contracted(fused: &Fused, dot: OpId) -> Option<Vec<i64>> {
    let op = fused.op(dot);
    let dims = op.operand_shapes.first()?.dims();
    let whole = op.attributes.ints(AttributeKey::LhsContractingDims).iter();
    let whole =
        whole.map(|&dim| dims.get(usize::try_from(dim).ok()?).copied()).collect::<Option<Vec<i64>>>()?;
    match stated_steps(&op.attributes) {
        Some(stated) if stated.len() == whole.len() => Some(stated),
        _ => Some(whole),
    }
}

/// The fusion with another configuration, analysed again.
pub fn with_config(analysis: &FusionAnalysis, config: &TileConfig) -> Result<FusionAnalysis, Reason> {
    let mut fused = analysis.fused.clone();
    let level = fused.block_level.as_ref();
    fused.block_level = Some(BlockLevel {
        output_tiles: vec![config.result.clone(); level.map_or(1, |level| level.output_tiles.len())],
        warps: config.warps,
        stages: config.stages,
        tiles_per_block: level.map_or(1, |level| level.tiles_per_block),
        is_specialized: level.is_some_and(|level| level.is_specialized),
        is_tma_allowed: level.is_some_and(|level| level.is_tma_allowed),
    });
    let mut rest = &config.contracted[..];
    for dot in dots(&fused) {
        let count = fused.op(dot).attributes.ints(AttributeKey::LhsContractingDims).len();
        let Some((sizes, others)) = rest.split_at_checked(count) else {
            return Err("fewer tile sizes than dimensions that dots contract".into());
        };
        rest = others;
        let sizes: Vec<String> = sizes.iter().map(|size| format!("\"{size}\"")).collect();
        let text = format!("{{\"sizes\":[{}]}}", sizes.join(","));
        let op = fused.graph.ops.get_mut(dot as usize).ok_or("a dot that is not in the computation")?;
        op.attributes.set(AttributeKey::BackendConfig, AttributeValue::Text(text));
    }
    FusionAnalysis::new(fused, analysis.device)
}
