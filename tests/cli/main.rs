//! The subcommands, run as processes.

mod blame;
mod compile;
mod diff;
mod folders;
mod limits;
mod memory;
mod messages;
mod optimize;
mod pages;
mod report;
mod tilings;

use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use hlo_analyzer_tests::binary;
use hlo_analyzer_tests::sample::MODULE;
use serde_json::{Value, json};

fn run(arguments: &[&str]) -> Output {
    Command::new(binary::hlo_analyzer()).args(arguments).output().expect("the binary starts")
}

fn run_on(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(binary::hlo_analyzer())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A command that rejects its arguments does not read its input.
    let written = child.stdin.take().expect("stdin is piped").write_all(input.as_bytes());
    let is_read = written.as_ref().map_or_else(|e| e.kind() == ErrorKind::BrokenPipe, |()| true);
    assert!(is_read, "the binary reads: {written:?}");
    child.wait_with_output().expect("the binary ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/softmax.hlo")
}

#[test]
fn explain_annotates_the_sample() {
    let output = run(&["explain", sample().to_str().expect("the path is text")]);
    assert!(output.status.success());
    let shown = text(&output.stdout);
    for expected in [
        "//   output -> %logits: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 127], d1 in [0, 511], s0 in [0, 511]",
        "//   output -> %p: identity",
    ] {
        assert!(shown.contains(expected), "{expected}\nis not in\n{shown}");
    }
}

