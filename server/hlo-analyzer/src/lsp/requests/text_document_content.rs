//! `workspace/textDocumentContent` (LSP 3.18): the text of a kernel's tab or of a preview, for clients that show documents of the
//! server without commands of their own.

use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types::Url;
use tower_lsp::lsp_types::request::Request as ClientRequest;

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::kernel_tab::KernelTab;
use crate::lsp::kernel_uri;
use crate::lsp::preview_tab::PreviewTab;
use crate::lsp::preview_uri;

pub(in crate::lsp) struct TextDocumentContent;

#[derive(Deserialize)]
pub(in crate::lsp) struct ContentParams {
    uri: Url,
}

#[derive(Serialize, Default)]
pub(in crate::lsp) struct Content {
    text: String,
}

enum Document {
    Kernel(KernelTab),
    Preview(PreviewTab),
}

fn document(uri: &Url) -> std::result::Result<Document, &'static str> {
    match uri.scheme() {
        kernel_uri::SCHEME => KernelTab::try_from(uri.clone()).map(Document::Kernel),
        preview_uri::SCHEME => PreviewTab::try_from(uri.clone()).map(Document::Preview),
        _ => Err("the server has no documents of this scheme"),
    }
}

impl Request for TextDocumentContent {
    const METHOD: &'static str = "workspace/textDocumentContent";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = ContentParams;
    type Found = String;
    type Response = Content;

    fn subject(params: &ContentParams) -> Subject {
        match document(&params.uri) {
            Ok(Document::Kernel(tab)) => tab.subject(Target::Document),
            Ok(Document::Preview(tab)) => tab.subject(Target::Document),
            Err(why) => Subject::Invalid(why.to_owned()),
        }
    }

    fn run(snapshot: &Snapshot, params: &ContentParams) -> Cancellable<Self::Found> {
        match document(&params.uri) {
            Ok(Document::Kernel(tab)) => Ok(snapshot.render(&tab)?.text.clone()),
            Ok(Document::Preview(tab)) => Ok(snapshot.render_preview(&tab)?.text),
            Err(_) => Ok(String::new()),
        }
    }

    fn respond(_: &View, _: ContentParams, text: Self::Found) -> Result<Self::Response> {
        Ok(Content { text })
    }
}

/// Asks the client to ask for the text of a document again.
pub(in crate::lsp) enum Refresh {}

impl ClientRequest for Refresh {
    type Params = RefreshParams;
    type Result = ();
    const METHOD: &'static str = "workspace/textDocumentContent/refresh";
}

#[derive(Serialize, Deserialize)]
pub(in crate::lsp) struct RefreshParams {
    pub(in crate::lsp) uri: Url,
}
