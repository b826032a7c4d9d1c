//! `analysis-stats FILE…`: loads files, runs the analyses, and prints time and memory per phase; of a folder that XLA
//! dumped, those of its compiles. Used for tests, benchmarks and bug reports.

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;
use ide::{
    Analysis, AnalysisHost, DomainHints, FileId, InlayHintsConfig, Language, TextEdit, WarningsConfig,
};
use serde_json::json;

use super::terminal::write_json;
use super::{compile_times, input, memory_times, optimize_times, preview_times};
use crate::memory::resident_bytes;

#[derive(clap::Args)]
pub struct StatsArguments {
    /// `-` is standard input; `.gz` is unpacked. Of a folder that XLA dumped, its compiles are timed.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[arg(long)]
    json: bool,
    /// Make this many random one-character edits and print the time from each edit to fresh diagnostics and
    /// to a fresh hover.
    #[arg(long, default_value_t = 0, value_name = "N")]
    edits: usize,
    /// Seed of the edit positions.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only time generating the kernel of each file: of its one fusion, or of the entry's root.
    #[arg(long)]
    previews: bool,
    /// Only time planning the memory of each file: from its text, and after edits.
    #[arg(long, conflicts_with = "previews")]
    memory: bool,
    /// Only time the preview of each file after XLA's pipeline: from its text, and after edits.
    #[arg(long, conflicts_with_all = ["previews", "memory"])]
    optimize: bool,
    /// The GPU that kernels target.
    #[arg(long, value_name = "NAME", default_value = ide::DEFAULT_DEVICE)]
    device: String,
}

/// Number of parses from scratch; the median is reported.
const PARSE_RUNS: usize = 5;

