//! HLO text: the implementation of [`Semantics`], and what HLO alone has.

mod brackets;
pub(crate) mod call_arguments;
pub(crate) mod calls;
pub(crate) mod code_actions;
pub(crate) mod code_lens;
pub(crate) mod completion;
pub(crate) mod definitions;
pub(crate) mod diagnostics;
mod document_links;
pub(crate) mod document_symbols;
mod evaluate;
pub(crate) mod executions;
mod folding_ranges;
pub(crate) mod formatting;
pub(crate) mod hover;
pub(crate) mod indexing_queries;
pub(crate) mod inlay_hints;
pub(crate) mod instructions;
mod kernels;
pub(crate) mod locate;
pub(crate) mod map_notes;
pub(crate) mod maps;
pub(crate) mod names;
pub(crate) mod new_names;
pub(crate) mod print_module;
pub(crate) mod reference;
pub(crate) mod repairs;
pub(crate) mod scope;
mod selection_ranges;
pub(crate) mod semantic_tokens;
pub(crate) mod signature_help;
pub(crate) mod source_location;
pub(crate) mod statistics;
pub(crate) mod tuple_element;
pub(crate) mod type_definitions;
pub(crate) mod warnings;
pub(crate) mod workspace_symbols;

use crate::semantics::Semantics;

/// The language HLO.
pub(crate) struct Hlo;

impl Semantics for Hlo {}
