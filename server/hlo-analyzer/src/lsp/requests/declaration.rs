//! Go to declaration: from an instruction of a compile to what it was before optimizations; in the first stage, and in
//! other files, to the source lines that led to it.

use tower_lsp::lsp_types::TextDocumentPositionParams;

use super::go_to::{GoTo, Targets};
use super::{Cancellable, Snapshot};

pub(in crate::lsp) struct Declaration;

impl GoTo for Declaration {
    const METHOD: &'static str = "textDocument/declaration";

    fn find(snapshot: &Snapshot, _: &TextDocumentPositionParams) -> Cancellable<Targets> {
        let Snapshot { analysis, view } = snapshot;
        let places = analysis.goto_declaration(view.file, view.span.start)?;
        Targets::Stages(places).or_source(snapshot)
    }
}
