//! The tiling that the text of a block-level fusion states.

use ir::Attributes;

use crate::block_config::plain_backend_config;

/// `block_level_fusion_config` of a fusion that Triton writes: the tile of the result that a block computes,
/// and its number of warps. Source: `BlockLevelFusionConfig`, `service/gpu/backend_configs.proto`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BlockLevel {
    /// Per result, a size per dimension.
    pub output_tiles: Vec<Vec<i64>>,
    pub warps: i64,
    /// The number of tiles that a block works on, one after another.
    pub tiles_per_block: i64,
    /// Whether warps may have different tasks.
    pub is_specialized: bool,
    /// Whether tiles may be moved by bulk tensor copies (TMA).
    pub is_tma_allowed: bool,
    /// The number of steps of a loop that overlap; 1 or less if none do, 0 if the text states none.
    pub stages: i64,
}

impl BlockLevel {
    /// Reads the tiling. `None` if the fusion has none, or one without a tile.
    pub fn of(attributes: &Attributes) -> Option<BlockLevel> {
        let plain = plain_backend_config(attributes)?;
        let (_, config) = plain.split_once("block_level_fusion_config:")?;
        let (_, warps) = config.split_once("num_warps:")?;
        let digits = warps.split(|c: char| !c.is_ascii_digit()).next()?;
        let (_, tiles) = config.split_once("output_tiles:[")?;
        let tiles = tiles.split("]}]").next()?;
        let sizes = |tile: &str| match tile.split(']').next()? {
            // The tile of a scalar.
            "" => Some(Vec::new()),
            sizes => sizes.split(',').map(|n| n.parse().ok()).collect(),
        };
        let output_tiles = tiles.split("sizes:[").skip(1).map(sizes).collect::<Option<Vec<Vec<i64>>>>()?;
        let is_plausible = !output_tiles.is_empty() && output_tiles.iter().flatten().all(|&size| size > 0);
        let warps = digits.parse().ok().filter(|&warps| (1..=64).contains(&warps))?;
        let count = |key: &str| {
            let (_, count) = config.split_once(key)?;
            count.split(|c: char| !c.is_ascii_digit()).next()?.parse::<i64>().ok()
        };
        Some(BlockLevel {
            output_tiles,
            warps,
            tiles_per_block: count("num_tiles_per_pid:").unwrap_or(1).max(1),
            is_specialized: config.contains("is_warp_specialization_allowed:true"),
            is_tma_allowed: config.contains("is_tma_allowed:true"),
            stages: count("num_stages:").unwrap_or(0),
        })
        .filter(|_| is_plausible)
    }
}

/// The tile sizes that a dot or a reduction states for the dimensions that it contracts.
/// Source: `Tile`, as above.
pub fn stated_steps(attributes: &Attributes) -> Option<Vec<i64>> {
    let plain = plain_backend_config(attributes)?;
    let (_, sizes) = plain.split_once("sizes:[")?;
    let (sizes, _) = sizes.split_once(']')?;
    Some(sizes.split(',').filter_map(|size| size.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[track_caller]
    fn check(config: &str, expect: Option<(&[&[i64]], i64)>) {
        let module = format!(
            r#"HloModule m
fused {{
 p = f32[8,16] parameter(0)
 ROOT n = f32[8,16] negate(p)
}}
ENTRY e {{
 p = f32[8,16] parameter(0)
 ROOT f = f32[8,16] fusion(p), kind=kCustom, calls=fused, backend_config={{"fusion_backend_config":{{"kind":"__triton","block_level_fusion_config":{{{config}}}}}}}
}}
"#
        );
        let got = fixture::fused(&module, "f").unwrap().block_level;
        let expect = expect.map(|(tiles, warps)| BlockLevel {
            tiles_per_block: 1,
            is_specialized: false,
            is_tma_allowed: false,
            stages: 0,
            output_tiles: tiles.iter().map(|tile| tile.to_vec()).collect(),
            warps,
        });
        assert_eq!(got, expect);
    }

    #[test]
    fn tiles_and_warps() {
        check(r#""num_warps":"4","output_tiles":[{"sizes":["2","16"]}]"#, Some((&[&[2, 16]], 4)));
        let two = r#""output_tiles": [{"sizes":["2","16"]}, {"sizes":["1"]}], "num_warps":"1""#;
        check(two, Some((&[&[2, 16], &[1]], 1)));
        check(r#""num_warps":"4","output_tiles":[{"sizes":["0"]}]"#, None);
        check(r#""num_warps":"4","output_tiles":[{"sizes":[]}]"#, Some((&[&[]], 4)));
        check(r#""num_warps":"4""#, None);
    }
}
