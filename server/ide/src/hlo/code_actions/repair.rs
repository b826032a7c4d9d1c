//! Quick fixes for diagnostics with one certain repair and for warnings; individually, or all of the file.

use ir::Remedy;

use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::diagnostics::{Depth, Errors};
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::repairs::{self, repairs_of};
use crate::{Diagnostic, QuickFix, TextEdit, TextRange};

/// The number of quick fixes applied to all of a file.
const LIMIT: usize = 10_000;
/// The number of quick fixes offered at one position.
const OFFERED: usize = 16;

pub(super) fn repair(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let touches = |place: &TextRange| place.start <= range.end && range.start <= place.end;
    // A diagnostic at the end of a piece touches a range at the start of the next one.
    let nearby = context.pieces_in(&(range.start.saturating_sub(1)..range.end + 1));
    let fixes = nearby.flat_map(|piece| fixes_of(context, piece)).filter(|(d, _)| touches(&d.range));
    for (n, (finding, fix)) in fixes.take(OFFERED).enumerate() {
        let (id, title) = (format!("{}-{n}", finding.code), sentence(&fix.title));
        actions.offer(id, title, CodeActionKind::QuickFix, || Some(Change::Edits(fix.edits)));
    }
    let mut offered = 0;
    for piece in context.pieces_in(range) {
        let block = context.block(piece);
        for (warning, repair) in repairs_of(context, piece) {
            let place = context.range(piece, block.part(warning.instruction, warning.part));
            if !touches(&place) || offered == OFFERED {
                continue;
            }
            let name = block.name(warning.instruction);
            let title = match repair.remedy {
                Remedy::ReplaceBy(other) => format!("Use {} instead of {name}", block.name(other)),
                Remedy::Remove | Remedy::None => format!("Remove {name}"),
            };
            let id = format!("{}-{offered}", warning.kind.code());
            actions.offer(id, title, CodeActionKind::QuickFix, || {
                Some(Change::Edits(repairs::edits(context, &[repair]))).filter(is_change)
            });
            offered += 1;
        }
    }
    context.view.check_ahead(context.db);
    let is_repairable =
        |piece| !fixes_of(context, piece).is_empty() || repairs_of(context, piece).next().is_some();
    if (0..context.pieces()).any(is_repairable) {
        actions.offer(
            "fix-all",
            "Repair all that can be repaired safely",
            CodeActionKind::SourceFixAll,
            || Some(Change::Edits(all(context))).filter(is_change),
        );
    }
}

/// The diagnostics of a piece with a quick fix, in text order.
fn fixes_of(context: &FileContext<'_>, piece: usize) -> Vec<(Diagnostic, QuickFix)> {
    let input = context.view.file.pieces(context.db)[piece];
    let findings = context.block(piece).findings.iter().chain(db::link_findings(context.db, input));
    let verified = db::verify_findings(context.db, input).iter();
    // Most pieces have none, and need no diagnostics.
    if !findings.map(|f| &f.fix).chain(verified.map(|f| &f.fix)).any(Option::is_some) {
        return Vec::new();
    }
    let mut found = Hlo.diagnostics_in(context, piece, Depth::Verifier);
    found.sort_by_key(|d| (d.range.start, d.range.end));
    found.into_iter().filter_map(|mut d| d.fix.take().map(|fix| (d, fix))).collect()
}

fn is_change(change: &Change) -> bool {
    !matches!(change, Change::Edits(edits) if edits.is_empty())
}

