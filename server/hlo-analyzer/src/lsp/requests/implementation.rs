//! Go to implementation: from an instruction of a compile to what it became in the last stage.

use tower_lsp::lsp_types::TextDocumentPositionParams;

use super::go_to::{GoTo, Targets};
use super::{Cancellable, Snapshot};

pub(in crate::lsp) struct Implementation;

impl GoTo for Implementation {
    const METHOD: &'static str = "textDocument/implementation";

    fn find(Snapshot { analysis, view }: &Snapshot, _: &TextDocumentPositionParams) -> Cancellable<Targets> {
        analysis.goto_implementation(view.file, view.span.start).map(Targets::Stages)
    }
}
