//! The incremental database: salsa inputs for files and pieces, and the queries over them.
//!
//! Salsa entities are files and pieces (a computation, or a block of a giant one); instructions live in flat
//! arrays inside a piece's memo. Offsets in a piece are relative to it, so typing at the top of a file invalidates
//! nothing below. What crosses pieces reads their [`signature`]s, which white space does not change.
//!
//! Architecture Invariant: no query has more dependencies than a file has pieces, a few thousand.
//! Architecture Invariant: no paths and no IO in here.

mod calls;
mod cancellation;
pub mod compiles;
mod costs;
mod documents;
mod earlier;
mod externals;
mod fusions;
mod giants;
mod hlo_ops;
mod kernel_costs;
mod kernel_ids;
mod kernels;
mod known_kernels;
mod load;
mod memory;
mod mlir_calls;
mod mlir_giants;
mod mlir_imports;
mod mlir_kernels;
mod mlir_maps;
mod mlir_queries;
mod mlir_unknown;
mod optimizer;
mod positions;
mod queries;
mod tile_configs;
mod verification;
mod warnings;

pub use calls::{CallGraph, CallSite, call_graph};
pub use costs::{ComputationCost, computation_costs};
pub use documents::{Documents, FileId, FileView};
use earlier::Earlier;
pub use externals::link_findings;
pub use fusions::{fused_computations, has_fusions, is_of_cpu};
pub use giants::{Definition, GiantIndex, giant_index};
pub use hlo_ops::{hlo_maps_beside, hlo_op_findings, hlo_op_maps, written_hlo_op_maps};
pub use kernel_costs::kernel_cost;
pub use kernel_ids::{KernelId, kernel_id};
pub use kernels::{
    FusionSource, OfKernel, Target, Waste, fusion_source, kernel, kernel_coalescing, kernel_code,
    kernel_estimate, kernel_mlir, kernel_partition, kernel_passes, kernel_ptx, kernel_tiles, kernel_triton,
    kernel_waste,
};
pub use known_kernels::KnownKernels;
pub use load::Progress;
pub use memory::{MemoryIndex, memory_advice, memory_index, module_devices, module_memory};
pub use mlir_calls::mlir_call_findings;
pub use mlir_giants::{
    Elsewhere, ExportKind, GiantDefinition, GiantName, MlirGiantIndex, MlirLinks, mlir_definition,
    mlir_giant_index, mlir_giant_name, mlir_link_findings, mlir_links,
};
pub use mlir_imports::{MlirImported, mlir_imported};
pub use mlir_kernels::{
    CUT_FUNCTION, LONG_FUNCTION, MAX_OPS_OF_KERNEL, MlirFunction, NoKernel, mlir_environments, mlir_function,
    mlir_functions, mlir_holds_hlo_ops, mlir_instruction, mlir_instruction_called, mlir_kernel_candidates,
    why_no_kernel,
};
pub use mlir_maps::{
    MlirMaps, NoMlirMaps, mlir_alias, mlir_map_findings, mlir_maps, mlir_producers, with_mlir_operands,
    with_mlir_source,
};
pub use mlir_queries::{
    MlirModule, MlirPiece, MlirSignature, Unclosed, mlir_module, mlir_ops, mlir_piece, mlir_signature,
    symbol_name,
};
pub use mlir_unknown::mlir_unknown_names;
pub use optimizer::{TextVersion, editable_module, text_version};
pub use queries::{block, computation_graph, giant_findings, graph, module, outline, signature};
pub use salsa::{CancellationToken, Cancelled, Database as SalsaDatabase};
pub use tile_configs::{kernel_best_configs, kernel_config_figures};
pub use verification::{module_verify_findings, surroundings, verify_findings};
pub use warnings::{block_warnings, giant_uses, is_used_elsewhere, outside_uses, uncalled_computations};

/// The language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    Hlo,
    Mlir,
}

/// One open file.
#[salsa::input(debug)]
pub struct File {
    #[returns(copy)]
    pub language: Language,
    /// In the order of the text.
    pub pieces: Vec<Piece>,
    /// The stage of a compile that has this text, if the file is in a dump folder. Set by [`compiles::DumpFolders`] alone.
    #[returns(copy)]
    pub stage: Option<compiles::DumpedStage>,
    pub(crate) earlier_giants: Earlier<std::sync::Arc<GiantIndex>>,
}

/// A part of a file that is parsed on its own. Set by [`Documents`] alone.
#[salsa::input(debug)]
pub struct Piece {
    #[returns(copy)]
    pub file: Option<File>,
    pub text: std::sync::Arc<str>,
    /// The state of the language's scanner at the first byte.
    #[returns(copy)]
    pub state: u8,
    /// Where computations start inside the piece, relative to it.
    pub units: std::sync::Arc<[u32]>,
    /// What the text was read as where that was done while it was cut: nothing but [`mlir::parse`] of it.
    pub ahead: Option<std::sync::Arc<mlir::Parse>>,
    pub(crate) earlier_links: Earlier<externals::EarlierLinks>,
}

/// Clones are snapshots for other threads. A clone that is kept blocks the next write for ever: clone late, drop
/// early, never store.
#[salsa::db]
#[derive(Clone)]
pub struct Database {
    storage: salsa::Storage<Self>,
    estimates: std::sync::Arc<gpu::Estimates>,
}

#[salsa::db]
impl salsa::Database for Database {}

impl Default for Database {
    fn default() -> Self {
        Database::knowing(KnownKernels::default())
    }
}

impl Database {
    /// A database that reports the name of every query that runs to `observe`, for tests of what an edit costs.
    pub fn observed(observe: impl Fn(String) + Send + Sync + 'static) -> Self {
        let callback = move |event: salsa::Event| {
            if let salsa::EventKind::WillExecute { database_key } = event.kind {
                observe(format!("{database_key:?}"));
            }
        };
        Database::with_storage(salsa::Storage::new(Some(Box::new(callback))), KnownKernels::default())
    }

    /// A database that calls `hook` before every query that runs, to inject faults.
    pub fn with_query_hook(hook: fn()) -> Self {
        let callback = move |event: salsa::Event| {
            if matches!(event.kind, salsa::EventKind::WillExecute { .. }) {
                hook();
            }
        };
        Database::with_storage(salsa::Storage::new(Some(Box::new(callback))), KnownKernels::default())
    }

    /// A database that uses what others know of kernels, and adds to it.
    pub fn knowing(kernels: KnownKernels) -> Self {
        Database::with_storage(salsa::Storage::new(None), kernels)
    }

    fn with_storage(storage: salsa::Storage<Self>, kernels: KnownKernels) -> Self {
        Database { storage, estimates: std::sync::Arc::default() }.with_target(kernels)
    }

    /// What passes have computed about kernels: the same answers, sooner, for texts that are alike. It is no input of any query.
    pub fn estimates(&self) -> std::sync::Arc<gpu::Estimates> {
        self.estimates.clone()
    }
}
