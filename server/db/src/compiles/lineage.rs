//! Where the instructions of a stage come from in the first stage, and what they are in the last one.
//!
//! Instructions are numbered as in the program of their stage ([`stage_program`](crate::compiles::stage_program)).

use std::sync::Arc;

use matching::{Program, fused_members};

use crate::compiles::runs::Runs;
use crate::compiles::{DumpedStage, stage_links};

/// The first stage of the compile that is a module.
pub fn first_stage(db: &dyn salsa::Database, stage: DumpedStage) -> Option<DumpedStage> {
    stage.compile(db)?.stages(db).iter().find(|stage| is_module(db, **stage)).copied()
}

/// The last stage of the compile that is a module.
pub fn last_stage(db: &dyn salsa::Database, stage: DumpedStage) -> Option<DumpedStage> {
    stage.compile(db)?.stages(db).iter().rev().find(|stage| is_module(db, **stage)).copied()
}

fn is_module(db: &dyn salsa::Database, stage: DumpedStage) -> bool {
    stage_links(db, stage).problem().is_none()
}

/// The instructions of the first stage that an instruction and all that it fuses come from; sorted. `program` is that of `stage`.
pub fn sources(
    db: &dyn salsa::Database,
    stage: DumpedStage,
    program: &Program<'_>,
    instruction: u32,
) -> Vec<u32> {
    let origins = in_first_stage(db, stage);
    let members = std::iter::once(instruction).chain(fused_members(program, instruction));
    let mut sources: Vec<u32> = members.filter_map(|id| origins.get(id)?.1).collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}

/// The instructions of the last stage that come from an instruction of `stage`: several if it was cloned or split. In order.
pub fn descendants(db: &dyn salsa::Database, stage: DumpedStage, instruction: u32) -> Vec<u32> {
    of_last_stage(db, stage).indices_of(instruction).collect()
}

/// Computes what [`sources`] and [`descendants`] of the instructions of a stage need.
pub fn trace_ahead(db: &dyn salsa::Database, stage: DumpedStage) {
    in_first_stage(db, stage);
    of_last_stage(db, stage);
}

/// Per instruction of `stage`, the instruction of the first stage that it comes from.
#[salsa::tracked(returns(clone))]
fn in_first_stage(db: &dyn salsa::Database, stage: DumpedStage) -> Arc<Runs<()>> {
    Arc::new(origins(db, first_stage(db, stage), Some(stage)))
}

/// Per instruction of the last stage, the instruction of `stage` that it comes from.
#[salsa::tracked(returns(clone))]
fn of_last_stage(db: &dyn salsa::Database, stage: DumpedStage) -> Arc<Runs<()>> {
    Arc::new(origins(db, Some(stage), last_stage(db, stage)))
}

/// Per instruction of the later stage, the instruction of the earlier one that it comes from.
fn origins(db: &dyn salsa::Database, earlier: Option<DumpedStage>, later: Option<DumpedStage>) -> Runs<()> {
    let (Some(earlier), Some(mut stage)) = (earlier, later) else { return Runs::new(std::iter::empty()) };
    let mut origins: Vec<Option<u32>> = (0..stage_links(db, stage).instructions()).map(Some).collect();
    while stage != earlier {
        db.unwind_if_revision_cancelled();
        let links = stage_links(db, stage);
        let Some(before) = links.before() else {
            // `earlier` is no module.
            origins.fill(None);
            break;
        };
        if !links.is_equal() {
            for origin in &mut origins {
                cancel::tick();
                *origin = origin.and_then(|id| links.origin(id)?.source);
            }
        }
        stage = before;
    }
    Runs::new(origins.into_iter().map(|origin| ((), origin)))
}
