//! What became of the instructions of any stage in the last one.

use std::sync::Arc;

use crate::compiles::runs::Runs;
use crate::compiles::{DumpedStage, stage_links};

/// The last stage of the compile that is a module.
pub fn last_stage(db: &dyn salsa::Database, stage: DumpedStage) -> Option<DumpedStage> {
    let stages = stage.compile(db)?.stages(db);
    stages.iter().rev().find(|stage| stage_links(db, **stage).problem().is_none()).copied()
}

/// The instructions of the last stage that come from an instruction of `stage`: several if it was cloned or split. In order.
pub fn descendants(db: &dyn salsa::Database, stage: DumpedStage, instruction: u32) -> Vec<u32> {
    let sources = sources_of_last(db, stage);
    let comes_from = |id: &u32| {
        cancel::tick();
        sources.get(*id).is_some_and(|(_, source)| source == Some(instruction))
    };
    (0..sources.len()).filter(comes_from).collect()
}

/// Per instruction of the last stage, the instruction of `stage` that it comes from.
#[salsa::tracked(returns(clone))]
fn sources_of_last(db: &dyn salsa::Database, stage: DumpedStage) -> Arc<Runs<()>> {
    let mut sources: Vec<Option<u32>> = (0..stage_links(db, stage).instructions()).map(Some).collect();
    let stages = stage.compile(db).map_or(&[][..], |compile| compile.stages(db));
    for &later in stages.get(stage.index(db) + 1..).unwrap_or_default() {
        db.unwind_if_revision_cancelled();
        let links = stage_links(db, later);
        if links.problem().is_some() || links.is_equal() {
            continue;
        }
        let source = |id: u32| {
            cancel::tick();
            sources.get(links.origin(id)?.source? as usize).copied().flatten()
        };
        sources = (0..links.instructions()).map(source).collect();
    }
    Arc::new(Runs::new(sources.into_iter().map(|source| ((), source))))
}
