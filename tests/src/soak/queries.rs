//! Requests to `query` with mutated texts and parameters: each response has the format of the interface.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

use crate::binary;
use crate::soak::edits::random_edit;
use crate::soak::texts::{EXPRESSIONS, Language, MAPS, base};
use crate::soak::{Campaign, Failure, Kind, PATIENCE, Report, STACK_BYTES, shrink, with_small_stacks};
use random::Rng;

pub const METHODS: &[&str] = &[
    "parse",
    "verify",
    "print",
    "indexing",
    "grouped_indexing",
    "epilogue_indexing",
    "fusion",
    "kernel",
    "partition",
    "tile",
    "tilings",
    "map",
    "expr",
    "access_pattern",
    "coalescing",
    "convert",
    "evaluate",
    "lineage",
    "blame",
    "diff",
    "memory",
];

/// Error kinds that are valid responses. `internal` is not.
const ERRORS: &[&str] = &["parse", "not-found", "unsupported", "invalid-params", "limit"];

/// Requests per process, so that its memory stays small while its state persists.
const REQUESTS_PER_PROCESS: u64 = 2000;

/// A process that answers requests.
pub struct QueryProcess {
    process: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    log: Receiver<String>,
}

impl QueryProcess {
    /// A process in which every thread, including the first, has a small stack.
    pub fn start() -> QueryProcess {
        let mut command = command_on_small_stack(&["query"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("the binary can be started");
        let input = process.stdin.take().expect("stdin is a pipe");
        let output = process.stdout.take().expect("stdout is a pipe");
        let mut errors = process.stderr.take().expect("stderr is a pipe");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            let mut line = String::new();
            while output.read_line(&mut line).is_ok_and(|read| read > 0) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        let (sender, log) = channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = errors.read(&mut chunk) {
                if sender.send(String::from_utf8_lossy(&chunk[..read]).into_owned()).is_err() {
                    return;
                }
            }
        });
        QueryProcess { process, input, lines, log }
    }

    /// Sends a request and checks the format of its response.
    pub fn ask(&mut self, request: &Value, patience: Duration) -> Result<Value, Failure> {
        let method = request["method"].as_str().unwrap_or_default();
        let failure = |kind, detail: String| Failure {
            kind,
            method: method.to_owned(),
            detail,
            input: request.clone(),
        };
        let sent = writeln!(self.input, "{request}").and_then(|()| self.input.flush());
        let line = match self.lines.recv_timeout(patience) {
            Ok(line) if sent.is_ok() => line,
            Err(RecvTimeoutError::Timeout) => {
                return Err(failure(Kind::Hang, format!("no answer in {patience:?}")));
            }
            _ => {
                let status = self.process.wait();
                return Err(failure(Kind::Death, format!("{status:?} {}", self.log())));
            }
        };
        let Ok(answer) = serde_json::from_str::<Value>(&line) else {
            return Err(failure(Kind::Malformed, format!("no JSON: {line}")));
        };
        if answer["id"] != request["id"] {
            return Err(failure(Kind::Malformed, format!("another id: {answer}")));
        }
        let kind = answer["error"]["kind"].as_str();
        match (answer.get("result"), kind) {
            (None, Some("internal")) => Err(failure(Kind::Panic, format!("{answer} {}", self.log()))),
            (None, Some(kind)) if ERRORS.contains(&kind) => {
                let is_place = |key: &str| answer["error"].get(key).is_none_or(|n| n.as_u64() > Some(0));
                match is_place("line") && is_place("column") {
                    true => Ok(answer),
                    false => Err(failure(Kind::Malformed, format!("lines count from 1: {answer}"))),
                }
            }
            (Some(_), None) => Ok(answer),
            _ => Err(failure(Kind::Malformed, format!("neither a result nor an error: {answer}"))),
        }
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    fn log(&self) -> String {
        self.log.recv_timeout(Duration::from_millis(200)).into_iter().chain(self.log.try_iter()).collect()
    }
}

impl Drop for QueryProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The binary under test, with a stack of [`STACK_BYTES`] for its first thread where a shell can set that,
/// and for all others.
pub fn command_on_small_stack(arguments: &[&str]) -> Command {
    let mut command = match cfg!(target_os = "linux") {
        true => {
            let mut shell = Command::new("sh");
            let limited = format!("ulimit -s {} && exec \"$0\" \"$@\"", STACK_BYTES >> 10);
            shell.args(["-c", &limited]).arg(binary::hlo_analyzer());
            shell
        }
        false => Command::new(binary::hlo_analyzer()),
    };
    command.args(arguments);
    with_small_stacks(&mut command);
    command
}

/// Runs the cases of a campaign: each is a text with a few requests about it.
pub fn run(campaign: Campaign) -> Report {
    let mut report = Report::default();
    let mut process: Option<QueryProcess> = None;
    let mut answered = 0;
    for seed in campaign.seeds() {
        report.cases += 1;
        for request in requests(seed) {
            if answered % REQUESTS_PER_PROCESS == 0 {
                process = None;
            }
            answered += 1;
            report.requests += 1;
            let asked = process.get_or_insert_with(QueryProcess::start).ask(&request, PATIENCE);
            if let Err(failure) = asked {
                process = None;
                report.add("queries", seed, smaller(failure));
            }
        }
    }
    report
}

/// The requests of a case.
pub fn requests(seed: u64) -> Vec<Value> {
    let mut random = Rng::new(seed);
    let language = *random.pick(&Language::BOTH);
    let mut text = base(&mut random, language);
    for _ in 0..random.index(5) {
        random_edit(&mut random, &text, language).apply(&mut text);
    }
    let names = names(&text);
    let count = 4 + random.index(8);
    (0..count)
        .map(|n| {
            let method = *random.pick(METHODS);
            let mut params = parameters(&mut random, method, language, &text, &names);
            if random.index(6) == 0 {
                mutate(&mut random, &mut params);
            }
            json!({"id": n, "method": method, "params": params})
        })
        .collect()
}

/// The names that a text defines, in both languages: words before `=`, `(` and `{`.
fn names(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || "_.%@-#".contains(c)));
    let mut names: Vec<String> = words
        .filter(|word| word.len() > 1 || word.chars().all(char::is_alphabetic))
        .map(str::to_owned)
        .collect();
    names.retain(|name| !name.is_empty());
    names.sort();
    names.dedup();
    if names.is_empty() {
        names.push("a".to_owned());
    }
    names
}

