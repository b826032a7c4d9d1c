//! Whether the name under the cursor can be renamed.

use ide::{RenameError, TextRange};
use tower_lsp::jsonrpc::{Error, ErrorCode};
use tower_lsp::lsp_types::{PrepareRenameResponse, TextDocumentPositionParams};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct PrepareRename;

impl Request for PrepareRename {
    const METHOD: &'static str = "textDocument/prepareRename";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = TextDocumentPositionParams;
    type Found = std::result::Result<TextRange, RenameError>;
    type Response = Option<PrepareRenameResponse>;

    fn subject(params: &TextDocumentPositionParams) -> Subject {
        Subject::at(params)
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        _: &TextDocumentPositionParams,
    ) -> Cancellable<Self::Found> {
        analysis.prepare_rename(view.file, view.span.start)
    }

    fn respond(view: &View, _: TextDocumentPositionParams, found: Self::Found) -> Result<Self::Response> {
        let range = found.map_err(refusal)?;
        Ok(Some(PrepareRenameResponse::RangeWithPlaceholder {
            placeholder: view.text.byte_slice(range.clone()).to_string(),
            range: view.range(range),
        }))
    }
}

/// `RequestFailed` of LSP 3.17: the request was valid but cannot be carried out.
const REQUEST_FAILED: i64 = -32803;

pub(super) fn refusal(RenameError(reason): RenameError) -> Error {
    Error { code: ErrorCode::ServerError(REQUEST_FAILED), message: reason.into(), data: None }
}
