//! Go to type definition.

use tower_lsp::lsp_types::TextDocumentPositionParams;

use super::go_to::{GoTo, Targets};
use super::{Cancellable, Snapshot};

pub(in crate::lsp) struct TypeDefinition;

impl GoTo for TypeDefinition {
    const METHOD: &'static str = "textDocument/typeDefinition";

    fn find(Snapshot { analysis, view }: &Snapshot, _: &TextDocumentPositionParams) -> Cancellable<Targets> {
        analysis.goto_type_definition(view.file, view.span.start).map(Targets::Names)
    }
}
