//! `analysis-stats --memory`: times planning the memory of a module from its text, and again after edits.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use ide::{AnalysisHost, FileId, Language};
use serde_json::json;

use super::terminal::write_json;
use super::{edit_times, input};

struct Times {
    /// Opening the text, without the plan.
    open: Duration,
    /// From text to plan.
    cold: Duration,
    /// To the plan after an edit that moves no byte: another opcode, element by element.
    same: Duration,
    /// To the plan after an edit that makes an array larger.
    moved: Duration,
    values: usize,
}

/// Prints a line per file, or as JSON.
pub fn run(files: &[PathBuf], as_json: bool) -> Result<ExitCode> {
    let mut out = stdout().lock();
    for path in files {
        let text = input::read(path)?;
        let Times { open, cold, same, moved, values } = times(path, &text)?;
        let [open, cold, same, moved] = [open, cold, same, moved].map(|time| time.as_secs_f64());
        let instructions = text.matches(" = ").count();
        if as_json {
            let report = json!({
                "file": path,
                "instructions": instructions,
                "values": values,
                "memory_open_seconds": open,
                "memory_seconds": cold,
                "memory_edit_seconds": same,
                "memory_move_seconds": moved,
            });
            write_json(&mut out, &report)?;
            writeln!(out)?;
        } else {
            let ms = |seconds: f64| seconds * 1e3;
            writeln!(
                out,
                "{}: {instructions} instructions, {values} values; text to plan {:.1} ms, {:.1} of it opening; after an \
                 edit {:.2} ms, after one that moves bytes {:.1} ms",
                path.display(),
                ms(cold),
                ms(open),
                ms(same),
                ms(moved)
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn times(path: &Path, text: &str) -> Result<Times> {
    let started = Instant::now();
    let mut host = AnalysisHost::new();
    let file = host.open(&path.display().to_string(), Language::Hlo, text);
    let open = started.elapsed();
    let values = plan(&host, path, file)?;
    let cold = started.elapsed();
    let planned = |host: &AnalysisHost| plan(host, path, file).map(drop);
    let same = edit_times::median(&mut host, file, &places(text, " add(", 2), ["d", "n"], planned)?;
    let moved = edit_times::median(&mut host, file, &places(text, " = f32[", 7), ["", "1"], planned)?;
    Ok(Times { open, cold, same, moved, values })
}

/// The number of values in the plan.
fn plan(host: &AnalysisHost, path: &Path, file: FileId) -> Result<usize> {
    // There is no other writer, so the analysis cannot be cancelled.
    let memory = host.analysis().module_memory(file).ok().context("the analysis was cancelled")?;
    let memory = memory.map_err(|why| anyhow!("{} {why}", path.display()))?;
    Ok(memory.values.len())
}

/// The places of `wanted`, `offset` bytes behind its start. Not in front of a `]`: what has no
/// dimensions gets none.
fn places(text: &str, wanted: &str, offset: usize) -> Vec<usize> {
    let all = text.match_indices(wanted).map(|(at, _)| at + offset);
    all.filter(|&at| text.as_bytes().get(at) != Some(&b']')).collect()
}
