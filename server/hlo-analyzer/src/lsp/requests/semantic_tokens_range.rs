//! The semantic tokens of the visible part of a document.

use tower_lsp::lsp_types::{SemanticTokens, SemanticTokensRangeParams, SemanticTokensRangeResult};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::semantic_tokens::{MAX_RANGE, encode};

pub(in crate::lsp) struct SemanticTokensRange;

impl Request for SemanticTokensRange {
    const METHOD: &'static str = "textDocument/semanticTokens/range";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = SemanticTokensRangeParams;
    type Found = Option<Vec<ide::SemanticToken>>;
    type Response = Option<SemanticTokensRangeResult>;

    fn subject(params: &SemanticTokensRangeParams) -> Subject {
        Subject::range(&params.text_document, params.range)
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        _: &SemanticTokensRangeParams,
    ) -> Cancellable<Self::Found> {
        analysis.semantic_tokens(view.file, view.span.clone(), MAX_RANGE)
    }

    fn respond(view: &View, _: SemanticTokensRangeParams, found: Self::Found) -> Result<Self::Response> {
        let Some(tokens) = found else { return Ok(None) };
        let data = encode(&view.text, view.encoding(), &tokens);
        Ok(Some(SemanticTokens { result_id: None, data }.into()))
    }
}
