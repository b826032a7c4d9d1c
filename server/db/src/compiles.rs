//! Compiles: the files of XLA's dump folders, and what became of the instructions from stage to stage.
//!
//! ```text
//! listing ─► DumpFolders ─► DumpFolder ─► DumpedCompile ─► DumpedStage ─► DumpedFile
//!                                                             │              └─► text, on disk or in the editor
//!                                            stage_program ◄──┤ read on request, kept by size
//!                                            stage_links   ◄──┘ with the stage before; small, and kept
//! stablehlo_links: from the first stage to the module in StableHLO
//! sources, descendants, fates, reasons: steps over the links of all stages
//! artefacts_of_kernel: thunks, PTX, LLVM IR and Triton IR of one instruction; xla_trace: its requests when it is executed
//! ```
//!
//! A stage is read when it is asked about. The text and its program are not memos of salsa, because salsa drops memos only when an
//! input changes: one lineage would keep every stage in memory. They are in [`StagePrograms`], which is bounded by size.

mod changes;
mod device;
mod fates;
mod files;
mod flags;
mod folders;
mod kernels;
mod lineage;
mod links;
mod programs;
mod reasons;
mod runs;
mod stablehlo;
mod traced;

use std::sync::Arc;

pub use changes::{StageChanges, stage_changes};
pub(crate) use device::device_of;
pub use device::{compile_device, stage_device};
pub use fates::{Fated, fate_in};
pub use files::{DumpedFile, FileVersion, ReadDump, dumped_text};
pub(crate) use flags::has_flag;
pub use flags::{CompileFlags, compile_flags, gap_before};
pub use folders::{DumpFolders, ListedFile};
pub use kernels::{CompileThunks, KernelText, XlaKernel, artefacts_of_kernel, compile_thunks};
pub use lineage::{descendants, first_stage, last_stage, sources, trace_ahead};
pub use links::{StageLinks, match_ahead, stage_links};
pub use programs::{
    StageProblem, StageProgram, StagePrograms, TextHash, stage_problem, stage_program, text_hash,
};
pub use reasons::{Introduced, introduced_for};
pub use stablehlo::{StableHloLinks, StableHloOp, stablehlo_links, stablehlo_sources};
pub use traced::{
    KernelArgument, TracedArray, XlaTrace, kernel_arguments, memory_of_argument, xla_kernels, xla_ptx,
    xla_trace,
};

/// A folder that XLA dumped into.
#[salsa::input(debug)]
pub struct DumpFolder {
    /// The name under which it was listed.
    pub path: Arc<str>,
    /// As [`compile::group`] returns it. The compiles and stages have the same indices as the inputs.
    pub listing: Arc<compile::Folder>,
    pub compiles: Vec<DumpedCompile>,
}

/// One compile of a folder.
#[salsa::input(debug)]
pub struct DumpedCompile {
    #[returns(copy)]
    pub folder: DumpFolder,
    /// Index into the compiles of the folder.
    #[returns(copy)]
    pub index: usize,
    /// In order.
    pub stages: Vec<DumpedStage>,
    /// As those of [`compile::Compile::artefacts`].
    pub artefacts: Vec<DumpedFile>,
}

/// A module at one point of its compile.
#[salsa::input(debug)]
pub struct DumpedStage {
    #[returns(copy)]
    pub compile: Option<DumpedCompile>,
    /// Index into the stages of the compile.
    #[returns(copy)]
    pub index: usize,
    #[returns(copy)]
    pub file: DumpedFile,
    /// The stage before it.
    #[returns(copy)]
    pub before: Option<DumpedStage>,
}

impl DumpedCompile {
    /// What the names of its files say.
    pub fn description(self, db: &dyn salsa::Database) -> &compile::Compile {
        &self.folder(db).listing(db).compiles[self.index(db)]
    }

    /// Its files that are no stages, each with what it is.
    pub fn described_artefacts(
        self,
        db: &dyn salsa::Database,
    ) -> impl Iterator<Item = (&compile::Artefact, DumpedFile)> {
        self.description(db).artefacts.iter().zip(self.artefacts(db).iter().copied())
    }

    /// The files of one kind.
    pub fn artefacts_of(
        self,
        db: &dyn salsa::Database,
        kind: compile::ArtefactKind,
    ) -> impl Iterator<Item = DumpedFile> {
        let files = self.described_artefacts(db).filter(move |(artefact, _)| artefact.kind == kind);
        files.map(|(_, file)| file)
    }
}

impl DumpedStage {
    /// What the name of its file says; `None` if the file is gone.
    pub fn description(self, db: &dyn salsa::Database) -> Option<&compile::Stage> {
        self.compile(db)?.description(db).stages.get(self.index(db))
    }
}

/// The compiles of a folder.
pub fn compiles(db: &dyn salsa::Database, folder: DumpFolder) -> &[DumpedCompile] {
    folder.compiles(db)
}

/// The stage whose text a file of the editor is.
pub fn stage_of(db: &dyn salsa::Database, file: crate::File) -> Option<DumpedStage> {
    file.stage(db).filter(|stage| stage.compile(db).is_some())
}

/// The compile of a file of the editor, which is one of its stages.
pub fn compile_of(db: &dyn salsa::Database, file: crate::File) -> Option<DumpedCompile> {
    stage_of(db, file)?.compile(db)
}
