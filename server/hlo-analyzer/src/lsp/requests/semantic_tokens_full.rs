//! All semantic tokens of a document.

use tower_lsp::lsp_types::{SemanticTokens, SemanticTokensParams, SemanticTokensResult};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::semantic_tokens::{MAX_FULL, encode};

pub(in crate::lsp) struct SemanticTokensFull;

impl Request for SemanticTokensFull {
    const METHOD: &'static str = "textDocument/semanticTokens/full";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = SemanticTokensParams;
    type Found = Option<Vec<ide::SemanticToken>>;
    type Response = Option<SemanticTokensResult>;

    fn subject(params: &SemanticTokensParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &SemanticTokensParams) -> Cancellable<Self::Found> {
        analysis.semantic_tokens(view.file, view.span.clone(), MAX_FULL)
    }

    fn respond(view: &View, _: SemanticTokensParams, found: Self::Found) -> Result<Self::Response> {
        let Some(tokens) = found else { return Ok(None) };
        let data = encode(&view.text, view.encoding(), &tokens);
        let result_id = Some(view.session.tokens.put(&view.uri, data.clone()));
        Ok(Some(SemanticTokens { result_id, data }.into()))
    }
}
