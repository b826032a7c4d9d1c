//! Rename. Refused, not retried, if the text has changed since the user saw it.

use ide::{Change, RenameError, TextEdit};
use tower_lsp::lsp_types::{RenameParams, WorkspaceEdit};

use super::prepare_rename::refusal;
use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct Rename;

impl Request for Rename {
    const METHOD: &'static str = "textDocument/rename";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = RenameParams;
    type Found = std::result::Result<Vec<TextEdit>, RenameError>;
    type Response = Option<WorkspaceEdit>;

    fn subject(params: &RenameParams) -> Subject {
        Subject::at(&params.text_document_position)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, params: &RenameParams) -> Cancellable<Self::Found> {
        analysis.rename(view.file, view.span.start, &params.new_name)
    }

    fn respond(view: &View, _: RenameParams, found: Self::Found) -> Result<Self::Response> {
        let edits = found.map_err(refusal)?;
        Ok(Some(view.workspace_edit(Change::Edits(edits))))
    }
}
