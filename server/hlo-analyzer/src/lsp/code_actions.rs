//! Code actions in LSP form: edits of the document, or a new file beside it.

use std::path::Path;

use ide::{Change, CodeAction, CodeActionKind};
use serde::{Deserialize, Serialize};
use tower_lsp::lsp_types::{
    self, AnnotatedTextEdit, ChangeAnnotation, CodeActionOrCommand, CreateFile, CreateFileOptions,
    DiagnosticSeverity, DocumentChangeOperation, DocumentChanges, NumberOrString, OneOf,
    OptionalVersionedTextDocumentIdentifier, ResourceOp, TextDocumentEdit, Url, WorkspaceEdit,
};

use super::capabilities::{DISABLE_WARNING, EVALUATE, SHOW, SHOW_ACCESS_PATTERN, SHOW_PREVIEW};
use super::diagnostics::LIMIT_CODE;
use super::snapshot::View;

/// The annotation of edits that says whether values were compared.
const CHECK: &str = "check";

/// Data that the client sends back to resolve an action's edit.
#[derive(Serialize, Deserialize)]
pub(super) struct Unresolved {
    pub(super) uri: Url,
    pub(super) version: i32,
    pub(super) range: lsp_types::Range,
    pub(super) id: String,
}

impl Unresolved {
    /// The data of an action that the client sends back; `None` if this server sent none.
    pub(super) fn of(action: &lsp_types::CodeAction) -> Option<Unresolved> {
        Unresolved::deserialize(action.data.as_ref()?).ok()
    }
}

impl View {
    /// The actions of the kinds in `only`, or all if it is empty. `found` are the diagnostics at the
    /// position, as the client sent them.
    pub(super) fn code_actions(
        &self,
        actions: Vec<CodeAction>,
        found: &[lsp_types::Diagnostic],
        only: Option<&[lsp_types::CodeActionKind]>,
        range: lsp_types::Range,
    ) -> Vec<CodeActionOrCommand> {
        let is_asked = |kind: &lsp_types::CodeActionKind| {
            only.is_none_or(|only| only.iter().any(|asked| contains(asked.as_str(), kind.as_str())))
        };
        // A client that shows kernels gets one action for them; other clients get one per text.
        let shown = self.session.client.kernel_command();
        let fits = |action: &CodeAction| match shown {
            Some(_) => !action.id.starts_with(ide::SHOW_KERNEL_AS_TEXT),
            None => action.id != ide::SHOW_KERNEL_ACTION,
        };
        let is_asked_for = |action: &CodeAction| {
            // A client that asks for parameters itself gets one action for all fill values.
            let is_kind = action.id.starts_with(ide::EVALUATE_ACTION) && action.id != ide::EVALUATE_ACTION;
            !(is_kind && self.session.client.evaluates)
        };
        let actions = actions.into_iter().filter(|action| fits(action) && is_asked_for(action));
        let actions = actions.map(|action| {
            if let Some(command) = shown.filter(|_| action.id == ide::SHOW_KERNEL_ACTION) {
                return self.client_command(action, command, range.start);
            }
            if action.id == ide::ACCESS_PATTERN_ACTION && self.session.client.shows_access_patterns {
                let shown = self.client_command(action, SHOW_ACCESS_PATTERN, range.start);
                return for_uncoalesced(shown, found);
            }
            if action.id == ide::SHOW_FUSED_ACTION && self.session.client.shows_previews {
                let arguments = vec![serde_json::json!(self.uri), serde_json::json!([ide::FUSION_PIPELINE])];
                let command = lsp_types::Command {
                    title: action.title.clone(),
                    command: SHOW_PREVIEW.to_owned(),
                    arguments: Some(arguments),
                };
                let action = self.code_action(CodeAction { change: None, ..action });
                return lsp_types::CodeAction { command: Some(command), ..action };
            }
            if action.id == ide::EVALUATE_ACTION && self.session.client.evaluates {
                return self.client_command(action, EVALUATE, range.start);
            }
            let data =
                Unresolved { uri: self.uri.clone(), version: self.version, range, id: action.id.clone() };
            let data = action.change.is_none().then(|| serde_json::to_value(data).ok()).flatten();
            let is_layout = action.id.starts_with(ide::LAYOUT_ACTION);
            let action = lsp_types::CodeAction { data, ..self.code_action(action) };
            match is_layout && is_asked(&lsp_types::CodeActionKind::QUICKFIX) {
                true => for_uncoalesced(action, found),
                false => action,
            }
        });
        actions.filter(|a| a.kind.as_ref().is_none_or(is_asked)).map(Into::into).collect()
    }

