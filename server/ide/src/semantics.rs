//! What features ask of a text's language. Each feature asks by a trait of its own, which stands in the file of
//! the feature; each language implements it in its file of that name. Features are written over [`Semantics`],
//! and none asks which language a file has.
//!
//! Most methods have a default, the answer of a language that lacks the feature.

mod kernels;
mod names;

pub(crate) use kernels::Kernels;
pub(crate) use names::Names;

use crate::annotate::Notes;
use crate::brackets::Tokens;
use crate::call_hierarchy::Calls;
use crate::code_actions::Providers;
use crate::code_lens::CodeLenses;
use crate::completion::Completions;
use crate::convert::Conversions;
use crate::diagnostics::Errors;
use crate::document_links::SourceFiles;
use crate::document_symbols::Outline;
use crate::evaluate::Values;
use crate::folding_ranges::Foldable;
use crate::formatting::Formatting;
use crate::hover::Hovers;
use crate::indexing_queries::IndexingQueries;
use crate::inlay_hints::InlayHints;
use crate::kernel::coalescing_warnings::KernelWarnings;
use crate::rename::NewNames;
use crate::selection_ranges::Nesting;
use crate::semantic_tokens::Highlighting;
use crate::signature_help::Signatures;
use crate::statistics::Statistics;
use crate::warnings::Warnings;
use crate::workspace_symbols::Symbols;

/// A language's answers. All are about one file, `context`, in this language.
pub(crate) trait Semantics:
    Names
    + Calls
    + Statistics
    + Outline
    + Symbols
    + Tokens
    + Foldable
    + Nesting
    + SourceFiles
    + Highlighting
    + Hovers
    + InlayHints
    + CodeLenses
    + Notes
    + Errors
    + Warnings
    + KernelWarnings
    + Completions
    + Signatures
    + Formatting
    + NewNames
    + Providers
    + Kernels
    + Values
    + IndexingQueries
    + Conversions
{
}
