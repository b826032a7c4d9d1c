//! Navigation from names.

use super::Analysis;
use crate::*;

impl Analysis {
    /// The targets of the name at `offset`, each with the token at the cursor.
    pub fn goto_definition(&self, file: FileId, offset: usize) -> Cancellable<Vec<NavigationTarget>> {
        self.with_file(file, |context| goto_definition::goto_definition(&context, offset))
    }

    /// The origin of the value at `offset`; see `hlo/type_definitions.rs`.
    pub fn goto_type_definition(&self, file: FileId, offset: usize) -> Cancellable<Vec<NavigationTarget>> {
        self.with_file(file, |context| context.semantics().type_definitions(&context, offset))
    }

    /// The source lines that led to the instruction or op whose opcode or location is at `offset`, innermost first, and
    /// the range of that opcode or location.
    pub fn source_frames(
        &self,
        file: FileId,
        offset: usize,
    ) -> Cancellable<Option<(TextRange, Vec<SourceFrame>)>> {
        self.with_file(file, |context| context.semantics().source_frames(&context, offset))
    }

    /// What the framework says of the instruction or op around `offset`; empty if it says nothing.
    pub fn framework_op(&self, file: FileId, offset: usize) -> Cancellable<FrameworkOp> {
        self.with_file(file, |context| {
            let location = context.semantics().source_location(&context, offset);
            location.unwrap_or_default().into()
        })
    }

    pub fn references(
        &self,
        file: FileId,
        offset: usize,
        with_definition: bool,
    ) -> Cancellable<Vec<Reference>> {
        self.with_file(file, |context| references::references(&context, offset, with_definition))
    }

    pub fn document_highlight(&self, file: FileId, offset: usize) -> Cancellable<Vec<Reference>> {
        self.with_file(file, |context| references::document_highlight(&context, offset))
    }

    pub fn prepare_call_hierarchy(&self, file: FileId, offset: usize) -> Cancellable<Option<CallItem>> {
        self.with_file(file, |context| call_hierarchy::prepare_call_hierarchy(&context, offset))
    }

    /// The calls of the computation whose name is at `offset`.
    pub fn calls(&self, file: FileId, offset: usize, direction: CallDirection) -> Cancellable<Vec<Call>> {
        self.with_file(file, |context| call_hierarchy::calls(&context, offset, direction))
    }

    /// The offset of the instruction called `name` (without `%`).
    pub fn find_instruction(&self, file: FileId, name: &str) -> Cancellable<Option<usize>> {
        self.with_file(file, |context| context.semantics().find_name(&context, name))
    }
}
