//! `diff BEFORE AFTER`: what two compiles of a module have different.

use std::io::{BufWriter, Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use clap::ValueEnum;
use serde_json::json;
use text::visible;

use super::dump_folders;
use super::input;
use super::terminal::{complain, write_json};
use crate::diff::{Diff, Side, Source, json, percent, picture, text as report};

/// Exit codes: 0 nothing grew beyond `--fail-on-…`, 1 something did, 2 a file could not be read or has errors.
#[derive(clap::Args)]
pub struct DiffArguments {
    /// An optimised module as HLO, a StableHLO module, or a folder that XLA dumped; `-` is standard input; `.gz` is
    /// unpacked.
    #[arg(value_name = "BEFORE")]
    before: PathBuf,
    /// The same of the other compile.
    #[arg(value_name = "AFTER")]
    after: PathBuf,
    /// `svg` is a picture of the times of kernels before and after.
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    /// List at most this many kernels and instructions; the rest are counted.
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Exit with code 1 if the estimated time grows by more than this, as in `2%`.
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    fail_on_time: Option<f64>,
    /// Exit with code 1 if the bytes that kernels move grow by more than this.
    #[arg(long, value_name = "PERCENT", value_parser = percentage)]
    fail_on_bytes: Option<f64>,
    /// Exit with code 1 if any instruction differs.
    #[arg(long)]
    fail_on_change: bool,
    /// The GPU that kernels target, where a dumped folder does not tell.
    #[arg(long, value_name = "NAME", default_value = ide::DEFAULT_DEVICE)]
    device: String,
    /// The GPU that the second compile targets, where it is another one.
    #[arg(long, value_name = "NAME")]
    device_after: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Svg,
}

/// `2%` or `2`, as 0.02.
fn percentage(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    match number.parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(number / 100.0),
        _ => Err(format!("{text} is no percentage, such as 2%")),
    }
}

/// Sums over all pairs of modules.
#[derive(Default)]
struct Sums {
    time_us: [f64; 2],
    bytes: [f64; 2],
    has_changed: bool,
    has_errors: bool,
}

pub fn run(arguments: &DiffArguments) -> Result<ExitCode> {
    let pairs = pairs(arguments)?;
    let mut out = BufWriter::new(stdout().lock());
    let mut sums = Sums::default();
    let mut reports = Vec::new();
    for (at, pair) in pairs.into_iter().enumerate() {
        if at > 0 && arguments.format == Format::Text {
            writeln!(out)?;
        }
        compare(pair, arguments, &mut out, &mut sums, &mut reports)?;
    }
    if arguments.format == Format::Json {
        write_json(&mut out, &json!({"modules": reports}))?;
        writeln!(out)?;
    }
    out.flush()?;
    Ok(ExitCode::from(if sums.has_errors { 2 } else { u8::from(fails(arguments, &sums)) }))
}

/// Two modules, or why one of them cannot be read.
pub(super) type Pair = [Result<Source, String>; 2];

fn compare(
    pair: Pair,
    arguments: &DiffArguments,
    out: &mut impl Write,
    sums: &mut Sums,
    reports: &mut Vec<serde_json::Value>,
) -> Result<()> {
    let [before, after] = pair;
    let read = |source: Result<Source, String>| source.and_then(Side::new);
    let (before, after) = rayon::join(|| read(before), || read(after));
    let sides = match (before, after) {
        (Ok(before), Ok(after)) => [before, after],
        (before, after) => {
            let known: Vec<Side> = [before, after]
                .into_iter()
                .filter_map(|side| side.map_err(|e| sums.error(&e)).ok())
                .collect();
            return alone(&known.iter().collect::<Vec<_>>(), arguments, out, reports);
        }
    };
    let diff = match Diff::new([&sides[0], &sides[1]]) {
        Ok(diff) => diff,
        Err(errors) => {
            errors.iter().for_each(|error| sums.error(error));
            let known: Vec<&Side> = sides.iter().filter(|side| side.heaviest.launches > 0).collect();
            return alone(&known, arguments, out, reports);
        }
    };
    diff.errors.iter().for_each(|error| sums.error(error));
    sums.add(&diff);
    match arguments.format {
        Format::Text => out.write_all(visible(&report::text(&diff, arguments.top)).as_bytes())?,
        Format::Svg => out.write_all(picture::picture(&diff, arguments.top).as_bytes())?,
        Format::Json => reports.push(json::json(&diff, arguments.top)),
    }
    Ok(())
}

