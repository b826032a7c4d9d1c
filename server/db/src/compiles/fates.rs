//! What becomes of an instruction from stage to stage.

use matching::Fate;

use crate::compiles::{DumpedStage, stage_links};

/// What became of an instruction in a later stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fated {
    /// Is now this instruction, or this one took its place.
    Is(u32),
    /// The stage that removed it.
    RemovedBy(DumpedStage),
}

/// What an instruction became in the later stage `to`; `None` if `to` is not reached from its stage.
pub fn fate_in(
    db: &dyn salsa::Database,
    stage: DumpedStage,
    instruction: u32,
    to: DumpedStage,
) -> Option<Fated> {
    let stages = stage.compile(db)?.stages(db);
    let between = stages.get(stage.index(db) + 1..=to.index(db))?;
    let mut instruction = instruction;
    for &next in between {
        cancel::tick();
        let links = stage_links(db, next);
        if links.problem().is_some() {
            continue;
        }
        match links.fate(instruction)? {
            Fate::Kept(to) | Fate::Merged(to) | Fate::Replaced(to) => instruction = to,
            Fate::Gone => return Some(Fated::RemovedBy(next)),
        }
    }
    Some(Fated::Is(instruction))
}
