//! `diff`: what two compiles of a module have different.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{run, run_on, text};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/compile-diff/tests/fixtures").join(name)
}

fn path(name: &str) -> String {
    fixture(name).to_str().expect("the path is text").to_owned()
}

/// The output for the fixtures, with short names of files.
fn shown(options: &[&str]) -> String {
    let (before, after) = (path("before.hlo"), path("after.hlo"));
    let output = run(&[&["diff", &before, &after], options].concat());
    text(&output.stdout).replace(&before, "before.hlo").replace(&after, "after.hlo")
}

#[test]
fn the_fixtures_differ_in_what_was_changed() {
    let report: Value = serde_json::from_str(&shown(&["--format", "json"])).expect("it is JSON");
    let report = &report["modules"][0];
    let changes: Vec<String> = report["changes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| {
            let name = |side: &str| one[side]["name"].as_str().unwrap_or_default().to_owned();
            format!(
                "{} {}{}",
                one["change"].as_str().unwrap_or_default(),
                name("after"),
                one["to"].as_str().unwrap_or_default()
            )
        })
        .collect();
    assert_eq!(changes, ["new copy.9", "new copy.1", "changed param_0.4", "moved fused_multiply"]);
    let copies = json!([
        {"name": "copy.9", "computation": "fused_subtract", "line": 31, "column": 4},
        {"name": "copy.1", "computation": "main.20", "line": 40, "column": 4},
    ]);
    assert_eq!(report["data_movement"], json!({"copy": {"gone": [], "new": copies}}));
    let kernels = report["kernels"].as_array().expect("a list");
    let of =
        |name: &str| kernels.iter().find(|one| one["after"]["name"] == name).expect("the kernel differs");
    assert_eq!((&of("copy.1")["change"], &of("fusion.4")["change"]), (&json!("new"), &json!("slower")));
    let reasons = of("fusion.4")["reasons"].to_string();
    assert!(reasons.contains("more sectors per request") && reasons.contains("other layout"), "{reasons}");
    assert!(of("fusion.1")["reasons"].to_string().contains("fused differently"), "{report}");
    assert_eq!(kernels.len(), 4, "{report}");
}

