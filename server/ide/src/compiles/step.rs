//! The next and the previous pass, with the cursor on the same instruction.

use db::Database;
use db::compiles::{DumpedStage, stage_links};
use matching::{Fate, Relation};

use crate::compiles::listing::headline;
use crate::compiles::place::{ParsedStage, StagePlace};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepDirection {
    Next,
    Previous,
}

/// Another stage.
#[derive(Clone)]
pub struct StageStep {
    pub place: StagePlace,
    /// `stage 31 of 88: algsimp`
    pub title: String,
    /// What became of the instruction, if it is not simply there: `%add.3 is gone`.
    pub note: Option<String>,
}

/// The nearest stage with another text. `offset` is in the text of `stage`. `None` if there is no further stage.
pub(crate) fn step_stage(
    db: &Database,
    stage: DumpedStage,
    offset: usize,
    direction: StepDirection,
) -> Option<StageStep> {
    let here = ParsedStage::new(db, stage)?;
    let instruction = here.instruction_at(offset);
    let (to, found, verb) = match direction {
        StepDirection::Next => next(db, stage, instruction)?,
        StepDirection::Previous => previous(db, stage, instruction)?,
    };
    let there = ParsedStage::new(db, to)?;
    let note = instruction.and_then(|instruction| {
        let name = here.name(instruction);
        match found {
            None if direction == StepDirection::Next => Some(format!("%{name} is gone")),
            None => Some(format!("%{name} is new in the stage after it")),
            Some(found) if !verb.is_empty() => Some(format!("%{name} {verb} %{}", there.name(found))),
            Some(found) => (there.name(found) != name).then(|| format!("%{name} is %{}", there.name(found))),
        }
    });
    Some(StageStep { place: there.place(db, found), title: headline(db, to)?, note })
}

type Found = (DumpedStage, Option<u32>, &'static str);

fn next(db: &Database, stage: DumpedStage, instruction: Option<u32>) -> Option<Found> {
    let stages = stage.compile(db)?.stages(db);
    for &later in stages.get(stage.index(db) + 1..)? {
        let links = stage_links(db, later);
        if links.problem().is_some() || links.is_equal() {
            continue;
        }
        let fate = instruction.and_then(|instruction| links.fate(instruction));
        return Some(match fate {
            Some(Fate::Kept(to)) => (later, Some(to), ""),
            Some(Fate::Merged(to)) => (later, Some(to), "was merged with"),
            Some(Fate::Replaced(to)) => (later, Some(to), "was replaced by"),
            Some(Fate::Gone) | None => (later, None, ""),
        });
    }
    None
}

fn previous(db: &Database, stage: DumpedStage, instruction: Option<u32>) -> Option<Found> {
    let mut stage = stage;
    loop {
        let links = stage_links(db, stage);
        let before = links.before()?;
        if links.is_equal() {
            stage = before;
            continue;
        }
        let origin = instruction.and_then(|instruction| links.origin(instruction));
        let verb = match origin.map(|origin| origin.relation) {
            Some(Relation::Cloned) => "is a copy of",
            Some(Relation::Split) => "is a part of what was",
            Some(Relation::Replaced) => "took the place of",
            _ => "",
        };
        return Some((before, origin.and_then(|origin| origin.source), verb));
    }
}
