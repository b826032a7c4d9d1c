//! The backend configuration of fusions, as XLA prints it.
//!
//! Source: XLA `service/gpu/backend_configs.proto`.

use syntax::hlo::AttributeKey;

use crate::module::{InstructionId, Module};

/// Fields that every configuration has, before and behind that of the fusion.
const BEFORE: &str = "\"device_type\":\"DEVICE_TYPE_INVALID\",\"force_earliest_schedule\":false";
const BEHIND: &str = "\"operation_queue_id\":\"0\",\"reification_cost\":[]";

/// The tiles of a dot that Triton computes, and how a block computes them. Source: `AutotuneResult.TritonGemmKey`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GemmConfig {
    pub(super) rows: i64,
    pub(super) columns: i64,
    pub(super) contracted: i64,
    pub(super) stages: i64,
    pub(super) warps: i64,
    pub(super) is_tma_allowed: bool,
}

/// The tile of a result, and how a block computes it. Source: `BlockLevelFusionConfig`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BlockConfig {
    pub(super) tile: Vec<i64>,
    pub(super) stages: i64,
    pub(super) warps: i64,
    pub(super) is_tma_allowed: bool,
}

/// The configuration of a fusion of a kind.
pub(super) fn of_kind(kind: &str) -> String {
    around(&format!("\"kind\":\"{kind}\""))
}

/// The configuration of a dot's fusion, with the tiles of the dot.
pub(super) fn of_gemm(kind: &str, config: &GemmConfig) -> String {
    let GemmConfig { rows, columns, contracted, stages, warps, is_tma_allowed } = config;
    around(&format!(
        "\"kind\":\"{kind}\",\"triton_gemm_config\":{{\"block_k\":\"{contracted}\",\"block_m\":\"{rows}\",\
         \"block_n\":\"{columns}\",\"group_size\":\"1\",\"is_tma_allowed\":{is_tma_allowed},\
         \"is_warp_specialization_allowed\":false,\"num_ctas\":\"1\",\"num_stages\":\"{stages}\",\
         \"num_warps\":\"{warps}\",\"split_k\":\"0\",\"waves_per_eu\":\"0\"}}"
    ))
}

/// The configuration of a fusion with the tile of its result.
pub(super) fn of_block(kind: &str, config: &BlockConfig) -> String {
    let BlockConfig { tile, stages, warps, is_tma_allowed } = config;
    around(&format!(
        "\"block_level_fusion_config\":{{\"group_size\":0,\"is_tma_allowed\":{is_tma_allowed},\
         \"is_warp_specialization_allowed\":false,\"num_ctas\":1,\"num_stages\":{stages},\
         \"num_tiles_per_pid\":0,\"num_warps\":\"{warps}\",\"output_tiles\":[{}],\"waves_per_eu\":0}},\
         \"kind\":\"{kind}\"",
        of_tile(tile)
    ))
}

/// The sizes of a tile: `{"sizes":["16","8"]}`.
pub(super) fn of_tile(sizes: &[i64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(|size| format!("\"{size}\"")).collect();
    format!("{{\"sizes\":[{}]}}", sizes.join(","))
}

fn around(of_fusion: &str) -> String {
    format!("{{{BEFORE},\"fusion_backend_config\":{{{of_fusion}}},{BEHIND}}}")
}

/// The configuration of an instruction without spaces and quotes; empty where it has none.
pub(super) fn plain(module: &Module, id: InstructionId) -> String {
    gpu::plain_backend_config(module[id].attributes()).unwrap_or_default()
}

/// Whether a fusion is of a kind by its configuration.
pub(super) fn is_of_kind(module: &Module, id: InstructionId, kind: &str) -> bool {
    let text = plain(module, id);
    text.split("kind:")
        .skip(1)
        .any(|rest| rest.strip_prefix(kind).is_some_and(|rest| rest.starts_with([',', '}'])))
}

/// The tiles that a configuration states of a dot.
pub(super) fn gemm_config(module: &Module, fusion: InstructionId) -> Option<GemmConfig> {
    let text = plain(module, fusion);
    let (_, fields) = text.split_once("triton_gemm_config:{")?;
    let fields = &fields[..fields.find('}')?];
    let number = |key: &str| -> Option<i64> {
        let (_, rest) = fields.split_once(key)?;
        rest.split(',').next()?.parse().ok()
    };
    Some(GemmConfig {
        rows: number("block_m:")?,
        columns: number("block_n:")?,
        contracted: number("block_k:")?,
        stages: number("num_stages:")?,
        warps: number("num_warps:")?,
        is_tma_allowed: fields.contains("is_tma_allowed:true"),
    })
}

/// Gives an instruction a configuration.
pub(super) fn set(module: &mut Module, id: InstructionId, config: String) {
    module.attributes_mut(id).set(AttributeKey::BackendConfig, ir::AttributeValue::Text(config));
}