#[test]
fn explain_shows_one_instruction() {
    let path = sample();
    let path = path.to_str().expect("the path is text");
    let by_name = run(&["explain", path, "--instruction", "%softmax"]);
    let shown = text(&by_name.stdout);
    assert!(shown.contains("f32[128,512]{1,0}") && shown.contains("262 kB"), "{shown}");
    let unknown = run(&["explain", path, "--instruction", "nobody"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("no instruction named nobody"));
}

/// Neither a dump nor its name can send control characters to the terminal that shows it.
#[test]
fn control_characters_are_pictures() {
    let hostile = "HloModule m

ENTRY main {
  %p = f32[4] parameter(0), metadata={op_name=\"a\u{1b}]0;T\u{7}\u{1b}[2J\u{9b}31mevil\" source_file=\"/x/\u{1b}[1A.py\" source_line=3}
  %q = f32[4] add(%p, %nope\u{9b}31m\u{202e}\u{1b}]0;T\u{7})
  ROOT %r = f32[4] add(%p, %p), metadata={op_name=\"](command:x) \\033[31m\" source_file=\"\u{1b}[31m\"}
}
";
    let folder = std::env::temp_dir().join(format!("hlo-analyzer-cli-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    // Not all systems allow such names.
    let path = folder.join("a\u{1b}[31m\u{9b}2J.hlo");
    let path = if std::fs::write(&path, hostile).is_ok() { path } else { folder.join("a.hlo") };
    std::fs::write(&path, hostile).expect("a temporary file");
    let path = path.to_str().expect("the path is text");
    let missing = format!("{path}\u{1b}[0m.hlo");
    let query = json!({"id": "\u{9b}", "method": "parse", "params": {"text": hostile}}).to_string();
    let outputs = [
        run(&["check", path]),
        run(&["check", "--limit", "0", path]),
        run(&["check", "--format", "json", path]),
        run(&["check", "--format", "sarif", path]),
        run(&["explain", path]),
        run(&["explain", path, "--at", "4:4"]),
        run(&["explain", path, "--instruction", "r"]),
        run(&["explain", path, "--instruction", "n\u{1b}[1m"]),
        run(&["convert", path]),
        run(&["kernel", path]),
        run(&["analysis-stats", path]),
        run(&["analysis-stats", "--json", path]),
        run(&["check", &missing]),
        run_on(&["query"], &format!("{query}\n")),
    ];
    for (n, output) in outputs.iter().enumerate() {
        // The code that `convert` and `kernel` print may be redirected to files.
        let streams: &[&[u8]] =
            if n == 8 || n == 9 { &[&output.stderr] } else { &[&output.stdout, &output.stderr] };
        for stream in streams {
            let shown = text(stream);
            let found = shown.chars().find(|c| (c.is_control() && *c != '\n') || *c == '\u{202e}');
            assert_eq!(found, None, "command {n} prints\n{}", shown.escape_debug());
        }
    }
    let at = text(&outputs[5].stdout);
    assert!(at.contains("a␛]0;T␇␛[2J␛[31mevil"), "{at}");
    std::fs::remove_dir_all(&folder).expect("it is ours");
}

#[test]
fn check_renders_findings_and_says_so_in_its_exit_code() {
    assert_eq!(run(&["check", sample().to_str().expect("the path is text")]).status.code(), Some(0));
    let broken = MODULE.replace("add(%fusion.1, %y)", "add(%fusion.2, %y)");
    let output = run_on(&["check", "-"], &broken);
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    assert!(shown.contains("error[unknown-operand]: no instruction named fusion.2"), "{shown}");
    assert!(shown.contains("^^^^^^^^") && shown.contains("13 |"), "{shown}");
    let output = run_on(&["check", "-", "--format", "json"], &broken);
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert_eq!(report["files"][0]["findings"][0]["at"]["line"], 13);
    assert_eq!(report["files"][0]["findings"][0]["code"], "unknown-operand");
    let output = run_on(&["check", "-", "--format", "sarif"], &broken);
    let log: Value = serde_json::from_slice(&output.stdout).expect("the log is JSON");
    let result = &log["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "unknown-operand");
    assert_eq!(result["locations"][0]["physicalLocation"]["region"]["startLine"], 13);
    assert_eq!(run(&["check", "/nowhere.hlo"]).status.code(), Some(2));
}

#[test]
fn check_lists_the_heaviest_kernels() {
    let output = run_on(&["check", "-", "--format", "json", "--kernels", "1"], MODULE);
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let file = &report["files"][0];
    let kernels = file["kernels"].as_array().expect("a list");
    let launches = file["kernel_totals"]["launches"].as_u64().expect("a number");
    assert_eq!(kernels.len(), 1);
    assert_eq!(file["kernel_totals"]["omitted"].as_u64(), Some(launches - 1));
    assert!(kernels[0]["roofline"]["memory_us"].as_f64() > Some(0.0), "{kernels:?}");
    assert!(kernels[0]["share"].as_f64() <= Some(1.0), "{kernels:?}");
    let output = run_on(&["check", "-", "--format", "json", "--kernels", "0"], MODULE);
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    assert!(report["files"][0].get("kernels").is_none());
}

/// A running `query` process, with one request at a time.
struct Query {
    child: std::process::Child,
    input: std::process::ChildStdin,
    output: BufReader<std::process::ChildStdout>,
}

impl Query {
    fn start() -> Query {
        let mut child = Command::new(binary::hlo_analyzer())
            .arg("query")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let input = child.stdin.take().expect("stdin is piped");
        let output = BufReader::new(child.stdout.take().expect("stdout is piped"));
        Query { child, input, output }
    }

    fn ask(&mut self, line: &str) -> Value {
        writeln!(self.input, "{line}").expect("query reads");
        let mut answer = String::new();
        self.output.read_line(&mut answer).expect("query answers");
        serde_json::from_str(&answer).expect("an answer is JSON")
    }

    /// Resident memory in bytes; `None` where the system does not report it.
    fn resident(&self) -> Option<u64> {
        let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.child.id())).ok()?;
        Some(statm.split_whitespace().nth(1)?.parse::<u64>().ok()? * 4096)
    }
}

#[test]
fn query_answers_in_order_and_survives_nonsense() {
    let mut query = Query::start();
    let answer = query.ask(&json!({"id": 1, "method": "parse", "params": {"text": MODULE}}).to_string());
    assert_eq!((&answer["id"], &answer["result"]["ok"]), (&json!(1), &json!(true)));
    assert_eq!(answer["result"]["instructions"], 7);
    assert_eq!(query.ask("nonsense")["error"]["kind"], "invalid-params");
    assert_eq!(query.ask(r#"{"id": "x", "method": "no"}"#)["id"], "x");
    let indexing =
        json!({"id": 2, "method": "indexing", "params": {"text": MODULE, "instruction": "fusion.1"}});
    let answer = query.ask(&indexing.to_string());
    let map = "(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 127]";
    assert_eq!(answer["result"]["operands"], json!([[{"map": map}], [{"map": map}]]));
    let fusion = json!({"id": 5, "method": "fusion", "params": {"text": MODULE, "instruction": "fusion.1"}});
    let answer = query.ask(&fusion.to_string());
    assert_eq!(answer["result"]["emitter"], "loop");
    assert_eq!(
        answer["result"]["launch"],
        json!({"grid": [8, 1, 1], "block": [128, 1, 1], "shared_bytes": 0})
    );
    let device = json!({"id": 6, "method": "fusion", "params": {"text": MODULE, "instruction": "fusion.1", "device": "x"}});
    let message = query.ask(&device.to_string())["error"]["message"].to_string();
    assert!(message.contains("unknown device `x`; known are p100"), "{message}");
    let missing = json!({"id": 3, "method": "indexing", "params": {"text": MODULE, "instruction": "nobody"}});
    assert_eq!(query.ask(&missing.to_string())["error"]["kind"], "not-found");
    let broken = json!({"id": 4, "method": "map", "params": {"op": "simplify", "map": "(d0) -> (d0 +"}});
    assert_eq!(query.ask(&broken.to_string())["error"]["kind"], "parse");
}

/// Inputs and memos of closed texts are reused: memory does not grow with the number of requests.
#[test]
fn twenty_thousand_requests_leave_memory_flat() {
    let mut query = Query::start();
    let ask = |query: &mut Query, n: usize| {
        let text = MODULE
            .replace("multiply.1", &format!("multiply.{n}"))
            .replace("128]", &format!("{}]", 1 + n % 500));
        let request = match n % 3 {
            0 => json!({"id": n, "method": "parse", "params": {"text": text}}),
            1 => json!({"id": n, "method": "indexing", "params": {"text": text, "instruction": "fusion.1"}}),
            _ => {
                json!({"id": n, "method": "map", "params": {"op": "simplify", "map": format!("(d0) -> (d0 mod {n}), domain: d0 in [0, 9]")}})
            }
        };
        assert!(query.ask(&request.to_string())["result"].is_object());
    };
    (0..4_000).for_each(|n| ask(&mut query, n));
    let Some(early) = query.resident() else { return };
    (4_000..20_000).for_each(|n| ask(&mut query, n));
    let late = query.resident().expect("the system told before");
    eprintln!("resident after 4,000 requests: {early}, after 20,000: {late}");
    assert!(late < early + (4 << 20), "memory grew from {early} to {late}");
}

#[test]
fn analysis_stats_tells_times() {
    let path = sample();
    let output = run(&["analysis-stats", "--json", "--edits", "5", path.to_str().expect("the path is text")]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("the report is JSON");
    let file = &report["files"][0];
    assert!(file["parse_seconds"].as_f64().is_some_and(|s| s > 0.0));
    assert!(file["edits"]["hover_ms"]["p50"].as_f64().is_some_and(|ms| ms > 0.0));
}

/// A fusion that reads one operand against its layout.
const KERNEL: &str = "HloModule m

fused {
  p = f32[512,512]{1,0} parameter(0)
  q = f32[512,512]{0,1} parameter(1)
  ROOT a = f32[512,512]{1,0} add(p, q)
}

ENTRY e {
  x = f32[512,512]{1,0} parameter(0)
  y = f32[512,512]{0,1} parameter(1)
  ROOT f = f32[512,512]{1,0} fusion(x, y), kind=kLoop, calls=fused
}
";

#[test]
fn kernels_tell_how_they_use_memory() {
    let request = |method: &str, device: &str| {
        let params = json!({"text": KERNEL, "instruction": "f", "device": device, "warp": 3});
        json!({"id": 1, "method": method, "params": params}).to_string() + "\n"
    };
    let requests = ["coalescing", "access_pattern"].map(|method| request(method, "h100-sxm")).concat();
    let output = run_on(&["query"], &(requests + &request("coalescing", "abacus")));
    let answers: Vec<Value> =
        text(&output.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let operands = &answers[0]["result"]["operands"];
    let figures = |i: usize| {
        let of = |key: &str| operands[i][key].clone();
        json!([of("name"), of("xla_coalesced"), of("coalesced"), of("sectors_per_request"), of("pattern")])
    };
    assert_eq!(figures(0), json!(["x", true, true, 4.0, "contiguous"]));
    assert_eq!(figures(1), json!(["y", false, false, 32.0, "strided by 512"]));
    assert_eq!(answers[0]["result"]["results"][0]["bytes_used"], 512 * 512 * 4);
    assert_eq!(answers[1]["result"]["title"], "%y read by %f");
    let error = answers[2]["error"]["message"].as_str().expect("an error");
    assert!(error.contains("abacus") && error.contains("h100-sxm"), "{error}");
}

#[test]
fn kernels_are_printed() {
    let output = run_on(&["kernel", "-", "--emit", "mlir"], KERNEL);
    assert!(text(&output.stdout).starts_with("#indexing_map"), "{}", text(&output.stdout));
    let output = run_on(&["kernel", "-", "--emit", "ptx", "--head", "--device", "a6000"], KERNEL);
    let shown = text(&output.stdout);
    assert!(
        shown.starts_with("// %f | loop | a6000\n// grid 512 | block 128 | shared memory 0 B\n"),
        "{shown}"
    );
    assert!(shown.contains("\n.target sm_86\n"), "{shown}");
    // A Triton kernel gives a summary, not an error.
    let triton = KERNEL.replace("kind=kLoop", "kind=kCustom").replace(
        "calls=fused",
        "calls=fused, backend_config={\"fusion_backend_config\":{\"kind\":\"__triton\"}}",
    );
    let output = run_on(&["kernel", "-"], &triton);
    assert!(output.status.success());
    let shown = text(&output.stdout);
    assert!(shown.starts_with("// %f: no kernel of XLA's emitters: Triton writes this kernel"), "{shown}");
    assert!(shown.contains("\nkind: __triton\n"), "{shown}");
    let request = json!({"id": 1, "method": "kernel", "params": {"text": triton, "instruction": "f"}});
    let answer: Value =
        serde_json::from_slice(&run_on(&["query"], &request.to_string()).stdout).expect("JSON");
    assert!(answer["result"]["elsewhere"].as_str().is_some_and(|who| who.starts_with("Triton")), "{answer}");
    assert_eq!(answer["result"]["launch"], Value::Null);
    // The default is the only fusion, else the root, if that is a kernel.
    let output = run_on(
        &["kernel", "-"],
        &KERNEL.replace("fusion(x, y), kind=kLoop, calls=fused", "custom-call(x), custom_call_target=\"t\""),
    );
    assert!(text(&output.stdout).contains("target: t\n"), "{}", text(&output.stdout));
    let output = run_on(&["kernel", "-"], "HloModule m\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n");
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("name it with --fusion"), "{}", text(&output.stderr));
}

const STABLEHLO: &str = "module {
  func.func public @main(%a: tensor<8x16xf32>) -> tensor<16x8xf32> {
    %0 = stablehlo.tanh %a : tensor<8x16xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
    return %1 : tensor<16x8xf32>
  }
}
";

#[test]
fn functions_of_stablehlo_have_kernels_and_values() {
    let output = run_on(&["kernel", "-", "--emit", "mlir"], STABLEHLO);
    assert!(text(&output.stdout).contains("math.tanh"), "{}", text(&output.stderr));
    let output = run_on(&["kernel", "-", "--fusion", "%0", "--head"], STABLEHLO);
    assert!(text(&output.stdout).starts_with("// %tanh.0 | loop | h100-sxm\n"), "{}", text(&output.stdout));
    let output = run_on(&["kernel", "-", "--fusion", "%2"], STABLEHLO);
    assert!(text(&output.stderr).contains(": 2 is not in the module"), "{}", text(&output.stderr));
    let kernel = json!({"id": 1, "method": "kernel", "params": {
        "language": "mlir", "text": STABLEHLO, "instruction": "main", "emit": "ptx"}});
    let value = json!({"id": 2, "method": "evaluate", "params": {
        "language": "mlir", "text": STABLEHLO.replace("8x16", "1x2").replace("16x8", "2x1"),
        "inputs": ["{{0, inf}}"]}});
    let output = run_on(&["query"], &format!("{kernel}\n{value}\n"));
    let shown = text(&output.stdout);
    let answers: Vec<Value> = shown.lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    assert_eq!(
        answers[0]["result"]["params"][0],
        json!({"index": 0, "operand": 0, "slice_index": 0, "bytes": 512})
    );
    assert_eq!(answers[1]["result"]["outputs"], json!(["{{0}, {1}}"]));
}

#[test]
fn values_of_filled_parameters_are_printed() {
    let text_of = |arguments: &[&str], module: &str| {
        let output = run_on(arguments, module);
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let iota = text_of(&["evaluate", "-", "--fill", "iota", "--instruction", "%1"], STABLEHLO);
    let (value, parameters) = iota.split_once("\nParameters (iota)\n\n").expect("both");
    assert!(value.starts_with("%1: f32[16,8]\n[0] "), "{value}");
    assert_eq!(value.lines().count(), 17, "{value}");
    assert!(parameters.starts_with("%a: f32[8,16]\n[0]    0    1    2"), "{parameters}");
    let large = STABLEHLO.replace("8x16", "2048x4096").replace("16x8", "4096x2048");
    let random = text_of(&["evaluate", "-", "--fill", "random", "--seed", "5"], &large);
    assert_eq!(random, text_of(&["evaluate", "-", "--fill", "random", "--seed", "5"], &large));
    assert!(random.contains("  … 2036 more …  ") && random.contains("\n… 4084 more rows …\n"), "{random}");
    assert!(random.contains("Parameters (random, seed 5)"), "{random}");

    let small = STABLEHLO.replace("8x16", "1x2").replace("16x8", "2x1");
    let literals = ["evaluate", "-", "--literals", "--input", "{{0, inf}}"];
    assert_eq!(text_of(&literals, &small), "{{0}, {1}}\n");
    let missing = run_on(&["evaluate", "-"], &small);
    assert_eq!(missing.status.code(), Some(1));
    let why = text(&missing.stderr);
    assert!(why.contains("parameter 0 is not given") && why.ends_with("; give --input or --fill\n"), "{why}");
    let limit = run_on(&["evaluate", "-", "--fill", "zeros", "--literals"], &large);
    let why = text(&limit.stderr);
    assert!(
        why.contains("too many elements for a literal: 8388608 of") && why.contains("at most 65536"),
        "{why}"
    );
    assert_eq!(run_on(&["evaluate", "-", "--instruction", "none"], &small).status.code(), Some(2));

    let ask = |fill: &str, summary: bool| {
        let params = json!({"language": "mlir", "text": small, "fill": fill, "summary": summary});
        let line = json!({"id": 1, "method": "evaluate", "params": params});
        let output = run_on(&["query"], &format!("{line}\n"));
        serde_json::from_str::<Value>(&text(&output.stdout)).expect("JSON")
    };
    let answer = ask("zeros", false);
    assert_eq!(answer["result"]["outputs"], json!(["{{0}, {0}}"]));
    assert_eq!(answer["result"]["shapes"], json!(["f32[2,1]"]));
    let answer = ask("iota", true);
    assert!(answer["result"]["text"].as_str().is_some_and(|text| text.starts_with("%main: f32[2,1]\n[0] ")));
    let answer = ask("ones", false);
    assert_eq!(answer["error"]["kind"], "invalid-params");
    assert!(answer["error"]["message"].as_str().is_some_and(|why| why.contains("zeros, random, iota")));
}

#[test]
fn check_warns_of_waste_on_the_device_that_is_asked_for() {
    // Smaller kernels are shorter than the launch interval.
    let kernel = &KERNEL.replace("512,512", "2048,2048");
    let warned = run_on(&["check", "-", "--fail-on", "warning", "--device", "b200"], kernel);
    assert_eq!(warned.status.code(), Some(1));
    assert!(text(&warned.stdout).contains("warning[uncoalesced]"), "{}", text(&warned.stdout));
    let patient = ["check", "-", "--fail-on", "warning", "--coalescing-threshold", "10"];
    assert_eq!(run_on(&patient, kernel).status.code(), Some(0));
    let unknown = run_on(&["check", "-", "--device", "abacus"], KERNEL);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("h100-sxm"), "{}", text(&unknown.stderr));
}

const ADD: &str = "module @m {
  func.func public @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
";

#[test]
fn modules_become_those_of_the_other_language_and_back() {
    let hlo = run_on(&["convert", "-", "--to", "hlo"], ADD);
    assert!(hlo.status.success(), "{}", text(&hlo.stderr));
    let hlo = text(&hlo.stdout);
    assert!(hlo.contains("ROOT add.0 = f32[4] add(a, b)"), "{hlo}");
    let back = text(&run_on(&["convert", "-"], &hlo).stdout);
    assert!(back.contains("stablehlo.add %a, %b : tensor<4xf32>"), "{back}");
    assert_eq!(run_on(&["convert", "-", "--to", "hlo"], &hlo).status.code(), Some(2));
    let partly = run_on(&["convert", "-"], &ADD.replace("stablehlo.add %a, %b", "x.y %a"));
    assert_eq!(partly.status.code(), Some(1));
    let told = text(&partly.stderr);
    assert!(told.contains("-:3: not converted: x.y: HLO has no such op"), "{told}");
    let mut query = Query::start();
    let request = json!({"id": 1, "method": "convert", "params": {"language": "mlir", "text": ADD}});
    let answer = query.ask(&request.to_string());
    assert_eq!(answer["result"]["incomplete"], json!([]));
    assert!(answer["result"]["text"].as_str().is_some_and(|text| text.contains("add(a, b)")));
}

fn written(name: &str, content: &str) -> String {
    let folder = std::env::temp_dir().join(format!("hlo-analyzer-cli-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join("m.hlo");
    std::fs::write(&path, content).expect("the file can be written");
    path.to_str().expect("the path is text").to_owned()
}

/// A fusion whose root is this instruction, with operands `p` and `q` of type `f32[4]`.
fn fusion_of(root: &str) -> String {
    format!(
        "\
HloModule m

f {{
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT r = {root}
}}

ENTRY e {{
  p = f32[4] parameter(0)
  q = f32[4] parameter(1)
  ROOT fused = {} fusion(p, q), kind=kLoop, calls=f
}}
",
        root.split_once(' ').expect("a shape and an opcode").0
    )
}

#[test]
fn what_xla_may_have_added_since_is_a_warning_that_conversion_and_kernels_name() {
    for (nth, (root, word)) in [
        ("f32[4] add(p, q), added_since=3", "added_since"),
        ("f32[4] frobnicate(p, q)", "frobnicate"),
        ("pred[4] compare(p, q), direction=NEAR", "NEAR"),
        ("f32[4] add(p, q), sharding={scattered}", "scattered"),
    ]
    .into_iter()
    .enumerate()
    {
        let path = written(&format!("unknown-{nth}"), &fusion_of(root));
        let checked = run(&["check", &path]);
        assert_eq!(checked.status.code(), Some(0), "{root}: {}", text(&checked.stdout));
        let shown = text(&checked.stdout) + &text(&checked.stderr);
        assert!(shown.contains("warning[unknown-word]") && shown.contains(word), "{root}: {shown}");
        let strict = run(&["check", "--fail-on", "warning", &path]);
        assert_eq!(strict.status.code(), Some(1), "{root}");
        let converted = run(&["convert", &path]);
        assert_eq!(converted.status.code(), Some(1), "{root}");
        assert!(text(&converted.stderr).contains(word), "{root}: {}", text(&converted.stderr));
        for emit in ["ptx", "mlir"] {
            let kernel = run(&["kernel", "--emit", emit, &path]);
            assert_eq!(kernel.status.code(), Some(1), "{root}: {}", text(&kernel.stderr));
            assert!(text(&kernel.stderr).contains(word), "{root}: {}", text(&kernel.stderr));
        }
    }
}

#[test]
fn a_total_order_is_converted_and_compared_in_kernels_as_such() {
    let root = |order: &str| fusion_of(&format!("pred[4] compare(p, q), direction=LT{order}"));
    let path = |name: &str, order: &str| written(name, &root(order));
    let (total, named) = (path("total", ", order=TOTAL"), path("named", ", type=TOTALORDER"));
    let converted = run(&["convert", &total]);
    assert_eq!(converted.status.code(), Some(0), "{}", text(&converted.stderr));
    assert!(text(&converted.stdout).contains("TOTALORDER"), "{}", text(&converted.stdout));
    let back = run_on(&["convert", "-"], &text(&converted.stdout));
    assert!(text(&back.stdout).contains("type=TOTALORDER"), "{}", text(&back.stdout));
    let ptx = |path: &str| text(&run(&["kernel", path]).stdout);
    assert!(!ptx(&total).is_empty());
    assert_eq!(ptx(&total), ptx(&named));
    assert_ne!(ptx(&total), ptx(&path("partial", "")));
}

#[test]
fn the_entry_of_stablehlo_answers_the_element_of_a_tuple_of_one() {
    let text_of = "\
HloModule m

ENTRY e {
  p = f32[4] parameter(0)
  q = f32[4] negate(p)
  ROOT r = (f32[4]) tuple(q)
}
";
    let converted = run_on(&["convert", "-"], text_of);
    let shown = text(&converted.stdout);
    assert!(shown.contains("-> tensor<4xf32>") && !shown.contains("tuple<"), "{shown}");
}
