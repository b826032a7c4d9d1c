//! The contents of a dump folder.

use crate::{Artefact, Stage, StageKind};

/// A file of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Relative to the folder, with `/` between its parts.
    pub path: String,
    /// In bytes.
    pub size: u64,
}

/// The compiles of a dump folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Folder {
    /// By sub-folder, then by module id.
    pub compiles: Vec<Compile>,
    /// Paths of files that belong to no compile, sorted.
    pub others: Vec<String>,
    pub problems: Vec<Problem>,
}

/// One run of XLA's compiler on one module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compile {
    /// The sub-folder that contains its files; empty for the folder itself.
    pub folder: String,
    /// The name of the module, empty if the names of the files lack it: XLA leaves it out of very long names.
    pub module: String,
    /// The number of the module in its process.
    pub id: Option<u64>,
    /// Microseconds since 1970, with `--xla_dump_include_timestamp`.
    pub timestamp: Option<u64>,
    /// In the order in which XLA's compiler reached them.
    pub stages: Vec<Stage>,
    /// Sorted by path.
    pub artefacts: Vec<Artefact>,
}

/// What is wrong with the files of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Index into [`Folder::compiles`], if it concerns one compile.
    pub compile: Option<usize>,
    pub message: String,
}

impl Compile {
    /// `jit_f`, or `module 22` if the module's name is unknown.
    pub fn title(&self) -> String {
        match (self.module.as_str(), self.id) {
            ("", Some(id)) => format!("module {id}"),
            ("", None) => "module".to_owned(),
            (name, _) => name.to_owned(),
        }
    }

    /// The module before optimizations, if it was dumped as text.
    pub fn before_optimizations(&self) -> Option<&Stage> {
        self.stages.iter().find(|stage| stage.kind == StageKind::BeforeOptimizations)
    }

    /// Whether XLA's CPU compiler wrote it, which names the scheduled module `cpu_after_optimizations`.
    pub fn is_of_cpu(&self) -> bool {
        self.after_optimizations().is_some_and(|stage| stage.after.starts_with("cpu_"))
    }

    /// The scheduled module, if it was dumped as text.
    pub fn after_optimizations(&self) -> Option<&Stage> {
        self.stages.iter().rev().find(|stage| stage.kind == StageKind::AfterOptimizations)
    }
}
