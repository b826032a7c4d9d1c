//! Origins and fates over the stages of a compile.
//!
//! Instructions are numbered as in the program of their stage ([`stage_program`](crate::compiles::stage_program)).

use std::sync::Arc;

use matching::{Fate, Program, Relation, fused_members};

use crate::Database;
use crate::cancellation::for_each_in_parallel;
use crate::compiles::reasons::first_of_its_name;
use crate::compiles::{DumpedCompile, DumpedStage, stage_links};

/// Stages above this size are matched one pair after the other, because two programs per thread would take too much memory.
const MAX_BYTES_IN_PARALLEL: u64 = 4 << 20;

/// Callers of callers beyond this depth are not looked for.
const MAX_DEPTH: usize = 64;

/// One step back from an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traced {
    pub stage: DumpedStage,
    pub instruction: u32,
    /// What the instruction of the step before it, in a later stage, is to this one.
    pub relation: Relation,
}

/// What became of an instruction in a later stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fated {
    /// Is now this instruction, or this one took its place.
    Is(u32),
    /// The stage that removed it.
    RemovedBy(DumpedStage),
}

/// Where the instructions of the last stage come from. Numbers of instructions are those of the two stages' programs.
///
/// Size: 8 bytes per instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileLineage {
    /// The first and the last stage that are modules.
    pub first: DumpedStage,
    pub last: DumpedStage,
    /// Per instruction of the last stage.
    pub sources: Vec<Option<u32>>,
    /// Per instruction of the first stage: what it is now.
    pub fates: Vec<Option<u32>>,
}

/// The stage that introduced each instruction of the last stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompileBlame {
    /// The last stage that is a module.
    pub last: DumpedStage,
    /// Per instruction of the last stage.
    pub introduced: Vec<DumpedStage>,
}

/// Matches all stages of a compile, on all cores unless they are large. Lineage and blame do the same one by one.
pub fn match_ahead(db: &Database, compile: DumpedCompile) {
    let sizes = compile.description(db).stages.iter().map(|stage| stage.size);
    if sizes.max().unwrap_or(0) <= MAX_BYTES_IN_PARALLEL {
        for_each_in_parallel(db, compile.stages(db), |db, &stage| _ = stage_links(db, stage));
    }
}

/// The steps from an instruction to its origin in the earliest stage that has it, from the latest to the earliest. Stages of equal
/// text are passed without a step.
pub fn trace(db: &dyn salsa::Database, stage: DumpedStage, instruction: u32) -> Vec<Traced> {
    let mut steps = Vec::new();
    let (mut stage, mut instruction) = (stage, instruction);
    loop {
        cancel::tick();
        let links = stage_links(db, stage);
        let (Some(before), Some(origin)) = (links.before(), links.origin(instruction)) else { return steps };
        let Some(source) = origin.source else { return steps };
        (stage, instruction) = (before, source);
        if !links.is_equal() {
            steps.push(Traced { stage, instruction, relation: origin.relation });
        }
    }
}

/// The instruction of stage `to` that an instruction of a later stage comes from.
pub fn source_in(
    db: &dyn salsa::Database,
    stage: DumpedStage,
    instruction: u32,
    to: DumpedStage,
) -> Option<u32> {
    let (mut stage, mut instruction) = (stage, instruction);
    while stage != to {
        cancel::tick();
        let links = stage_links(db, stage);
        instruction = links.origin(instruction)?.source?;
        stage = links.before()?;
    }
    Some(instruction)
}

/// The instructions of stage `to` that an instruction and all that it fuses come from; sorted. `program` is that of `stage`.
pub fn sources(
    db: &dyn salsa::Database,
    stage: DumpedStage,
    program: &Program<'_>,
    instruction: u32,
    to: DumpedStage,
) -> Vec<u32> {
    let members = std::iter::once(instruction).chain(fused_members(program, instruction));
    let mut sources: Vec<u32> = members.filter_map(|id| source_in(db, stage, id, to)).collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}

/// The outermost fusion that contains an instruction. Takes time linear in the program.
pub fn fusion_of(program: &Program<'_>, instruction: u32) -> Option<u32> {
    let mut found = None;
    let mut computation = program.instruction(instruction).computation;
    // A call of a computation by itself is no module, but the text may have one.
    for _ in 0..MAX_DEPTH {
        let calls = |id: &u32| {
            cancel::tick();
            program.callees(*id).contains(&computation)
        };
        let Some(caller) = (0..program.instructions.len() as u32).find(calls) else { break };
        if program.instruction(caller).opcode_text == "fusion" {
            found = Some(caller);
        }
        computation = program.instruction(caller).computation;
    }
    found
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

/// The stage that introduced an instruction: from there on each stage has an instruction of its name and opcode, or of its value
/// where the stage renames everything.
pub fn introduced(db: &dyn salsa::Database, stage: DumpedStage, instruction: u32) -> DumpedStage {
    first_of_its_name(db, stage, instruction).0
}

/// The first and the last stage that are modules.
fn ends(db: &dyn salsa::Database, compile: DumpedCompile) -> Option<(DumpedStage, DumpedStage)> {
    let is_module = |stage: &&DumpedStage| stage_links(db, **stage).problem().is_none();
    let stages = compile.stages(db);
    Some((*stages.iter().find(is_module)?, *stages.iter().rev().find(is_module)?))
}

/// The origins of a whole compile; `None` if no stage of it is a module.
#[salsa::tracked(returns(clone))]
pub fn lineage(db: &dyn salsa::Database, compile: DumpedCompile) -> Option<Arc<CompileLineage>> {
    let (first, last) = ends(db, compile)?;
    let count = stage_links(db, first).instructions();
    let mut sources: Vec<Option<u32>> = (0..count).map(Some).collect();
    let mut fates = sources.clone();
    for &stage in &compile.stages(db)[first.index(db) + 1..=last.index(db)] {
        db.unwind_if_revision_cancelled();
        let links = stage_links(db, stage);
        if links.problem().is_some() || links.is_equal() {
            continue;
        }
        let source = |id: u32| sources.get(links.origin(id)?.source? as usize).copied().flatten();
        sources = (0..links.instructions()).map(source).collect();
        for fate in &mut fates {
            cancel::tick();
            *fate = fate.and_then(|now| match links.fate(now)? {
                Fate::Kept(to) | Fate::Merged(to) | Fate::Replaced(to) => Some(to),
                Fate::Gone => None,
            });
        }
    }
    Some(Arc::new(CompileLineage { first, last, sources, fates }))
}

/// The blame of a whole compile; `None` if no stage of it is a module.
#[salsa::tracked(returns(clone))]
pub fn blame(db: &dyn salsa::Database, compile: DumpedCompile) -> Option<Arc<CompileBlame>> {
    let (first, last) = ends(db, compile)?;
    let mut introduced = vec![first; stage_links(db, first).instructions() as usize];
    for &stage in &compile.stages(db)[first.index(db) + 1..=last.index(db)] {
        db.unwind_if_revision_cancelled();
        let links = stage_links(db, stage);
        if links.problem().is_some() || links.is_equal() {
            continue;
        }
        let by = |id: u32| {
            cancel::tick();
            let earlier = links.namesake(id).and_then(|source| introduced.get(source as usize));
            earlier.copied().unwrap_or(stage)
        };
        introduced = (0..links.instructions()).map(by).collect();
    }
    Some(Arc::new(CompileBlame { last, introduced }))
}
