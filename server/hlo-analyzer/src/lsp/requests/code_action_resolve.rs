//! The edit of a code action, if the text has not changed since; otherwise the action without an edit.

use ide::Wanted;
use tower_lsp::lsp_types::CodeAction;

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::code_actions::Unresolved;

pub(in crate::lsp) struct CodeActionResolve;

impl Request for CodeActionResolve {
    const METHOD: &'static str = "codeAction/resolve";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = CodeAction;
    type Found = Vec<ide::CodeAction>;
    type Response = CodeAction;

    fn subject(action: &CodeAction) -> Subject {
        match Unresolved::of(action) {
            Some(Unresolved { uri, range, .. }) => Subject::Part(uri, Target::Range(range)),
            None => Subject::Nothing,
        }
    }

    fn run(Snapshot { analysis, view }: &Snapshot, action: &CodeAction) -> Cancellable<Self::Found> {
        match Unresolved::of(action) {
            Some(Unresolved { version, id, .. }) if version == view.version => {
                let mut found = analysis.code_actions(view.file, view.span.clone(), Wanted::Change(&id))?;
                found.extend(analysis.rewrite_actions(view.file, view.span.clone(), Wanted::Change(&id))?);
                Ok(found)
            }
            _ => Ok(Vec::new()),
        }
    }

    fn respond(view: &View, action: CodeAction, found: Self::Found) -> Result<Self::Response> {
        let edit = found.into_iter().next().and_then(|found| view.code_action(found).edit);
        Ok(CodeAction { edit, ..action })
    }
}