pub fn run(arguments: &StatsArguments) -> Result<ExitCode> {
    if arguments.previews {
        return preview_times::run(&arguments.files, &arguments.device, arguments.json);
    }
    if arguments.memory {
        return memory_times::run(&arguments.files, arguments.json);
    }
    if arguments.optimize {
        return optimize_times::run(&arguments.files, arguments.json);
    }
    let mut out = stdout().lock();
    let mut reports = Vec::new();
    for path in &arguments.files {
        if path.is_dir() {
            reports.extend(compile_times::run(path, arguments.json)?);
            continue;
        }
        let started = Instant::now();
        let text = input::read(path)?;
        let load = started.elapsed();
        let before = resident_bytes().unwrap_or(0);
        let mut host = AnalysisHost::new();
        let language = ide::language_of(&path.display().to_string(), &text);
        let started = Instant::now();
        let file = host.open(&path.display().to_string(), language, &text);
        let open = started.elapsed();
        let analysis = host.analysis();
        let started = Instant::now();
        let diagnostics = analysis.diagnostics(file, 1000).unwrap_or_default();
        let diagnose = started.elapsed();
        let started = Instant::now();
        let warnings = analysis.warnings(file, &WarningsConfig::default(), usize::MAX).unwrap_or_default();
        let warn = started.elapsed();
        let complete = slowest_completion(&analysis, file, &text);
        let statistics = analysis.statistics(file).unwrap_or_default();
        let before_maps = resident_bytes().unwrap_or(0);
        let started = Instant::now();
        let all = 0..text.len();
        let hints = analysis
            .inlay_hints(
                file,
                all,
                &InlayHintsConfig { domains: DomainHints::All, splits: false, memory: false },
            )
            .unwrap_or_default()
            .len();
        let map = started.elapsed();
        let map_memory = resident_bytes().unwrap_or(0).saturating_sub(before_maps);
        drop(analysis);
        let memory = resident_bytes().unwrap_or(0).saturating_sub(before);
        let mut parses: Vec<_> = (0..PARSE_RUNS).map(|_| parse_from_scratch(language, &text)).collect();
        parses.sort_unstable();
        let parse = parses[PARSE_RUNS / 2];
        let kernels = look_at_kernels(&mut host, file, &text);
        let edits =
            (arguments.edits > 0).then(|| edit(&mut host, file, &text, arguments.edits, arguments.seed));
        let report = json!({
            "file": path.display().to_string(),
            "bytes": text.len(),
            "instructions": statistics.instructions,
            "computations": statistics.computations,
            "pieces": statistics.pieces,
            "findings": diagnostics.shown.len() + diagnostics.omitted,
            "hints": hints,
            "warnings": warnings.shown.len(),
            "warnings_seconds": warn.as_secs_f64(),
            "completion_seconds": complete.as_secs_f64(),
            "load_seconds": load.as_secs_f64(),
            "parse_seconds": parse.as_secs_f64(),
            "parse_mb_per_second": text.len() as f64 / 1e6 / parse.as_secs_f64(),
            "open_seconds": open.as_secs_f64(),
            "diagnostics_seconds": diagnose.as_secs_f64(),
            "maps_seconds": map.as_secs_f64(),
            "maps_bytes": map_memory,
            "analysis_bytes": memory,
            "kernels": kernels.count,
            "kernels_seconds": kernels.cold.as_secs_f64(),
            "kernel_edit_seconds": kernels.edited.as_secs_f64(),
            "edits": edits,
        });
        if !arguments.json {
            print_table(&mut out, &report)?;
        }
        reports.push(report);
    }
    if arguments.json {
        write_json(&mut out, &json!({"files": reports}))?;
        writeln!(out)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Times of computing all kernel information.
struct Kernels {
    count: usize,
    cold: Duration,
    /// After a one-character edit of one instruction in one fused computation.
    edited: Duration,
}

/// Number of edits whose median time is reported.
const KERNEL_EDITS: usize = 9;

fn look_at_kernels(host: &mut AnalysisHost, file: FileId, text: &str) -> Kernels {
    let look = |host: &AnalysisHost| {
        let analysis = host.analysis();
        let started = Instant::now();
        let count = analysis.look_at_kernels(file).unwrap_or_default();
        (count, started.elapsed())
    };
    let (count, cold) = look(host);
    // Change `add` to `and` and back in a fused computation: the opcode changes, the shape does not.
    let called = text.find("\n}").unwrap_or(0)..text.find("ENTRY").unwrap_or(0);
    let sums = text.get(called.clone()).unwrap_or_default().match_indices(" add(");
    let places: Vec<usize> = sums.map(|(at, _)| called.start + at + 2).collect();
    let mut times: Vec<Duration> = Vec::new();
    for n in 0..KERNEL_EDITS.min(places.len()) {
        let at = places[n * places.len() / KERNEL_EDITS.min(places.len())];
        host.apply(file, &[TextEdit { range: at..at + 1, insert: "n".to_owned() }]);
        times.push(look(host).1);
        host.apply(file, &[TextEdit { range: at..at + 1, insert: "d".to_owned() }]);
        look(host);
    }
    times.sort_unstable();
    Kernels { count, cold, edited: times.get(times.len() / 2).copied().unwrap_or_default() }
}

/// Number of positions at which completion is requested.
const COMPLETIONS: usize = 200;

/// The longest completion latency over positions spread across the text.
fn slowest_completion(analysis: &Analysis, file: FileId, text: &str) -> Duration {
    let places = (0..COMPLETIONS).map(|n| text.len() / COMPLETIONS * n + n);
    let times = places.map(|at| {
        let started = Instant::now();
        std::hint::black_box(analysis.completion(file, at.min(text.len())).is_ok());
        started.elapsed()
    });
    times.max().unwrap_or_default()
}

/// Segmenting, parsing, lowering and all checks: the work of XLA's parser, from text to diagnostics.
fn parse_from_scratch(language: Language, text: &str) -> Duration {
    let mut host = AnalysisHost::new();
    let started = Instant::now();
    let file = host.open("", language, text);
    let findings = host.analysis().diagnostics(file, 1000);
    let elapsed = started.elapsed();
    std::hint::black_box(findings.is_ok());
    elapsed
}

/// Random one-character edits, each followed by fresh diagnostics and a fresh hover at the same position.
fn edit(host: &mut AnalysisHost, file: FileId, text: &str, count: usize, seed: u64) -> serde_json::Value {
    let mut state = seed | 1;
    let mut next = |limit: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % limit.max(1) as u64) as usize
    };
    let (mut hovers, mut checks) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let mut at = next(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        // Alternate inserting a character that is harmless or breaks the line with removing it.
        let insert = ["x", " ", "(", "1"][next(4)].to_owned();
        for edit in [
            TextEdit { range: at..at, insert: insert.clone() },
            TextEdit { range: at..at + insert.len(), insert: String::new() },
        ] {
            let started = Instant::now();
            host.apply(file, &[edit]);
            let hover = host.analysis().hover(file, at);
            hovers.push(started.elapsed());
            let found = host.analysis().diagnostics(file, 1000);
            checks.push(started.elapsed());
            std::hint::black_box((hover.is_ok(), found.is_ok()));
        }
    }
    json!({"count": hovers.len(), "hover_ms": percentiles(hovers), "diagnostics_ms": percentiles(checks)})
}

