//! `memory FILE|FOLDER`: where the memory of a module goes.

mod dumped;
mod report_text;

use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow, bail};
use clap::ValueEnum;
use ide::{AnalysisHost, DumpedAssignment, MemoryAdvice, MemoryReport, NoMemory};
use ropey::Rope;
use serde_json::{Value, json};

use super::diff::source;
use super::dump_folders;
use super::terminal::{complain, write_json};
use crate::api;
use crate::diff::Source;

pub(crate) use dumped::beside as dumped_beside;

/// Exit codes: 0 the memory fits `--limit`, 1 it does not, 2 a file could not be read or is no module.
#[derive(clap::Args)]
pub struct MemoryArguments {
    /// A scheduled module as HLO, such as one after optimizations, or a folder that XLA dumped; `-` is standard input; `.gz`
    /// is unpacked.
    #[arg(value_name = "FILE|FOLDER")]
    input: PathBuf,
    /// List all values that are alive at the peak, not only the largest.
    #[arg(long)]
    at_peak: bool,
    /// List at most this many values; the rest are counted.
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// Print the bytes in use over the schedule as a picture, instead of the report.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with = "json")]
    timeline: Option<Picture>,
    #[arg(long)]
    json: bool,
    /// Exit with code 1 if a module needs more, as in `80GB` or `40GiB`.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    limit: Option<u64>,
    /// The GPU that kernels target, where a dumped folder does not tell.
    #[arg(long, value_name = "NAME", default_value = ide::DEFAULT_DEVICE)]
    device: String,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Picture {
    Svg,
    Text,
}

/// `80GB`, `40 GiB` or a number of bytes.
fn size(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let power = |letters: &str, base: u64| match letters {
        "" => Some(1),
        "k" | "K" => Some(base),
        "M" => Some(base.pow(2)),
        "G" => Some(base.pow(3)),
        "T" => Some(base.pow(4)),
        _ => None,
    };
    let unit = unit.trim();
    let factor = match (unit.strip_suffix("iB"), unit.strip_suffix('B')) {
        (Some(letter), _) => power(letter, 1024),
        (None, Some(letter)) => power(letter, 1000),
        (None, None) => power(unit, 1000),
    };
    match (number.parse::<f64>(), factor) {
        (Ok(number), Some(factor)) => Ok((number * factor as f64) as u64),
        _ => Err(format!("{text} is no size, such as 80GB or 40GiB")),
    }
}

pub fn run(arguments: &MemoryArguments) -> Result<ExitCode> {
    let device = ide::Device::find(&arguments.device).map_err(|unknown| anyhow!("{unknown}"))?;
    let sources = match arguments.input.is_dir() {
        true => dump_folders::optimised_sources(&arguments.input, device)?,
        false => vec![source(&arguments.input, device)],
    };
    if arguments.timeline == Some(Picture::Svg) && sources.len() > 1 {
        bail!("{} has {} modules; a picture is of one", arguments.input.display(), sources.len());
    }
    let mut out = BufWriter::new(stdout().lock());
    let (mut has_errors, mut is_beyond) = (false, false);
    let mut reports = Vec::new();
    for (at, source) in sources.into_iter().enumerate() {
        let Planned { name, report, advice } = match source.and_then(|source| report(source, arguments)) {
            Ok(found) => found,
            Err(error) => {
                complain(format_args!("error: {error}"));
                has_errors = true;
                continue;
            }
        };
        let dumped = dumped_beside(&name).unwrap_or_else(|error| {
            complain(format_args!("error: {error}"));
            has_errors = true;
            None
        });
        match arguments.timeline {
            _ if arguments.json => {
                let mut value = json(&name, &report, dumped.as_ref());
                value["advice"] = api::memory_advice(&advice);
                reports.push(value);
            }
            Some(Picture::Svg) => out.write_all(ide::memory_picture(&report).as_bytes())?,
            Some(Picture::Text) => write!(out, "{}", ::text::visible(&report_text::timeline(&report)))?,
            None => {
                let gap = if at > 0 { "\n" } else { "" };
                let report = report_text::lines(&name, &report, dumped.as_ref(), &advice);
                write!(out, "{gap}{}", ::text::visible(&report))?;
            }
        }
        is_beyond |= fails(arguments, &name, &report);
    }
    if arguments.json {
        write_json(&mut out, &json!({"modules": reports}))?;
        writeln!(out)?;
    }
    out.flush()?;
    Ok(ExitCode::from(if has_errors { 2 } else { u8::from(is_beyond) }))
}

struct Planned {
    name: String,
    report: MemoryReport,
    /// Empty for a picture, which does not show it.
    advice: Vec<MemoryAdvice>,
}

fn report(source: Source, arguments: &MemoryArguments) -> Result<Planned, String> {
    let mut host = AnalysisHost::new();
    host.use_device(source.device);
    let language = ide::language_of(&source.name, &source.text);
    let file = host.open(&source.name, language, &source.text);
    let limit = if arguments.at_peak || arguments.json { usize::MAX } else { arguments.top };
    let analysis = host.analysis();
    let found = analysis.memory_report(file, limit).and_then(|report| match (report, arguments.timeline) {
        (Ok(report), None) => Ok(analysis.memory_advice(file)?.map(|advice| (report, advice))),
        (report, _) => Ok(report.map(|report| (report, Vec::new()))),
    });
    let found = found.map_err(|_| "the analysis was cancelled")?;
    let (report, advice) = found.map_err(|why| match why {
        NoMemory::Mlir | NoMemory::NoEntry => format!("{} {why}", source.name),
        NoMemory::Syntax { message, offset } => {
            let at = api::ApiError::in_text(&Rope::from_str(&source.text), offset, message);
            let [line, column] = [at.line, at.column].map(Option::unwrap_or_default);
            format!("{}:{line}:{column}: {}", source.name, at.message)
        }
    })?;
    Ok(Planned { name: source.name, report, advice })
}

/// Whether a module needs more than is allowed; says so.
fn fails(arguments: &MemoryArguments, name: &str, report: &MemoryReport) -> bool {
    let total = report.memory.total;
    let limit = arguments.limit.filter(|&limit| total > limit);
    if let Some(limit) = limit {
        let [total, over, limit] = [total, total - limit, limit].map(ide::bytes);
        complain(format_args!("failed: {name} needs {total}, {over} more than {limit} (--limit)"));
    }
    limit.is_some()
}

fn json(name: &str, report: &MemoryReport, dumped: Option<&DumpedAssignment>) -> Value {
    let mut value = api::memory_plan(&report.memory);
    value["file"] = json!(name);
    value["module"] = json!(report.module);
    value["is_scheduled"] = json!(report.is_scheduled);
    value["at_peak"] = api::memory_at_peak(report);
    value["devices"] = api::memory_devices(report);
    if let Some(dumped) = dumped {
        value["dumped"] = api::memory_comparison(dumped, &report.memory);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("80GB", Ok(80_000_000_000)),
            ("40 GiB", Ok(40 << 30)),
            ("1.5k", Ok(1500)),
            ("512", Ok(512)),
            ("7MiB", Ok(7 << 20)),
        ] {
            assert_eq!(size(text), bytes, "{text}");
        }
        for text in ["", "GB", "8 apples", "-1", "1..2GB"] {
            assert!(size(text).is_err(), "{text}");
        }
    }
}