/// What is known of modules that have nothing to be compared with.
fn alone(
    sides: &[&Side],
    arguments: &DiffArguments,
    out: &mut impl Write,
    reports: &mut Vec<serde_json::Value>,
) -> Result<()> {
    for side in sides {
        let summary = side.heaviest.summary();
        match arguments.format {
            Format::Text => {
                let line = format!("{}: {summary}", side.name);
                writeln!(out, "{}", visible(&line))?;
            }
            Format::Json => reports.push(json!({"file": side.name, "note": summary})),
            Format::Svg => (),
        }
    }
    Ok(())
}

impl Sums {
    fn error(&mut self, error: &str) {
        self.has_errors = true;
        complain(format_args!("error: {error}"));
    }

    fn add(&mut self, diff: &Diff<'_>) {
        for (side, totals) in diff.report.totals.iter().enumerate() {
            self.time_us[side] += totals.time_us;
            self.bytes[side] += totals.bytes as f64;
        }
        self.has_changed |= !diff.report.changes.changes.is_empty();
    }
}

/// Whether something grew beyond what is allowed; says so.
fn fails(arguments: &DiffArguments, sums: &Sums) -> bool {
    let mut fails = arguments.fail_on_change && sums.has_changed;
    if fails {
        complain("failed: the compiles differ (--fail-on-change)");
    }
    let limits = [
        (arguments.fail_on_time, sums.time_us, "the estimated time", "time"),
        (arguments.fail_on_bytes, sums.bytes, "the number of bytes moved", "bytes"),
    ];
    for (limit, [before, after], what, option) in limits {
        let growth = compile_diff::growth(before, after);
        let Some(limit) = limit else { continue };
        // What was nothing grows without limit.
        let is_beyond = growth.map_or(after > 0.0, |growth| growth > limit);
        if is_beyond {
            let limit = limit * 100.0;
            complain(format_args!(
                "failed: {what} grows: {}, allowed are {limit} % (--fail-on-{option})",
                percent(growth)
            ));
        }
        fails |= is_beyond;
    }
    fails
}

fn pairs(arguments: &DiffArguments) -> Result<Vec<Pair>> {
    let device = |name: &str| ide::Device::find(name).map_err(|unknown| anyhow!("{unknown}"));
    let devices =
        [device(&arguments.device)?, device(arguments.device_after.as_ref().unwrap_or(&arguments.device))?];
    match (arguments.before.is_dir(), arguments.after.is_dir()) {
        (false, false) => {
            let before = source(&arguments.before, devices[0]);
            Ok(vec![[before, source(&arguments.after, devices[1])]])
        }
        (true, true) => dump_folders::pairs([&arguments.before, &arguments.after], devices),
        (true, false) => {
            bail!("{} is a folder and {} is not", arguments.before.display(), arguments.after.display())
        }
        (false, true) => {
            bail!("{} is a folder and {} is not", arguments.after.display(), arguments.before.display())
        }
    }
}

pub(super) fn source(path: &Path, device: &'static ide::Device) -> Result<Source, String> {
    let text = input::read(path).map_err(|error| format!("{error:#}"))?;
    let name = path.display().to_string();
    match ide::dumped_beside_modules(&name, &text) {
        Some(what) => Err(format!("{name} holds {what}, not HLO or MLIR")),
        None => Ok(Source { name, text, device }),
    }
}