/// In milliseconds; 0 without times.
pub(super) fn percentiles(mut times: Vec<Duration>) -> serde_json::Value {
    times.sort_unstable();
    let at = |p: usize| {
        times.get(times.len().saturating_sub(1) * p / 100).map_or(0.0, Duration::as_secs_f64) * 1e3
    };
    json!({"p50": at(50), "p99": at(99), "max": at(100)})
}

fn print_table(out: &mut impl Write, report: &serde_json::Value) -> Result<()> {
    let number = |key: &str| report[key].as_f64().unwrap_or_default();
    writeln!(out, "{}", text::visible_line(report["file"].as_str().unwrap_or_default()))?;
    writeln!(
        out,
        "  {:.2} MB, {} instructions in {} computations, {} pieces",
        number("bytes") / 1e6,
        report["instructions"],
        report["computations"],
        report["pieces"]
    )?;
    writeln!(out, "  load          {:9.1} ms", number("load_seconds") * 1e3)?;
    writeln!(
        out,
        "  open          {:9.1} ms  to findings, for the first time in this process",
        (number("open_seconds") + number("diagnostics_seconds")) * 1e3
    )?;
    writeln!(
        out,
        "  parse + check {:9.1} ms  {:.0} MB/s, from text to findings, median of {PARSE_RUNS}",
        number("parse_seconds") * 1e3,
        number("parse_mb_per_second")
    )?;
    writeln!(
        out,
        "  warnings      {:9.1} ms  {} of them",
        number("warnings_seconds") * 1e3,
        report["warnings"]
    )?;
    writeln!(
        out,
        "  completion    {:9.1} ms  the slowest of {COMPLETIONS}",
        number("completion_seconds") * 1e3
    )?;
    writeln!(
        out,
        "  all maps      {:9.1} ms  of {} instructions, {:.0} bytes resident for each",
        number("maps_seconds") * 1e3,
        report["hints"],
        number("maps_bytes") / number("hints").max(1.0)
    )?;
    writeln!(out, "  findings      {:9}", report["findings"])?;
    writeln!(
        out,
        "  memory        {:9.1} MiB resident for the analysis",
        number("analysis_bytes") / f64::from(1 << 20)
    )?;
    if report["edits"].is_object() {
        for (name, key) in [("edit to hover", "hover_ms"), ("edit to findings", "diagnostics_ms")] {
            let times = &report["edits"][key];
            writeln!(
                out,
                "  {name:<16} p50 {:.2} ms  p99 {:.2} ms  max {:.2} ms  ({} edits)",
                times["p50"].as_f64().unwrap_or_default(),
                times["p99"].as_f64().unwrap_or_default(),
                times["max"].as_f64().unwrap_or_default(),
                report["edits"]["count"]
            )?;
        }
    }
    Ok(())
}
