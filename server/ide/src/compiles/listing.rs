//! What is in a dump folder, from the names of its files: nothing is read.

use compile::{Compile, Stage, StageKind};
use db::Database;
use db::compiles::{DumpFolder, DumpedCompile, DumpedStage};

use crate::units::counted;

/// The compiles of a dump folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DumpSummary {
    /// In the order of their ids.
    pub compiles: Vec<CompileSummary>,
    /// What is wrong with the folder as a whole, in words.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileSummary {
    pub title: String,
    /// Its id, stages and size: `module 22 · 88 stages · 3.1 MB`.
    pub description: String,
    /// What is wrong with it, in words.
    pub problems: Vec<String>,
    pub stages: usize,
}

/// Consecutive stages of one pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// Empty for a stage outside of pipelines.
    pub name: String,
    /// What it is for.
    pub sentence: Option<&'static str>,
    pub stages: Vec<ListedStage>,
}

/// A stage by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedStage {
    /// Relative to the folder.
    pub path: String,
    /// From 0, in the compile.
    pub index: usize,
    /// The pass: `algsimp`.
    pub title: String,
    /// What the pass does.
    pub sentence: Option<&'static str>,
    pub role: StageRole,
    /// Of its text.
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StageRole {
    Before,
    /// At the start of a pipeline.
    Start,
    Pass,
    /// Within a pass.
    Step,
    Point,
    After,
}

pub(crate) fn dump_summary(db: &Database, folder: DumpFolder) -> DumpSummary {
    let listing = folder.listing(db);
    let problems_of = |of: Option<usize>| {
        let problems = listing.problems.iter().filter(move |problem| problem.compile == of);
        problems.map(|problem| problem.message.clone()).collect()
    };
    let compiles = listing.compiles.iter().enumerate();
    let compiles = compiles.map(|(index, compile)| CompileSummary {
        title: compile.title(),
        description: description(compile),
        problems: problems_of(Some(index)),
        stages: compile.stages.len(),
    });
    DumpSummary { compiles: compiles.collect(), problems: problems_of(None) }
}

fn description(compile: &Compile) -> String {
    let id = compile.id.map(|id| format!("module {id}"));
    let folder = Some(compile.folder.clone()).filter(|folder| !folder.is_empty());
    let bytes: u64 = compile.stages.iter().map(|stage| stage.size).sum();
    let stages = counted(compile.stages.len() as u64, "stage");
    let parts = [folder, id, Some(stages), Some(crate::units::bytes(bytes))];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The stages of a compile by pipeline, and paths and titles of its other files.
pub(crate) fn compile_pipelines(
    db: &Database,
    compile: DumpedCompile,
) -> (Vec<Pipeline>, Vec<(String, &'static str)>) {
    let description = compile.description(db);
    let mut pipelines: Vec<Pipeline> = Vec::new();
    for (index, stage) in description.stages.iter().enumerate() {
        let listed = ListedStage {
            path: stage.path.clone(),
            index,
            title: stage.title(),
            sentence: sentence(stage),
            role: role(stage),
            bytes: stage.size,
        };
        let goes_on = stage.kind != StageKind::PipelineStart
            && !stage.pipeline.is_empty()
            && pipelines.last().is_some_and(|last| last.name == stage.pipeline);
        match pipelines.last_mut().filter(|_| goes_on) {
            Some(last) => last.stages.push(listed),
            None => pipelines.push(Pipeline {
                name: stage.pipeline.clone(),
                sentence: passes::pipeline(&stage.pipeline),
                stages: vec![listed],
            }),
        }
    }
    let artefacts = description.artefacts.iter();
    (pipelines, artefacts.map(|artefact| (artefact.path.clone(), artefact.kind.title())).collect())
}

fn role(stage: &Stage) -> StageRole {
    match stage.kind {
        StageKind::BeforeOptimizations => StageRole::Before,
        StageKind::PipelineStart => StageRole::Start,
        StageKind::Pass => StageRole::Pass,
        StageKind::Step => StageRole::Step,
        StageKind::Point => StageRole::Point,
        StageKind::AfterOptimizations => StageRole::After,
    }
}

/// What the last pass before a stage does.
pub(crate) fn sentence(stage: &Stage) -> Option<&'static str> {
    match stage.kind {
        StageKind::Pass | StageKind::Step => passes::pass(&stage.after),
        StageKind::PipelineStart => passes::pipeline(&stage.pipeline),
        StageKind::BeforeOptimizations | StageKind::Point | StageKind::AfterOptimizations => None,
    }
}

/// `stage 31 of 88: algsimp`
pub(crate) fn headline(db: &Database, stage: DumpedStage) -> Option<String> {
    let count = stage.compile(db)?.stages(db).len();
    Some(format!("stage {} of {count}: {}", stage.index(db) + 1, stage.description(db)?.title()))
}
