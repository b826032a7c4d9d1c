//! Warnings about code that computes nothing new: unused, repeated, or undone at once.

use ir::{SegmentRef, Warning, WarningKind, has_side_effect, is_caller};
use syntax::hlo::ValueNode;

use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::warnings::{Warnings, WarningsConfig, severity};
use crate::{Diagnostic, Diagnostics, Related, Severity};

/// The depth of calls followed to decide whether an unused call has a side effect.
const CALL_DEPTH: usize = 16;
/// The number of instructions examined for that.
const CALL_BUDGET: usize = 100_000;

/// Whether XLA has optimised the file: it has a schedule or a fusion.
fn is_optimized(context: &FileContext<'_>) -> bool {
    let is_scheduled = |piece| {
        let block = context.block(piece);
        let value = block.header_value("is_scheduled");
        value.is_some_and(|value| value.of(&block.text) == "true")
    };
    context.module().computations.iter().any(|computation| computation.is_fused)
        || (0..context.pieces()).any(is_scheduled)
}

impl Warnings for Hlo {
    fn warnings(&self, context: &FileContext<'_>, config: &WarningsConfig, limit: usize) -> Diagnostics {
        let mut out = Diagnostics::default();
        let is_optimized = is_optimized(context);
        // A line with a syntax error may call any computation.
        let is_read = (0..context.pieces()).all(|piece| context.block(piece).parse.errors.is_empty());
        let mut uncalled = db::uncalled_computations(context.db, context.view.file).iter().peekable();
        for piece in 0..context.pieces() {
            let mut of_piece = Vec::new();
            while let Some(segment) = uncalled.next_if(|s| s.piece == piece) {
                if is_read && config.wants(WarningKind::UnusedComputation, is_optimized) {
                    of_piece.push(unused_computation(context, *segment));
                }
            }
            for warning in of_piece_that_hold(context, piece).filter(|w| config.wants(w.kind, is_optimized)) {
                if out.shown.len() + of_piece.len() < limit {
                    of_piece.push(diagnostic(context, piece, warning));
                } else if severity(warning.kind) == Severity::Hint {
                    out.omitted_hints += 1;
                } else {
                    out.omitted += 1;
                }
            }
            of_piece.sort_by_key(|d| (d.range.start, d.range.end));
            out.shown.extend(of_piece);
        }
        out
    }
}

/// Warnings of a piece, without those that another piece disproves.
pub(crate) fn of_piece_that_hold<'a>(
    context: &'a FileContext<'_>,
    piece: usize,
) -> impl Iterator<Item = &'a Warning> {
    let input = context.view.file.pieces(context.db)[piece];
    db::block_warnings(context.db, input).iter().filter(move |warning| holds(context, piece, warning))
}

fn holds(context: &FileContext<'_>, piece: usize, warning: &Warning) -> bool {
    let block = context.block(piece);
    let file = context.view.file;
    let at = InstructionRef { piece, id: warning.instruction };
    let is_used_elsewhere = || db::is_used_elsewhere(context.db, file, block.name(warning.instruction));
    if warning.condition.is_unused_elsewhere && (!is_in_giant(context, at) || is_used_elsewhere()) {
        return false;
    }
    // In a fusion this is a verifier error; but the verifier does not check callees.
    let opcode = block.instruction(at.id).opcode;
    let is_asked = !warning.condition.callees_are_pure || opcode == Some(ir::Opcode::CustomCall);
    if warning.kind == WarningKind::UnusedInstruction && is_asked && !warning.condition.is_unused_elsewhere {
        let computation = context.computation_index(at);
        if computation.is_some_and(|c| context.module().computations[c].is_fused) {
            return false;
        }
    }
    !warning.condition.callees_are_pure || {
        let mut budget = CALL_BUDGET;
        callees_are_pure(context, at, CALL_DEPTH, &mut budget)
    }
}

/// Whether the instruction's computation is split into blocks and is closed. A body that is open at the end
/// of its piece lacks its brace, and the missing part may use anything.
fn is_in_giant(context: &FileContext<'_>, at: InstructionRef) -> bool {
    let segments = context.computation_index(at).map(|c| &context.module().computations[c].segments);
    segments.is_some_and(|s| s.len() > 1 && s.last().is_some_and(|last| context.computation(*last).is_closed))
}

/// Whether the instruction's callees have no side effects; false if uncertain.
fn callees_are_pure(context: &FileContext<'_>, at: InstructionRef, depth: usize, budget: &mut usize) -> bool {
    let block = context.block(at.piece);
    for attribute in block.parse.attributes_of(block.instruction(at.id)) {
        let names = match &attribute.value {
            ValueNode::Computation(span) => std::slice::from_ref(span),
            ValueNode::Computations { start, len } => block.parse.spans(*start, *len),
            ValueNode::Inline(_) => return false,
            _ => &[],
        };
        for name in names {
            let callee = context.callee(at, name.of(&block.text));
            let Some(callee) = callee.filter(|_| depth > 0) else { return false };
            for &segment in &context.module().computations[callee].segments {
                let block = context.block(segment.piece);
                for id in context.computation(segment).instructions.clone() {
                    *budget = budget.saturating_sub(1);
                    let at = InstructionRef { piece: segment.piece, id };
                    let calls = block.instruction(id).opcode.is_none_or(is_caller);
                    if *budget == 0
                        || has_side_effect(block, id)
                        || calls && !callees_are_pure(context, at, depth - 1, budget)
                    {
                        return false;
                    }
                }
            }
        }
    }
    true
}