const NUMBERS: &[i64] =
    &[0, 1, 2, 3, 4, 8, 16, 31, 32, 64, 128, 1 << 20, 1 << 33, -1, -4, i64::MAX, i64::MIN];

fn numbers(random: &mut Rng) -> Value {
    (0..random.index(5)).map(|_| json!(random.pick(NUMBERS))).collect()
}

fn parameters(random: &mut Rng, method: &str, language: Language, text: &str, names: &[String]) -> Value {
    let mut params = json!({"language": language.id(), "text": text});
    let name = |random: &mut Rng| json!(random.pick(names).trim_start_matches(['%', '@']));
    params["instruction"] = name(random);
    let mut sometimes = |random: &mut Rng, key: &str, value: Value| {
        if random.index(3) == 0 {
            params[key] = value;
        }
    };
    let value = name(random);
    sometimes(random, "computation", value);
    let value = json!(random.pick(&["floordiv", "symbolic"]));
    sometimes(random, "syntax", value);
    let value = json!(random.pick(&["h100-sxm", "a100-sxm-80", "a6000", "b200"]));
    sometimes(random, "device", value);
    let index = json!(random.pick(&NUMBERS[..8]));
    match method {
        "print" | "parse" | "verify" => {
            let value = json!({random.pick(&["percent", "operand_shapes", "metadata", "large_constants", "full_bodies"]).to_owned(): random.index(2) == 0});
            sometimes(random, "options", value);
            let entry = *random.pick(&[
                "module",
                "shape",
                "layout",
                "sharding",
                "window",
                "padding_config",
                "dim_labels",
            ]);
            sometimes(random, "entry", json!(entry));
        }
        "indexing" => {
            let value = json!(random.pick(&["output_to_input", "input_to_output"]));
            sometimes(random, "direction", value);
            sometimes(random, "index", index);
            sometimes(random, "physical_layout", json!(true));
            sometimes(random, "simplify", json!(false));
        }
        "grouped_indexing" => {
            let value = json!([name(random), name(random)]);
            sometimes(random, "instructions", value);
        }
        "epilogue_indexing" => params["root"] = name(random),
        "partition" => sometimes(random, "force_roots", json!(["transpose", "add"])),
        "tile" => {
            let value = numbers(random);
            sometimes(random, "tile_sizes", value);
            sometimes(random, "operand", index);
            let value = json!(random.pick(MAPS));
            sometimes(random, "map", value);
        }
        "coalescing" => {
            let value = numbers(random);
            sometimes(random, "tile_sizes", value);
        }
        "tilings" => {
            let value = numbers(random);
            sometimes(random, "tiles", value);
            for key in ["warps", "stages"] {
                let value = json!(random.pick(NUMBERS));
                sometimes(random, key, value);
            }
        }
        "kernel" => {
            let value = json!(random.pick(&["mlir", "ptx"]));
            sometimes(random, "emit", value);
        }
        "lineage" | "blame" => {
            let edited = mutated(random, &[text]);
            params["stages"] = json!([{"name": "first", "hlo": text}, {"name": "last", "hlo": edited}]);
        }
        "diff" => {
            let edited = mutated(random, &[text]);
            params["before"] = json!({"text": text, "language": language.id()});
            params["after"] = json!({"text": edited, "language": language.id()});
        }
        "access_pattern" => {
            for key in ["array", "block", "warp", "iteration"] {
                let value = json!(random.pick(NUMBERS));
                sometimes(random, key, value);
            }
        }
        "evaluate" => {
            let literals: &[&str] =
                &["0", "{1, 2, 3, 4}", "zeros", "iota", "random", "{{1,2},{3,4}}", "nan", "(1, 2)", ""];
            let value: Value = (0..random.index(4)).map(|_| json!(random.pick(literals))).collect();
            params["inputs"] = value;
        }
        "map" => {
            let ops = [
                "simplify",
                "compose",
                "rescale_symbols",
                "remove_unused_symbols",
                "remove_unused_vars",
                "print",
                "is_known_empty",
                "range",
                "evaluate",
            ];
            params["op"] = json!(random.pick(&ops));
            params["map"] = json!(mutated(random, MAPS));
            params["with"] = json!(mutated(random, MAPS));
            params["args"] = numbers(random);
        }
        "expr" => {
            params["op"] = json!(random.pick(&["canonicalize", "print", "evaluate"]));
            params["expr"] = json!(mutated(random, EXPRESSIONS));
            params["args"] = numbers(random);
        }
        _ => {}
    }
    params
}

