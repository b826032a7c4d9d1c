//! Features for writing and changing a text.

use crate::code_actions::Provider;
use crate::file_context::FileContext;
use crate::{Completion, SignatureHelp, TextEdit};

/// Features for writing and changing a text.
pub(crate) trait Typing {
    /// The completions at `offset`.
    fn completion(&self, _: &FileContext<'_>, _: usize) -> Completion {
        Completion::default()
    }

    /// The operands and attributes of what is typed at `offset`.
    fn signature_help(&self, _: &FileContext<'_>, _: usize) -> Option<SignatureHelp> {
        None
    }

    /// White-space edits that format a piece, in any order.
    fn formatting_in(&self, _: &FileContext<'_>, _: usize) -> Vec<TextEdit> {
        Vec::new()
    }

    /// The edits after `typed` was typed before `offset`.
    fn on_type_formatting(&self, _: &FileContext<'_>, _: usize, _: char) -> Vec<TextEdit> {
        Vec::new()
    }

    /// The providers of code actions, in the order in which editors show their actions.
    fn action_providers(&self) -> &'static [Provider];
}
