//! Quick fixes, refactorings and what else a place offers.

use ide::Wanted;
use tower_lsp::lsp_types::{CodeActionParams, CodeActionResponse};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct CodeAction;

impl Request for CodeAction {
    const METHOD: &'static str = "textDocument/codeAction";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = CodeActionParams;
    type Found = Vec<ide::CodeAction>;
    type Response = Option<CodeActionResponse>;

    fn subject(params: &CodeActionParams) -> Subject {
        Subject::range(&params.text_document, params.range)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &CodeActionParams) -> Cancellable<Self::Found> {
        // Only clients without resolve support get all edits at once.
        let wanted = if view.session.client.resolve_code_actions { Wanted::Titles } else { Wanted::Changes };
        let mut actions = analysis.code_actions(view.file, view.span.clone(), wanted)?;
        if view.plans_kernels() {
            actions.extend(analysis.rewrite_actions(view.file, view.span.clone(), wanted)?);
        }
        Ok(actions)
    }

    fn respond(view: &View, params: CodeActionParams, found: Self::Found) -> Result<Self::Response> {
        let (only, diagnostics) = (params.context.only, params.context.diagnostics);
        let range = view.range(view.span.clone());
        let mut actions = view.code_actions(found, &diagnostics, only.as_deref(), range);
        actions.extend(view.disable_warnings(diagnostics, only.as_deref()));
        Ok(Some(actions))
    }
}
