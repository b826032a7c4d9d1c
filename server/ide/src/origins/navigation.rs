//! From an instruction to what it was before optimizations, and to what it became.

use db::compiles::{first_stage, last_stage, match_ahead, sources};

use crate::StagePlace;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::origins::located::Located;
use crate::origins::section::became;
use crate::origins::stablehlo::StableHlo;
use crate::symbol::{Name, Symbol};

/// What the instruction at `offset` and all that it fuses were in the first stage. In that stage the ops of StableHLO that the
/// instruction comes from; empty if they are not known.
pub(crate) fn declarations(context: &FileContext<'_>, offset: usize) -> Vec<StagePlace> {
    let db = context.db;
    let find = || {
        let at = Located::of(context, instruction_at(context, offset)?)?;
        match_ahead(db, at.stage.compile(db)?);
        let first = first_stage(db, at.stage)?;
        if first == at.stage {
            return Some(StableHlo::of(db, &at)?.places(db, &at));
        }
        let found = sources(db, at.stage, at.program.program(), at.instruction);
        let targets = found.into_iter().filter_map(|id| Located::new(db, first, id));
        Some(targets.map(|target| target.place(db)).collect())
    };
    find().unwrap_or_default()
}

/// What the instruction at `offset` is in the last stage, or the fusions that contain it there; empty in the last stage.
pub(crate) fn implementations(context: &FileContext<'_>, offset: usize) -> Vec<StagePlace> {
    let db = context.db;
    let find = || {
        let at = Located::of(context, instruction_at(context, offset)?)?;
        match_ahead(db, at.stage.compile(db)?);
        let last = last_stage(db, at.stage).filter(|last| *last != at.stage)?;
        Some(became(db, &at, last).into_iter().map(|(target, _)| target.place(db)).collect())
    };
    find().unwrap_or_default()
}

/// The instruction whose name is at `offset`, or in whose line it is.
fn instruction_at(context: &FileContext<'_>, offset: usize) -> Option<InstructionRef> {
    match context.semantics().name_at(context, offset) {
        Some(Name { symbol: Symbol::Instruction(at), .. }) => Some(at),
        _ => context.instruction_at(offset),
    }
}