#[test]
fn a_module_equals_itself() {
    let before = path("before.hlo");
    let output =
        run(&["diff", &before, &before, "--fail-on-change", "--fail-on-time", "0%", "--fail-on-bytes", "0"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("no instruction differs"));
}

#[test]
fn growth_beyond_a_limit_fails() {
    let (before, after) = (path("before.hlo"), path("after.hlo"));
    let code = |options: &[&str]| {
        let output = run(&[&["diff", &before, &after], options].concat());
        (output.status.code(), text(&output.stderr))
    };
    assert_eq!(code(&[]).0, Some(0));
    assert_eq!(code(&["--fail-on-time", "900%"]).0, Some(0));
    let (status, said) = code(&["--fail-on-time", "2%"]);
    assert!(status == Some(1) && said.contains("allowed are 2 % (--fail-on-time)"), "{said}");
    assert_eq!(code(&["--fail-on-bytes", "2"]).0, Some(1));
    let (status, said) = code(&["--fail-on-change"]);
    assert!(status == Some(1) && said.contains("the compiles differ"), "{said}");
    assert_eq!(code(&["--fail-on-time", "much"]).0, Some(2));
    // The other way round it is faster.
    let output = run(&["diff", &after, &before, "--fail-on-time", "2%"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("% faster"));
}

#[test]
fn the_picture_is_svg() {
    let picture = shown(&["--format", "svg"]);
    assert!(picture.starts_with("<svg xmlns=") && picture.ends_with("</svg>\n"), "{picture}");
    assert!(picture.contains("%fusion.4") && picture.contains("prefers-color-scheme: dark"), "{picture}");
    assert!(!picture.contains("NaN") && !picture.contains("inf"), "{picture}");
}

#[test]
fn other_devices_are_named() {
    let before = path("before.hlo");
    let output = run(&["diff", &before, &before, "--device", "a100-sxm-80", "--device-after", "h100-sxm"]);
    let shown = text(&output.stdout);
    assert!(
        shown.contains("on another device: a100-sxm-80 → h100-sxm") && shown.contains("% faster"),
        "{shown}"
    );
}

#[test]
fn what_cannot_be_read_is_said_and_the_rest_is_shown() {
    let before = path("before.hlo");
    let against = |other: &str| {
        let output = run_on(&["diff", &before, "-"], other);
        assert_eq!(output.status.code(), Some(2), "{other}");
        (text(&output.stdout), text(&output.stderr))
    };
    for (other, message) in [
        ("", "-:1:1: no module of HLO: the text has no instructions"),
        ("def f():\n  return 1\n", "-:1:5: no module of HLO: expects '=' in instruction"),
        ("HloModule m\n", "-:1:1: no module of HLO: the text has no instructions"),
    ] {
        let (shown, said) = against(other);
        assert!(said.contains(message), "{said}");
        assert!(shown.contains("before.hlo: ") && shown.contains("launches on h100-sxm"), "{shown}");
    }
    // One broken line costs that line.
    let written = std::fs::read_to_string(&before).expect("the fixture is text");
    let (shown, said) = against(&written.replace("tanh(%scaled)", "tanh(%nobody)"));
    assert!(said.contains("-:14:45: no instruction named nobody above in this computation"), "{said}");
    assert!(shown.contains("%bounded number of operands: 1 → 0"), "{shown}");
    let missing = run(&["diff", &before, "/no/such/file.hlo"]);
    assert_eq!(missing.status.code(), Some(2));
    assert!(text(&missing.stderr).contains("cannot open /no/such/file.hlo"));
    assert!(text(&missing.stdout).contains("launches on h100-sxm"));
    let live_ranges = against("HloLiveRange (max 2):\n  InstructionSequence:\n").1;
    assert!(live_ranges.contains("- holds live ranges of buffers, not HLO or MLIR"), "{live_ranges}");
}

#[test]
fn folders_are_compared_module_by_module() {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diff");
    let _ = std::fs::remove_dir_all(&root);
    let copy = |folder: &str, name: &str, from: &str| {
        std::fs::create_dir_all(root.join(folder)).expect("the folder is made");
        std::fs::copy(fixture(from), root.join(folder).join(name)).expect("the fixture is copied");
    };
    copy("one", "module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt", "before.hlo");
    copy("one", "module_0001.jit_step.before_optimizations.txt", "before.hlo");
    copy("one", "module_0003.jit_init.sm_9.0a_gpu_after_optimizations.txt", "before.hlo");
    copy("two", "module_0017.jit_step.sm_9.0a_gpu_after_optimizations.txt", "after.hlo");
    let [one, two] =
        ["one", "two"].map(|folder| root.join(folder).to_str().expect("the path is text").to_owned());
    let output = run(&["diff", &one, &two]);
    let (shown, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(2), "{shown}{said}");
    assert!(said.contains("two has no optimised module jit_init"), "{said}");
    assert!(shown.contains("% slower") && shown.contains("%copy.1"), "{shown}");
    let mixed = run(&["diff", &one, &path("before.hlo")]);
    assert_eq!(mixed.status.code(), Some(2));
    assert!(text(&mixed.stderr).contains("is a folder and"));
}

#[test]
fn the_device_of_a_folder_is_that_of_its_compile() {
    let folder = test_files::dump_folder();
    let folder = folder.to_str().expect("the path is text");
    let shown = text(&run(&["diff", folder, folder, "--device", "a6000"]).stdout);
    assert!(shown.contains("on h100-sxm"), "{shown}");
    let unknown = run(&["diff", folder, folder, "--device", "tpu"]);
    assert!(text(&unknown.stderr).contains("tpu"), "{}", text(&unknown.stderr));
}

#[test]
fn query_gives_the_same_report() {
    let request = |params: Value| {
        let line = json!({"id": 1, "method": "diff", "params": params}).to_string();
        let output = run_on(&["query"], &format!("{line}\n"));
        serde_json::from_str::<Value>(&text(&output.stdout)).expect("it is JSON")
    };
    let answer =
        request(json!({"before": {"path": path("before.hlo")}, "after": {"path": path("after.hlo")}}));
    let shown: Value = serde_json::from_str(&shown(&["--format", "json"])).expect("it is JSON");
    assert_eq!(answer["result"]["changes"], shown["modules"][0]["changes"]);
    assert_eq!(answer["result"]["time_growth"], shown["modules"][0]["time_growth"]);
    let error = request(json!({"before": {"text": "HloModule m"}, "after": {"path": path("after.hlo")}}));
    assert_eq!(error["error"]["kind"], "parse", "{error}");
    let error = request(json!({"before": {}, "after": {}}));
    assert_eq!(error["error"]["kind"], "invalid-params", "{error}");
}

/// StableHLO is compared as HLO.
#[test]
fn stablehlo_is_compared_too() {
    let function = |op: &str| {
        format!(
            "\
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = stablehlo.{op} %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}}
"
        )
    };
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("diff_stablehlo");
    std::fs::create_dir_all(&root).expect("the folder is made");
    let [one, two] = ["tanh", "negate"].map(|op| {
        let file = root.join(format!("{op}.mlir"));
        std::fs::write(&file, function(op)).expect("the file is written");
        file.to_str().expect("the path is text").to_owned()
    });
    let output = run(&["diff", &one, &two]);
    let shown = text(&output.stdout);
    assert!(shown.contains("opcode: tanh → negate"), "{shown}{}", text(&output.stderr));
}
