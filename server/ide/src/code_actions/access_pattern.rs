//! "Show access pattern of %y": a new document with the picture as text, for editors that cannot draw
//! pictures.

use super::{Actions, Change, CodeActionKind};
use crate::TextRange;
use crate::file_context::FileContext;
use crate::kernel::access_pattern::{AccessPatternQuery, access_pattern};

/// The id of the action; clients that draw the picture themselves get a command.
pub const ID: &str = "access-pattern";

pub(crate) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let offset = range.start;
    let launched = context.semantics().launched_in(context, range);
    let Some(kernel) = launched.filter(|kernel| kernel.analysis(context).is_ok()) else { return };
    let name = kernel.name;
    actions.offer(ID, "Show access pattern", CodeActionKind::Show, || {
        let pattern = access_pattern(context, offset, &AccessPatternQuery::default())?;
        // Comments keep the document valid in its language.
        let lines = pattern.text.lines().chain([pattern.summary.as_str()]);
        let text = lines.map(|line| format!("// {line}\n")).collect();
        Some(Change::NewDocument { name: format!("{name}.access-pattern"), extension: None, text })
    });
}
