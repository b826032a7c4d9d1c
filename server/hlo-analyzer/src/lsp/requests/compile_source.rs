//! What a compile needs of a document: the first half of `hlo-analyzer/compileWithXla`, which `compiling.rs` serves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ide::{Device, Language};
use tower_lsp::lsp_types::{TextDocumentIdentifier, Url};

use super::{Cancellable, DocumentParams, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::snapshot::Session;

pub(in crate::lsp) struct CompileSource;

/// A module to compile, without the database.
pub(in crate::lsp) struct Source {
    /// With the edits that are not saved.
    pub(in crate::lsp) text: String,
    pub(in crate::lsp) language: Language,
    /// That of the dump which the document is part of, else that of the settings.
    pub(in crate::lsp) device: &'static Device,
    /// The name of the document.
    pub(in crate::lsp) name: PathBuf,
    pub(in crate::lsp) uri: Url,
    pub(in crate::lsp) session: Arc<Session>,
}

impl DocumentParams {
    pub(in crate::lsp) fn of(uri: Url) -> DocumentParams {
        DocumentParams { text_document: TextDocumentIdentifier { uri } }
    }
}

impl Request for CompileSource {
    const METHOD: &'static str = "hlo-analyzer/compileWithXla";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = DocumentParams;
    type Found = (Language, &'static Device);
    type Response = Source;

    fn subject(params: &DocumentParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &DocumentParams) -> Cancellable<Self::Found> {
        analysis.target(view.file)
    }

    fn respond(view: &View, _: DocumentParams, (language, device): Self::Found) -> Result<Source> {
        Ok(Source {
            text: view.text.to_string(),
            language,
            device,
            name: Path::new(view.uri.path()).file_name().map_or_else(PathBuf::new, PathBuf::from),
            uri: view.uri.clone(),
            session: view.session.clone(),
        })
    }
}
