//! What XLA's passes ask of the tiles of a fusion before it has a configuration.

use gpu::{BlockLevel, Device, Fused};
use ir::{OpId, Opcode};

use crate::Reason;
use crate::configs::MAX_ELEMENTS;
use crate::space::{TilingSpace, power_of_two};
use crate::tile::static_sizes;
use crate::tiled::{TiledFusion, TiledId};

/// The longest side of an operand's tile that matrix instructions take.
const MAX_SIDE: i64 = 256;

/// Checks that the tile of the result, whatever its sizes, decides those of all ops; or returns XLA's reason why it does not.
/// Source: `TiledHloComputation::Tile`, `codegen/tiling/experimental/tiled_hlo.cc`, before tile sizes are assigned.
pub fn check_tileable(fused: &Fused) -> Result<(), Reason> {
    let space = TilingSpace::symbolic(fused)?;
    TiledFusion::of(&space, fused).map(|_| ())
}

/// The tile of the result from which follows that the tile of `dot` is `rows` × `columns`. The dot states the tile of the dimension
/// that it contracts.
/// Source: `FindBlockLevelParametersWithTilingSpace`, `backends/gpu/transforms/convert_triton_gemm_config.cc`.
pub fn tile_of_result(
    fused: &Fused,
    device: &Device,
    dot: OpId,
    [rows, columns]: [i64; 2],
) -> Result<Vec<i64>, Reason> {
    let root = *fused.roots.first().ok_or("a fusion without a result")?;
    let rank = fused.op(root).shape.dims().len();
    let of_dot = fused.op(dot).shape.dims().len();
    let (Some(ones), Some(ones_of_dot)) = (rank.checked_sub(2), of_dot.checked_sub(2)) else {
        return Err("a dot or a result of less than two dimensions".into());
    };
    let mut expected = vec![1; ones_of_dot];
    expected.extend([rows, columns]);
    let mut tile = vec![1; ones];
    tile.extend([rows, columns]);
    tile.sort_unstable();
    loop {
        cancel::tick();
        if tile_of_dot(fused, device, dot, &tile).is_ok_and(|found| found == expected) {
            return Ok(tile);
        }
        if !next_permutation(&mut tile) {
            return Err("no tile of the result gives the dot its tile".into());
        }
    }
}

/// The tile of the dot that follows from a tile of the result, if Triton takes all tiles.
fn tile_of_dot(fused: &Fused, device: &Device, dot: OpId, tile: &[i64]) -> Result<Vec<i64>, Reason> {
    let config = BlockLevel {
        output_tiles: vec![tile.to_vec()],
        warps: 1,
        tiles_per_block: 1,
        is_specialized: false,
        is_tma_allowed: false,
        stages: 1,
    };
    let space = TilingSpace::of(fused, &config)?;
    let tiled = TiledFusion::of(&space, fused)?;
    check_sizes(fused, device, &space, &tiled)?;
    let of_dot = tiled.body.ops.iter().map(|&id| &tiled.ops[id as usize]).find(|op| op.op == dot);
    of_dot.and_then(|op| static_sizes(&op.tile)).ok_or_else(|| "a dot whose tile has no fixed sizes".into())
}

