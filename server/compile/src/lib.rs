//! What `--xla_dump_to` wrote: [`group()`] takes the listing of a folder and returns its compiles, each with its stages in order
//! and its artefacts.
//!
//! ```text
//! module_0022.jit_f.before_optimizations.txt                                       a stage
//! module_0022.jit_f.0007.simplification.after_algsimp.before_dce.txt               a stage
//! module_0022.jit_f.sm_9.0a_gpu_after_optimizations.txt                            the last stage
//! module_0022.jit_f.sm_9.0a_gpu_after_optimizations-buffer-assignment.txt          an artefact
//! module_0022.jit_f.gemm_fusion_dot.3.ttir.txt                                     an artefact of a kernel
//! ```
//!
//! The names are those of `FilenameFor` and its callers in XLA (`xla/service/dump.cc`), and of the folders that
//! `--xla_dump_hlo_to_subfolder` makes (`MODULE/HOST_PID/…`).
//!
//! Architecture Invariant: no salsa, no LSP, no IO. The functions take names and texts.

mod artefact;
mod flags;
mod folder;
mod functions;
mod gaps;
mod group;
mod name;
mod problems;
mod stage;
mod thunks;

pub use artefact::{Artefact, ArtefactKind};
pub use flags::{Flag, all_flags, changed_flags, default_flag, flag_value};
pub use folder::{Compile, Entry, Folder, Problem};
pub use functions::{KernelFunction, llvm_functions, ptx_kernels};
pub use group::group;
pub use name::is_dump_name;
pub use stage::{Stage, StageKind};
pub use thunks::{
    LaunchedKernel, Thunk, ThunkOrigin, function_name, thunk_origins, thunks, thunks_of_instructions,
};
