//! Runs the server and the command line on threads with stacks of 256 KiB: every request and every command,
//! on inputs that are deep in every way. An analysis that recurses over its input without a bound overflows
//! the stack here.
//!
//! The test run covers a sample: a few requests per input, and a few inputs per request. `cargo xtask soak
//! small-stack` runs all.

mod deep;

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use deep::Deep;
use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::soak::differential::{client, close, open};
use hlo_analyzer_tests::soak::queries::{METHODS, QueryProcess, command_on_small_stack};
use hlo_analyzer_tests::soak::questions::Questions;
use hlo_analyzer_tests::soak::{Failure, Kind};
use serde_json::json;

/// The time limit of one command. The test bounds stacks rather than time: `HANG` only ends commands that
/// would not end.
const HANG: Duration = Duration::from_secs(120);

/// The sample contains one in this many pairs of an input and a request.
const SHARE: usize = 8;

/// The requests sent for an input.
struct Sample {
    input: usize,
    share: usize,
}

impl Sample {
    fn holds(&self, request: usize) -> bool {
        (self.input + request).is_multiple_of(self.share)
    }
}

/// The inputs whose names contain `HLO_ANALYZER_DEEP`, with all requests; if unset, all inputs with a sample
/// of requests.
fn inputs() -> Vec<(Deep, Sample)> {
    let part = std::env::var("HLO_ANALYZER_DEEP").ok();
    let share = if part.is_some() { 1 } else { SHARE };
    let part = part.unwrap_or_default();
    let all = deep::hlo().into_iter().chain(deep::mlir()).enumerate();
    all.filter(|(_, deep)| deep.name.contains(&part))
        .map(|(input, deep)| (deep, Sample { input, share }))
        .collect()
}

/// Runs `ask` on every input and reports all failures.
fn each(what: &str, mut ask: impl FnMut(&Deep, &Sample) -> Vec<String>) {
    let mut failures = Vec::new();
    for (deep, sample) in inputs() {
        let start = Instant::now();
        for failure in ask(&deep, &sample) {
            eprintln!("{what}: {} ({}, {} bytes): {failure}", deep.name, deep.language.id(), deep.text.len());
            failures.push(format!("{}: {}", deep.name, failure.lines().next().unwrap_or_default()));
        }
        if start.elapsed() > Duration::from_secs(10) {
            eprintln!("{what}: {} ({}) took {:?}", deep.name, deep.language.id(), start.elapsed());
        }
    }
    failures.dedup();
    assert!(failures.is_empty(), "{what}: {failures:#?}");
}

fn told(failure: &Failure) -> String {
    let detail: String = failure.detail.chars().take(400).collect();
    format!("{:?} in {}: {detail}", failure.kind, failure.method)
}

