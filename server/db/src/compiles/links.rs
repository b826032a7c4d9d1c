//! The links between a stage and the one before it.

use std::sync::Arc;

use matching::{Fate, Introduction, Matching, Origin, Program, Relation, introductions, match_programs};

use crate::Database;
use crate::cancellation::for_each_in_parallel;
use crate::compiles::programs::{stage_problem, stage_program, text_hash};
use crate::compiles::runs::Runs;
use crate::compiles::{DumpedCompile, DumpedStage, StageChanges, StageProblem};

/// Stages above this size are matched one pair after the other, because two programs per thread would take too much memory.
const MAX_BYTES_IN_PARALLEL: u64 = 4 << 20;

/// How the instructions of a stage come from those of the stage before. Instructions are numbered as in the stages' programs.
///
/// Size: 16 bytes per run of instructions that stay in their order, and a sentence per new instruction that has a cause; nothing for
/// stages of equal text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageLinks {
    /// The stage that it was matched with: the last one before it that is a module.
    before: Option<DumpedStage>,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// No readable stage is before it. The number of instructions.
    First(u32),
    /// The text is that of the stage before. The number of instructions.
    Equal(u32),
    Matched(Box<Matched>),
    Unreadable(Arc<StageProblem>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Matched {
    origins: Runs<Relation>,
    fates: Runs<FateKind>,
    namesakes: Runs<()>,
    /// How new instructions were introduced, sorted by instruction.
    introductions: Box<[(u32, Introduction)]>,
    changes: StageChanges,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FateKind {
    Kept,
    Merged,
    Replaced,
    Gone,
}

impl StageLinks {
    /// The stage before that the links lead to.
    pub fn before(&self) -> Option<DumpedStage> {
        self.before
    }

    /// Why the stage is no module; it has no links then, and the next stage is matched with the one before it.
    pub fn problem(&self) -> Option<&StageProblem> {
        match &self.kind {
            Kind::Unreadable(problem) => Some(problem),
            _ => None,
        }
    }

    /// Whether the text is that of the stage before.
    pub fn is_equal(&self) -> bool {
        matches!(self.kind, Kind::Equal(_))
    }

    /// The number of instructions of the stage.
    pub fn instructions(&self) -> u32 {
        match &self.kind {
            Kind::First(count) | Kind::Equal(count) => *count,
            Kind::Matched(matched) => matched.origins.len(),
            Kind::Unreadable(_) => 0,
        }
    }

    /// Where an instruction of the stage comes from. `None` in a first stage, and beyond the end.
    pub fn origin(&self, instruction: u32) -> Option<Origin> {
        match &self.kind {
            Kind::Equal(count) => (instruction < *count)
                .then_some(Origin { relation: Relation::Same, source: Some(instruction) }),
            Kind::Matched(matched) => {
                let (relation, source) = matched.origins.get(instruction)?;
                Some(Origin { relation, source })
            }
            Kind::First(_) | Kind::Unreadable(_) => None,
        }
    }

    /// What became in this stage of an instruction of the stage before. `None` beyond the end.
    pub fn fate(&self, instruction: u32) -> Option<Fate> {
        match &self.kind {
            Kind::Equal(count) => (instruction < *count).then_some(Fate::Kept(instruction)),
            Kind::Matched(matched) => Some(match matched.fates.get(instruction)? {
                (FateKind::Kept, Some(to)) => Fate::Kept(to),
                (FateKind::Merged, Some(to)) => Fate::Merged(to),
                (FateKind::Replaced, Some(to)) => Fate::Replaced(to),
                _ => Fate::Gone,
            }),
            Kind::First(_) | Kind::Unreadable(_) => None,
        }
    }

    /// As [`Matching::namesake`]: the instruction of the stage before with its name and opcode.
    pub fn namesake(&self, instruction: u32) -> Option<u32> {
        match &self.kind {
            Kind::Equal(count) => (instruction < *count).then_some(instruction),
            Kind::Matched(matched) => matched.namesakes.get(instruction)?.1,
            Kind::First(_) | Kind::Unreadable(_) => None,
        }
    }

    /// How the stage introduced an instruction. `None` if it is not new, and for opcodes without causes.
    pub fn introduction(&self, instruction: u32) -> Option<&Introduction> {
        let Kind::Matched(matched) = &self.kind else { return None };
        let at = matched.introductions.binary_search_by_key(&instruction, |(id, _)| *id).ok()?;
        Some(&matched.introductions[at].1)
    }

    pub(crate) fn changes(&self) -> StageChanges {
        match &self.kind {
            Kind::Matched(matched) => matched.changes,
            _ => StageChanges { instructions: self.instructions(), ..StageChanges::default() },
        }
    }
}

impl Matched {
    fn new(before: &Program<'_>, after: &Program<'_>, matching: &Matching) -> Matched {
        let fate = |fate: &Fate| match *fate {
            Fate::Kept(to) => (FateKind::Kept, Some(to)),
            Fate::Merged(to) => (FateKind::Merged, Some(to)),
            Fate::Replaced(to) => (FateKind::Replaced, Some(to)),
            Fate::Gone => (FateKind::Gone, None),
        };
        let instructions = 0..matching.origins.len() as u32;
        Matched {
            origins: Runs::new(matching.origins.iter().map(|origin| (origin.relation, origin.source))),
            fates: Runs::new(matching.fates.iter().map(fate)),
            namesakes: Runs::new(instructions.map(|id| ((), matching.namesake(id)))),
            introductions: introductions(before, after, matching).into(),
            changes: StageChanges::of(before, after, matching),
        }
    }
}

/// Matches all stages of a compile, on all cores unless they are large.
pub fn match_ahead(db: &Database, compile: DumpedCompile) {
    let sizes = compile.description(db).stages.iter().map(|stage| stage.size);
    if sizes.max().unwrap_or(0) <= MAX_BYTES_IN_PARALLEL {
        for_each_in_parallel(db, compile.stages(db), |db, &stage| _ = stage_links(db, stage));
    }
    for &stage in compile.stages(db) {
        stage_links(db, stage);
    }
}

/// The links of a stage. Two programs are in memory while they are computed.
#[salsa::tracked(returns(clone))]
pub fn stage_links(db: &dyn salsa::Database, stage: DumpedStage) -> Arc<StageLinks> {
    if let Some(problem) = stage_problem(db, stage) {
        return Arc::new(StageLinks { before: None, kind: Kind::Unreadable(problem.clone()) });
    }
    let mut before = stage.before(db);
    while let Some(unreadable) = before.filter(|&before| stage_problem(db, before).is_some()) {
        before = unreadable.before(db);
    }
    let links = |kind| Arc::new(StageLinks { before, kind });
    let unreadable = |problem: StageProblem| {
        Arc::new(StageLinks { before: None, kind: Kind::Unreadable(Arc::new(problem)) })
    };
    if let Some(before) = before
        && text_hash(db, before.file(db)) == text_hash(db, stage.file(db))
    {
        return links(Kind::Equal(stage_links(db, before).instructions()));
    }
    let after = match stage_program(db, stage) {
        Ok(after) => after,
        Err(problem) => return unreadable(problem),
    };
    let Some(earlier) = before else {
        return links(Kind::First(after.program().instructions.len() as u32));
    };
    match stage_program(db, earlier) {
        Ok(earlier) => {
            let (earlier, after) = (earlier.program(), after.program());
            let matching = match_programs(earlier, after);
            links(Kind::Matched(Box::new(Matched::new(earlier, after, &matching))))
        }
        Err(problem) => unreadable(problem),
    }
}
