//! "Show access pattern of %y": a new document with the picture as text, for editors that draw no pictures.

use super::{Actions, Change, CodeActionKind, instructions_in};
use crate::TextRange;
use crate::access_pattern::{AccessPatternQuery, access_pattern};
use crate::locate::FileContext;

/// The id of the action; clients that draw the picture themselves are told to.
pub const ID: &str = "access-pattern";

pub(super) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let Some(&at) = instructions_in(context, range, 1).first() else { return };
    if !context.is_launched(at) {
        return;
    }
    let has_kernel = context.kernel_key(at).is_some_and(|key| matches!(context.kernel(&key), Some(Ok(_))));
    if !has_kernel {
        return;
    }
    let name = context.block(at.piece).name(at.id).to_owned();
    let offset = range.start;
    actions.offer(ID, "Show access pattern", CodeActionKind::Source, || {
        let pattern = access_pattern(context, offset, &AccessPatternQuery::default())?;
        // Comments, so that the document is a text of the same language.
        let lines = pattern.text.lines().chain([pattern.summary.as_str()]);
        let text = lines.map(|line| format!("// {line}\n")).collect();
        Some(Change::NewDocument { name: format!("{name}.access-pattern"), extension: None, text })
    });
}
