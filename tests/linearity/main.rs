//! Whether time grows as the text does, for every command, every `query` method and every request about a document.
//!
//! The test run checks that all of them answer on every shape of [`shapes`]. `cargo xtask bench --linearity` sets
//! `HLO_ANALYZER_LINEARITY` to the size of the largest text in KiB and measures processor time: it grows with the text to the power
//! of an exponent, which is 1 for what is linear.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hlo_analyzer_tests::binary;
use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::positions::position;
use hlo_analyzer_tests::shapes::{SHAPES, Shape};
use hlo_analyzer_tests::soak::differential::{client, close, open};
use hlo_analyzer_tests::soak::queries::{METHODS, QueryProcess};
use hlo_analyzer_tests::soak::requests::{self, OF_DOCUMENTS, OF_PLACES};
use serde_json::{Value, json};

/// The largest exponent that counts as linear: caches and allocators add to 1.
const MAX_EXPONENT: f64 = 1.15;
/// Less time than this at the largest size tells nothing: the clock ticks every 10 ms.
const SHORT: f64 = 0.12;
/// What grows faster, the largest exponent of that, and why.
const KNOWN: &[(&str, f64, &str)] = &[(
    "optimize",
    2.5,
    "as XLA's, greedy fusion looks at a fusion again each time it grows: a chain is one fusion",
)];
/// What takes longer than this is not measured at larger sizes.
const PATIENCE: Duration = Duration::from_secs(60);
/// The sizes, as parts of the largest.
const PARTS: [usize; 5] = [16, 8, 4, 2, 1];

/// The commands, with `FILE` for the text and `NAME` for an instruction.
const COMMANDS: &[&[&str]] = &[
    &["check", "FILE"],
    &["check", "--format", "json", "FILE"],
    &["explain", "FILE"],
    &["explain", "FILE", "--instruction", "NAME"],
    &["kernel", "FILE"],
    &["evaluate", "FILE"],
    &["convert", "FILE"],
    &["diff", "FILE", "FILE"],
    &["memory", "FILE"],
    &["report", "FILE", "--out", "OUT"],
    &["optimize", "--pipeline", "gpu", "FILE"],
    &["analysis-stats", "FILE"],
];

/// Processor time of a process, or of the ended children of this one, in seconds.
fn processor_time(process: Option<u32>) -> f64 {
    let path = process.map_or("/proc/self/stat".to_owned(), |id| format!("/proc/{id}/stat"));
    let stat = std::fs::read_to_string(path).unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit_once(") ").map_or(Vec::new(), |(_, rest)| rest.split(' ').collect());
    let first = if process.is_some() { 11 } else { 13 };
    let ticks: u64 = (first..first + 2).filter_map(|at| fields.get(at)?.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}

/// The time of one subject at one size, in seconds; `None` if it did not end.
type Time = Option<f64>;

/// A text in a file.
struct Input<'a> {
    shape: &'a Shape,
    text: String,
    file: PathBuf,
}

