//! An instruction in the text of a stage.

use std::sync::Arc;

use db::Database;
use db::compiles::{DumpedCompile, DumpedFile, DumpedStage, StageProgram, dumped_text, stage_program};
use syntax::hlo::{Parse, PieceState, parse};

use crate::TextRange;

/// A place in a file of a dump folder, which need not be open in the editor.
#[derive(Clone)]
pub struct StagePlace {
    /// The name under which the folder was listed.
    pub folder: Arc<str>,
    /// Relative to the folder.
    pub path: Arc<str>,
    pub range: TextRange,
    text: PlaceText,
}

#[derive(Clone)]
enum PlaceText {
    OfStage(Arc<StageProgram>),
    OfFile(Arc<str>),
}

/// A stage with its parse; instructions are numbered as in its program.
pub(super) struct ParsedStage {
    pub(super) stage: DumpedStage,
    pub(super) program: Arc<StageProgram>,
    pub(super) parse: Parse,
}

impl StagePlace {
    pub(crate) fn new(
        db: &Database,
        stage: DumpedStage,
        program: Arc<StageProgram>,
        range: TextRange,
    ) -> StagePlace {
        let folder = stage.compile(db).map(|compile| compile.folder(db).path(db).clone());
        StagePlace {
            folder: folder.unwrap_or_default(),
            path: stage.file(db).path(db).clone(),
            range,
            text: PlaceText::OfStage(program),
        }
    }

    /// A place in a file of the compile that is no stage.
    pub(crate) fn in_file(
        db: &Database,
        compile: DumpedCompile,
        file: DumpedFile,
        range: TextRange,
    ) -> Option<StagePlace> {
        let text = dumped_text(db, file).ok()?;
        text.get(range.clone())?;
        let folder = compile.folder(db).path(db).clone();
        Some(StagePlace { folder, path: file.path(db).clone(), range, text: PlaceText::OfFile(text) })
    }

    pub fn text(&self) -> &str {
        match &self.text {
            PlaceText::OfStage(program) => program.text(),
            PlaceText::OfFile(text) => text,
        }
    }
}

impl ParsedStage {
    /// `None` if the stage is no module.
    pub(super) fn new(db: &Database, stage: DumpedStage) -> Option<ParsedStage> {
        let program = stage_program(db, stage).ok()?;
        crate::analysis::check_cancelled(db);
        let parse = parse(program.text(), PieceState::HEADER);
        Some(ParsedStage { stage, program, parse })
    }

    /// The name of an instruction; without one the start of the text.
    pub(super) fn place(&self, db: &Database, instruction: Option<u32>) -> StagePlace {
        let instruction = instruction.and_then(|id| self.parse.instructions.get(id as usize));
        let range = instruction.map_or(0..0, |instruction| instruction.name.range());
        StagePlace::new(db, self.stage, self.program.clone(), range)
    }

    /// The named instruction at an offset.
    pub(super) fn instruction_at(&self, offset: usize) -> Option<u32> {
        self.parse.instruction_at(offset).filter(|&id| !self.name(id).is_empty())
    }

    pub(super) fn name(&self, instruction: u32) -> &str {
        self.program.program().instruction(instruction).name
    }
}