/// Refuses what Triton does not take. Source: `VerifyTritonConstraints`,
/// `service/gpu/model/triton_emitter_constraints.cc`.
pub(crate) fn check_sizes(
    fused: &Fused,
    device: &Device,
    space: &TilingSpace,
    tiled: &TiledFusion,
) -> Result<(), Reason> {
    // Operands first; ops of regions have higher numbers.
    let inner = 0..tiled.ops.len() as TiledId;
    for id in tiled.body.ops.iter().copied().chain(inner) {
        let op = &tiled.ops[id as usize];
        let name = fused.name(op.op);
        let sizes = static_sizes(&op.tile).ok_or("a tile whose sizes depend on the block")?;
        let padded = sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(power_of_two(size)?));
        if padded.is_none_or(|elements| elements > MAX_ELEMENTS) {
            return Err(format!(
                "Instruction {name} has a padded tile size product that exceeds the maximum allowed tensor size of \
                 {MAX_ELEMENTS} elements."
            )
            .into());
        }
    }
    for op in tiled.ops.iter().filter(|op| fused.op(op.op).opcode == Opcode::Dot) {
        for operand in op.operands.iter().map(|&operand| &tiled.ops[operand as usize]) {
            let sizes = static_sizes(&operand.tile).unwrap_or_default();
            if let Some(size) = sizes.into_iter().find(|&size| size > MAX_SIDE) {
                let name = fused.name(operand.op);
                return Err(format!(
                    "Dot operand instruction {name} has a tile size of {size}, which exceeds the maximum MMA dimension \
                     size of {MAX_SIDE}."
                )
                .into());
            }
        }
    }
    let limit = device.block_dim_limit[0];
    let mut blocks = 1i64;
    for dimension in space.dimensions.iter().filter(|dimension| !dimension.is_sequential) {
        let along = dimension.tiles();
        match blocks.checked_mul(along).filter(|&blocks| blocks <= limit) {
            Some(all) => blocks = all,
            None => {
                return Err(format!(
                    "Number of blocks {blocks}*{along} exceeds the device grid X limit of {limit}."
                )
                .into());
            }
        }
    }
    Ok(())
}

/// The next arrangement of the numbers in lexicographic order; `false` after the last one.
fn next_permutation(numbers: &mut [i64]) -> bool {
    let Some(at) = numbers.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let Some(other) = numbers.iter().rposition(|&number| number > numbers[at]) else { return false };
    numbers.swap(at, other);
    numbers[at + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fused(body: &str) -> (Fused, OpId) {
        let graphs = ir::graphs_of_text(&format!("HloModule m\nfused {{\n{body}\n}}\n"));
        let fused =
            Fused::of_fusion(&ir::Op::leaf(ir::Shape::Token), &graphs[0].1, &|_| None).expect("a fusion");
        let dot = crate::configs::dots(&fused).first().copied().unwrap_or(0);
        (fused, dot)
    }

    #[track_caller]
    fn check(body: &str, expect: Result<(), &'static str>) {
        assert_eq!(check_tileable(&fused(body).0), expect.map_err(Reason::from));
    }

    #[test]
    fn some_ops_have_no_tiles_before_the_sizes_are_known() {
        check("p = f32[8,4] parameter(0)\nb = f32[32] bitcast(p)\nROOT n = f32[32] negate(b)", Ok(()));
        check(
            "p = f32[6,4] parameter(0)\nROOT b = f32[3,8] bitcast(p)",
            Err("Unsupported reshape (kGeneric)."),
        );
        check("p = f32[6,4] parameter(0)\nROOT b = f32[6,4] reverse(p), dimensions={0}", {
            Err("Output to input tile propagation not implemented for reverse")
        });
        let (fused, _) =
            fused("p = f32[64] parameter(0)\nROOT c = f32[128] concatenate(p, p), dimensions={0}");
        assert!(check_tileable(&fused).is_err_and(|why| why.contains("The tile size is not a constant")));
    }

    #[test]
    fn the_tile_of_the_result_is_that_of_the_dot_turned() {
        let dot = "p = f32[128,64] parameter(0)\nq = f32[64,32] parameter(1)\n\
                   d = f32[128,32] dot(p, q), lhs_contracting_dims={1}, rhs_contracting_dims={0}, \
                   backend_config={\"sizes\":[\"16\"]}\nROOT t = f32[32,128] transpose(d), dimensions={1,0}";
        let (fused, dot) = fused(dot);
        let device = Device::find("h100-sxm").expect("a device");
        assert_eq!(tile_of_result(&fused, device, dot, [16, 8]), Ok(vec![8, 16]));
        assert!(tile_of_result(&fused, device, dot, [512, 8]).is_err());
    }
}
