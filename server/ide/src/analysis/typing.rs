//! Features for writing and changing a text.

use super::Analysis;
use crate::*;

impl Analysis {
    /// The completions at `offset`.
    pub fn completion(&self, file: FileId, offset: usize) -> Cancellable<Completion> {
        self.of_language(
            file,
            |context| completion::completion(&context, offset),
            |context| mlir::completion::completion(&context, offset),
        )
    }

    /// The operands and attributes of the instruction being typed at `offset`.
    pub fn signature_help(&self, file: FileId, offset: usize) -> Cancellable<Option<SignatureHelp>> {
        self.of_language(file, |context| signature_help::signature_help(&context, offset), |_| None)
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
        self.of_language(
            file,
            |context| formatting::formatting(&context, &range),
            |context| mlir::formatting::formatting(&context, &range),
        )
    }

    /// The edits after `typed` was typed before `offset`.
    pub fn on_type_formatting(&self, file: FileId, offset: usize, typed: char) -> Cancellable<Vec<TextEdit>> {
        self.of_language(
            file,
            |context| formatting::on_type_formatting(&context, offset, typed),
            |_| Vec::new(),
        )
    }

    /// The code actions at `range`.
    pub fn code_actions(
        &self,
        file: FileId,
        range: TextRange,
        wanted: Wanted<'_>,
    ) -> Cancellable<Vec<CodeAction>> {
        self.of_language(
            file,
            |context| code_actions::code_actions(&context, &range, wanted),
            |context| mlir::code_actions::code_actions(&context, &range, wanted),
        )
    }
}
