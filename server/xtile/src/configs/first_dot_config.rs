//! The configuration of a dot that XLA takes where it measures none: the first of its search space that is also among those that were
//! found good on the device.
//!
//! Source: `OptimizeConfigSet`, `backends/gpu/autotuner/triton/dot_search_space.cc`; `triton/default_configs/*.txtpb`.

use gpu::{Device, Fused, Platform};
use ir::OpId;

use super::dot_search::Problem;
use crate::Reason;

/// A configuration of a fusion of a dot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DotConfig {
    /// The tile of the dot's result: rows and columns.
    pub result: [i64; 2],
    /// The tile of the contracted dimension.
    pub contracted: i64,
    pub warps: i64,
    pub stages: i64,
    /// Whether tiles may be moved by bulk tensor copies (TMA).
    pub is_tma_allowed: bool,
}

/// Rows, columns, contracted size, stages, warps, 1 if bulk copies are allowed.
type Row = [i64; 6];

#[rustfmt::skip]
const AMPERE: &[Row] = &[
    [16, 8, 128, 1, 2, 0], [16, 32, 64, 3, 2, 0], [64, 8, 16, 1, 2, 0], [64, 8, 128, 3, 4, 0], [64, 16, 16, 1, 2, 0],
    [64, 64, 16, 1, 2, 0], [64, 64, 32, 1, 2, 0], [64, 64, 32, 1, 4, 0], [64, 64, 32, 3, 4, 0], [64, 128, 16, 1, 2, 0],
    [64, 128, 16, 3, 2, 0], [64, 128, 64, 1, 4, 0], [64, 128, 64, 3, 4, 0], [64, 128, 128, 1, 4, 0],
    [128, 8, 32, 4, 2, 0], [128, 16, 64, 4, 4, 0], [128, 32, 16, 1, 4, 0], [128, 32, 64, 3, 4, 0], [128, 64, 16, 1, 2, 0],
    [128, 64, 16, 3, 2, 0], [128, 64, 128, 3, 4, 0], [128, 128, 16, 4, 4, 0], [128, 128, 32, 4, 4, 0],
    [128, 128, 32, 4, 8, 0], [128, 256, 16, 4, 8, 0], [128, 256, 32, 4, 8, 0], [128, 256, 64, 3, 8, 0],
    [128, 256, 64, 4, 8, 0], [256, 8, 16, 1, 2, 0],
];

#[rustfmt::skip]
const HOPPER: &[Row] = &[
    [16, 8, 16, 1, 2, 0], [16, 16, 128, 3, 2, 0], [16, 32, 64, 3, 2, 0], [64, 8, 64, 3, 2, 1], [64, 8, 128, 3, 4, 0],
    [64, 16, 256, 1, 4, 0], [64, 32, 64, 1, 4, 0], [64, 64, 16, 1, 2, 0], [64, 64, 32, 1, 2, 0], [64, 128, 64, 3, 4, 1],
    [64, 128, 128, 1, 4, 1], [128, 8, 32, 4, 4, 0], [128, 16, 64, 4, 4, 1], [128, 32, 64, 3, 4, 0],
    [128, 64, 16, 3, 2, 0], [128, 64, 32, 3, 2, 0], [128, 64, 32, 3, 4, 1], [128, 64, 128, 3, 4, 1],
    [128, 128, 16, 4, 4, 1], [128, 128, 32, 4, 4, 1], [128, 128, 64, 3, 4, 1], [128, 256, 64, 3, 8, 0],
    [128, 256, 64, 4, 8, 1], [128, 256, 128, 3, 8, 1], [256, 128, 64, 4, 8, 1],
];

#[rustfmt::skip]
const BLACKWELL: &[Row] = &[
    [16, 16, 128, 1, 2, 0], [32, 16, 64, 3, 2, 0], [32, 16, 256, 3, 2, 0], [32, 32, 32, 4, 2, 0], [64, 16, 128, 3, 2, 1],
    [64, 16, 128, 3, 4, 0], [64, 16, 256, 3, 4, 1], [64, 32, 64, 1, 2, 1], [64, 64, 16, 1, 32, 0], [64, 64, 64, 1, 2, 1],
    [64, 64, 128, 3, 4, 1], [64, 128, 16, 3, 2, 0], [64, 128, 64, 4, 4, 0], [64, 128, 64, 5, 4, 1],
    [128, 16, 256, 2, 4, 0], [128, 16, 128, 3, 4, 1], [128, 32, 64, 3, 4, 0], [128, 32, 64, 3, 4, 1],
    [128, 64, 128, 3, 4, 0], [128, 128, 64, 3, 4, 1], [128, 128, 64, 4, 4, 0], [128, 128, 128, 1, 8, 1],
    [128, 128, 128, 3, 4, 1], [128, 128, 256, 1, 8, 1], [128, 256, 16, 4, 4, 1], [128, 256, 32, 3, 4, 1],
    [128, 256, 32, 3, 8, 0], [128, 256, 32, 4, 4, 1], [128, 256, 64, 3, 4, 1], [128, 256, 64, 3, 8, 0],
    [128, 256, 64, 4, 4, 1], [256, 16, 32, 3, 2, 0], [256, 16, 64, 3, 4, 1], [256, 16, 64, 4, 4, 0],
    [256, 64, 64, 3, 4, 1], [256, 64, 128, 3, 4, 1], [256, 128, 32, 5, 8, 1], [256, 256, 32, 3, 8, 0],
    [256, 256, 32, 5, 8, 1],
];