#[test]
fn every_request_of_an_editor() {
    let mut server: Option<LspClient> = None;
    // Each input is both stages of a compile, so that the requests about stages have an answer.
    let folder = std::env::temp_dir().join(format!("hlo-analyzer-deep-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the folder of temporary files is writable");
    let [before, after] = ["before_optimizations", "sm_9.0a_gpu_after_optimizations"]
        .map(|stage| folder.join(format!("module_0001.deep.{stage}.txt")));
    let uri = &format!("file://{}", after.display());
    each("lsp", |deep, sample| {
        let mut failures = Vec::new();
        // Starting a server is slow compared with requests, so sample every other input with more requests.
        let is_sample = sample.share > 1;
        if is_sample && sample.input % 2 > 0 {
            return failures;
        }
        let sample = Sample { input: sample.input / 2, share: if is_sample { sample.share / 2 } else { 1 } };
        let text = &deep.text;
        for path in [&before, &after] {
            std::fs::write(path, text).expect("the folder of temporary files is writable");
        }
        let find = |part: &str| text.rfind(part).unwrap_or_default();
        let mut places =
            vec![find("parameter"), text.len() / 2, find("r ="), find("r =") + 6, find("(p"), find("%p")];
        places
            .iter_mut()
            .for_each(|place| *place = (0..=*place).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0));
        places.dedup();
        let first = sample.input % places.len();
        places.rotate_left(first);
        places.truncate(if is_sample { 2 } else { places.len() });
        let methods = hlo_analyzer_tests::soak::requests::METHODS.iter().flat_map(|methods| methods.iter());
        for (_, only) in methods.enumerate().filter(|(n, _)| sample.holds(*n)) {
            let client = server.get_or_insert_with(|| {
                let mut client = client();
                open(&mut client, uri, deep.language, 1, text);
                client
            });
            let questions = Questions { text, places: places.clone(), only: Some(only) };
            if let Err(failure) = questions.ask(client, uri) {
                failures.push(told(&failure));
                server.take().into_iter().for_each(LspClient::kill);
            }
        }
        if let Some(mut client) = server.take() {
            close(&mut client, uri);
            client.kill();
        }
        failures
    });
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn every_query() {
    let mut process: Option<QueryProcess> = None;
    each("query", |deep, sample| {
        let mut failures = Vec::new();
        let of_map = deep.language.id() == "mlir";
        for (id, &method) in METHODS
            .iter()
            .enumerate()
            .filter(|(id, method)| !matches!(**method, "map" | "expr") && sample.holds(*id))
        {
            let mut params = json!({"language": deep.language.id(), "text": deep.text, "instruction": deep.instruction, "root": deep.instruction});
            if matches!(method, "lineage" | "blame") {
                params["stages"] =
                    json!([{"name": "first", "hlo": deep.text}, {"name": "last", "hlo": deep.text}]);
            }
            if method == "diff" {
                let source = json!({"language": deep.language.id(), "text": deep.text});
                (params["before"], params["after"]) = (source.clone(), source);
            }
            let variants: &[(&str, &str)] = match method {
                "kernel" => &[("emit", "mlir"), ("emit", "ptx")],
                "indexing" => &[("direction", "output_to_input"), ("direction", "input_to_output")],
                "evaluate" => &[("x", ""), ("computation", if of_map { "f" } else { "e" })],
                _ => &[("x", "")],
            };
            for (key, value) in variants {
                params[*key] = json!(value);
                if method == "evaluate" {
                    params["inputs"] = json!([]);
                }
                let request = json!({"id": id, "method": method, "params": params});
                let asked = process.get_or_insert_with(QueryProcess::start).ask(&request, HANG);
                if let Err(failure) = asked {
                    process = None;
                    failures.push(told(&failure));
                }
            }
        }
        failures
    });
}

#[test]
fn expressions_alone() {
    let mut process = QueryProcess::start();
    for depth in [50, 190, 205, 20_000] {
        for (open, close) in
            [("(", ")"), ("-", ""), ("(1 + ", ")"), ("((", ") floordiv 2)"), ("min(1, ", ")")]
        {
            let text = format!("{}d0{}", open.repeat(depth), close.repeat(depth));
            for op in ["print", "canonicalize", "evaluate"] {
                let params = json!({"op": op, "expr": text, "args": [3]});
                process
                    .ask(&json!({"id": 1, "method": "expr", "params": params}), HANG)
                    .unwrap_or_else(|f| panic!("{}", told(&f)));
            }
            let map = format!("(d0) -> ({text}), domain: d0 in [0, 9], {text} in [0, 9]");
            for op in
                ["simplify", "compose", "print", "range", "is_known_empty", "rescale_symbols", "evaluate"]
            {
                let params = json!({"op": op, "map": map, "with": map, "args": [3]});
                process
                    .ask(&json!({"id": 1, "method": "map", "params": params}), HANG)
                    .unwrap_or_else(|f| panic!("{}", told(&f)));
            }
        }
    }
}

/// A temporary file with a text, deleted on drop.
struct Written(PathBuf);

impl Drop for Written {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn every_command() {
    let folder = std::env::temp_dir();
    each("command", |deep, sample| {
        let path = folder.join(format!("hlo-analyzer-deep-{}.{}", std::process::id(), deep.language.id()));
        std::fs::write(&path, &deep.text).expect("the folder of temporary files is writable");
        let written = Written(path);
        let file = written.0.to_str().expect("the path is text");
        let mut failures = Vec::new();
        let commands = [
            &["check"][..],
            &["explain"],
            &["explain", "--instruction", deep.instruction],
            &["kernel", "--emit", "ptx"],
            &["kernel", "--emit", "mlir"],
            &["convert"],
            &["analysis-stats"],
        ];
        for (_, arguments) in commands.into_iter().enumerate().filter(|(n, _)| sample.holds(*n)) {
            let mut command = command_on_small_stack(&[&arguments[..1], &[file], &arguments[1..]].concat());
            let null =
                || File::options().write(true).open("/dev/null").map_or_else(|_| Stdio::null(), Stdio::from);
            let mut child = command
                .stdin(Stdio::null())
                .stdout(null())
                .stderr(Stdio::piped())
                .spawn()
                .expect("it starts");
            let mut errors = child.stderr.take().expect("stderr is a pipe");
            let log = std::thread::spawn(move || {
                let mut text = Vec::new();
                let _ = std::io::Read::read_to_end(&mut errors, &mut text);
                String::from_utf8_lossy(&text).into_owned()
            });
            let end = Instant::now() + HANG;
            let status = loop {
                match child.try_wait().expect("it can be waited for") {
                    None if Instant::now() < end => std::thread::sleep(Duration::from_millis(5)),
                    None => {
                        let _ = child.kill();
                        let _ = child.wait();
                        break None;
                    }
                    status => break status,
                }
            };
            let log = log.join().unwrap_or_default();
            let kind = match status {
                None => Kind::Hang,
                Some(status) if status.code().is_none_or(|code| code >= 126) => Kind::Death,
                Some(_) if log.contains("panicked") => Kind::Panic,
                Some(_) => continue,
            };
            let log: String = log.chars().take(300).collect();
            failures.push(format!("{kind:?} of {}: {log}", arguments.join(" ")));
        }
        failures
    });
}
