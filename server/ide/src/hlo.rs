//! HLO text: the implementation of [`Semantics`], and what HLO alone has.

pub(crate) mod call_arguments;
pub(crate) mod calls;
pub(crate) mod definitions;
pub(crate) mod names;
mod new_names;

use crate::call_hierarchy::{CallDirection, CallItem};
use crate::locate::FileContext;
use crate::semantics::{Defined, Function, Name, Occurrence, Semantics, Symbol};
use crate::{NavigationTarget, RenameError, TextRange};

/// The language HLO.
pub(crate) struct Hlo;

impl Semantics for Hlo {
    fn text<'a>(&self, context: &FileContext<'a>, piece: usize) -> &'a str {
        &context.block(piece).text
    }

    fn name_at(&self, context: &FileContext<'_>, offset: usize) -> Option<Name> {
        names::name_at(context, offset)
    }

    fn occurrences(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Occurrence> {
        names::occurrences(context, symbol)
    }

    fn definitions(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<Defined> {
        definitions::definition(context, symbol).into_iter().collect()
    }

    fn targets_beside_names(&self, context: &FileContext<'_>, offset: usize) -> Vec<NavigationTarget> {
        definitions::targets_beside_names(context, offset).unwrap_or_default()
    }

    fn passed_for(&self, context: &FileContext<'_>, symbol: &Symbol) -> Vec<TextRange> {
        let Symbol::Instruction(at) = symbol else { return Vec::new() };
        let arguments = call_arguments::arguments(context, *at).into_iter();
        arguments.map(|argument| context.range(argument.call.piece, argument.span)).collect()
    }

    fn why_no_name(&self, context: &FileContext<'_>, offset: usize) -> RenameError {
        new_names::why_no_name(context, offset)
    }

    fn check_occurrences(&self, name: &Name, occurrences: &[Occurrence]) -> Result<(), RenameError> {
        new_names::check_occurrences(name, occurrences)
    }

    fn check_new_name(
        &self,
        context: &FileContext<'_>,
        symbol: &Symbol,
        occurrences: &[Occurrence],
        new: &str,
    ) -> Result<(), RenameError> {
        new_names::check_new_name(context, symbol, occurrences, new)
    }

    fn function_named(&self, context: &FileContext<'_>, symbol: &Symbol) -> Option<Function> {
        calls::function_named(context, symbol)
    }

    fn function_around(&self, context: &FileContext<'_>, offset: usize) -> Option<Function> {
        calls::function_around(context, offset)
    }

    fn call_item(&self, context: &FileContext<'_>, function: Function) -> Option<CallItem> {
        calls::call_item(context, function)
    }

    fn calls(
        &self,
        context: &FileContext<'_>,
        function: Function,
        direction: CallDirection,
    ) -> Vec<(Function, TextRange)> {
        calls::calls(context, function, direction)
    }
}
