//! `memory`: where the memory of a module goes.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{run, run_on, text};

fn fixture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/memory/tests/fixtures");
    folder.join(name).with_extension("hlo").to_str().expect("the path is text").to_owned()
}

fn shown(name: &str, options: &[&str]) -> String {
    let path = fixture(name);
    let output = run(&[&["memory", &path], options].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout).replace(&path, &format!("{name}.hlo"))
}

fn json_of(name: &str) -> Value {
    let report: Value = serde_json::from_str(&shown(name, &["--json"])).expect("it is JSON");
    report["modules"][0].clone()
}

/// The value that each module has too much of, its bytes, and the instruction that reads it last.
const CULPRITS: [(&str, &str, u64, &str); 5] = [
    ("concatenation_of_parameters", "concatenate{}", 4 * 4096 * 128 * 3, ""),
    ("temporaries_of_a_horizontal_fusion", "horizontal_fusion{0}", 4 << 20, "s0"),
    ("copy_of_a_parameter_that_is_not_donated", "copy.339{}", 4 * 51200, "updated"),
    ("padding_of_a_tiled_layout", "moved{}", 4 * 8192 * 128, "result"),
    ("residuals_of_a_scan", "forward{2}", 4 * 128 * 4096, "backward"),
];

/// Where a parameter is as large, it is the caller's; what the module itself adds comes first.
#[test]
fn the_list_names_the_culprit_first() {
    for (name, culprit, bytes, until) in CULPRITS {
        let report = json_of(name);
        let values = report["at_peak"]["values"].as_array().expect("a list");
        let of_the_module = |value: &&Value| value["kind"] != "parameter" || value["until"] != "caller";
        let first = values.iter().find(of_the_module).unwrap_or_else(|| panic!("{name}: {report}"));
        assert!(first["name"].as_str().expect("a name").starts_with(culprit), "{name}: {first}");
        assert_eq!(first["bytes"], bytes, "{name}");
        let last = first["until"]["name"].as_str().unwrap_or_default();
        assert!(last.starts_with(until), "{name}: {first}");
    }
}

/// The page shows what the command prints. `UPDATE_EXPECT=1` writes it anew.
#[test]
fn the_page_shows_real_output() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/docs/memory.md");
    let written = std::fs::read_to_string(&page).expect("the page is there");
    let head = "$ hlo-analyzer memory residuals_of_a_scan.hlo\n";
    let (front, rest) = written.split_once(head).expect("the page has an example");
    let (_, back) = rest.split_once("```").expect("the example ends");
    let real = format!("{front}{head}{}```{back}", shown("residuals_of_a_scan", &[]));
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&page, &real).expect("the page is written");
    } else {
        assert_eq!(written, real);
    }
}

#[test]
fn a_limit_sets_the_exit_code() {
    let path = fixture("residuals_of_a_scan");
    let fits = run(&["memory", &path, "--limit", "80GB"]);
    assert_eq!((fits.status.code(), text(&fits.stderr).as_str()), (Some(0), ""));
    let output = run(&["memory", &path, "--limit", "1MB"]);
    assert_eq!(output.status.code(), Some(1));
    let said = text(&output.stderr);
    assert!(said.starts_with("failed: ") && said.ends_with("more than 1 MB (--limit)\n"), "{said}");
}

#[test]
fn the_picture_is_one_drawing_of_bounded_size() {
    let picture = shown("residuals_of_a_scan", &["--timeline", "svg"]);
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    assert_eq!(picture.matches("class=\"peak\"").count(), 1);
    assert!(picture.contains("prefers-color-scheme: dark") && picture.contains("%forward"), "{picture}");
    let mut long = String::from("HloModule m, is_scheduled=true\n\nENTRY e {\n  v0 = f32[64] parameter(0)\n");
    for n in 1..20_000 {
        long += &format!("  v{n} = f32[64] negate(v{})\n", n - 1);
    }
    long += "  ROOT r = f32[64] negate(v19999)\n}\n";
    let output = run_on(&["memory", "-", "--timeline", "svg"], &long);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(output.stdout.len() < 200_000, "{} bytes", output.stdout.len());
}

