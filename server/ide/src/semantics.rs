//! What features ask of a text's language. Each language implements [`Semantics`] once; features are written
//! over it, and none asks which language a file has.
//!
//! The methods are grouped by what they are for. Most have a default, the answer of a language that lacks the
//! feature, so that a new language starts with its names and errors and gets the rest one by one.

mod calls;
mod findings;
mod kernels;
mod modules;
mod names;
mod reading;
mod typing;

pub(crate) use calls::Calls;
pub(crate) use findings::Findings;
pub(crate) use kernels::Kernels;
pub(crate) use modules::Modules;
pub(crate) use names::Names;
pub(crate) use reading::Reading;
pub(crate) use typing::Typing;

use crate::brackets::Tokens;
use crate::document_links::SourceFiles;
use crate::evaluate::Values;
use crate::folding_ranges::Foldable;
use crate::selection_ranges::Nesting;

/// A language's answers. All are about one file, `context`, in this language.
pub(crate) trait Semantics:
    Names
    + Calls
    + Reading
    + Tokens
    + Foldable
    + Nesting
    + SourceFiles
    + Findings
    + Typing
    + Kernels
    + Modules
    + Values
{
}
