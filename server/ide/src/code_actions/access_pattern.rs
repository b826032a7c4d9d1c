//! "Show access pattern of %y": a new document with the picture as text, for editors that cannot draw
//! pictures.

use super::{Actions, Change, CodeActionKind, instructions_in};
use crate::TextRange;
use crate::kernel::access_pattern::{AccessPatternQuery, access_pattern, launch_around};
use crate::kernel::launched::LaunchedKernel;
use crate::locate::FileContext;
use crate::mlir::kernels::hover::launched_at;

/// The id of the action; clients that draw the picture themselves get a command.
pub const ID: &str = "access-pattern";

pub(crate) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let offset = range.start;
    let launched = match context.is_mlir() {
        true => launched_at(context, offset),
        false => {
            let at = instructions_in(context, range, 1).into_iter().find_map(|at| launch_around(context, at));
            at.and_then(|at| LaunchedKernel::of(context, at))
        }
    };
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
