//! Which function calls which.

use crate::TextRange;
use crate::call_hierarchy::{CallDirection, CallItem};
use crate::file_context::FileContext;
use crate::symbol::{Function, Symbol};

/// Which function calls which.
pub(crate) trait Calls {
    /// The function that a symbol names.
    fn function_named(&self, _: &FileContext<'_>, _: &Symbol) -> Option<Function> {
        None
    }

    /// The function that encloses `offset`.
    fn function_around(&self, _: &FileContext<'_>, _: usize) -> Option<Function> {
        None
    }

    /// The function as an item of a call hierarchy.
    fn call_item(&self, _: &FileContext<'_>, _: Function) -> Option<CallItem> {
        None
    }

    /// The callers or callees of a function, each with the name of the called function at the call, in text
    /// order.
    fn calls(&self, _: &FileContext<'_>, _: Function, _: CallDirection) -> Vec<(Function, TextRange)> {
        Vec::new()
    }
}
