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
const CULPRITS: [(&str, &str, u64, &str); 8] = [
    ("concatenation_of_parameters", "concatenate{}", 4 * 4096 * 128 * 3, ""),
    ("temporaries_of_a_horizontal_fusion", "horizontal_fusion{0}", 4 << 20, "s0"),
    ("copy_of_a_parameter_that_is_not_donated", "copy.339{}", 4 * 51200, "updated"),
    ("padding_of_a_tiled_layout", "moved{}", 4 * 8192 * 128, "result"),
    ("residuals_of_a_scan", "forward{2}", 4 * 128 * 4096, "backward"),
    ("copy_of_a_donated_parameter_that_a_loop_reads", "copy.7{}", 4 * 512 * 512, "loop"),
    ("temporary_that_grows_with_the_batch", "rows{}", 4 * 64 * 256 * 256, "difference"),
    ("scores_that_the_gradient_keeps", "scores{}", 4 * 8 * 256 * 256, "again"),
];

#[test]
fn the_list_names_the_culprit_first() {
    for (name, culprit, bytes, until) in CULPRITS {
        let report = json_of(name);
        let values = report["at_peak"]["values"].as_array().expect("a list");
        let first = &values[0];
        assert!(first["name"].as_str().expect("a name").starts_with(culprit), "{name}: {first}");
        assert_eq!(first["bytes"], bytes, "{name}");
        let last = first["until"]["name"].as_str().unwrap_or_default();
        assert!(last.starts_with(until), "{name}: {first}");
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
fn a_module_of_many_devices_has_the_sizes_of_one() {
    let shown = |header: &str, sharding: &str| {
        let module = format!(
            "HloModule m, num_partitions=8{header}\n\nENTRY e {{\n  \
             x = f32[64,4096]{{1,0}} parameter(0), sharding={{replicated}}\n  \
             w = f32[64,512]{{1,0}} parameter(1), sharding={sharding}\n  \
             g = f32[64,4096]{{1,0}} all-gather(w), dimensions={{1}}, replica_groups={{{{0,1,2,3,4,5,6,7}}}}\n  \
             s = f32[64,4096]{{1,0}} custom-call(g), custom_call_target=\"s\"\n  \
             ROOT r = f32[64]{{0}} custom-call(s, x), custom_call_target=\"f\"\n}}\n"
        );
        text(&run_on(&["memory", "-"], &module).stdout)
    };
    let report = shown(", is_scheduled=true", "{devices=[1,8]<=[8]}");
    assert!(report.contains("\nper device: one of 8 partitions\n"), "{report}");
    assert!(report.contains("\ncollectives: 1.05 MB at the peak in 1 buffer: %g\n"), "{report}");
    let shard = "  shard parameter 0 (%x, 1.05 MB) along dimension 1 over 8 devices, 131 kB each, gathered before %r: peak ";
    assert!(report.contains(shard), "{report}");
    assert!(report.contains(" (in jax: in_shardings)\n"), "{report}");
    let wrong = shown(", is_scheduled=true", "{devices=[1,3]<=[3]}");
    let why =
        "note: %w: its sharding is over 3 devices, and the module has 8 partitions; it counts as whole\n";
    assert!(wrong.contains(why), "{wrong}");
    let module = "HloModule m, num_partitions=4\n\nENTRY e {\n  \
        x = f32[64,64]{1,0} parameter(0), sharding={devices=[4,1]<=[4]}\n  ROOT n = f32[64,64]{1,0} negate(x)\n}\n";
    let report = text(&run_on(&["memory", "-"], module).stdout);
    let lines = "not partitioned yet, for 4 devices: sizes are of all devices together\n\
        per device: 4.1 kB of 16.4 kB parameters; between 8.19 kB and 20.5 kB in use at the peak, as all else is cut or not\n";
    assert!(report.contains(lines), "{report}");
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
    let label =
        "\nnot scheduled: in the order of XLA's list scheduler, which frees most memory at each step\n";
    assert!(output.status.success() && text(&output.stdout).contains(label));
}

/// What contradicts itself is left out and reported by name; everything else is planned.
#[test]
fn contradictions_are_reported_by_name() {
    let module = |settings: &str, before: &str, root: &str| {
        format!(
            "HloModule m, is_scheduled=true{settings}\n\n{before}ENTRY %e {{\n  %p = f32[64] parameter(0)\n  \
             %q = f32[32] parameter(1)\n  {root}\n}}\n"
        )
    };
    let two = "%n = f32[64] negate(%p)\n  ROOT %t = (f32[64], f32[64]) tuple(%n, %p)";
    let aliased = |aliases: &str| module(&format!(", input_output_alias={{ {aliases} }}"), "", two);
    let call = "ROOT %r = f32[64] call(%p), to_apply=%f";
    let custom = |aliases: &str| {
        let root =
            "ROOT %c = f32[64] custom-call(%p, %q), custom_call_target=\"f\", output_to_operand_aliasing=";
        module("", "", &format!("{root}{{{aliases}}}"))
    };
    let computation = |name: &str, callee: &str| {
        format!(
            "%{name} {{\n  %p.{name} = f32[64] parameter(0)\n  ROOT %c.{name} = f32[64] call(%p.{name}), \
             to_apply=%{callee}\n}}\n\n"
        )
    };
    // Nine arrays of 2⁶¹ bytes.
    let bytes = "u8[2305843009213693951]";
    let all: String = (0..9).map(|n| format!("%a{n} = {bytes} broadcast(%z), dimensions={{}}\n  ")).collect();
    let names = (0..9).map(|n| format!("%a{n}")).collect::<Vec<_>>().join(", ");
    let shapes = [bytes; 9].join(", ");
    let large = format!("%z = u8[] constant(0)\n  {all}ROOT %t = ({shapes}) tuple({names})");
    for (module, note) in [
        (
            module("", &computation("f", "f"), call),
            "%c.f: the computation %f calls itself here; planned as if this call did nothing",
        ),
        (
            module("", &(computation("g", "f") + &computation("f", "g")), call),
            "%c.g: the computation %f calls itself here; planned as if this call did nothing",
        ),
        (
            aliased("{0}: (0, {}, may-alias), {1}: (0, {}, may-alias)"),
            "input_output_alias: the result {1} cannot take the memory of parameter 0: the result {0} is in its memory; \
             left out",
        ),
        (
            aliased("{0}: (0, {}, may-alias), {0}: (1, {}, may-alias)"),
            "input_output_alias: the result {0} cannot take the memory of parameter 1: the result {0} is in the memory of \
             parameter 0; left out",
        ),
        (
            aliased("{0}: (1, {}, may-alias)"),
            "input_output_alias: the result {0} cannot take the memory of parameter 1: it has 128 B, the result {0} 256 B; \
             left out",
        ),
        (
            aliased("{0}: (7, {}, may-alias)"),
            "input_output_alias: the result {0} cannot take the memory of parameter 7: there is no parameter 7; left out",
        ),
        (
            aliased("{5}: (0, {}, may-alias)"),
            "input_output_alias: the result {5} cannot take the memory of parameter 0: there is no element {5} of the \
             result; left out",
        ),
        (
            aliased("{0}: (0, {3}, may-alias)"),
            "input_output_alias: the result {0} cannot take the memory of parameter 0 {3}: there is no parameter 0 {3}; \
             left out",
        ),
        (
            custom("{}: (1, {})"),
            "%c: output_to_operand_aliasing: the result cannot take the memory of operand 1: it has 128 B, the result 256 B; \
             left out",
        ),
        (
            custom("{}: (4, {})"),
            "%c: output_to_operand_aliasing: the result cannot take the memory of operand 4: there is no operand 4; left out",
        ),
        (
            module("", "", "%w = f32[9223372036854775807,8] negate(%p)\n  ROOT %n = f32[64] negate(%p)"),
            "%w{}: its size is not known, or 64 bits do not hold it; it counts as 0",
        ),
        (module("", "", &large), "64 bits do not hold the bytes of all allocations; "),
        (
            module(
                "",
                "",
                "%n = f32[64] add(%p, %later)\n  %later = f32[64] negate(%p)\n  ROOT %r = f32[64] negate(%n)",
            ),
            "%n: operand %later is not defined above it; planned without it",
        ),
        (
            module("", "", "ROOT %r = f32[64] call(%p), to_apply=%gone"),
            "%r: the module has no computation %gone; planned without it",
        ),
    ] {
        let output = run_on(&["memory", "-"], &module);
        let report = text(&output.stdout);
        assert!(
            report.contains(&format!("note: {note}")),
            "{note}\n{module}{report}{}",
            text(&output.stderr)
        );
        assert!(report.contains("alive at the peak") && output.status.code() == Some(0), "{module}{report}");
    }
}
