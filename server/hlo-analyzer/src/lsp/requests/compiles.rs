//! `hlo-analyzer/compiles`: the compiles of a dump folder, or the stages of one of them.

use ide::{DumpSummary, ListedStage, Pipeline, StageRole};
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::TextDocumentIdentifier;

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::dump_folders::uri;

pub(in crate::lsp) struct Compiles;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct CompilesParams {
    /// The folder, or a file in it.
    text_document: TextDocumentIdentifier,
    /// Index of a compile, whose stages are the answer.
    compile: Option<usize>,
}

pub(in crate::lsp) enum Found {
    Folder(DumpSummary),
    Stages(Vec<Pipeline>, Vec<(String, &'static str)>),
    Nothing,
}

impl Request for Compiles {
    const METHOD: &'static str = "hlo-analyzer/compiles";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = CompilesParams;
    type Found = Found;
    type Response = Value;

    fn subject(params: &CompilesParams) -> Subject {
        Subject::Part(params.text_document.uri.clone(), Target::Folder)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, params: &CompilesParams) -> Cancellable<Found> {
        let folder = view.folder();
        Ok(match params.compile {
            None => analysis.dump_summary(&folder)?.map_or(Found::Nothing, Found::Folder),
            Some(compile) => match analysis.compile_pipelines(&folder, compile)? {
                Some((pipelines, artefacts)) => Found::Stages(pipelines, artefacts),
                None => Found::Nothing,
            },
        })
    }

    fn respond(view: &View, _: CompilesParams, found: Found) -> Result<Value> {
        let folder = view.folder();
        Ok(match found {
            Found::Nothing => Value::Null,
            Found::Folder(DumpSummary { compiles, problems }) => {
                let compiles = compiles.iter().enumerate().map(|(index, compile)| {
                    json!({
                        "index": index,
                        "title": compile.title,
                        "description": compile.description,
                        "problems": compile.problems,
                        "stages": compile.stages,
                    })
                });
                let compiles: Value = compiles.collect();
                json!({"folder": view.uri, "compiles": compiles, "problems": problems})
            }
            Found::Stages(pipelines, artefacts) => {
                let pipelines = pipelines.iter().map(|Pipeline { name, sentence, stages }| {
                    let stages: Value = stages.iter().map(|listed| stage(&folder, listed)).collect();
                    json!({"name": name, "sentence": sentence, "stages": stages})
                });
                let pipelines: Value = pipelines.collect();
                let artefacts =
                    artefacts.iter().map(|(path, title)| json!({"uri": uri(&folder, path), "title": title}));
                json!({"pipelines": pipelines, "artefacts": artefacts.collect::<Value>()})
            }
        })
    }
}

fn stage(folder: &str, ListedStage { path, index, title, sentence, role, bytes }: &ListedStage) -> Value {
    let kind = match role {
        StageRole::Before => "before",
        StageRole::Start => "start",
        StageRole::Pass => "pass",
        StageRole::Step => "step",
        StageRole::Point => "point",
        StageRole::After => "after",
    };
    json!({"uri": uri(folder, path), "index": index, "title": title, "sentence": sentence, "kind": kind, "bytes": bytes})
}
