//! Where an instruction of a compile comes from, what became of it, and which pass introduced it.
//!
//! The first questions about a compile match its stages; a hover does so for a limited time, [`prepare`] in the background.

mod answers;
mod blamed;
mod introducer;
mod located;
mod navigation;
mod section;
mod sources;
mod stablehlo;
#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use db::Database;
use db::compiles::{DumpedCompile, DumpedStage, first_stage, stablehlo_links, stage_links, trace_ahead};

pub use answers::{InstructionBlame, InstructionFuture, InstructionLineage, StageBlame, StageLineage};
pub use blamed::{BlamedCompile, BlamedInstruction};
pub use introducer::Introducer;
pub use sources::{InstructionSources, OriginSource, StableHloSource};

pub(crate) use answers::{stage_blame, stage_lineage, stage_named};
pub(crate) use blamed::blamed_compile;
pub(crate) use navigation::{declarations, implementations};
pub(crate) use section::section;

/// How many stages are matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Progress {
    done: usize,
    total: usize,
}

/// Matches the stages of a compile.
///
/// # Errors
/// How far it got in `patience`. What is matched stays so.
fn match_stages(db: &Database, compile: DumpedCompile, patience: Option<Duration>) -> Result<(), Progress> {
    let start = Instant::now();
    let stages = compile.stages(db);
    for (done, &stage) in stages.iter().enumerate() {
        if patience.is_some_and(|patience| start.elapsed() > patience) {
            return Err(Progress { done, total: stages.len() });
        }
        crate::analysis::check_cancelled(db);
        stage_links(db, stage);
    }
    Ok(())
}

/// Computes what hovers of a stage need, on this thread alone.
pub(crate) fn prepare(db: &Database, stage: DumpedStage) {
    let compile = stage.compile(db).filter(|compile| compile.stages(db).len() > 1);
    if compile.is_some_and(|compile| match_stages(db, compile, None).is_ok()) {
        trace_ahead(db, stage);
        if let Some(first) = first_stage(db, stage) {
            stablehlo_links(db, first);
        }
    }
}
