//! The features, of MLIR text. None needs a dialect to be known: an op of one that nobody has heard of is read as any other.
//!
//! One file per feature, called like the one for HLO beside it.

pub(crate) mod context;
pub(crate) mod diagnostics;
pub(crate) mod document_symbols;
pub(crate) mod folding_ranges;
pub(crate) mod goto_definition;
pub(crate) mod hover;
pub(crate) mod inlay_hints;
pub(crate) mod occurrences;
pub(crate) mod references;
pub(crate) mod rename;
pub(crate) mod selection_ranges;
pub(crate) mod semantic_tokens;
pub(crate) mod statistics;
pub(crate) mod workspace_symbols;
