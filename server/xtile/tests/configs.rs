//! Other tiles for the same fusion.

#![allow(clippy::print_stdout, reason = "the figures are what it is for")]

#[allow(dead_code, reason = "texts of programs are for other tests")]
mod fusions;

use fusions::with_fusion;
use test_files::needs::find_shared;
use xtile::configs::{ConfigChange, ConfigFigures, TileConfig, best_configs, figures};

const ROWS: &str = include_str!("triton/softmax_bf16_512x129_t1x256.hlo");
const DOT: &str = include_str!("triton/gemm_ragged_1x512x768.hlo");

fn change(tiles: &str) -> ConfigChange {
    ConfigChange { tiles: Some(ConfigChange::parse_tiles(tiles).expect("sizes")), ..ConfigChange::default() }
}

fn stated(module: &str) -> TileConfig {
    with_fusion(module, |_, analysis, _| TileConfig::of(&analysis.fused)).expect("a fusion").expect("tiles")
}

fn figures_with(module: &str, change: &ConfigChange) -> Result<ConfigFigures, String> {
    let config = stated(module).changed(change).map_err(|why| why.to_string())?;
    with_fusion(module, |name, analysis, callees| figures(name, analysis, callees, &config))
        .expect("a fusion")
        .map_err(|why| why.to_string())
}

#[test]
fn what_a_fusion_states() {
    assert_eq!(stated(ROWS).to_string(), "1×256, 2 warps, 1 stage");
    assert_eq!(stated(DOT).to_string(), "16×64, k 64, 4 warps, 2 stages");
}

#[test]
fn changes_are_checked() {
    let check = |module: &str, change: ConfigChange, expect: &str| {
        let got = stated(module).changed(&change);
        assert_eq!(got.map_or_else(|why| why.to_string(), |config| config.to_string()), expect);
    };
    check(DOT, change("32x32"), "32×32, k 64, 4 warps, 2 stages");
    check(DOT, change("32×32×16"), "32×32, k 16, 4 warps, 2 stages");
    check(DOT, ConfigChange { warps: Some(8), ..change("1x1") }, "1×1, k 64, 8 warps, 2 stages");
    check(DOT, ConfigChange { stages: Some(4), ..Default::default() }, "16×64, k 64, 4 warps, 4 stages");
    let sizes = "1 tile sizes; the result has 2 dimensions";
    check(DOT, change("32"), &format!("{sizes}, or 3 with those of the contracted dimensions"));
    check(ROWS, change("32"), sizes);
    check(ROWS, change("1x2x3"), "3 tile sizes; the result has 2 dimensions");
    check(
        ROWS,
        ConfigChange { warps: Some(3), ..Default::default() },
        "3 warps; Triton takes a power of two up to 64",
    );
    check(ROWS, ConfigChange { stages: Some(0), ..Default::default() }, "0 stages; 1 to 64 are understood");
    for text in ["", "x", "64x", "64xa", "-1x2", "0x1", "99999999999999999999"] {
        assert_eq!(
            ConfigChange::parse_tiles(text),
            Err(format!("{text} is no list of sizes such as 64x128"))
        );
    }
}

#[test]
fn figures_follow_the_tiles() {
    // Rows of 129 elements in tiles of 256.
    let one = figures_with(ROWS, &ConfigChange::default()).expect("figures");
    assert_eq!((one.blocks, one.shared_bytes, one.sum_registers), (512, None, 0));
    assert!((one.masked - 127.0 / 256.0).abs() < 1e-9, "{}", one.masked);
    let four = figures_with(ROWS, &change("4x129")).expect("figures");
    assert_eq!(four.blocks, 128);
    assert!((four.masked - one.masked).abs() < 1e-9);
    // XLA's kernel of this dot has 10240 bytes of shared memory; its model takes two stages of whole tiles.
    let dot = figures_with(DOT, &ConfigChange::default()).expect("figures");
    assert_eq!(dot.shared_bytes, Some((16 * 64 + 64 * 64) * 2 * 2));
    // Sums in f32 of 16×64 elements over 128 threads.
    assert_eq!(dot.sum_registers, 8);
    let wide = figures_with(DOT, &change("16x128")).expect("figures");
    assert_eq!((wide.blocks * 2, wide.sum_registers), (dot.blocks, 16));
    assert!(wide.shared_bytes > dot.shared_bytes);
}

