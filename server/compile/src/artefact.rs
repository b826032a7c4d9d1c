//! What XLA dumps of a module besides its stages.

/// A file that belongs to a compile and is no stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Artefact {
    /// Relative to the folder of the listing.
    pub path: String,
    /// In bytes.
    pub size: u64,
    pub kind: ArtefactKind,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ArtefactKind {
    /// The PTX of all kernels that XLA's own emitters write, or of one part of them.
    Ptx,
    LlvmIr {
        is_optimized: bool,
    },
    /// Triton's IR of the kernel of a fusion.
    Ttir {
        kernel: String,
    },
    /// The tiled IR of a fusion, which XLA lowers to Triton's.
    Xtile {
        kernel: String,
    },
    /// The module that holds one fusion alone.
    FusionHlo {
        kernel: String,
    },
    /// The passes of MLIR over one kernel.
    MlirPasses {
        kernel: String,
    },
    BufferAssignment,
    /// The values of a buffer assignment and their positions.
    BufferValues,
    LiveRanges,
    MemoryUsage,
    ThunkSequence {
        is_after_thunk_passes: bool,
    },
    ThunkMetadata,
    GpuTarget,
    /// The flags that differ from their defaults.
    DebugOptions,
    /// The configuration of the module.
    Config,
    AutotuneResults,
    /// The steps of priority fusion.
    FusionDump,
    /// A fusion before or after autotuning.
    Autotuned,
    /// The arguments and results of an execution.
    Snapshot,
    /// A module in another form than text.
    Proto,
    /// The module in MLIR.
    StableHlo,
    /// A picture of a module.
    Graph,
    Other,
}

impl ArtefactKind {
    /// The kernel that it describes. Files name kernels as instructions are named.
    pub fn kernel(&self) -> Option<&str> {
        match self {
            ArtefactKind::Ttir { kernel }
            | ArtefactKind::Xtile { kernel }
            | ArtefactKind::FusionHlo { kernel }
            | ArtefactKind::MlirPasses { kernel } => Some(kernel),
            _ => None,
        }
    }

    /// What the file is, in words.
    pub fn title(&self) -> &'static str {
        match self {
            ArtefactKind::Ptx => "PTX",
            ArtefactKind::LlvmIr { is_optimized: true } => "optimised LLVM IR",
            ArtefactKind::LlvmIr { is_optimized: false } => "LLVM IR",
            ArtefactKind::Ttir { .. } => "Triton IR",
            ArtefactKind::Xtile { .. } => "tiled IR",
            ArtefactKind::FusionHlo { .. } => "module of one fusion",
            ArtefactKind::MlirPasses { .. } => "passes of MLIR",
            ArtefactKind::BufferAssignment => "buffer assignment",
            ArtefactKind::BufferValues => "values of the buffer assignment",
            ArtefactKind::LiveRanges => "live ranges",
            ArtefactKind::MemoryUsage => "memory usage",
            ArtefactKind::ThunkSequence { is_after_thunk_passes: false } => "thunk sequence",
            ArtefactKind::ThunkSequence { is_after_thunk_passes: true } => {
                "thunk sequence after thunk passes"
            }
            ArtefactKind::ThunkMetadata => "thunk metadata",
            ArtefactKind::GpuTarget => "target device",
            ArtefactKind::DebugOptions => "flags",
            ArtefactKind::Config => "configuration of the module",
            ArtefactKind::AutotuneResults => "results of autotuning",
            ArtefactKind::FusionDump => "steps of priority fusion",
            ArtefactKind::Autotuned => "fusion in autotuning",
            ArtefactKind::Snapshot => "values of an execution",
            ArtefactKind::Proto => "module as a protocol buffer",
            ArtefactKind::StableHlo => "module in MLIR",
            ArtefactKind::Graph => "picture of a module",
            ArtefactKind::Other => "other",
        }
    }
}
