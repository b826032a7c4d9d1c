//! Compiles of dump folders.
//!
//! A path of a file is relative to its folder, with `/` between its parts.

use std::sync::Arc;

use db::Database;
use db::compiles::{DumpFolder, DumpedStage, ListedFile, ReadDump};

use super::{Analysis, AnalysisHost};
use crate::compiles::*;
use crate::{Cancellable, FileId};

impl AnalysisHost {
    /// Takes the listing of a folder.
    pub fn list_dumps(&mut self, folder: &str, files: &[ListedFile], reader: &Arc<dyn ReadDump>) {
        self.interrupt();
        let listed = self.dumps.list(&mut self.db, folder, files, reader);
        Arc::make_mut(&mut self.folders).insert(folder.to_owned(), listed);
    }

    /// `file` is a file of a folder that was listed. Returns whether the folder has it.
    pub fn open_dump(&mut self, folder: &str, path: &str, file: FileId) -> bool {
        let Some(view) = self.views.get(&file) else { return false };
        let file = view.file;
        self.interrupt();
        self.dumps.open(&mut self.db, folder, path, file)
    }

    /// Whether a file is a stage of a compile.
    pub fn is_stage(&self, file: FileId) -> bool {
        self.views.get(&file).is_some_and(|view| db::compiles::stage_of(&self.db, view.file).is_some())
    }
}

impl Analysis {
    /// The compiles of a folder; `None` if it was not listed.
    pub fn dump_summary(&self, folder: &str) -> Cancellable<Option<DumpSummary>> {
        self.catch(|db| Some(dump_summary(db, *self.folders.get(folder)?)))
    }

    /// The stages of a compile by pipeline, and paths and titles of its other files. `compile` is its index in
    /// [`DumpSummary::compiles`].
    #[expect(clippy::type_complexity, reason = "each part is named in the docs")]
    pub fn compile_pipelines(
        &self,
        folder: &str,
        compile: usize,
    ) -> Cancellable<Option<(Vec<Pipeline>, Vec<(String, &'static str)>)>> {
        self.catch(|db| {
            let compile = self.folders.get(folder)?.compiles(db).get(compile).copied()?;
            Some(compile_pipelines(db, compile))
        })
    }

    /// A compile in full; `None` if the folder has no such compile. With `changes` its stages are compared.
    pub fn compile_report(
        &self,
        folder: &str,
        compile: usize,
        changes: bool,
    ) -> Cancellable<Option<CompileReport>> {
        self.catch(|db| {
            let compile = self.folders.get(folder)?.compiles(db).get(compile).copied()?;
            Some(compile_report(db, compile, changes))
        })
    }

    /// The device, flags and thunks of a compile; `None` if the folder has no such compile.
    pub fn compile_details(&self, folder: &str, compile: usize) -> Cancellable<Option<CompileDetails>> {
        self.catch(|db| {
            let compile = self.folders.get(folder)?.compiles(db).get(compile).copied()?;
            Some(compile_details(db, compile))
        })
    }

    /// What a stage changed; `None` if the folder has no such stage.
    pub fn stage_summary(&self, folder: &str, path: &str) -> Cancellable<Option<StageSummary>> {
        self.with_stage(folder, path, |db, stage| Some(stage_summary(db, stage)))
    }

    /// Kernels, bytes and time of a stage; `None` if they are not known.
    pub fn stage_costs(&self, folder: &str, path: &str) -> Cancellable<Option<StageCosts>> {
        self.with_stage(folder, path, |db, stage| stage_costs(db, &self.stage_costs, stage))
    }

    /// A stage and the one before it, or an earlier stage `with`, as texts for a diff. `None` for a first stage.
    pub fn compare_stages(
        &self,
        folder: &str,
        path: &str,
        with: Option<&str>,
    ) -> Cancellable<Option<ComparedStages>> {
        self.with_stage(folder, path, |db, stage| {
            let with = with.and_then(|with| find(db, *self.folders.get(folder)?, with));
            compare_stages(db, stage, with)
        })
    }

    /// The instruction at `offset` of an open stage in the next or the previous stage with another text.
    pub fn step_stage(
        &self,
        file: FileId,
        offset: usize,
        direction: StepDirection,
    ) -> Cancellable<Option<StageStep>> {
        self.with_file(file, |context| {
            step_stage(context.db, db::compiles::stage_of(context.db, context.view.file)?, offset, direction)
        })
    }

    /// The passes that changed the instruction at `offset` of an open stage.
    pub fn instruction_history(
        &self,
        file: FileId,
        offset: usize,
    ) -> Cancellable<Option<InstructionHistory>> {
        self.with_file(file, |context| {
            instruction_history(context.db, db::compiles::stage_of(context.db, context.view.file)?, offset)
        })
    }

    fn with_stage<T>(
        &self,
        folder: &str,
        path: &str,
        query: impl FnOnce(&Database, DumpedStage) -> Option<T>,
    ) -> Cancellable<Option<T>> {
        self.catch(|db| query(db, find(db, *self.folders.get(folder)?, path)?))
    }
}

fn find(db: &Database, folder: DumpFolder, path: &str) -> Option<DumpedStage> {
    let mut stages = folder.compiles(db).iter().flat_map(|compile| compile.stages(db));
    stages.find(|stage| &**stage.file(db).path(db) == path).copied()
}