#[test]
fn what_xla_refuses() {
    let check = |module: &str, change: &ConfigChange, expect: &str| {
        assert_eq!(figures_with(module, change), Err(expect.to_owned()));
    };
    check(
        ROWS,
        &change("48x129"),
        "Root instruction h has a tile size of 48 in dimension 0, which is neither a power of 2 nor equal to the \
         dimension size 512.",
    );
    check(
        ROWS,
        &change("8192x256"),
        "Triton constraints violated during codegen: Instruction p0 has a padded tile size product that exceeds the \
         maximum allowed tensor size of 1048576 elements.",
    );
    let warps = ConfigChange { warps: Some(64), ..ConfigChange::default() };
    check(ROWS, &warps, "a block of 2048 threads; h100-sxm has at most 1024");
}

/// No sizes panic.
#[test]
fn any_sizes_are_answered() {
    let sizes = [1, 2, 3, 512, 1 << 20, 1 << 40, i64::MAX];
    for module in [ROWS, DOT] {
        for (&a, &b) in sizes.iter().flat_map(|a| sizes.iter().map(move |b| (a, b))) {
            for tiles in [vec![a, b], vec![a, b, a]] {
                let change = ConfigChange { tiles: Some(tiles), ..ConfigChange::default() };
                if let Ok(figures) = figures_with(module, &change) {
                    assert!(figures.blocks > 0 && (0.0..=1.0).contains(&figures.masked), "{figures:?}");
                }
            }
        }
    }
}

#[test]
fn the_best_are_those_of_the_model() {
    let best = with_fusion(ROWS, |name, analysis, callees| best_configs(name, analysis, callees, 4));
    let best = best.expect("a fusion").expect("configurations");
    assert_eq!(best.len(), 4);
    let times: Vec<f64> = best.iter().map(|one| one.time.as_ref().expect("a time").exec_us).collect();
    assert!(times.is_sorted(), "{times:?}");
    let now = figures_with(ROWS, &ConfigChange::default()).expect("figures").time.expect("a time").exec_us;
    assert!(times[0] <= now, "{times:?} {now}");
}

/// XLA's own choice of tiles for the fusions without dots of its compiles is the first of the ranking.
#[test]
fn the_first_is_the_choice_of_xla() {
    let Some(path) = find_shared("conformance/triton/dev/pairs.jsonl.gz") else { return };
    let lines = test_files::gzip_lines(&path).expect("lines");
    let (mut asked, mut found) = (0, 0);
    for line in lines {
        let row: serde_json::Value = serde_json::from_str(&line).expect("a row");
        let module = row["hlo"].as_str().expect("a module");
        let kind = &row["backend_config"]["fusion_backend_config"]["kind"];
        if kind != "__triton" || module.contains(" dot(") {
            continue;
        }
        let best = with_fusion(module, |name, analysis, callees| best_configs(name, analysis, callees, 1));
        asked += 1;
        let now = stated(module);
        let first = best.expect("a fusion").map(|best| best[0].config.clone());
        let is_found = first.as_ref().is_ok_and(|first| first.is_same_kernel(&now));
        found += usize::from(is_found);
        if !is_found {
            println!("{}: {now}; ours: {:?}", row["id"], first.map(|first| first.to_string()));
        }
    }
    println!("{found} of {asked}");
    assert!(asked >= 40 && found * 100 >= asked * 80, "{found} of {asked}");
}
