//! An instruction of a stage.

use std::sync::Arc;

use db::Database;
use db::compiles::{DumpedCompile, DumpedFile, DumpedStage, StageProgram, stage_of, stage_program};

use crate::StagePlace;
use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::rich_text::{Inline, code, file_link};
use crate::units::shorten;

/// The largest number of characters of a name.
const NAME_LIMIT: usize = 100;

/// An instruction of a stage, numbered as in the stage's program.
#[derive(Clone)]
pub(super) struct Located {
    pub(super) stage: DumpedStage,
    pub(super) program: Arc<StageProgram>,
    pub(super) instruction: u32,
}

impl Located {
    /// An instruction of an open file; `None` if the file is no stage of a compile.
    pub(super) fn of(context: &FileContext<'_>, at: InstructionRef) -> Option<Located> {
        let stage = stage_of(context.db, context.view.file)?;
        let program = stage_program(context.db, stage).ok()?;
        let name = &context.module().computations[context.computation_index(at)?].name;
        let computations = &program.program().computations;
        let computation = computations.iter().position(|computation| *computation.name == **name)?;
        let instruction = program.program().named(computation as u32, context.block(at.piece).name(at.id))?;
        Some(Located { stage, program, instruction })
    }

    pub(super) fn new(db: &Database, stage: DumpedStage, instruction: u32) -> Option<Located> {
        let program = stage_program(db, stage).ok()?;
        program.program().instructions.get(instruction as usize)?;
        Some(Located { stage, program, instruction })
    }

    /// Another instruction of the stage.
    pub(super) fn at(&self, instruction: u32) -> Located {
        Located { instruction, ..self.clone() }
    }

    /// `%add.3`
    pub(super) fn name(&self) -> String {
        format!("%{}", shorten(self.program.program().instruction(self.instruction).name, NAME_LIMIT))
    }

    pub(super) fn place(&self, db: &Database) -> StagePlace {
        StagePlace::new(db, self.stage, self.program.clone(), self.program.name_range(self.instruction))
    }

    /// The name as a link to its line in the file of the stage.
    pub(super) fn link(&self, db: &Database) -> Inline {
        let line = self.program.line(self.instruction) + 1;
        file_link(self.name(), &file_path(db, self.stage.compile(db), self.stage.file(db)), Some(line))
            .unwrap_or_else(|| code(self.name()))
    }
}

/// The path of a file of a compile, absolute if its folder was listed under an absolute path.
pub(super) fn file_path(db: &Database, compile: Option<DumpedCompile>, file: DumpedFile) -> String {
    let path = file.path(db);
    match compile {
        Some(compile) => format!("{}/{path}", compile.folder(db).path(db)),
        None => path.to_string(),
    }
}

/// `layout-assignment` and its number, from 1: `stage 30 of 88`.
pub(super) fn stage_title(db: &Database, stage: DumpedStage) -> (String, String) {
    let title = stage.description(db).map(compile::Stage::title).unwrap_or_default();
    let total = stage.compile(db).map_or(0, |compile| compile.stages(db).len());
    (title, format!("stage {} of {total}", stage.index(db) + 1))
}
