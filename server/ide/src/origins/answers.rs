//! Lineage and blame of a stage or of one instruction, for scripts.

use compile::Stage;
use db::Database;
use db::compiles::{
    DumpedCompile, DumpedStage, Fated, fate_in, first_stage, gap_before, introduced_for, last_stage,
    match_ahead, sources, stage_problem,
};

use crate::compiles::{InstructionStage, history_of};
use crate::origins::Introducer;
use crate::origins::located::Located;
use crate::origins::section::became;
use crate::origins::sources::{InstructionSources, instruction_sources};

/// Where the instructions of a stage come from.
#[derive(Clone)]
pub struct StageLineage {
    /// The names of the stage and of the first one that is a module.
    pub stage: String,
    pub first: String,
    pub instructions: Vec<InstructionLineage>,
    /// What became of the instruction, if one was asked about.
    pub future: Option<InstructionFuture>,
    /// The source lines that led to it.
    pub sources: Option<InstructionSources>,
    /// Stages that cannot be read, in words.
    pub problems: Vec<String>,
}

/// An instruction and those of the first stage that it and all that it fuses come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionLineage {
    pub name: String,
    pub sources: Vec<String>,
}

/// The way of one instruction through the compile.
#[derive(Clone)]
pub struct InstructionFuture {
    /// The name of the last stage that is a module.
    pub last: String,
    /// What it is there, or the fusions that contain it; whether these contain more than it.
    pub became: Vec<(String, bool)>,
    /// What removed it, if nothing became of it.
    pub removed: Option<Introducer>,
    /// The passes that changed it, from the first to the last.
    pub history: Vec<InstructionStage>,
}

/// Which stages introduced the instructions of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageBlame {
    /// The name of the stage.
    pub stage: String,
    pub instructions: Vec<InstructionBlame>,
    /// Stages that cannot be read, in words.
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionBlame {
    pub name: String,
    /// The name of the stage that introduced it.
    pub stage: String,
    /// The name of the stage before that, if passes that the dump does not show ran between the two.
    pub gap_after: Option<String>,
    /// A sentence, with names in back-ticks.
    pub reason: Option<String>,
}

/// The stage with this name, path, title or number from 1; without one the last stage that is a module.
///
/// # Errors
/// Which stages there are, in words.
pub(crate) fn stage_named(
    db: &Database,
    compile: DumpedCompile,
    name: Option<&str>,
) -> Result<DumpedStage, String> {
    let (title, stages) = (compile.description(db).title(), compile.stages(db));
    let Some(name) = name else {
        let last = stages.first().and_then(|first| last_stage(db, *first));
        return last.ok_or_else(|| {
            match stages.first().and_then(|first| stage_problem(db, *first).clone()) {
                Some(problem) => format!("{title} has no stage that is a module: {}", problem.message),
                None => format!("{title} has no stage"),
            }
        });
    };
    let is_named = |stage: &&DumpedStage| {
        stage.description(db).is_some_and(|stage| stage.name() == name || stage.path == name)
    };
    let numbered = || stages.get(name.parse::<usize>().ok()?.checked_sub(1)?);
    if let Some(&stage) = stages.iter().find(is_named).or_else(numbered) {
        return Ok(stage);
    }
    let has_title = |stage: &&DumpedStage| stage.description(db).is_some_and(|stage| stage.title() == name);
    let titled: Vec<&DumpedStage> = stages.iter().filter(has_title).collect();
    match titled[..] {
        [&stage] => Ok(stage),
        [] => Err(format!("{title} has no stage {name}; it has {} stages, see `compiles`", stages.len())),
        _ => {
            let names = titled.iter().map(|stage| stage_name(db, **stage));
            let names = names.collect::<Vec<_>>().join(", ");
            Err(format!("{title} has {} stages {name}: {names}", titled.len()))
        }
    }
}

