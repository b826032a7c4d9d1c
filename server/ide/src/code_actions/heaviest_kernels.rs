//! "List the heaviest kernels": the module's kernels by time, as a new document. Clients with a list view
//! have a command for it.

use super::{Actions, Change, CodeActionKind};
use crate::TextRange;
use crate::file_context::FileContext;
use crate::kernel::heaviest::heaviest_kernels;

/// The number of kernels listed.
const LIMIT: usize = 200;

pub(crate) fn offer(context: &FileContext<'_>, _: &TextRange, actions: &mut Actions<'_>) {
    actions.offer("heaviest-kernels", "List the heaviest kernels", CodeActionKind::Source, || {
        let report = heaviest_kernels(context, LIMIT);
        let is_listed = !report.kernels.is_empty();
        let (name, text) = ("heaviest-kernels".to_owned(), report.markdown());
        is_listed.then_some(Change::NewDocument { name, extension: Some("md"), text })
    });
}

#[cfg(test)]
mod tests {
    use crate::code_actions::tests::apply;

    const MODULE: &str = "HloModule m

fused {
  p = f32[64] parameter(0)
  ROOT n = f32[64] negate(p)
}

ENTRY e {
  $0x = f32[64] parameter(0)
  ROOT f = f32[64] fusion(x), kind=kLoop, calls=fused
}
";

    #[test]
    fn the_list_is_a_new_document() {
        let shown = apply(MODULE, "heaviest-kernels").expect("it is offered");
        assert!(shown.starts_with("# Heaviest kernels\n") && shown.contains("%f"), "{shown}");
        assert_eq!(
            apply("HloModule m\n\nENTRY e {\n  $0ROOT p = f32[] parameter(0)\n}\n", "heaviest-kernels"),
            None
        );
    }
}
