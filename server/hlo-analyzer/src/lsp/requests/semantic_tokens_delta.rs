//! The change of the semantic tokens since the last response.

use tower_lsp::lsp_types::{self, SemanticTokens, SemanticTokensDeltaParams, SemanticTokensFullDeltaResult};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::semantic_tokens::{MAX_FULL, difference, encode};

pub(in crate::lsp) struct SemanticTokensDelta;

impl Request for SemanticTokensDelta {
    const METHOD: &'static str = "textDocument/semanticTokens/full/delta";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = SemanticTokensDeltaParams;
    type Found = Option<Vec<ide::SemanticToken>>;
    type Response = Option<SemanticTokensFullDeltaResult>;

    fn subject(params: &SemanticTokensDeltaParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        _: &SemanticTokensDeltaParams,
    ) -> Cancellable<Self::Found> {
        analysis.semantic_tokens(view.file, view.span.clone(), MAX_FULL)
    }

    fn respond(view: &View, params: SemanticTokensDeltaParams, found: Self::Found) -> Result<Self::Response> {
        let Some(tokens) = found else { return Ok(None) };
        let data = encode(&view.text, view.encoding(), &tokens);
        let cache = &view.session.tokens;
        let before = cache.take(&view.uri, &params.previous_result_id);
        let result_id = Some(cache.put(&view.uri, data.clone()));
        Ok(Some(match before {
            Some(before) => {
                let edits = difference(&before, &data);
                lsp_types::SemanticTokensDelta { result_id, edits }.into()
            }
            None => SemanticTokens { result_id, data }.into(),
        }))
    }
}
