//! What can be done to MLIR text at a place.

use crate::code_actions::{Provider, offered};
use crate::locate::FileContext;
use crate::{CodeAction, TextRange, Wanted};

/// In the order in which editors show them.
const PROVIDERS: &[Provider] = &[crate::code_actions::convert::offer];

pub(crate) fn code_actions(
    context: &FileContext<'_>,
    range: &TextRange,
    wanted: Wanted<'_>,
) -> Vec<CodeAction> {
    offered(context, range, wanted, PROVIDERS)
}
