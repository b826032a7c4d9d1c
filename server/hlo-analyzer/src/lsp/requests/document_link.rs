//! Links from metadata to existing source files.

use tower_lsp::lsp_types::{self, DocumentLinkParams};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::source_files::SourceFiles;

pub(in crate::lsp) struct DocumentLink;

/// The largest number of links per document, from its start. LSP cannot request those on the screen only.
const MAX_LINKS: usize = 10_000;

impl Request for DocumentLink {
    const METHOD: &'static str = "textDocument/documentLink";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = DocumentLinkParams;
    type Found = Vec<ide::DocumentLink>;
    type Response = Option<Vec<lsp_types::DocumentLink>>;

    fn subject(params: &DocumentLinkParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &DocumentLinkParams) -> Cancellable<Self::Found> {
        // One more than are shown, to know whether there are more.
        analysis.document_links(view.file, MAX_LINKS + 1)
    }

    fn respond(view: &View, _: DocumentLinkParams, found: Self::Found) -> Result<Self::Response> {
        Ok(Some(view.document_links(view.first_shown(MAX_LINKS, "links to source files", found))))
    }
}

impl View {
    fn document_links(&self, links: Vec<ide::DocumentLink>) -> Vec<lsp_types::DocumentLink> {
        let mut files = SourceFiles::new(&self.session, &self.uri);
        let link = |link: ide::DocumentLink| {
            let mut target = files.find(&link.path)?;
            let line = link.line.map(|line| format!("L{line}"));
            target.set_fragment(line.as_deref());
            let range = self.range(link.range);
            Some(lsp_types::DocumentLink { range, target: Some(target), tooltip: None, data: None })
        };
        links.into_iter().filter_map(link).collect()
    }
}
