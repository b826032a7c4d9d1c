//! Code actions for MLIR text: one file per action, and their list.

mod aliases;
mod map_texts;
mod op_form;
mod rewrite;
mod simplify_map;

use crate::code_actions::{Provider, Providers};
use crate::mlir::Mlir;

/// The providers in the order in which editors show their actions.
const PROVIDERS: &[Provider] = &[
    rewrite::offer,
    simplify_map::offer,
    aliases::offer,
    op_form::offer,
    crate::code_actions::show_kernel::offer,
    crate::code_actions::access_pattern::offer,
    crate::code_actions::evaluate::offer,
    crate::code_actions::show_fused::offer,
    crate::code_actions::convert::offer,
];

impl Providers for Mlir {
    fn action_providers(&self) -> &'static [Provider] {
        PROVIDERS
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::fixture::open_mlir;
    use crate::{CodeActionKind, Wanted};

    /// The text after an action at `$0`; `None` if it is not offered.
    pub(crate) fn apply(fixture: &str, id: &str) -> Option<String> {
        crate::code_actions::tests::apply_in(open_mlir(fixture), id)
    }

    /// Titles of the actions at `$0` that change its text, without those of the whole file.
    pub(crate) fn titles(fixture: &str) -> Vec<String> {
        let (analysis, file, offset) = open_mlir(fixture);
        let found = analysis.code_actions(file, offset..offset, Wanted::Titles).expect("nobody cancels");
        let is_wanted = |kind| !matches!(kind, CodeActionKind::Source | CodeActionKind::Show);
        found.into_iter().filter(|a| is_wanted(a.kind)).map(|a| a.title).collect()
    }
}
