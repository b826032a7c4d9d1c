//! `analysis-stats FOLDER`: times the compiles of a dump folder: opening them, and hovers with origins and blame.

use std::io::{Write, stdout};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result};
use ide::{AnalysisHost, Language};
use serde_json::json;

use super::analysis_stats::percentiles;
use super::input;
use crate::dumps::list_for;
use crate::memory::resident_bytes;

/// The number of stages of each compile whose instructions are hovered, spread evenly from the first to the last.
const STAGES: usize = 5;

/// Hovers every instruction of some stages of each compile, after all stages are matched.
pub fn run(folder: &Path, as_json: bool) -> Result<Vec<serde_json::Value>> {
    // There is no other writer, so the analysis cannot be cancelled.
    let uncancelled = "the analysis was cancelled";
    let before = resident_bytes().unwrap_or(0);
    let mut host = AnalysisHost::new();
    let started = Instant::now();
    let name = list_for(&mut host, folder).map_err(anyhow::Error::msg)?;
    let summary = host.analysis().dump_summary(&name).ok().context(uncancelled)?.unwrap_or_default();
    let list = started.elapsed();
    let mut reports = Vec::new();
    for (index, compile) in summary.compiles.iter().enumerate() {
        let pipelines = host.analysis().compile_pipelines(&name, index).ok().context(uncancelled)?;
        let (pipelines, _) = pipelines.unwrap_or_default();
        let stages: Vec<_> = pipelines.into_iter().flat_map(|pipeline| pipeline.stages).collect();
        if stages.is_empty() {
            continue;
        }
        let mut matched = None;
        let (mut first_hovers, mut hovers) = (Vec::new(), Vec::new());
        let mut shown: Vec<usize> = (0..STAGES).map(|nth| nth * (stages.len() - 1) / (STAGES - 1)).collect();
        shown.dedup();
        for at in shown {
            let path = &stages[at].path;
            let text = input::read(&folder.join(path))?;
            let file = host.open(path, Language::Hlo, &text);
            host.open_dump(&name, path, file);
            let started = Instant::now();
            host.analysis().prepare_origins(file).ok().context(uncancelled)?;
            matched.get_or_insert(started.elapsed());
            let mut is_first = true;
            let analysis = host.analysis();
            for offset in instructions(&text) {
                let started = Instant::now();
                std::hint::black_box(analysis.hover(file, offset).is_ok());
                let times = if std::mem::take(&mut is_first) { &mut first_hovers } else { &mut hovers };
                times.push(started.elapsed());
            }
            drop(analysis);
            host.close(file);
        }
        let report = json!({
            "folder": folder.display().to_string(),
            "compile": compile.title,
            "stages": stages.len(),
            "bytes": stages.iter().map(|stage| stage.bytes).sum::<u64>(),
            "list_seconds": list.as_secs_f64(),
            "match_seconds": matched.unwrap_or_default().as_secs_f64(),
            "resident_bytes": resident_bytes().unwrap_or(0).saturating_sub(before),
            "hovers": hovers.len(),
            "first_hover_ms": percentiles(first_hovers),
            "hover_ms": percentiles(hovers),
        });
        if !as_json {
            print(&report)?;
        }
        reports.push(report);
    }
    Ok(reports)
}

/// The offsets of the names of instructions, one to a line.
fn instructions(text: &str) -> impl Iterator<Item = usize> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = start + line.len() - line.trim_start().len();
        start += line.len();
        (line.starts_with(' ') && line.contains(" = ")).then_some(at + 1)
    })
}

fn print(report: &serde_json::Value) -> Result<()> {
    let number = |key: &str| report[key].as_f64().unwrap_or_default();
    let mut out = stdout().lock();
    let compile = report["compile"].as_str().unwrap_or_default();
    let folder = report["folder"].as_str().unwrap_or_default();
    writeln!(out, "{}: {}", text::visible_line(folder), text::visible_line(compile))?;
    writeln!(out, "  {} stages, {:.1} MB", report["stages"], number("bytes") / 1e6)?;
    writeln!(out, "  list          {:9.1} ms", number("list_seconds") * 1e3)?;
    writeln!(out, "  match         {:9.1} ms", number("match_seconds") * 1e3)?;
    for (name, key) in [("first hovers", "first_hover_ms"), ("hover", "hover_ms")] {
        let at = |part: &str| report[key][part].as_f64().unwrap_or_default();
        writeln!(
            out,
            "  {name:<13} p50 {:.2} ms  p99 {:.2} ms  max {:.2} ms",
            at("p50"),
            at("p99"),
            at("max")
        )?;
    }
    writeln!(out, "  memory        {:9.1} MiB resident", number("resident_bytes") / f64::from(1 << 20))?;
    Ok(())
}
