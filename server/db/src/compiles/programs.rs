//! Stages as programs that can be matched.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use matching::{Program, Unreadable};
use rustc_hash::FxHasher;

use crate::compiles::files::dumped_text;
use crate::compiles::{DumpedFile, DumpedStage};

/// What the programs of a folder may take, texts included. The one asked for last stays, whatever its size.
const MAX_BYTES: usize = 64 << 20;

/// A program takes about as much memory as its text.
const BYTES_PER_BYTE_OF_TEXT: usize = 2;

self_cell::self_cell!(
    /// A stage with its text.
    ///
    /// Size: about twice its text.
    pub struct StageProgram {
        owner: Arc<str>,
        #[covariant]
        dependent: Program,
    }
);

impl StageProgram {
    pub fn program(&self) -> &Program<'_> {
        self.borrow_dependent()
    }

    pub fn text(&self) -> &str {
        self.borrow_owner()
    }

    /// The name of an instruction in the text.
    pub fn name_range(&self, instruction: u32) -> Range<usize> {
        let name = self.program().instruction(instruction).name;
        // The name is a part of the text.
        let start =
            (name.as_ptr() as usize).saturating_sub(self.text().as_ptr() as usize).min(self.text().len());
        start..(start + name.len()).min(self.text().len())
    }

    /// The line of an instruction, from 0.
    pub fn line(&self, instruction: u32) -> u32 {
        let before = &self.text().as_bytes()[..self.name_range(instruction).start];
        memchr::memchr_iter(b'\n', before).count() as u32
    }
}

/// Why a stage has no program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageProblem {
    pub message: String,
    /// Bytes from the start of the text; `None` if the file cannot be read.
    pub offset: Option<usize>,
}

/// A hash of a text; texts of equal hashes are taken as equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TextHash {
    len: usize,
    hash: u64,
}

impl TextHash {
    pub fn of(text: &str) -> TextHash {
        let mut hasher = FxHasher::default();
        text.hash(&mut hasher);
        TextHash { len: text.len(), hash: hasher.finish() }
    }
}

/// The programs read last, of one folder.
#[derive(Default)]
pub struct StagePrograms {
    /// The last one was asked for last.
    kept: Mutex<VecDeque<(TextHash, Arc<StageProgram>)>>,
}

impl StagePrograms {
    fn get(&self, hash: TextHash) -> Option<Arc<StageProgram>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let at = kept.iter().position(|(known, _)| *known == hash)?;
        let found = kept.remove(at)?;
        let program = found.1.clone();
        kept.push_back(found);
        Some(program)
    }

    fn keep(&self, hash: TextHash, program: &Arc<StageProgram>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != hash);
        kept.push_back((hash, program.clone()));
        let size = |(_, program): &(TextHash, Arc<StageProgram>)| {
            program.text().len().saturating_mul(BYTES_PER_BYTE_OF_TEXT)
        };
        let mut bytes: usize = kept.iter().map(size).sum();
        while bytes > MAX_BYTES && kept.len() > 1 {
            bytes -= kept.pop_front().as_ref().map_or(0, size);
        }
    }
}

/// The hash of a file's text, which outlives the text.
#[salsa::tracked]
pub fn text_hash(db: &dyn salsa::Database, file: DumpedFile) -> Result<TextHash, String> {
    dumped_text(db, file).map(|text| TextHash::of(&text))
}

/// The program of a stage. It is read again if it was dropped.
///
/// # Errors
/// The file cannot be read, or it is no module.
pub fn stage_program(
    db: &dyn salsa::Database,
    stage: DumpedStage,
) -> Result<Arc<StageProgram>, StageProblem> {
    let file = stage.file(db);
    let unreadable = |message: String| StageProblem { message, offset: None };
    let hash = text_hash(db, file).clone().map_err(unreadable)?;
    let programs = &file.access(db).programs;
    if let Some(program) = programs.get(hash) {
        return Ok(program);
    }
    let text = dumped_text(db, file).map_err(unreadable)?;
    if TextHash::of(&text) != hash {
        return Err(unreadable(format!("{} is changing: list the folder again", file.path(db))));
    }
    let program = StageProgram::try_new(text, |text| Program::read(text))
        .map_err(|Unreadable { message, offset }| StageProblem { message, offset: Some(offset) })?;
    let program = Arc::new(program);
    programs.keep(hash, &program);
    Ok(program)
}

/// Why a stage cannot be read; `None` if it can.
#[salsa::tracked]
pub fn stage_problem(db: &dyn salsa::Database, stage: DumpedStage) -> Option<Arc<StageProblem>> {
    stage_program(db, stage).err().map(Arc::new)
}
