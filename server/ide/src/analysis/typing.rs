//! Features for writing and changing a text.

use super::Analysis;
use crate::*;

impl Analysis {
    /// The completions at `offset`.
    pub fn completion(&self, file: FileId, offset: usize) -> Cancellable<Completion> {
        self.with_file(file, |context| context.semantics().completion(&context, offset))
    }

    /// The operands and attributes of the instruction being typed at `offset`.
    pub fn signature_help(&self, file: FileId, offset: usize) -> Cancellable<Option<SignatureHelp>> {
        self.with_file(file, |context| context.semantics().signature_help(&context, offset))
    }

    /// The name that [`Analysis::rename`] would replace.
    pub fn prepare_rename(&self, file: FileId, offset: usize) -> Cancellable<Result<TextRange, RenameError>> {
        self.with_file(file, |context| rename::prepare_rename(&context, offset))
    }

    pub fn rename(
        &self,
        file: FileId,
        offset: usize,
        new_name: &str,
    ) -> Cancellable<Result<Vec<TextEdit>, RenameError>> {
        self.with_file(file, |context| rename::rename(&context, offset, new_name))
    }

    /// White-space edits that format the instructions touched by `range`.
    pub fn formatting(&self, file: FileId, range: TextRange) -> Cancellable<Vec<TextEdit>> {
        self.with_file(file, |context| formatting::formatting(&context, &range))
    }

    /// The edits after `typed` was typed before `offset`.
    pub fn on_type_formatting(&self, file: FileId, offset: usize, typed: char) -> Cancellable<Vec<TextEdit>> {
        self.with_file(file, |context| context.semantics().on_type_formatting(&context, offset, typed))
    }

    /// The code actions at `range`.
    pub fn code_actions(
        &self,
        file: FileId,
        range: TextRange,
        wanted: Wanted<'_>,
    ) -> Cancellable<Vec<CodeAction>> {
        self.with_file(file, |context| code_actions::code_actions(&context, &range, wanted))
    }
}
