//! Code actions at a position: one file per action, and their list.
//!
//! A provider offers its actions to [`Actions`] with a closure that computes the change. The closure does not
//! run for a client that only wants titles.

pub(crate) mod access_pattern;
pub(crate) mod convert;
pub(crate) mod evaluate;
pub(crate) mod heaviest_kernels;
pub(crate) mod show_fused;
pub(crate) mod show_kernel;

use crate::file_context::FileContext;
use crate::{TextEdit, TextRange};

/// The kind of the action, which determines its menu and shortcut in an editor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeActionKind {
    QuickFix,
    RefactorExtract,
    RefactorRewrite,
    /// Shows something about the position and changes nothing.
    Show,
    /// Applies to the whole file.
    Source,
    /// All safe repairs of the whole file; editors may apply it on save.
    SourceFixAll,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Edits(Vec<TextEdit>),
    /// Edits of a pass, after which values were compared with those before.
    Checked {
        edits: Vec<TextEdit>,
        /// What the comparison found, as a sentence without a full stop.
        check: String,
        /// Whether some value differs.
        is_different: bool,
        /// What it costs and gains beyond the title, as a sentence without a full stop; may be empty.
        effect: String,
    },
    /// A new file beside this one.
    NewDocument {
        /// The name without folder and extension.
        name: String,
        /// The extension, if the language differs from this file's.
        extension: Option<&'static str>,
        text: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeAction {
    /// Stable; with the same file and range it identifies the action again, see [`Wanted::Change`].
    pub id: String,
    pub title: String,
    pub kind: CodeActionKind,
    /// `None` if only titles were requested.
    pub change: Option<Change>,
}

/// The part of the actions to compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    Titles,
    Changes,
    /// Only the action with this id, with its change.
    Change(&'a str),
}

/// Collects the actions that providers offer.
pub(crate) struct Actions<'a> {
    wanted: Wanted<'a>,
    found: Vec<CodeAction>,
}

impl Actions<'_> {
    /// Offers an action. `change` returns `None` if the action turns out to be impossible.
    pub(crate) fn offer(
        &mut self,
        id: impl Into<String>,
        title: impl Into<String>,
        kind: CodeActionKind,
        change: impl FnOnce() -> Option<Change>,
    ) {
        let id = id.into();
        let change = match self.wanted {
            Wanted::Titles => None,
            Wanted::Change(wanted) if wanted != id => return,
            Wanted::Changes | Wanted::Change(_) => match change() {
                Some(change) => Some(change),
                None => return,
            },
        };
        self.found.push(CodeAction { id, title: title.into(), kind, change });
    }
}

impl<'a> Actions<'a> {
    pub(crate) fn new(wanted: Wanted<'a>) -> Actions<'a> {
        Actions { wanted, found: Vec::new() }
    }

    pub(crate) fn found(self) -> Vec<CodeAction> {
        self.found
    }

    /// Whether one action is asked for, whose title is known.
    pub(crate) fn is_about_one(&self) -> bool {
        matches!(self.wanted, Wanted::Change(_))
    }

    /// Whether an action is asked for whose id starts so.
    pub(crate) fn may_want(&self, prefix: &str) -> bool {
        !matches!(self.wanted, Wanted::Change(wanted) if !wanted.starts_with(prefix))
    }

    /// Whether the action of this id is asked for.
    pub(crate) fn wants(&self, id: &str) -> bool {
        !matches!(self.wanted, Wanted::Change(wanted) if wanted != id)
    }

    /// Whether all changes are computed with the list of actions, so that each must be cheap.
    pub(crate) fn makes_all_changes(&self) -> bool {
        self.wanted == Wanted::Changes
    }

    /// Offers an action that the client performs itself, without a change.
    pub(crate) fn offer_command(&mut self, id: &str, title: &str, kind: CodeActionKind) {
        if !matches!(self.wanted, Wanted::Change(wanted) if wanted != id) {
            self.found.push(CodeAction { id: id.to_owned(), title: title.to_owned(), kind, change: None });
        }
    }
}

pub(crate) type Provider = fn(&FileContext<'_>, &TextRange, &mut Actions<'_>);

/// The code actions of a language.
pub(crate) trait Providers {
    /// The providers of code actions, in the order in which editors show their actions.
    fn action_providers(&self) -> &'static [Provider];
}

pub(crate) fn code_actions(
    context: &FileContext<'_>,
    range: &TextRange,
    wanted: Wanted<'_>,
) -> Vec<CodeAction> {
    let mut actions = Actions::new(wanted);
    for provider in context.semantics().action_providers() {
        provider(context, range, &mut actions);
    }
    actions.found()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::fixture::open;

    /// The text after the action `id` at the cursor, or the new document; `None` if it is not offered.
    pub(crate) fn apply(fixture: &str, id: &str) -> Option<String> {
        apply_in(open(fixture), id)
    }

    /// Like [`apply`], for an open file.
    pub(crate) fn apply_in(
        (analysis, file, offset): (crate::Analysis, crate::FileId, usize),
        id: &str,
    ) -> Option<String> {
        let text = analysis.text(file).to_string();
        let titles = analysis.code_actions(file, offset..offset, Wanted::Titles).expect("nobody cancels");
        assert!(titles.iter().all(|a| a.change.is_none()));
        let found = analysis.code_actions(file, offset..offset, Wanted::Change(id)).expect("nobody cancels");
        assert!(found.len() <= 1, "one action of that id");
        let action = found.into_iter().next()?;
        assert!(titles.iter().any(|a| (&a.id, &a.title) == (&action.id, &action.title)));
        Some(match action.change.expect("it was wanted") {
            Change::NewDocument { text, .. } => text,
            Change::Edits(edits) | Change::Checked { edits, .. } => {
                crate::fixture::apply_edits(&text, &edits)
            }
        })
    }

    #[test]
    fn all_changes_are_those_asked_for_one_by_one() {
        let (analysis, file, _) = open(
            r#"HloModule m

ENTRY e {
  p = f32[8] parameter(0), metadata={op_name="x"}
  ROOT n = f32[8] negate(p)
}
"#,
        );
        let range = 0..analysis.text(file).len_bytes();
        let all = analysis.code_actions(file, range.clone(), Wanted::Changes).expect("nobody cancels");
        assert!(all.len() >= 2, "{all:?}");
        for action in &all {
            let one = analysis.code_actions(file, range.clone(), Wanted::Change(&action.id));
            assert_eq!(one.expect("nobody cancels"), std::slice::from_ref(action));
        }
    }
}
