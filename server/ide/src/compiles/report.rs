//! A compile in full, for scripts: what is in its files, what each pass changed, and what is wrong.

use std::sync::Arc;

use compile::{Stage, Thunk};
use db::Database;
use db::compiles::{
    CompileFlags, DumpedCompile, StageChanges, compile_device, compile_flags, compile_thunks, gap_before,
    match_ahead, stage_changes,
};
use rustc_hash::FxHashMap;

use crate::compiles::changes::{StageSummary, stage_summary};

/// What the files of a compile contain.
#[derive(Debug, Clone)]
pub struct CompileReport {
    /// What the names of the files say.
    pub description: compile::Compile,
    /// What is wrong with it, in words.
    pub problems: Vec<String>,
    /// The device that it was compiled for, if the folder has its description.
    pub device: Option<&'static str>,
    pub flags: Arc<CompileFlags>,
    pub thunks: Vec<ReportedThunk>,
    /// Per stage; empty if the changes were not asked for.
    pub changes: Vec<ReportedChanges>,
}

/// What a pass changed, in words and numbers.
#[derive(Debug, Clone)]
pub struct ReportedChanges {
    pub summary: StageSummary,
    pub counts: StageChanges,
    /// The name of the stage before it, if passes that the dump does not show may have run between the two.
    pub gap_after: Option<String>,
}

/// A step of the executable.
#[derive(Debug, Clone)]
pub struct ReportedThunk {
    pub thunk: Thunk,
    /// The instruction of the scheduled module that it executes.
    pub instruction: Option<String>,
}

/// `changes` compares the stages, which takes seconds for large compiles. Otherwise only small files are read.
pub(crate) fn compile_report(db: &Database, compile: DumpedCompile, changes: bool) -> CompileReport {
    let description = compile.description(db).clone();
    let index = compile.index(db);
    let listing = compile.folder(db).listing(db);
    let problems = listing.problems.iter().filter(|problem| problem.compile == Some(index));
    let mut problems: Vec<String> = problems.map(|problem| problem.message.clone()).collect();
    let mut reported = Vec::new();
    if changes {
        match_ahead(db, compile);
        for (&stage, described) in compile.stages(db).iter().zip(&description.stages) {
            crate::analysis::check_cancelled(db);
            let summary = stage_summary(db, stage);
            if let Some(problem) = &summary.problem {
                problems.push(format!("{} cannot be read: {problem}", described.path));
            }
            let gap_after = gap_before(db, stage);
            let gap_after = gap_after.and_then(|before| before.description(db)).map(Stage::name);
            reported.push(ReportedChanges { summary, counts: stage_changes(db, stage), gap_after });
        }
    }
    CompileReport {
        description,
        problems,
        device: compile_device(db, compile).map(|device| device.name),
        flags: compile_flags(db, compile),
        thunks: thunks(db, compile),
        changes: reported,
    }
}

pub(super) fn thunks(db: &Database, compile: DumpedCompile) -> Vec<ReportedThunk> {
    let thunks = compile_thunks(db, compile);
    let mut instructions: FxHashMap<usize, &str> = FxHashMap::default();
    for (name, indices) in &thunks.of_instruction {
        instructions.extend(indices.iter().map(|&index| (index, name.as_str())));
    }
    let reported = |(index, thunk): (usize, &Thunk)| ReportedThunk {
        thunk: thunk.clone(),
        instruction: instructions.get(&index).map(|&name| name.to_owned()),
    };
    thunks.thunks.iter().enumerate().map(reported).collect()
}
