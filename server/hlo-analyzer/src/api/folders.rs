//! `compiles`, and `lineage` and `blame` of a dump folder: what XLA's compiler did, from the files that it wrote.

use std::path::Path;

use ide::{
    AnalysisHost, CompileReport, InstructionFuture, InstructionSources, OriginSource, ReportedChanges,
    ReportedThunk, SourceFrame, StableHloSource,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::error::{Answer, ApiError, ErrorKind};
use super::request::params;
use crate::dumps::{folder_and_name, list_for};

#[derive(Deserialize)]
struct FolderParams {
    /// A folder, or a file in one.
    folder: String,
    /// The index or the title of a compile.
    compile: Option<Value>,
    /// By name, path, title or number from 1. By default the file that `folder` names, or the last one.
    stage: Option<String>,
    instruction: Option<String>,
    /// Of the instruction, where its name is not unique.
    computation: Option<String>,
    /// Whether `compiles` compares the stages.
    changes: Option<bool>,
}

/// A listed folder, and what is asked about.
struct Asked {
    /// Absolute.
    folder: String,
    compiles: Vec<String>,
    problems: Vec<String>,
    params: FolderParams,
}

/// Whether a request is about a folder.
pub fn is_of_folder(value: &Value) -> bool {
    value.get("folder").is_some()
}

/// `{"folder", "compiles": [{"index", "title", "folder", "module", "id", "device", "flags", "stages", "artefacts", "thunks",
/// "problems"}], "problems"}`
pub fn compiles(host: &mut AnalysisHost, value: &Value) -> Answer {
    let asked = Asked::new(host, value)?;
    let wanted = match asked.params.compile {
        Some(_) => vec![asked.compile()?],
        None => (0..asked.compiles.len()).collect(),
    };
    let changes = asked.params.changes.unwrap_or(true);
    let mut reports = Vec::new();
    for index in wanted {
        let report = host.analysis().compile_report(&asked.folder, index, changes);
        let report = report.map_err(|_| cancelled())?.ok_or_else(|| not_found("the compile is gone"))?;
        reports.push(compile(index, &report));
    }
    Ok(json!({"folder": asked.folder, "compiles": reports, "problems": asked.problems}))
}

/// As `lineage` of texts: `{"instructions": {instruction: [instructions of the first stage]}}`, with `stage`, `first` and
/// `problems`; only with `instruction` also `last`, `became`, `removed`, `history`, `op_name`, `frames`, `origins` and
/// `omitted`.
pub fn lineage(host: &mut AnalysisHost, value: &Value) -> Answer {
    let asked = Asked::new(host, value)?;
    let (stage, instruction) = (asked.params.stage.as_deref(), asked.instruction());
    let found =
        host.analysis().lineage_in_folder(&asked.folder, (asked.compile()?, stage), instruction.as_deref());
    let lineage = found.map_err(|_| cancelled())?.map_err(not_found)?;
    let origins = lineage.instructions.into_iter().map(|found| (found.name, json!(found.sources)));
    let mut answer = json!({
        "stage": lineage.stage,
        "first": lineage.first,
        "instructions": origins.collect::<Map<_, _>>(),
        "problems": lineage.problems,
    });
    if let Some(InstructionFuture { last, became, removed, history }) = lineage.future {
        let became = became.iter().map(|(name, is_part)| json!({"instruction": name, "is_part": is_part}));
        let history = history.iter().map(|step| {
            let instruction = step.place.text().get(step.place.range.clone()).unwrap_or_default();
            json!({
                "path": &*step.place.path,
                "title": step.title,
                "instruction": instruction.trim_start_matches('%'),
                "what": step.what,
            })
        });
        answer["last"] = json!(last);
        answer["became"] = became.collect();
        answer["removed"] = json!(removed.map(|removed| removed.text()));
        answer["history"] = history.collect();
    }
    if let Some(InstructionSources { own, origins, omitted }) = &lineage.sources {
        answer["op_name"] = json!(own.op_name);
        answer["frames"] = frames(&own.frames);
        answer["origins"] = origins.iter().map(origin).collect();
        answer["omitted"] = json!(omitted);
    }
    Ok(answer)
}

/// An instruction of the first stage, with its source lines.
fn origin(OriginSource { name, op_name, frames: stack, problem, stablehlo }: &OriginSource) -> Value {
    let op = |StableHloSource { path, line, op, frames: stack }: &StableHloSource| json!({"path": path, "line": line, "op": op, "frames": frames(stack)});
    json!({
        "instruction": name,
        "op_name": op_name,
        "frames": frames(stack),
        "problem": problem,
        "stablehlo": stablehlo.iter().map(op).collect::<Value>(),
    })
}

/// A stack of source lines, innermost first.
fn frames(frames: &[SourceFrame]) -> Value {
    let frame = |SourceFrame { function, path, line }: &SourceFrame| json!({"function": function, "file": path, "line": line});
    frames.iter().map(frame).collect()
}

/// As `blame` of texts: `{"introduced": {instruction: stage}, "reasons": {instruction: sentence}}`, with `stage`, `problems`, and
/// `gaps`: the stage before for instructions that passes introduced which the dump does not show.
pub fn blame(host: &mut AnalysisHost, value: &Value) -> Answer {
    let asked = Asked::new(host, value)?;
    let (stage, instruction) = (asked.params.stage.as_deref(), asked.instruction());
    let found =
        host.analysis().blame_in_folder(&asked.folder, (asked.compile()?, stage), instruction.as_deref());
    let blame = found.map_err(|_| cancelled())?.map_err(not_found)?;
    let (mut introduced, mut gaps, mut reasons) = (Map::new(), Map::new(), Map::new());
    for found in blame.instructions {
        reasons.extend(found.reason.map(|reason| (found.name.clone(), json!(reason))));
        gaps.extend(found.gap_after.map(|earlier| (found.name.clone(), json!(earlier))));
        introduced.insert(found.name, json!(found.stage));
    }
    Ok(json!({
        "stage": blame.stage,
        "introduced": introduced,
        "gaps": gaps,
        "reasons": reasons,
        "problems": blame.problems,
    }))
}

impl Asked {
    fn new(host: &mut AnalysisHost, value: &Value) -> Result<Asked, ApiError> {
        let mut params: FolderParams = params(value)?;
        let path = Path::new(&params.folder);
        let file = if path.is_dir() { None } else { folder_and_name(path) };
        let folder = file.as_ref().map_or(path, |(folder, _)| folder);
        let folder = list_for(host, folder).map_err(not_found)?;
        let summary = host.analysis().dump_summary(&folder).map_err(|_| cancelled())?.unwrap_or_default();
        if summary.compiles.is_empty() {
            return Err(not_found(format!("{folder} has no modules that XLA dumped")));
        }
        if let Some((_, name)) = file {
            params.compile.get_or_insert(json!(compile_of(host, &folder, summary.compiles.len(), &name)?));
            params.stage.get_or_insert(name);
        }
        let compiles = summary.compiles.into_iter().map(|compile| compile.title).collect();
        Ok(Asked { folder, compiles, problems: summary.problems, params })
    }

    /// The index of the compile.
    fn compile(&self) -> Result<usize, ApiError> {
        let titles = || self.compiles.join(", ");
        let found: Vec<usize> = match &self.params.compile {
            None => (0..self.compiles.len()).collect(),
            Some(Value::String(title)) => {
                (0..self.compiles.len()).filter(|&index| self.compiles[index] == *title).collect()
            }
            Some(index) => {
                let index = index.as_u64().and_then(|index| usize::try_from(index).ok());
                index.filter(|&index| index < self.compiles.len()).into_iter().collect()
            }
        };
        match found[..] {
            [index] => Ok(index),
            [] => Err(not_found(format!("no such compile; the folder has {}", titles()))),
            _ => Err(ApiError::new(
                ErrorKind::InvalidParams,
                format!(
                    "the folder has {} compiles: name one by its index as \"compile\"; they are {}",
                    found.len(),
                    titles()
                ),
            )),
        }
    }

    /// `computation/name`, or the name alone.
    fn instruction(&self) -> Option<String> {
        let name = self.params.instruction.as_deref()?.trim_start_matches('%');
        Some(match &self.params.computation {
            Some(computation) => format!("{}/{name}", computation.trim_start_matches('%')),
            None => name.to_owned(),
        })
    }
}

/// The compile that has a stage with this path.
fn compile_of(host: &AnalysisHost, folder: &str, count: usize, path: &str) -> Result<usize, ApiError> {
    for index in 0..count {
        let pipelines = host.analysis().compile_pipelines(folder, index).map_err(|_| cancelled())?;
        let stages = pipelines.iter().flat_map(|(pipelines, _)| pipelines).flat_map(|found| &found.stages);
        if stages.into_iter().any(|stage| stage.path == path) {
            return Ok(index);
        }
    }
    Err(not_found(format!("{path} is no stage of a compile in {folder}")))
}

fn compile(index: usize, report: &CompileReport) -> Value {
    let described = &report.description;
    let flags = |flags: &[compile::Flag]| -> Value {
        flags.iter().map(|flag| json!({"name": flag.name, "value": flag.value})).collect()
    };
    let stages = described.stages.iter().enumerate().map(|(at, stage)| {
        let mut shown = json!({
            "index": at,
            "name": stage.name(),
            "title": stage.title(),
            "path": stage.path,
            "bytes": stage.size,
            "pipeline": stage.pipeline,
        });
        if let Some(changed) = report.changes.get(at) {
            shown["changes"] = changes(changed);
        }
        shown
    });
    let artefacts = described.artefacts.iter().map(|artefact| {
        json!({
            "path": artefact.path,
            "title": artefact.kind.title(),
            "kernel": artefact.kind.kernel(),
            "bytes": artefact.size,
        })
    });
    json!({
        "index": index,
        "title": described.title(),
        "folder": described.folder,
        "module": described.module,
        "id": described.id,
        "device": report.device,
        "flags": {
            "changed": report.flags.changed.as_deref().map(flags),
            "all": flags(&report.flags.all),
        },
        "stages": stages.collect::<Value>(),
        "artefacts": artefacts.collect::<Value>(),
        "thunks": report.thunks.iter().map(thunk).collect::<Value>(),
        "problems": report.problems,
    })
}

fn changes(changes: &ReportedChanges) -> Value {
    let (summary, counts) = (&changes.summary, &changes.counts);
    json!({
        "summary": summary.text,
        "is_changed": summary.is_changed,
        "problem": summary.problem,
        "gap_after": changes.gap_after,
        "instructions": counts.instructions,
        "added": counts.added,
        "removed": counts.removed,
        "merged": counts.merged,
        "replaced": counts.replaced,
        "renamed": counts.renamed,
        "moved": counts.moved,
        "cloned": counts.cloned,
        "split": counts.split,
    })
}

fn thunk(ReportedThunk { thunk, instruction }: &ReportedThunk) -> Value {
    let mut shown = json!({
        "id": thunk.id,
        "kind": thunk.kind,
        "parent": thunk.parent,
        "instruction": instruction,
    });
    if let Some(kernel) = &thunk.kernel {
        shown["kernel"] = json!({
            "name": kernel.name,
            "grid": kernel.grid,
            "block": kernel.block,
            "cluster": kernel.cluster,
            "shared_bytes": kernel.shared_bytes,
        });
    }
    shown
}

fn cancelled() -> ApiError {
    ApiError::new(ErrorKind::Internal, "the analysis was cancelled")
}

fn not_found(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorKind::NotFound, message)
}

#[cfg(test)]
mod tests;