impl<'a> Input<'a> {
    fn new(shape: &'a Shape, bytes: usize) -> Input<'a> {
        let text = shape.text(bytes);
        let name = format!("hlo-analyzer-linearity-{}-{bytes}.{}", std::process::id(), shape.language.id());
        let file = std::env::temp_dir().join(name);
        std::fs::write(&file, &text).expect("the folder of temporary files is writable");
        Input { shape, text, file }
    }

    fn command(&self, arguments: &[&str]) -> Time {
        let out = self.file.with_extension("html");
        let mut command = Command::new(binary::hlo_analyzer());
        for argument in arguments {
            match *argument {
                "FILE" => command.arg(&self.file),
                "NAME" => command.arg(self.shape.instruction),
                "OUT" => command.arg(&out),
                other => command.arg(other),
            };
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let before = processor_time(None);
        let mut process = command.spawn().expect("the binary can be started");
        let end = Instant::now() + PATIENCE;
        let status = loop {
            match process.try_wait().expect("it can be waited for") {
                Some(status) => break Some(status),
                None if Instant::now() > end => {
                    _ = process.kill();
                    _ = process.wait();
                    break None;
                }
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        };
        _ = std::fs::remove_file(out);
        let status = status?;
        assert!(
            status.code().is_some_and(|code| code <= 2),
            "{arguments:?} of {}: {status}",
            self.shape.name
        );
        Some(processor_time(None) - before)
    }

    fn query(&self, method: &str) -> Time {
        let mut process = QueryProcess::start();
        let language = self.shape.language.id();
        let mut params = json!({"language": language, "text": self.text, "instruction": self.shape.instruction, "root": self.shape.instruction});
        match method {
            "lineage" | "blame" => {
                let stage = |name: &str| json!({"name": name, "hlo": self.text});
                params["stages"] = json!([stage("first"), stage("last")]);
            }
            "diff" => {
                let source = json!({"language": language, "text": self.text});
                (params["before"], params["after"]) = (source.clone(), source);
            }
            "evaluate" => params["inputs"] = json!([]),
            _ => {}
        }
        match process.ask(&json!({"id": 1, "method": method, "params": params}), PATIENCE) {
            Ok(_) => Some(processor_time(Some(process.id()))),
            Err(failure) if failure.is_hang() => None,
            Err(failure) => panic!("{}: {failure}", self.shape.name),
        }
    }

    /// One request in a server that has the text open and has computed nothing else for it.
    fn request(&self, method: &str) -> Time {
        let mut client = client();
        let uri = format!("file://{}", self.file.display());
        open(&mut client, &uri, self.shape.language, 1, &self.text);
        let asked = self.ask(&mut client, method, &uri);
        close(&mut client, &uri);
        let time = client.process_id().map(|id| processor_time(Some(id)));
        client.kill();
        asked.and(time)
    }

    fn ask(&self, client: &mut LspClient, method: &str, uri: &str) -> Option<Value> {
        let name = self.shape.instruction;
        let at = [format!(" {name} = "), format!("%{name} = ")].iter().find_map(|text| self.text.find(text));
        let place = position(&self.text, at.map_or(0, |at| at + 2), "utf-16");
        let end = position(&self.text, self.text.len(), "utf-16");
        let question = match OF_DOCUMENTS.contains(&method) {
            true => requests::of_document(method, uri, end),
            false => requests::of_place(method, uri, place),
        };
        let answer = client.try_ask(&question.method, question.params, PATIENCE);
        match answer {
            Ok(answer) => Some(answer.unwrap_or_else(|error| error)),
            Err(hlo_analyzer_tests::lsp_client::NoAnswer::Hangs) => None,
            Err(other) => panic!("{method} of {}: {other:?}", self.shape.name),
        }
    }
}

impl Drop for Input<'_> {
    fn drop(&mut self) {
        _ = std::fs::remove_file(&self.file);
    }
}

/// What is measured, in words, and how.
struct Subject {
    name: String,
    run: Box<dyn Fn(&Input<'_>) -> Time>,
}

fn subjects() -> Vec<Subject> {
    let commands = COMMANDS.iter().map(|&arguments| Subject {
        name: arguments.join(" "),
        run: Box::new(move |input| input.command(arguments)),
    });
    let alone = |method: &&&str| !matches!(**method, "map" | "expr");
    let queries = METHODS.iter().filter(alone).map(|&method| Subject {
        name: format!("query {method}"),
        run: Box::new(move |input| input.query(method)),
    });
    let requests = OF_DOCUMENTS.iter().chain(OF_PLACES).map(|&method| Subject {
        name: method.to_owned(),
        run: Box::new(move |input| input.request(method)),
    });
    commands.chain(queries).chain(requests).collect()
}

/// The slope of a line through the logarithms of sizes and times.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(size, time)| (size.ln(), time.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let above: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let below: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
    above / below
}

/// Times at all sizes in ascending order, less the time of an empty text.
fn times(subject: &Subject, inputs: &[Input<'_>], start: f64, rounds: usize) -> Vec<(f64, f64)> {
    let mut points = Vec::new();
    for input in inputs {
        let rounds = (0..rounds).map(|_| (subject.run)(input));
        let Some(times) = rounds.collect::<Option<Vec<f64>>>() else {
            points.push((input.text.len() as f64, PATIENCE.as_secs_f64()));
            break;
        };
        let least = times.into_iter().fold(f64::INFINITY, f64::min);
        points.push((input.text.len() as f64, (least - start).max(0.005)));
    }
    points
}

/// Prints a row per subject and shape that takes long or grows faster than the text. Returns those that grow faster.
fn measure(largest: usize, only: Option<&str>, subject: Option<&str>) -> Vec<String> {
    let mut failures = Vec::new();
    let mut subjects = subjects();
    subjects.retain(|one| subject.is_none_or(|subject| one.name.contains(subject)));
    for shape in SHAPES {
        if only.is_some_and(|only| !shape.name.contains(only)) {
            continue;
        }
        let all: Vec<Input<'_>> = PARTS.iter().map(|part| Input::new(shape, largest / part)).collect();
        let smallest = Input::new(shape, 64);
        for subject in &subjects {
            let start = (subject.run)(&smallest).unwrap_or_default();
            // The two largest sizes decide whether it is measured at all of them.
            let two = times(subject, &all[2..], start, 1);
            let last = two.last().copied().unwrap_or_default();
            if last.1 < SHORT && two.len() == 3 {
                continue;
            }
            let mut found = exponent(&[two[0], last]);
            let mut points = two;
            if found > MAX_EXPONENT {
                points = times(subject, &all, start, 2);
                // Constant parts hide the growth at small sizes, and the clock is coarse.
                let long: Vec<(f64, f64)> = points.iter().copied().filter(|p| p.1 >= SHORT / 4.0).collect();
                found = if long.len() > 1 { exponent(&long) } else { 1.0 };
            }
            let row: Vec<String> =
                points.iter().map(|(size, time)| format!("{:.0} KiB {time:.2} s", size / 1024.0)).collect();
            let row = format!("{}: {}: {}", shape.name, subject.name, row.join(", "));
            eprintln!("linearity: {found:.2} {row}");
            let known = KNOWN.iter().find(|(of, ..)| subject.name.contains(of));
            if found > known.map_or(MAX_EXPONENT, |&(_, largest, _)| largest) {
                failures.push(format!("{found:.2} {row}"));
            }
        }
    }
    failures
}

#[test]
fn everything_answers_on_every_shape_and_grows_as_the_text() {
    let Some(kib) = std::env::var("HLO_ANALYZER_LINEARITY").ok().and_then(|kib| kib.parse::<usize>().ok())
    else {
        for shape in SHAPES {
            let input = Input::new(shape, 2 << 10);
            assert!(input.text.len() > 1 << 10, "{}: {} bytes", shape.name, input.text.len());
            let (mut process, language) = (QueryProcess::start(), shape.language.id());
            let params = json!({"language": language, "text": input.text});
            let answer = process.ask(&json!({"id": 1, "method": "verify", "params": params}), PATIENCE);
            let answer = answer.unwrap_or_else(|failure| panic!("{}: {failure}", shape.name));
            let errors = answer["result"]["errors"].as_array().map_or(0, Vec::len);
            assert_eq!(errors > 0, shape.name.contains("errors"), "{}: {answer}", shape.name);
        }
        return;
    };
    let [only, subject] =
        ["SHAPE", "SUBJECT"].map(|of| std::env::var(format!("HLO_ANALYZER_LINEARITY_{of}")).ok());
    let failures = measure(kib << 10, only.as_deref(), subject.as_deref());
    assert!(
        failures.is_empty(),
        "faster than the text to the power of {MAX_EXPONENT}:\n{}",
        failures.join("\n")
    );
}

#[test]
fn the_exponent_of_a_power_is_found() {
    let points: Vec<(f64, f64)> = [1.0, 2.0, 4.0, 8.0].map(|size: f64| (size, 3.0 * size.powf(1.5))).to_vec();
    assert!((exponent(&points) - 1.5).abs() < 1e-9);
}
