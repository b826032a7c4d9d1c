//! What names refer to: navigation, highlights, rename.

use crate::file_context::FileContext;
use crate::source_location::SourceLocation;
use crate::symbol::{Defined, Name, Occurrence, Symbol};
use crate::{NavigationTarget, SourceFrame, TextRange};

/// What names refer to: navigation, highlights, rename.
pub(crate) trait Names {
    /// The text of a piece.
    fn text<'a>(&self, context: &FileContext<'a>, piece: usize) -> &'a str;

    /// The name at `offset`, if it refers to a definition.
    fn name_at(&self, context: &FileContext<'_>, offset: usize) -> Option<Name>;

    /// All occurrences of a symbol, including its definitions, in text order.
    fn occurrences(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Occurrence>;

    /// The definitions of a symbol; several if several modules of a file define it.
    fn definitions(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Defined>;

    /// The targets of a position that is no name.
    fn targets_beside_names(&self, _: &FileContext<'_>, _: usize) -> Vec<NavigationTarget> {
        Vec::new()
    }

    /// The stack of source frames of the instruction or op whose opcode or location is at `offset`, innermost first,
    /// and the range of that opcode or location.
    fn source_frames(&self, _: &FileContext<'_>, _: usize) -> Option<(TextRange, Vec<SourceFrame>)> {
        None
    }

    /// The framework name and the source of the instruction or op around `offset`.
    fn source_location(&self, _: &FileContext<'_>, _: usize) -> Option<SourceLocation> {
        None
    }

    /// The operands that are passed for a parameter at calls, and so name the same value.
    fn passed_for(&self, _: &FileContext<'_>, _: &Symbol) -> Vec<TextRange> {
        Vec::new()
    }

    /// Where the type and the value of what is at `offset` are determined.
    fn type_definitions(&self, _: &FileContext<'_>, _: usize) -> Vec<NavigationTarget> {
        Vec::new()
    }

    /// The offset of the definition of the first instruction or value called `name`, without `%`.
    fn find_name(&self, _: &FileContext<'_>, _: &str) -> Option<usize> {
        None
    }
}
