//! `analysis-stats --optimize`: times the preview of a module as XLA's pipeline makes it, from its text, and again after edits.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use ide::{AnalysisHost, FileId, OptimizeRequest};
use serde_json::json;

use super::terminal::write_json;
use super::{edit_times, input};

/// An opcode that becomes another one of the same operands and types.
const EDIT: [&str; 2] = [" multiply(", " subtract("];

/// Prints a line per file, or as JSON.
pub fn run(files: &[PathBuf], as_json: bool) -> Result<ExitCode> {
    let mut out = stdout().lock();
    for path in files {
        let text = input::read(path)?;
        let (cold, edited) = times(path, &text)?;
        let instructions = text.matches(" = ").count();
        let [cold, edited] = [cold, edited].map(|time| time.as_secs_f64());
        if as_json {
            let report = json!({
                "file": path,
                "instructions": instructions,
                "optimize_seconds": cold,
                "optimize_edit_seconds": edited,
            });
            write_json(&mut out, &report)?;
            writeln!(out)?;
        } else {
            writeln!(
                out,
                "{}: {instructions} instructions; text to preview {:.1} ms, after an edit {:.1} ms",
                path.display(),
                cold * 1e3,
                edited * 1e3
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// From the text to the preview, and the median after an edit.
fn times(path: &Path, text: &str) -> Result<(Duration, Duration)> {
    let started = Instant::now();
    let mut host = AnalysisHost::new();
    let name = path.display().to_string();
    let file = host.open(&name, ide::language_of(&name, text), text);
    preview(&host, path, file)?;
    let cold = started.elapsed();
    let places: Vec<usize> = text.match_indices(EDIT[0]).map(|(at, _)| at).collect();
    let edited = edit_times::median(&mut host, file, &places, EDIT, |host| preview(host, path, file))?;
    Ok((cold, edited))
}

fn preview(host: &AnalysisHost, path: &Path, file: FileId) -> Result<()> {
    let request = OptimizeRequest::of(&["pipeline"]);
    // There is no other writer, so the analysis cannot be cancelled.
    let preview = host.analysis().preview(file, &request).ok().context("the analysis was cancelled")?;
    preview.map(drop).map_err(|why| anyhow!("{}: {why}", path.display()))
}