#[test]
fn a_dump_folder_has_the_memory_of_its_modules() {
    let folder: PathBuf = test_files::dump_folder();
    let output = run(&["memory", folder.to_str().expect("the path is text"), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: Value = serde_json::from_str(&text(&output.stdout)).expect("it is JSON");
    let module = &report["modules"][0];
    assert_eq!((&module["module"], &module["is_scheduled"]), (&"jit_step".into(), &true.into()));
    let dumped = &module["dumped"];
    assert_eq!(dumped["total_bytes"], module["total_bytes"]);
    assert_eq!(
        (&dumped["values"], &dumped["differences"]),
        (&15.into(), &Value::Array(Vec::new())),
        "{module}"
    );
    let output = run(&["memory", folder.to_str().expect("the path is text")]);
    let shown = text(&output.stdout);
    let comparison =
        "\nXLA's buffer assignment: 394 kB in 13 allocations, as here\nall 15 values are placed as here\n";
    assert!(shown.contains(comparison), "{shown}");
}

#[test]
fn an_assignment_that_differs_is_compared() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("assignment");
    std::fs::create_dir_all(&folder).expect("the folder is made");
    let module = std::fs::read_to_string(fixture("concatenation_of_parameters")).expect("the file is there");
    let beside = |end: &str| folder.join(format!("module_0001.jit_f.sm_9.0a_gpu_after_optimizations{end}"));
    std::fs::write(beside(".txt"), module).expect("it is written");
    let shown = |assignment: &str, live_ranges: &str| {
        std::fs::write(beside("-buffer-assignment.txt"), assignment).expect("it is written");
        std::fs::write(beside("-live-range.txt"), live_ranges).expect("it is written");
        run(&["memory", folder.to_str().expect("the path is text")])
    };
    let assignment = "BufferAssignment:\nallocation 0: size 4096, preallocated-temp:\n \
        value: <1 other @0> (size=2048,offset=1024): f32[512]{0}\n \
        value: <2 concatenate @0> (size=2048,offset=0): f32[512]{0}\n";
    let output =
        shown(assignment, "  Live ranges at 1 (peak):\n    other{}: 2048 bytes (cumulative: 2048 bytes)\n");
    let report = text(&output.stdout);
    assert!(output.status.success(), "{}", text(&output.stderr));
    for line in [
        "XLA's buffer assignment: 4.1 kB in 1 allocation, 12.6 MB less than here\n",
        "XLA's peak: 2.05 kB, 12.6 MB less than here\n",
        "  %concatenate: XLA 2.05 kB in temp at offset 0; here 6.29 MB in output at offset 0\n",
        "  %other: XLA 2.05 kB in temp at offset 1024; here none\n",
    ] {
        assert!(report.contains(line), "{line}{report}");
    }
    let output = shown("no allocation\n", "");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("has no line of an allocation"), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("alive at the peak"));
}

#[test]
fn bad_input_says_why() {
    for (module, why) in [
        ("HloModule m\n", "- has no entry computation"),
        ("HloModule m\n\nENTRY e {\n  x = f32[\n}\n", "-:4:"),
        ("module {\n}\n", "- is no HLO"),
    ] {
        let output = run_on(&["memory", "-"], module);
        let said = text(&output.stderr);
        assert!(output.status.code() == Some(2) && said.contains(why), "{said}");
    }
    let unscheduled =
        "HloModule m\n\nENTRY e {\n  p = f32[64] parameter(0)\n  ROOT n = f32[64] negate(p)\n}\n";
    let output = run_on(&["memory", "-"], unscheduled);
    assert!(output.status.success() && text(&output.stdout).contains("not scheduled: "));
}