    /// For each code of a non-error diagnostic of ours: the action that switches it off.
    pub(super) fn disable_warnings(
        &self,
        found: Vec<lsp_types::Diagnostic>,
        only: Option<&[lsp_types::CodeActionKind]>,
    ) -> Vec<CodeActionOrCommand> {
        let kind = lsp_types::CodeActionKind::QUICKFIX;
        if only.is_some_and(|only| !only.iter().any(|asked| contains(asked.as_str(), kind.as_str()))) {
            return Vec::new();
        }
        let mut actions: Vec<lsp_types::CodeAction> = Vec::new();
        for finding in found {
            let Some(NumberOrString::String(code)) = &finding.code else { continue };
            if !is_ours(&finding) || finding.severity == Some(DiagnosticSeverity::ERROR) || code == LIMIT_CODE
            {
                continue;
            }
            let title = format!("Disable the warning {code}");
            if let Some(action) = actions.iter_mut().find(|action| action.title == title) {
                action.diagnostics.get_or_insert_default().push(finding);
                continue;
            }
            let command = lsp_types::Command {
                title: title.clone(),
                command: DISABLE_WARNING.to_owned(),
                arguments: Some(vec![serde_json::json!(code)]),
            };
            actions.push(lsp_types::CodeAction {
                title,
                kind: Some(kind.clone()),
                diagnostics: Some(vec![finding]),
                command: Some(command),
                ..Default::default()
            });
        }
        actions.into_iter().map(Into::into).collect()
    }

    /// The command by which the client draws the picture, shows the kernel or asks for parameters itself.
    fn client_command(
        &self,
        action: CodeAction,
        command: &str,
        at: lsp_types::Position,
    ) -> lsp_types::CodeAction {
        let command = lsp_types::Command {
            title: action.title.clone(),
            command: command.to_owned(),
            arguments: Some(vec![serde_json::json!(self.uri), serde_json::json!(at)]),
        };
        lsp_types::CodeAction {
            command: Some(command),
            ..self.code_action(CodeAction { change: None, ..action })
        }
    }

    pub(super) fn code_action(&self, action: CodeAction) -> lsp_types::CodeAction {
        lsp_types::CodeAction {
            title: action.title,
            kind: Some(match action.kind {
                CodeActionKind::QuickFix => lsp_types::CodeActionKind::QUICKFIX,
                CodeActionKind::RefactorExtract => lsp_types::CodeActionKind::REFACTOR_EXTRACT,
                CodeActionKind::RefactorRewrite => lsp_types::CodeActionKind::REFACTOR_REWRITE,
                CodeActionKind::Show => lsp_types::CodeActionKind::new(SHOW),
                CodeActionKind::Source => lsp_types::CodeActionKind::SOURCE,
                CodeActionKind::SourceFixAll => lsp_types::CodeActionKind::SOURCE_FIX_ALL,
            }),
            edit: action.change.map(|change| self.workspace_edit(change)),
            ..Default::default()
        }
    }

    pub(super) fn workspace_edit(&self, change: Change) -> WorkspaceEdit {
        let client = &self.session.client;
        let mut annotation = None;
        let (uri, version, edits, creates) = match change {
            Change::Edits(edits) => (self.uri.clone(), Some(self.version), self.text_edits(edits), false),
            Change::Checked { edits, check, is_different, effect } => {
                let effect = if is_different { "XLA's rule changes values here".to_owned() } else { effect };
                annotation = Some(ChangeAnnotation {
                    label: check,
                    needs_confirmation: Some(is_different),
                    description: Some(effect).filter(|effect| !effect.is_empty()),
                });
                (self.uri.clone(), Some(self.version), self.text_edits(edits), false)
            }
            Change::NewDocument { name, extension, text } => {
                let start = lsp_types::Position::default();
                let range = lsp_types::Range { start, end: start };
                let edits = vec![lsp_types::TextEdit { range, new_text: text }];
                (beside(&self.uri, &name, extension), None, edits, true)
            }
        };
        // Editors without file creation open a new file for edits of a missing one.
        if !client.document_changes {
            return WorkspaceEdit { changes: Some([(uri, edits)].into()), ..Default::default() };
        }
        let create = (creates && client.create_files).then(|| {
            let options = CreateFileOptions { overwrite: Some(false), ignore_if_exists: Some(true) };
            DocumentChangeOperation::Op(ResourceOp::Create(CreateFile {
                uri: uri.clone(),
                options: Some(options),
                annotation_id: None,
            }))
        });
        let annotation = annotation.filter(|_| client.annotates_edits);
        let annotated = |text_edit| match &annotation {
            None => OneOf::Left(text_edit),
            Some(_) => OneOf::Right(AnnotatedTextEdit { text_edit, annotation_id: CHECK.to_owned() }),
        };
        let edit = TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
            edits: edits.into_iter().map(annotated).collect(),
        };
        let changes = match create {
            Some(create) => DocumentChanges::Operations(vec![create, DocumentChangeOperation::Edit(edit)]),
            None => DocumentChanges::Edits(vec![edit]),
        };
        let change_annotations = annotation.map(|annotation| [(CHECK.to_owned(), annotation)].into());
        WorkspaceEdit { document_changes: Some(changes), change_annotations, ..Default::default() }
    }
}