/// The first configuration of a fused dot, or the reason why it is not known.
pub fn first_dot_config(fused: &Fused, device: &'static Device, dot: OpId) -> Result<DotConfig, Reason> {
    let rows = match device.platform {
        Platform::Cuda { major: 8, .. } => AMPERE,
        Platform::Cuda { major: 9, .. } => HOPPER,
        Platform::Cuda { major: 10, .. } => BLACKWELL,
        _ => return Err(format!("XLA's configurations of dots on {} are not known", device.name).into()),
    };
    let problem = Problem::of(fused, device, dot).ok_or("a dot of more than two free dimensions")?;
    let good: Vec<DotConfig> = rows.iter().map(|row| clamped(&problem, row)).collect();
    let has_tma = matches!(device.platform, Platform::Cuda { major, .. } if major >= 9);
    let first = problem.configs().find_map(|config| {
        let with_tma = DotConfig { is_tma_allowed: true, ..config };
        let may_move_in_bulk = has_tma && is_tma_recommended(&config);
        [Some(config), may_move_in_bulk.then_some(with_tma)].into_iter().flatten().find(|c| good.contains(c))
    });
    Ok(first.unwrap_or_else(|| config_of(&rows[0])))
}

fn config_of(&[rows, columns, contracted, stages, warps, tma]: &Row) -> DotConfig {
    DotConfig { result: [rows, columns], contracted, warps, stages, is_tma_allowed: tma == 1 }
}

/// The configuration with tiles as large as the search space has them.
fn clamped(problem: &Problem<'_>, row: &Row) -> DotConfig {
    let config = config_of(row);
    let (least, most) = problem.tile_range();
    let result = [0, 1].map(|dim| config.result[dim].clamp(least[dim], most[dim]));
    let (from, to) = problem.contracted_range(result);
    DotConfig { result, contracted: config.contracted.clamp(from, to), ..config }
}

/// Source: `IsTmaRecommended`, `backends/gpu/codegen/triton/tma_utils.cc`.
fn is_tma_recommended(config: &DotConfig) -> bool {
    let sizes = config.result.into_iter().chain([config.contracted]);
    config.warps <= 8 && matches!(config.stages, 1 | 3 | 4) && sizes.into_iter().all(|size| size <= 256)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sizes: [i64; 4], element: &str, result: &str, expect: DotConfig) {
        let [batch, rows, columns, contracted] = sizes;
        let text = format!(
            "HloModule m\nfused {{\n p = {element}[{batch},{rows},{contracted}] parameter(0)\n \
             q = {element}[{batch},{contracted},{columns}] parameter(1)\n \
             ROOT d = {result}[{batch},{rows},{columns}] dot(p, q), lhs_batch_dims={{0}}, rhs_batch_dims={{0}}, \
             lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}\n}}\n"
        );
        let graphs = ir::graphs_of_text(&text);
        let fused =
            Fused::of_fusion(&ir::Op::leaf(ir::Shape::Token), &graphs[0].1, &|_| None).expect("a fusion");
        let device = Device::find("h100-sxm").expect("a device");
        let dot = super::super::dots(&fused)[0];
        assert_eq!(first_dot_config(&fused, device, dot), Ok(expect));
    }

    /// As XLA chose them for models.
    #[test]
    fn configurations_are_those_of_xla() {
        let small = DotConfig { result: [16, 8], contracted: 16, warps: 2, stages: 1, is_tma_allowed: false };
        check([96, 64, 1024, 1024], "bf16", "bf16", small);
        let groups =
            DotConfig { result: [64, 32], contracted: 64, warps: 4, stages: 1, is_tma_allowed: false };
        check([96, 1024, 1024, 64], "bf16", "bf16", groups);
        let deep = DotConfig { warps: 2, stages: 3, ..groups };
        check([1, 8184, 50304, 768], "f32", "f32", deep);
    }
}