fn sentence(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The repairs of warnings, and of those errors whose ranges they do not touch.
fn all(context: &FileContext<'_>) -> Vec<TextEdit> {
    let repairs: Vec<_> = (0..context.pieces())
        .flat_map(|piece| repairs_of(context, piece).map(|(_, repair)| repair).collect::<Vec<_>>())
        .collect();
    let mut edits = repairs::edits(context, &repairs);
    let fixes = (0..context.pieces()).flat_map(|piece| fixes_of(context, piece));
    for (_, fix) in fixes.take(LIMIT) {
        cancel::check();
        let is_free = |edit: &TextEdit| {
            let at = edits.partition_point(|e| e.range.end < edit.range.start);
            edits.get(at).is_none_or(|next| edit.range.end < next.range.start)
        };
        if fix.edits.iter().all(is_free) {
            edits.extend(fix.edits);
            edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        }
    }
    edits
}

#[cfg(test)]
mod tests {
    use crate::code_actions::tests::apply;
    use crate::fixture::{in_entry, open};

    const HEAD: &str = "  p = f32[8,16]{1,0} parameter(0)\n";

    /// The lines of ENTRY after parameter `p`, with the action applied.
    fn check(id: &str, lines: &str, expect: Option<&str>) {
        let text = |lines: &str| in_entry(&format!("{HEAD}{lines}"));
        let changed = apply(&text(lines), id);
        assert_eq!(changed, expect.map(text));
        if let Some(changed) = changed {
            let (analysis, file, _) = open(&changed);
            let errors = analysis.diagnostics(file, 9).expect("nobody cancels").shown;
            assert!(errors.is_empty(), "{errors:?}");
        }
    }

    #[test]
    fn unused_instructions_go_with_their_line() {
        let lines = "  $0a = f32[8,16]{1,0} negate(p)\n  ROOT b = f32[8,16]{1,0} abs(p)";
        check("unused-instruction-0", lines, Some("  ROOT b = f32[8,16]{1,0} abs(p)"));
        check(
            "unused-instruction-0",
            "  a = f32[8,16]{1,0} negate(p)\n  ROOT b = f32[8,16]{1,0} a$0bs(p)",
            None,
        );
    }

    #[test]
    fn users_of_what_changes_nothing_use_its_operand() {
        check(
            "no-op-0",
            "  a = f32[8,16]{1,0} re$0shape(p)\n  ROOT c = f32[8,16]{1,0} add(f32[8,16]{1,0} a, maximum(a, p))",
            Some("  ROOT c = f32[8,16]{1,0} add(f32[8,16]{1,0} p, maximum(p, p))"),
        );
        check(
            "fix-all",
            "  a = f32[8,16]{1,0} reshape(p)\n  b = f32[8,16]{1,0} reshape(a)\n  ROOT c = f32[8,16]{1,0} add(b, a)$0",
            Some("  ROOT c = f32[8,16]{1,0} add(p, p)"),
        );
    }

    #[test]
    fn users_of_a_duplicate_use_the_first() {
        check(
            "duplicate-instruction-0",
            "  %a = f32[8,16]{1,0} negate(p)\n  %$0b = f32[8,16]{1,0} negate(p) // again\n  ROOT c = f32[8,16]{1,0} add(%a, %b)",
            Some("  %a = f32[8,16]{1,0} negate(p)\n   // again\n  ROOT c = f32[8,16]{1,0} add(%a, %a)"),
        );
    }

    #[test]
    fn what_others_wait_for_stays() {
        let lines = "  a = f32[8,16]{1,0} negate(p)\n  $0b = f32[8,16]{1,0} negate(p)\n  d = f32[8,16]{1,0} add(a, b)\n  ROOT c = f32[8,16]{1,0} abs(d), control-predecessors={b}";
        check("duplicate-instruction-0", lines, None);
    }

    #[test]
    fn a_wrong_shape_is_set_right() {
        let lines = "  ROOT a = f32[8,1$07]{1,0} negate(p)";
        let text = in_entry(&format!("{HEAD}{lines}"));
        let (analysis, file, offset) = open(&text);
        let found = analysis.diagnostics(file, 9).expect("nobody cancels").shown;
        let fix = found.iter().find(|d| d.range.start <= offset && offset <= d.range.end && d.fix.is_some());
        let code = fix.expect("the shape is wrong").code;
        check(&format!("{code}-0"), lines, Some("  ROOT a = f32[8,16]{1,0} negate(p)"));
        check("fix-all", lines, Some("  ROOT a = f32[8,16]{1,0} negate(p)"));
    }
}
