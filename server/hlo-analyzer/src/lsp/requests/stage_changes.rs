//! `hlo-analyzer/stageChanges`: what stages of one folder changed of the stages before them.

use ide::StageSummary;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::Url;

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};

/// `[{"uri", "summary", "isChanged", "firstLine", "problem"}]`
pub(in crate::lsp) struct StageChanges;

#[derive(Deserialize)]
pub(in crate::lsp) struct StagesParams {
    stages: Vec<Url>,
}

impl Request for StageChanges {
    const METHOD: &'static str = "hlo-analyzer/stageChanges";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = StagesParams;
    type Found = Vec<Option<StageSummary>>;
    type Response = Value;

    fn subject(params: &StagesParams) -> Subject {
        match params.stages.first() {
            Some(uri) => Subject::Part(uri.clone(), Target::Folder),
            None => Subject::Nothing,
        }
    }

    fn run(Snapshot { analysis, view }: &Snapshot, params: &StagesParams) -> Cancellable<Self::Found> {
        let folder = view.folder();
        let stages = params.stages.iter().map(|uri| match view.path_in_folder(uri) {
            Some(path) => analysis.stage_summary(&folder, &path),
            None => Ok(None),
        });
        stages.collect()
    }

    fn respond(_: &View, params: StagesParams, found: Self::Found) -> Result<Value> {
        let found = params.stages.iter().zip(found).filter_map(|(uri, found)| {
            let StageSummary { text, is_changed, first_line, problem } = found?;
            Some(json!({
                "uri": uri,
                "summary": text,
                "isChanged": is_changed,
                "firstLine": first_line,
                "problem": problem,
            }))
        });
        Ok(found.collect())
    }
}
