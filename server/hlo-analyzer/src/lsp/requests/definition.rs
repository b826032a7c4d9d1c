//! Go to definition: of a name, from an opcode or its metadata to the source lines that led to it, or from a line of a
//! kernel to its instruction.

use tower_lsp::lsp_types::TextDocumentPositionParams;

use super::go_to::{GoTo, Targets};
use super::{Cancellable, Snapshot, Subject};
use crate::lsp::kernel_tab::KernelTab;

pub(in crate::lsp) struct Definition;

impl GoTo for Definition {
    const METHOD: &'static str = "textDocument/definition";

    fn subject(at: &TextDocumentPositionParams) -> Subject {
        Subject::in_document_or_kernel(at)
    }

    fn find(snapshot: &Snapshot, at: &TextDocumentPositionParams) -> Cancellable<Targets> {
        let Snapshot { analysis, view } = snapshot;
        let Ok(tab) = KernelTab::try_from(at.text_document.uri.clone()) else {
            let names = analysis.goto_definition(view.file, view.span.start)?;
            return Targets::Names(names).or_source(snapshot);
        };
        let rendered = snapshot.render(&tab)?;
        let line = (at.position.line as usize).checked_sub(rendered.first);
        let instruction = line.and_then(|line| rendered.document.instruction_of(line));
        Ok(Targets::Instruction(instruction.and_then(|found| Some(found.at.as_ref()?.1.clone()))))
    }
}