fn is_ours(finding: &lsp_types::Diagnostic) -> bool {
    finding.source.as_deref() == Some(env!("CARGO_PKG_NAME"))
}

/// With a warning about an uncoalesced access among the diagnostics, the picture and other layouts are its quick fixes: editors
/// list them first and offer them on the warning's hover.
fn for_uncoalesced(action: lsp_types::CodeAction, found: &[lsp_types::Diagnostic]) -> lsp_types::CodeAction {
    let is_uncoalesced = |finding: &&lsp_types::Diagnostic| {
        let code = finding.code.as_ref();
        is_ours(finding)
            && code.is_some_and(|c| matches!(c, NumberOrString::String(c) if c == ide::UNCOALESCED))
    };
    let found: Vec<_> = found.iter().filter(is_uncoalesced).cloned().collect();
    if found.is_empty() {
        return action;
    }
    let kind = Some(lsp_types::CodeActionKind::QUICKFIX);
    lsp_types::CodeAction { kind, diagnostics: Some(found), ..action }
}

/// Whether the kind `inner` equals `outer` or is a sub-kind: `refactor.extract` of `refactor`.
fn contains(outer: &str, inner: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| outer.is_empty() || rest.is_empty() || rest.starts_with('.'))
}

/// A new file in the folder of `uri`: `dump.hlo` gives `dump.fusion.1.hlo`.
fn beside(uri: &Url, name: &str, extension: Option<&str>) -> Url {
    let ending = extension.unwrap_or("hlo");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).take(80).collect();
    let last = uri.path().rsplit('/').next().unwrap_or_default();
    let stem = last
        .strip_suffix(".hlo")
        .or_else(|| last.strip_suffix(".txt"))
        .or_else(|| last.strip_suffix(".mlir"))
        .unwrap_or(last);
    let candidate = |n: usize| {
        let file =
            if n == 0 { format!("{stem}.{name}.{ending}") } else { format!("{stem}.{name}.{n}.{ending}") };
        if uri.cannot_be_a_base() {
            // `untitled:Untitled-1` has no folder.
            return Url::parse(&format!("{}:{file}", uri.scheme())).ok();
        }
        let mut sibling = uri.clone();
        sibling.set_query(None);
        sibling.set_fragment(None);
        // The stem is percent-encoded already.
        let folder = uri.path().strip_suffix(last).unwrap_or("/");
        sibling.set_path(&format!("{folder}{file}"));
        Some(sibling)
    };
    let is_free = |uri: &Url| !uri.to_file_path().is_ok_and(|path| Path::new(&path).exists());
    (0..1000).filter_map(candidate).find(is_free).unwrap_or_else(|| uri.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_file_stands_beside_the_old_one() {
        let check = |uri: &str, name: &str, expect: &str| {
            assert_eq!(beside(&Url::parse(uri).unwrap(), name, None).as_str(), expect);
        };
        check("file:///nowhere/a%20b.hlo", "fusion.1", "file:///nowhere/a%20b.fusion.1.hlo");
        check("file:///nowhere/m.after_opt.txt", "x/../y", "file:///nowhere/m.after_opt.x_.._y.hlo");
        check("untitled:Untitled-1", "f", "untitled:Untitled-1.f.hlo");
    }

    #[test]
    fn kinds_are_paths() {
        for (outer, inner, expect) in [
            ("", "quickfix", true),
            ("refactor", "refactor.extract", true),
            ("refactor", "refactoring", false),
            ("refactor.extract", "refactor", false),
        ] {
            assert_eq!(contains(outer, inner), expect, "{outer} {inner}");
        }
    }
}
