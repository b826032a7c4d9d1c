//! What a pass changed, in numbers.

use matching::{Fate, Relation};

use crate::compiles::{DumpedStage, stage_links};

/// How many instructions a stage added, removed, renamed, … compared with the stage before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageChanges {
    /// Instructions of the stage.
    pub instructions: u32,
    /// New instructions that replace nothing.
    pub added: u32,
    /// Instructions of the stage before that are gone, and nothing took their place.
    pub removed: u32,
    /// Equal to another instruction, which took their uses.
    pub merged: u32,
    /// New instructions in the place of others.
    pub replaced: u32,
    pub renamed: u32,
    /// Now in another computation.
    pub moved: u32,
    pub cloned: u32,
    /// Parts of what was one instruction.
    pub split: u32,
    /// Whether the text differs from that of the stage before: perhaps in attributes, metadata or order alone.
    pub is_text_changed: bool,
}

impl StageChanges {
    /// Whether instructions came, went or changed their place or name.
    pub fn has_changes(&self) -> bool {
        let StageChanges { instructions: _, added, removed, merged, replaced, renamed, moved, .. } = *self;
        [added, removed, merged, replaced, renamed, moved, self.cloned, self.split] != [0; 8]
    }
}

/// What the stage changed. All are 0 for the first stage, and for one that is no module.
#[salsa::tracked(returns(copy))]
pub fn stage_changes(db: &dyn salsa::Database, stage: DumpedStage) -> StageChanges {
    let links = stage_links(db, stage);
    let mut changes = StageChanges {
        instructions: links.instructions(),
        is_text_changed: links.before().is_some() && !links.is_equal(),
        ..StageChanges::default()
    };
    let (mut removed, mut merged) = (0, 0);
    links.count(
        |relation, count| match relation {
            Relation::Same => {}
            Relation::Moved => changes.moved += count,
            Relation::Renamed => changes.renamed += count,
            Relation::Cloned => changes.cloned += count,
            Relation::Split => changes.split += count,
            Relation::Replaced => changes.replaced += count,
            Relation::New => changes.added += count,
        },
        |fate, count| match fate {
            Fate::Kept(_) | Fate::Replaced(_) => {}
            Fate::Merged(_) => merged += count,
            Fate::Gone => removed += count,
        },
    );
    StageChanges { removed, merged, ..changes }
}