fn unused_computation(context: &FileContext<'_>, segment: SegmentRef) -> Diagnostic {
    let computation = context.computation(segment);
    let kind = WarningKind::UnusedComputation;
    let name = computation.name.of(&context.block(segment.piece).text);
    Diagnostic {
        range: context.range(segment.piece, computation.name),
        severity: severity(kind),
        code: kind.code(),
        message: format!("{name} is never called"),
        related: Vec::new(),
        is_of_parser: false,
        fix: None,
    }
}

fn diagnostic(context: &FileContext<'_>, piece: usize, warning: &Warning) -> Diagnostic {
    let block = context.block(piece);
    let related = warning.related.map(|(id, message)| Related {
        range: context.range(piece, block.instruction(id).name),
        message: message.to_owned(),
    });
    Diagnostic {
        range: context.range(piece, block.part(warning.instruction, warning.part)),
        severity: severity(warning.kind),
        code: warning.kind.code(),
        message: warning.message.clone(),
        related: related.into_iter().collect(),
        is_of_parser: false,
        fix: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{in_entry, open};

    /// `code «token» (related token)` per warning.
    fn check(text: &str, expect: &[&str]) {
        let (analysis, file, _) = open(text);
        let errors = analysis.diagnostics(file, 9).expect("nobody cancels");
        assert!(errors.shown.is_empty(), "the fixture is wrong: {:?}", errors.shown);
        let found = analysis.warnings(file, &WarningsConfig::default(), 100).expect("nobody cancels").shown;
        let shown: Vec<String> = found
            .iter()
            .map(|d| {
                let related = d.related.iter().map(|r| format!(" ({})", &text[r.range.clone()]));
                format!("{} «{}»{}", d.code, &text[d.range.clone()], related.collect::<String>())
            })
            .collect();
        assert_eq!(shown, expect);
    }

    fn check_lines(lines: &str, expect: &[&str]) {
        let text = in_entry(&format!(
            "  p = f32[8,16]{{1,0}} parameter(0)\n  z = f32[] constant(0)\n{lines}\n  u = f32[8]{{0}} reduce(p, z), dimensions={{1}}, to_apply=%sum"
        ));
        check(&text, expect);
    }

    #[test]
    fn hints_before_optimization_are_shown_where_asked_for() {
        // The unused instruction, and the uncalled computation.
        let text = in_entry("  p = f32[8] parameter(0)\n  u = f32[8] abs(p)\n  ROOT n = f32[8] negate(p)");
        let count = |text: &str, unoptimized: bool| {
            let (analysis, file, _) = open(text);
            let config = WarningsConfig { unoptimized, ..WarningsConfig::default() };
            analysis.warnings(file, &config, 100).expect("nobody cancels").shown.len()
        };
        assert_eq!((count(&text, true), count(&text, false)), (2, 0));
        let scheduled = text.replacen("HloModule m", "HloModule m, is_scheduled=true", 1);
        assert_ne!(scheduled, text);
        assert_eq!(count(&scheduled, false), 2);
    }

    #[test]
    fn hints_beyond_the_limit_are_counted_apart() {
        let text = in_entry(
            "  p = f32[8] parameter(0)\n  u = f32[8] abs(p)\n  v = f32[8] sine(p)\n  ROOT n = f32[8] negate(p)",
        );
        let (analysis, file, _) = open(&text);
        let found = analysis.warnings(file, &WarningsConfig::default(), 1).expect("nobody cancels");
        assert_eq!((found.shown.len(), found.omitted, found.omitted_hints), (1, 0, 2));
    }

    #[test]
    fn unused_instructions_are_those_without_effect() {
        check_lines(
            r#"  a = f32[8,16] negate(p)
  t = token[] after-all()
  i = (f32[2], token[]) infeed(t)
  c = f32[8] custom-call(p), custom_call_target="x", custom_call_has_side_effect=true
  d = f32[8] custom-call(p), custom_call_target="y"
  q = f32[2] parameter(1)"#,
            &["unused-instruction «a»", "unused-instruction «d»"],
        );
        // Another instruction waits for it.
        check_lines(
            "  a = f32[8,16]{1,0} negate(p)\n  ROOT r = f32[8,16]{1,0} abs(p), control-predecessors={a}",
            &["unused-instruction «u»"],
        );
    }

    #[test]
    fn calls_are_looked_into() {
        let module = |inside: &str| {
            format!(
                "\
HloModule m

f {{
  x = f32[2] parameter(0)
{inside}
  ROOT n = f32[2] negate(x)
}}

ENTRY e {{
  p = f32[2] parameter(0)
  c = f32[2] call(p), to_apply=f
  ROOT r = f32[2] abs(p)
}}
"
            )
        };
        check(&module(""), &["unused-instruction «c»"]);
        check(&module("  t = token[] after-all()\n  o = token[] outfeed(x, t), outfeed_shape=f32[2]"), &[]);
    }

    #[test]
    fn repeated_instructions_name_the_first() {
        check_lines(
            r#"  a = f32[8,16] negate(p), metadata={op_name="a"}
  b = f32[8,16] negate(p), metadata={op_name="b"}
  c = f32[8,16] add(a, b)
  d = f32[8,16] subtract(c, c)
  e = (f32[8,16]) tuple(d)
  s = f32[8,16] rng(z, z), distribution=rng_uniform
  t = f32[8,16] rng(z, z), distribution=rng_uniform"#,
            &["duplicate-instruction «b» (a)", "unused-instruction «e»"],
        );
    }

    #[test]
    fn what_changes_nothing_is_told_from_what_changes_the_layout() {
        check_lines(
            "  a = f32[8,16]{1,0} reshape(p)\n  b = f32[8,16]{0,1} transpose(p), dimensions={0,1}\n  c = f32[8,16]{1,0} slice(p), slice={[0:8], [0:16]}\n  d = f32[8,16]{1,0} add(a, c)\n  e = (f32[8,16]{1,0}, f32[8,16]{0,1}) tuple(d, b)\n  ROOT f = f32[8,16]{1,0} get-tuple-element(e), index=0",
            &["no-op «reshape» (p)", "no-op «slice» (p)", "unused-instruction «u»"],
        );
    }

    #[test]
    fn pairs_that_end_where_they_began_are_found_by_their_maps() {
        check_lines(
            "  a = f32[16,8]{1,0} transpose(p), dimensions={1,0}\n  b = f32[8,16]{1,0} transpose(a), dimensions={1,0}\n  c = f32[128]{0} reshape(p)\n  d = f32[8,16]{1,0} reshape(c)\n  e = f32[8,16]{1,0} reshape(a)\n  f = f32[8,16]{1,0} reverse(p), dimensions={1}\n  g = f32[8,16]{1,0} reverse(f), dimensions={1}\n  ROOT r = (f32[8,16]{1,0}, f32[8,16]{1,0}, f32[8,16]{1,0}, f32[8,16]{1,0}) tuple(b, d, e, g)",
            &[
                "round-trip «transpose» (a)",
                "round-trip «reshape» (c)",
                "round-trip «reverse» (f)",
                "unused-instruction «u»",
            ],
        );
    }

    #[test]
    fn arithmetic_on_constants_and_what_nobody_calls() {
        check_lines(
            "  a = f32[] add(z, z)\n  b = (f32[]) tuple(a)\n  ROOT r = (f32[]) copy(b)",
            &["constant-operands «add»", "unused-instruction «u»"],
        );
        check(
            "\
HloModule m

f {
  ROOT x = f32[] constant(1)
}

ENTRY e {
  ROOT r = f32[] constant(1)
}
",
            &["unused-computation «f»"],
        );
    }

    #[test]
    fn what_the_verifier_says_of_fusions_is_not_said_again() {
        let module = |call: &str| {
            format!(
                "\
HloModule m

f {{
  x = f32[2] parameter(0)
  y = f32[2] parameter(1)
  z = f32[2] abs(x)
  ROOT n = f32[2] negate(x)
}}

ENTRY e {{
  p = f32[2] parameter(0)
  q = f32[2] parameter(1)
  ROOT c = f32[2] {call}
}}
"
            )
        };
        let (analysis, file, _) = open(&module("fusion(p, q), kind=kLoop, calls=f"));
        let found = analysis.warnings(file, &WarningsConfig::default(), 9).expect("nobody cancels").shown;
        assert!(found.is_empty(), "{found:?}");
        check(&module("call(p, q), to_apply=f"), &["unused-instruction «z»"]);
    }

    #[test]
    fn a_line_that_is_not_read_may_use_anything() {
        let lines = "  p = f32[8]{0} parameter(0)\n  a = f32[8]{0} negate(p)\n  ROOT b = f32[8]{0} abs(a";
        let (analysis, file, _) = open(&in_entry(lines));
        let found = analysis.warnings(file, &WarningsConfig::default(), 9).expect("nobody cancels").shown;
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn codes_can_be_switched_off() {
        let (analysis, file, _) =
            open(&in_entry("  p = f32[8] parameter(0)\n  a = f32[8] negate(p)\n  ROOT b = f32[8] abs(p)"));
        let count =
            |config: &WarningsConfig| analysis.warnings(file, config, 9).expect("nobody cancels").shown.len();
        assert_eq!(count(&WarningsConfig::default()), 2, "the computation sum, and a");
        let disabled = vec!["unused-instruction".to_owned()];
        assert_eq!(count(&WarningsConfig { disabled, ..WarningsConfig::default() }), 1);
        assert_eq!(count(&WarningsConfig { at_least: Severity::Warning, ..WarningsConfig::default() }), 0);
    }
}
