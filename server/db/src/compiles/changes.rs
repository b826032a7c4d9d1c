//! What a pass changed, in numbers.

use matching::{Fate, Matching, Program, Relation};
use syntax::hlo::Opcode;

use crate::compiles::{DumpedStage, stage_links};

/// How many instructions a stage added, removed, renamed, … compared with the stage before. Parameters come and go with their
/// computations, so they are counted where they are renamed or moved alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StageChanges {
    /// Instructions of the stage, with parameters.
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
    /// The first instruction in the text that is not as it was before.
    pub first_changed: Option<u32>,
}

impl StageChanges {
    /// Whether instructions came, went or changed their place or name.
    pub fn has_changes(&self) -> bool {
        let StageChanges { added, removed, merged, replaced, renamed, moved, cloned, split, .. } = *self;
        [added, removed, merged, replaced, renamed, moved, cloned, split] != [0; 8]
    }

    pub(super) fn of(before: &Program<'_>, after: &Program<'_>, matching: &Matching) -> StageChanges {
        let instructions = after.instructions.len() as u32;
        let mut changes = StageChanges { instructions, is_text_changed: true, ..StageChanges::default() };
        let is_parameter = |opcode: Option<Opcode>| opcode == Some(Opcode::Parameter);
        for (id, (origin, instruction)) in matching.origins.iter().zip(&after.instructions).enumerate() {
            cancel::tick();
            let count = match origin.relation {
                Relation::Same => {
                    let source = origin.source.map(|source| before.instruction(source).text);
                    if changes.first_changed.is_none() && source != Some(instruction.text) {
                        changes.first_changed = Some(id as u32);
                    }
                    continue;
                }
                Relation::Moved => &mut changes.moved,
                Relation::Renamed => &mut changes.renamed,
                _ if is_parameter(instruction.opcode) => continue,
                Relation::Cloned => &mut changes.cloned,
                Relation::Split => &mut changes.split,
                Relation::Replaced => &mut changes.replaced,
                Relation::New => &mut changes.added,
            };
            *count += 1;
            changes.first_changed.get_or_insert(id as u32);
        }
        for (fate, instruction) in matching.fates.iter().zip(&before.instructions) {
            match fate {
                Fate::Merged(_) if !is_parameter(instruction.opcode) => changes.merged += 1,
                Fate::Gone if !is_parameter(instruction.opcode) => changes.removed += 1,
                _ => {}
            }
        }
        changes
    }
}

/// What the stage changed. All are 0 for the first stage, and for one that is no module.
pub fn stage_changes(db: &dyn salsa::Database, stage: DumpedStage) -> StageChanges {
    stage_links(db, stage).changes()
}
