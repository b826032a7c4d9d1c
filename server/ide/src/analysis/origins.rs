//! Origins and blame over the stages of a compile.

use db::Database;
use db::compiles::{DumpedStage, stage_of};

use super::Analysis;
use crate::origins::{
    blamed_compile, declarations, implementations, prepare, stage_blame, stage_lineage, stage_named,
};
use crate::{BlamedCompile, Cancellable, FileId, StageBlame, StageLineage, StagePlace};

impl Analysis {
    /// Matches the stages of the compile of an open stage, so that hovers need not. Nothing for files that are no stage.
    pub fn prepare_origins(&self, file: FileId) -> Cancellable<()> {
        self.with_file(file, |context| {
            if let Some(stage) = stage_of(context.db, context.view.file) {
                prepare(context.db, stage);
            }
        })
    }

    /// What the instruction at `offset` of an open stage and all that it fuses were before optimizations; empty in the first
    /// stage, and for files that are no stage.
    pub fn goto_declaration(&self, file: FileId, offset: usize) -> Cancellable<Vec<StagePlace>> {
        self.with_file(file, |context| declarations(&context, offset))
    }

    /// What the instruction at `offset` of an open stage became in the last one; empty there, and for files that are no stage.
    pub fn goto_implementation(&self, file: FileId, offset: usize) -> Cancellable<Vec<StagePlace>> {
        self.with_file(file, |context| implementations(&context, offset))
    }

    /// Where the instructions of a stage come from, or one of them. `compile` is its index in
    /// [`DumpSummary::compiles`](crate::DumpSummary::compiles), `stage` a name, path, title or number from 1 and by default the
    /// last stage.
    ///
    /// The inner error says in words what the folder lacks.
    pub fn lineage_in_folder(
        &self,
        folder: &str,
        (compile, stage): (usize, Option<&str>),
        instruction: Option<&str>,
    ) -> Cancellable<Result<StageLineage, String>> {
        self.with_named_stage(folder, compile, stage, |db, stage| stage_lineage(db, stage, instruction))
    }

    /// Which stages introduced the instructions of a stage, or one of them. As [`Self::lineage_in_folder`].
    pub fn blame_in_folder(
        &self,
        folder: &str,
        (compile, stage): (usize, Option<&str>),
        instruction: Option<&str>,
    ) -> Cancellable<Result<StageBlame, String>> {
        self.with_named_stage(folder, compile, stage, |db, stage| stage_blame(db, stage, instruction))
    }

    fn with_named_stage<T>(
        &self,
        folder: &str,
        compile: usize,
        stage: Option<&str>,
        query: impl FnOnce(&Database, DumpedStage) -> Result<T, String>,
    ) -> Cancellable<Result<T, String>> {
        self.catch(|db| {
            let listed = self.folders.get(folder).ok_or_else(|| format!("{folder} was not listed"))?;
            let compile = listed.compiles(db).get(compile).copied();
            let compile = compile.ok_or_else(|| format!("{folder} has no such compile"))?;
            query(db, stage_named(db, compile, stage)?)
        })
    }

    /// What the passes introduced, for the last stage of each compile of a folder, or for the stage of a file alone. Empty if the
    /// folder was not listed, or has no such stage.
    pub fn blame(&self, folder: &str, path: Option<&str>) -> Cancellable<Vec<BlamedCompile>> {
        self.catch(|db| {
            let Some(folder) = self.folders.get(folder) else { return Vec::new() };
            let mut stages: Vec<DumpedStage> = Vec::new();
            for compile in folder.compiles(db) {
                let of_compile = compile.stages(db);
                match path {
                    Some(path) => {
                        stages.extend(of_compile.iter().filter(|stage| &**stage.file(db).path(db) == path));
                    }
                    None => stages
                        .extend(of_compile.first().and_then(|first| db::compiles::last_stage(db, *first))),
                }
            }
            stages.into_iter().map(|stage| blamed_compile(db, stage)).collect()
        })
    }
}
