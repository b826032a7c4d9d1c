//! The compiles of a dump folder: device, flags, and what each pass changed.

use std::path::Path;

use ide::{Analysis, AnalysisHost, CompileReport, ListedStage, Pipeline, StageSummary, counted};
use maud::{Markup, html};

use super::Section;
use crate::dumps::list_for;

/// A section per compile with more stages than its first and last.
///
/// # Errors
/// Why the folder cannot be listed, in words.
pub fn compiles(folder: &Path) -> Result<Vec<Section>, String> {
    let mut host = AnalysisHost::new();
    let name = list_for(&mut host, folder)?;
    // There is no other writer, so the analysis cannot be cancelled.
    let analysis = host.analysis();
    let summary = analysis.dump_summary(&name).ok().flatten().unwrap_or_default();
    let numbered = summary.compiles.iter().enumerate().filter(|(_, compile)| compile.stages > 2);
    let section = |(number, compile): (usize, &ide::CompileSummary)| {
        let report = analysis.compile_report(&name, number, false).ok().flatten()?;
        let (pipelines, _) = analysis.compile_pipelines(&name, number).ok().flatten()?;
        let title = format!("{}: what each pass changed", compile.title);
        Some(Section { title, facts: facts(&report), body: body(&analysis, &name, &report, &pipelines) })
    };
    Ok(numbered.filter_map(section).collect())
}

fn facts(report: &CompileReport) -> Vec<String> {
    let stages = counted(report.description.stages.len() as u64, "stage");
    std::iter::once(stages).chain(report.device.map(|device| format!("for {device}"))).collect()
}

fn body(analysis: &Analysis, folder: &str, report: &CompileReport, pipelines: &[Pipeline]) -> Markup {
    let flags = report.flags.changed.as_deref().unwrap_or_default();
    html! {
        @for problem in &report.problems { p.note { (problem) } }
        @if !flags.is_empty() {
            p { "flags: " @for flag in flags { code { (flag.name) "=" (flag.value) } " " } }
        }
        table {
            thead { tr { th { "pipeline" } th { "pass" } th { "changed" } th { "what it does" } } }
            tbody {
                @for pipeline in pipelines {
                    @for (nth, (stage, summary)) in changed(analysis, folder, pipeline).iter().enumerate() {
                        tr {
                            td { @if nth == 0 { (pipeline.name) } }
                            td { code { (stage.title) } }
                            td { (summary.text) }
                            td.also { (stage.sentence.unwrap_or_default()) }
                        }
                    }
                }
            }
        }
    }
}

/// The stages of a pipeline that differ from those before.
fn changed<'a>(
    analysis: &Analysis,
    folder: &str,
    pipeline: &'a Pipeline,
) -> Vec<(&'a ListedStage, StageSummary)> {
    let of = |stage: &'a ListedStage| {
        let summary = analysis.stage_summary(folder, &stage.path).ok().flatten()?;
        summary.is_changed.then_some((stage, summary))
    };
    pipeline.stages.iter().filter_map(of).collect()
}
