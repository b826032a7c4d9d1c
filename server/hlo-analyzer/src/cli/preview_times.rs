//! `analysis-stats --previews`: times generating MLIR and PTX from the text of a module.

use std::io::{Write, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use ide::{AnalysisHost, FusionQuery, KernelLanguage, Language};
use serde_json::json;

use super::input;
use super::terminal::write_json;

/// Times each file three times, each with a new database, and takes the median. Prints one line of JSON per
/// file, or the median and the slowest of all files.
pub fn run(files: &[PathBuf], device: &str, as_json: bool) -> Result<ExitCode> {
    const ROUNDS: usize = 3;
    let mut out = stdout().lock();
    let mut times = Vec::new();
    let mut without_code = 0;
    for path in files {
        let text = input::read(path)?;
        let mut rounds = Vec::new();
        let mut has_code = false;
        for _ in 0..ROUNDS {
            let (time, is_code) = preview(path, &text, device)?;
            rounds.push(time);
            has_code = is_code;
        }
        rounds.sort_unstable();
        let time = rounds[ROUNDS / 2];
        match has_code {
            true => times.push(time),
            false => without_code += 1,
        }
        if as_json {
            let seconds = time.as_secs_f64();
            let report = json!({"file": path, "preview_seconds": seconds, "has_code": has_code});
            write_json(&mut out, &report)?;
            writeln!(out)?;
        }
    }
    if !as_json {
        times.sort_unstable();
        let at = |part: usize| times.get((times.len() * part / 100).min(times.len().saturating_sub(1)));
        let shown = |part| at(part).map_or(0.0, |time| time.as_secs_f64() * 1e3);
        writeln!(
            out,
            "{} kernels, text to MLIR and PTX: p50 {:.2} ms, p99 {:.2} ms; {without_code} files without code",
            times.len(),
            shown(50),
            shown(99)
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

fn preview(path: &Path, text: &str, device: &str) -> Result<(Duration, bool)> {
    // There is no other writer, so the analysis cannot be cancelled.
    let uncancelled = "the analysis was cancelled";
    let started = Instant::now();
    let mut host = AnalysisHost::new();
    host.set_device(device).map_err(anyhow::Error::msg)?;
    let file = host.open(&path.display().to_string(), Language::Hlo, text);
    let analysis = host.analysis();
    let name = analysis.default_kernel(file).ok().context(uncancelled)?;
    let instruction = name.map_err(|why| anyhow!("{}: {why}", path.display()))?;
    let query = FusionQuery { instruction, computation: None };
    let mut has_code = true;
    for language in [KernelLanguage::Mlir, KernelLanguage::Ptx] {
        let document = analysis.kernel_document(file, &query, language).ok().context(uncancelled)?;
        has_code &= document.is_ok_and(|document| document.code().is_some());
    }
    Ok((started.elapsed(), has_code))
}
