//! Why a pass introduced an instruction.

use matching::{Cause, Introduction, explained};

use crate::compiles::{DumpedStage, stage_links, stage_program};

/// What is told about an instruction that a pass introduced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Introduced {
    /// The stage that has it first. The instruction is of the program itself if no stage is before it.
    pub stage: DumpedStage,
    /// Its number in that stage.
    pub instruction: u32,
    /// A sentence; `None` for instructions of the program and for opcodes without causes ([`matching::introductions`]).
    pub reason: Option<String>,
}

/// The stage that introduced an instruction, and why.
pub fn introduced_for(db: &dyn salsa::Database, stage: DumpedStage, instruction: u32) -> Introduced {
    let (stage, instruction) = first_of_its_name(db, stage, instruction);
    let is_of_the_program = stage_links(db, stage).before().is_none();
    let reason = if is_of_the_program { None } else { reason(db, stage, instruction) };
    Introduced { stage, instruction, reason }
}

/// The stage from which on each has an instruction of the name and opcode, or of the value where the stage renames everything; and
/// the instruction there.
fn first_of_its_name(db: &dyn salsa::Database, stage: DumpedStage, instruction: u32) -> (DumpedStage, u32) {
    let (mut stage, mut instruction) = (stage, instruction);
    loop {
        cancel::tick();
        let links = stage_links(db, stage);
        let (Some(before), Some(namesake)) = (links.before(), links.namesake(instruction)) else {
            return (stage, instruction);
        };
        (stage, instruction) = (before, namesake);
    }
}

fn reason(db: &dyn salsa::Database, stage: DumpedStage, instruction: u32) -> Option<String> {
    let mut causes = Vec::new();
    let mut is_clone = false;
    let mut next = Some((stage, instruction));
    while let Some((stage, instruction)) = next.take() {
        let (stage, instruction) = first_of_its_name(db, stage, instruction);
        let links = stage_links(db, stage);
        let title =
            stage.description(db).map_or_else(|| "a stage that is gone".to_owned(), |stage| stage.title());
        let Some(before) = links.before() else {
            let program = stage_program(db, stage).ok()?;
            let name = program.program().instructions.get(instruction as usize)?.name.to_owned();
            causes.push((Cause { name, sentence: String::new() }, title));
            break;
        };
        match links.introduction(instruction) {
            Some(Introduction::Clone(source)) => {
                is_clone |= causes.is_empty();
                next = Some((before, *source));
            }
            Some(Introduction::New(cause, replaced)) => {
                causes.push((cause.clone(), title));
                next = replaced.map(|source| (before, source));
            }
            None => break,
        }
    }
    (!causes.is_empty()).then(|| explained(is_clone, causes))
}
