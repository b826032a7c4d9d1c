//! Removes `metadata={…}` from the instructions of a selection, or of the file.

use syntax::hlo::AttributeKey;

use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::file_context::FileContext;
use crate::hlo::instructions::{all_instructions, attribute_with_comma, instructions_in};
use crate::hlo::locate::InstructionRef;
use crate::{TextEdit, TextRange};

/// The number of instructions examined to decide whether to offer the action.
const LOOK_AT: usize = 1000;

pub(super) fn strip_metadata(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let has = |at: &InstructionRef| attribute_with_comma(context, *at, AttributeKey::Metadata).is_some();
    if instructions_in(context, range, LOOK_AT).iter().any(has) {
        actions.offer("strip-metadata", "Remove metadata", CodeActionKind::RefactorRewrite, || {
            Some(Change::Edits(edits(context, instructions_in(context, range, usize::MAX).into_iter())))
        });
    }
    if all_instructions(context).take(LOOK_AT).any(|at| has(&at)) {
        actions.offer(
            "strip-metadata-of-file",
            "Remove metadata of the whole file",
            CodeActionKind::Source,
            || Some(Change::Edits(edits(context, all_instructions(context)))),
        );
    }
}

fn edits(context: &FileContext<'_>, of: impl Iterator<Item = InstructionRef>) -> Vec<TextEdit> {
    of.filter_map(|at| {
        let span = attribute_with_comma(context, at, AttributeKey::Metadata)?;
        Some(TextEdit { range: context.range(at.piece, span), insert: String::new() })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use crate::code_actions::tests::apply;
    use crate::fixture::in_entry;

    fn check(id: &str, lines: &str, expect: Option<&str>) {
        assert_eq!(apply(&in_entry(lines), id), expect.map(in_entry));
    }

    #[test]
    fn metadata_goes_and_nothing_else() {
        check(
            "strip-metadata",
            "  p = f32[8] parameter(0), metadata={op_name=\"x}\"}\n  ROOT n = f32[8] negate($0p), metadata={op_name=\"a,b\"}, backend_config={}",
            Some(
                "  p = f32[8] parameter(0), metadata={op_name=\"x}\"}\n  ROOT n = f32[8] negate(p), backend_config={}",
            ),
        );
        check(
            "strip-metadata-of-file",
            r#"  p = f32[8] parameter(0), sharding={replicated} , /* why */ metadata={op_name="x}"}
  ROOT n = f32[8] negate($0p),
    metadata={op_name="a,b"}"#,
            Some("  p = f32[8] parameter(0), sharding={replicated} \n  ROOT n = f32[8] negate(p)"),
        );
        check("strip-metadata", "  ROOT p = f32[8] par$0ameter(0)", None);
    }
}
