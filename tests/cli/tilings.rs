//! Tile sizes of fusions for Triton.

use serde_json::{Value, json};

use super::{run_on, text};

const ROWS: &str = r#"HloModule m

%add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}

%rows {
  p = f32[4096,1000] parameter(0)
  z = f32[] constant(0)
  r = f32[4096] reduce(p, z), dimensions={1}, to_apply=%add
  b = f32[4096,1000] broadcast(r), dimensions={0}
  ROOT d = f32[4096,1000] divide(p, b)
}

ENTRY %e {
  x = f32[4096,1000] parameter(0)
  ROOT f = f32[4096,1000] fusion(x), kind=kCustom, calls=%rows, backend_config={"fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{"num_warps":"4","output_tiles":[{"sizes":["1","1000"]}]}}}
}
"#;

#[test]
fn other_tiles_are_compared() {
    let output = run_on(&["kernel", "-", "--tiles", "4x256", "--warps", "8"], ROWS);
    let shown = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(shown.starts_with("%f · tile sizes · h100-sxm\n"), "{shown}");
    let line = |end: &str| shown.lines().find(|line| line.contains(end)).map(str::to_owned);
    // Rows of 1000 numbers in tiles of 1024, and four columns of tiles of 256.
    let now = line("now").expect("a row");
    assert!(now.starts_with("1×1000 ") && now.contains(" 4096 ") && now.contains(" 2.3 % "), "{now}");
    let asked = line("asked for").expect("a row");
    assert!(asked.starts_with("4×256 ") && asked.contains(" 4096 ") && asked.contains(" 8 "), "{asked}");
    assert!(line("fastest by XLA's model").is_some(), "{shown}");

    let request = json!({"id": 1, "method": "tilings", "params": {"text": ROWS, "instruction": "f", "tiles": [4, 256], "warps": 8}});
    let answer: Value =
        serde_json::from_slice(&run_on(&["query"], &request.to_string()).stdout).expect("JSON");
    let found = &answer["result"];
    assert_eq!(found["text"], json!(shown));
    let configs = found["configs"].as_array().expect("a list");
    let asked = configs.iter().find(|config| config["is_asked"] == true).expect("it was asked for");
    assert_eq!(
        (&asked["tiles"], &asked["warps"], &asked["blocks"]),
        (&json!([4, 256]), &json!(8), &json!(4096))
    );
    let times: Vec<f64> = {
        let mut ranked: Vec<&Value> = configs.iter().filter(|config| !config["rank"].is_null()).collect();
        ranked.sort_by_key(|config| config["rank"].as_u64());
        ranked.iter().filter_map(|config| config["exec_us"].as_f64()).collect()
    };
    assert!(times.len() == 5 && times.is_sorted(), "{times:?}");
}

#[test]
fn what_has_no_other_tiles() {
    let check = |arguments: &[&str], module: &str, code: i32, expect: &str| {
        let output = run_on(&[&["kernel", "-"], arguments].concat(), module);
        assert_eq!(output.status.code(), Some(code), "{}", text(&output.stdout));
        assert!(text(&output.stderr).contains(expect), "{}", text(&output.stderr));
    };
    check(&["--tiles", "4x"], ROWS, 2, "--tiles: 4x is no list of sizes such as 64x128");
    check(&["--tiles", "4"], ROWS, 1, "1 tile sizes; the result has 2 dimensions");
    check(&["--warps", "5"], ROWS, 1, "5 warps; Triton takes a power of two");
    check(&["--tiles", "4x4", "--emit", "mlir"], ROWS, 2, "are of --emit tilings");
    let other = ROWS.replace("__triton", "__custom_fusion");
    check(&["--emit", "tilings"], &other, 1, "only fusions for Triton have tiles");
    let refused = run_on(&["kernel", "-", "--tiles", "48x1000"], ROWS);
    assert!(text(&refused.stdout).contains("\n  refused: Root instruction d has a tile size of 48"));
}
