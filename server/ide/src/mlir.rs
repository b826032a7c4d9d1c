//! The features for MLIR text. None needs a registered dialect: ops of unknown dialects are read like all
//! others.
//!
//! The implementation of [`Semantics`], and what MLIR alone has.

mod brackets;
mod calls;
pub(crate) mod coalescing_warnings;
pub(crate) mod code_actions;
pub(crate) mod completion;
pub(crate) mod context;
pub(crate) mod diagnostics;
pub(crate) mod document_symbols;
mod evaluate;
mod folding_ranges;
pub(crate) mod formatting;
pub(crate) mod hover;
pub(crate) mod indexing_map_hover;
pub(crate) mod indexing_queries;
pub(crate) mod inlay_hints;
pub(crate) mod kernels;
pub(crate) mod map_notes;
pub(crate) mod map_text;
pub(crate) mod names;
mod new_names;
pub(crate) mod op_maps_hover;
mod selection_ranges;
pub(crate) mod semantic_tokens;
pub(crate) mod source_location;
pub(crate) mod workspace_symbols;

#[cfg(test)]
mod in_pieces;
#[cfg(test)]
mod tests;

use crate::FileStatistics;
use crate::file_context::FileContext;
use crate::semantics::Semantics;
use crate::signature_help::Signatures;
use crate::statistics::Statistics;
use crate::warnings::Warnings;

/// The language MLIR.
pub(crate) struct Mlir;

impl Semantics for Mlir {}

impl Signatures for Mlir {}

impl Warnings for Mlir {}

impl Statistics for Mlir {
    /// Functions count as computations, ops as instructions.
    fn statistics(&self, context: &FileContext<'_>) -> FileStatistics {
        let module = context.mlir_module();
        let pieces = context.view.file.pieces(context.db).iter();
        FileStatistics {
            module: module.name.clone(),
            computations: module.functions,
            instructions: pieces.map(|&piece| *db::mlir_ops(context.db, piece)).sum(),
            pieces: context.pieces(),
        }
    }
}