/// One of these texts, with a few characters changed.
fn mutated(random: &mut Rng, texts: &[&str]) -> String {
    let mut text = (*random.pick(texts)).to_owned();
    for _ in 0..random.index(4) {
        let parts = [
            "d0",
            "s0",
            "rt0",
            "(",
            ")",
            "-",
            "*",
            "+",
            "floordiv",
            "mod",
            "9223372036854775807",
            "0",
            ",",
            "[",
            "]",
            " in ",
            ":",
        ];
        let at = random.index(text.len() + 1);
        if text.is_char_boundary(at) {
            match random.index(3) {
                0 => text.insert_str(at, parts[random.index(parts.len())]),
                1 if at < text.len() => drop(text.remove(at)),
                _ => text.insert_str(at, &random.pick(NUMBERS).to_string()),
            }
        }
    }
    text
}

/// Changes the type or value of one of the parameters.
fn mutate(random: &mut Rng, params: &mut Value) {
    let odd = [
        json!(null),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("%"),
        json!([]),
        json!([[[]]]),
        json!({}),
        json!(true),
        json!({"a": {"b": []}}),
        json!("é\u{0}😀"),
    ];
    let Some(map) = params.as_object_mut() else { return };
    let keys: Vec<String> = map.keys().cloned().collect();
    let key = random.pick(&keys).clone();
    map.insert(key, random.pick(&odd).clone());
}

/// Reduces the text of the request.
fn smaller(failure: Failure) -> Failure {
    let fails = |request: &Value| {
        // A hang gets less time, because each attempt uses all of it.
        let patience = if failure.kind == Kind::Hang { PATIENCE / 6 } else { PATIENCE };
        QueryProcess::start().ask(request, patience).err().filter(|found| found.is_like(&failure))
    };
    let with = |text: &str| {
        let mut request = failure.input.clone();
        request["params"]["text"] = json!(text);
        request
    };
    let Some(text) = failure.input["params"]["text"].as_str() else { return failure };
    let text = shrink::text(text, |text| fails(&with(text)).is_some());
    fails(&with(&text)).unwrap_or(failure)
}