/// # Errors
/// The stage is no module, or has no such instruction.
pub(crate) fn stage_lineage(
    db: &Database,
    stage: DumpedStage,
    instruction: Option<&str>,
) -> Result<StageLineage, String> {
    let (any, ids) = asked(db, stage, instruction)?;
    let first = first_stage(db, stage).ok_or("no stage of the compile is a module")?;
    let names = Located::new(db, first, 0).ok_or("the first stage changed; ask again")?;
    let name_of = |at: &Located, id: u32| at.program.program().unique_name(id);
    let lineage = |&id: &u32| {
        crate::analysis::check_cancelled(db);
        let found = sources(db, stage, any.program.program(), id);
        let sources = found.into_iter().map(|source| name_of(&names, source)).collect();
        InstructionLineage { name: name_of(&any, id), sources }
    };
    let instructions = ids.iter().map(lineage).collect();
    let future = instruction.and(ids.first()).and_then(|&id| {
        let last = last_stage(db, stage)?;
        let at = any.at(id);
        let became = became(db, &at, last);
        let removed = match fate_in(db, stage, id, last) {
            Some(Fated::RemovedBy(by)) if became.is_empty() => Some(Introducer::of(db, by)),
            _ => None,
        };
        Some(InstructionFuture {
            last: stage_name(db, last),
            became: became.iter().map(|(at, is_part)| (name_of(at, at.instruction), *is_part)).collect(),
            removed,
            history: history_of(db, stage, id),
        })
    });
    Ok(StageLineage {
        stage: stage_name(db, stage),
        first: stage_name(db, first),
        instructions,
        future,
        sources: instruction.and(ids.first()).and_then(|&id| instruction_sources(db, &any.at(id))),
        problems: problems(db, stage),
    })
}

/// # Errors
/// The stage is no module, or has no such instruction.
pub(crate) fn stage_blame(
    db: &Database,
    stage: DumpedStage,
    instruction: Option<&str>,
) -> Result<StageBlame, String> {
    let (any, ids) = asked(db, stage, instruction)?;
    let blame = |&id: &u32| {
        crate::analysis::check_cancelled(db);
        let introduced = introduced_for(db, stage, id);
        InstructionBlame {
            name: any.program.program().unique_name(id),
            stage: stage_name(db, introduced.stage),
            gap_after: gap_before(db, introduced.stage).map(|before| stage_name(db, before)),
            reason: introduced.reason,
        }
    };
    let instructions = ids.iter().map(blame).collect();
    Ok(StageBlame { stage: stage_name(db, stage), instructions, problems: problems(db, stage) })
}

/// The instruction of a stage with a name, or `computation/name`; without one all of them. All stages of the compile are matched.
fn asked(
    db: &Database,
    stage: DumpedStage,
    instruction: Option<&str>,
) -> Result<(Located, Vec<u32>), String> {
    let title = stage_name(db, stage);
    if let Some(problem) = stage_problem(db, stage).clone() {
        return Err(format!("stage {title} cannot be read: {}", problem.message));
    }
    if let Some(compile) = stage.compile(db) {
        match_ahead(db, compile);
    }
    let any = Located::new(db, stage, 0).ok_or_else(|| format!("stage {title} changed; ask again"))?;
    let program = any.program.program();
    let all = 0..program.instructions.len() as u32;
    let Some(name) = instruction else { return Ok((any.clone(), all.collect())) };
    let name = name.trim_start_matches('%');
    let is_named = |&id: &u32| program.instruction(id).name == name || program.unique_name(id) == name;
    let found: Vec<u32> = all.filter(is_named).collect();
    match found[..] {
        [_] => Ok((any.clone(), found)),
        [] => Err(format!("stage {title} has no instruction {name}")),
        _ => {
            let names: Vec<String> = found.iter().take(4).map(|&id| program.unique_name(id)).collect();
            Err(format!(
                "stage {title} has {} instructions {name}: name one, such as {}",
                found.len(),
                names.join(" or ")
            ))
        }
    }
}

fn problems(db: &Database, stage: DumpedStage) -> Vec<String> {
    let stages = stage.compile(db).map_or(&[][..], |compile| compile.stages(db));
    let problem = |&stage: &DumpedStage| {
        let problem = stage_problem(db, stage).clone()?;
        Some(format!("{} cannot be read: {}", stage.file(db).path(db), problem.message))
    };
    stages.iter().filter_map(problem).collect()
}

fn stage_name(db: &Database, stage: DumpedStage) -> String {
    stage.description(db).map(Stage::name).unwrap_or_default()
}
