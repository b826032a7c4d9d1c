//! The errors of HLO text.

use ir::{Anchor, Finding, InstructionFinding, ModuleFinding, SegmentRef, Slot};
use syntax::Span;

use crate::diagnostics::{Depth, Errors};
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::hlo::locate::InstructionRef;
use crate::{Diagnostic, QuickFix, Related, Severity, TextEdit, TextRange};

impl Errors for Hlo {
    fn diagnostics_in(&self, context: &FileContext<'_>, piece: usize, depth: Depth) -> Vec<Diagnostic> {
        let block = context.block(piece);
        let mut of_piece: Vec<Diagnostic> = Vec::new();
        let errors = block.parse.errors.iter();
        let warnings = block.parse.warnings.iter().map(|e| (e, Severity::Warning, "syntax"));
        let unknown = block.parse.unknown.iter().map(|e| (e, Severity::Warning, ir::UNKNOWN_WORD));
        let errors = errors.map(|e| (e, Severity::Error, "syntax"));
        for (error, severity, code) in errors.chain(warnings).chain(unknown) {
            of_piece.push(Diagnostic {
                range: context.range(piece, error.span),
                severity,
                code,
                message: error.message.clone(),
                related: Vec::new(),
                is_of_parser: true,
                fix: None,
            });
        }
        let links = db::link_findings(context.db, context.view.file.pieces(context.db)[piece]);
        of_piece.extend(block.findings.iter().chain(links).map(|f| diagnostic(context, piece, f)));
        let of_module = between_pieces(&context.module().findings, piece).iter();
        let of_giants = between_pieces(db::giant_findings(context.db, context.view.file), piece).iter();
        of_piece.extend(of_module.chain(of_giants).map(|f| module_diagnostic(context, f, true)));
        if depth == Depth::Verifier {
            let verified = db::verify_findings(context.db, context.view.file.pieces(context.db)[piece]);
            of_piece.extend(verified.iter().map(|f| instruction_diagnostic(context, piece, f)));
            let of_header = db::module_verify_findings(context.db, context.view.file);
            let here = between_pieces(of_header, piece).iter();
            of_piece.extend(here.map(|f| module_diagnostic(context, f, false)));
        }
        of_piece
    }

    /// A file of HLO must have a computation.
    fn empty_file(&self, context: &FileContext<'_>) -> Option<Diagnostic> {
        let is_blank = || context.view.text.chars().all(char::is_whitespace);
        if !context.module().computations.is_empty() || is_blank() {
            return None;
        }
        let end = context.view.text.len_bytes();
        Some(Diagnostic {
            range: end..end,
            severity: Severity::Error,
            code: "syntax",
            message: "the text holds no computation".to_owned(),
            related: Vec::new(),
            is_of_parser: true,
            fix: None,
        })
    }
}

/// Those findings that are shown in a piece, of a list that is ordered by piece.
fn between_pieces(findings: &[ModuleFinding], piece: usize) -> &[ModuleFinding] {
    let first = findings.partition_point(|finding| finding.segment.piece < piece);
    let count = findings[first..].partition_point(|finding| finding.segment.piece == piece);
    &findings[first..first + count]
}

fn diagnostic(context: &FileContext<'_>, piece: usize, finding: &Finding) -> Diagnostic {
    let related = finding.related.iter();
    Diagnostic {
        range: context.range(piece, finding.span),
        severity: match finding.severity {
            ir::Severity::Error => Severity::Error,
            ir::Severity::Warning => Severity::Warning,
        },
        code: finding.code,
        message: finding.message.clone(),
        related: related
            .map(|(span, message)| Related { range: context.range(piece, *span), message: message.clone() })
            .collect(),
        is_of_parser: true,
        fix: finding.fix.as_ref().and_then(|fix| quick_fix(context, piece, fix)),
    }
}

fn instruction_diagnostic(
    context: &FileContext<'_>,
    piece: usize,
    finding: &InstructionFinding,
) -> Diagnostic {
    let related = finding.related.iter().filter_map(|(place, message)| {
        Some(Related { range: range_of(context, piece, *place)?, message: message.clone() })
    });
    Diagnostic {
        range: context.range(piece, context.block(piece).part(finding.instruction, finding.part)),
        severity: match finding.severity {
            ir::Severity::Error => Severity::Error,
            ir::Severity::Warning => Severity::Warning,
        },
        code: finding.code,
        message: finding.message.clone(),
        related: related.collect(),
        is_of_parser: false,
        fix: finding.fix.as_ref().and_then(|fix| quick_fix(context, piece, fix)),
    }
}

fn quick_fix(context: &FileContext<'_>, piece: usize, fix: &ir::Fix) -> Option<QuickFix> {
    let edits = fix.edits.iter().map(|edit| {
        Some(TextEdit { range: range_of(context, piece, edit.place)?, insert: edit.insert.clone() })
    });
    Some(QuickFix { title: fix.title.clone(), edits: edits.collect::<Option<_>>()? })
}

/// The file range of a place in one piece.
fn range_of(context: &FileContext<'_>, piece: usize, place: Anchor) -> Option<TextRange> {
    let block = context.block(piece);
    let name_of =
        |at: InstructionRef| context.range(at.piece, context.block(at.piece).instruction(at.id).name);
    match place {
        Anchor::Span(span) => Some(context.range(piece, span)),
        Anchor::Part(id, part) => Some(context.range(piece, block.part(id, part))),
        Anchor::Definition(id, operand) => {
            context.definition(InstructionRef { piece, id }, operand as usize).map(name_of)
        }
        Anchor::CalleeParameter(id, key, nth, number) => {
            let callee = context.called_by(InstructionRef { piece, id }, key, nth as usize)?;
            context.parameter_of(&callee, number).map(name_of)
        }
        Anchor::CalleeRoot(id, key, nth) => {
            let callee = context.called_by(InstructionRef { piece, id }, key, nth as usize)?;
            context.root_of(&callee).map(name_of)
        }
    }
}

fn module_diagnostic(context: &FileContext<'_>, finding: &ModuleFinding, is_of_parser: bool) -> Diagnostic {
    let range = |segment: SegmentRef, slot| {
        let span = match slot {
            // A header may be in a piece without a computation.
            Slot::Header(key) => context.block(segment.piece).header_value(key).unwrap_or_default(),
            slot => computation_span(context, segment, slot),
        };
        context.range(segment.piece, span)
    };
    let related = finding.related.iter();
    Diagnostic {
        range: range(finding.segment, finding.slot),
        severity: Severity::Error,
        code: finding.code,
        message: finding.message.clone(),
        related: related
            .map(|&(segment, slot, message)| Related {
                range: range(segment, slot),
                message: message.to_owned(),
            })
            .collect(),
        is_of_parser,
        fix: None,
    }
}

/// The span of a computation's token in its piece.
fn computation_span(context: &FileContext<'_>, segment: SegmentRef, slot: Slot) -> Span {
    let block = context.block(segment.piece);
    let computation = context.computation(segment);
    let end = Span { start: computation.span.end, end: computation.span.end };
    match slot {
        Slot::ComputationName | Slot::Header(_) => computation.name,
        Slot::ComputationEnd => end,
        Slot::Result => computation.result.map_or(computation.name, |(_, span)| span),
        Slot::Root => block.root(segment.computation).map_or(end, |id| block.instruction(id).name),
        Slot::Callee(n) => block.callees().nth(n).map_or(end, |(_, span)| span),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open;

    fn check(text: &str, expect: Expect) {
        let (analysis, file, _) = open(text);
        let found = analysis.diagnostics(file, 100).expect("nobody cancels").shown;
        let shown: Vec<String> = found
            .iter()
            .map(|d| {
                let related: Vec<_> = d.related.iter().map(|r| format!(" ({})", r.message)).collect();
                let fix = d.fix.as_ref().map(|fix| format!(" [{}]", fix.title)).unwrap_or_default();
                format!(
                    "{:?} {} «{}»: {}{}{fix}\n",
                    d.severity,
                    d.code,
                    &text[d.range.clone()],
                    d.message,
                    related.concat()
                )
            })
            .collect();
        expect.assert_eq(&shown.concat());
    }

    /// Each error is limited to its line, although the grammar ignores line ends.
    #[test]
    fn lines_that_are_half_typed() {
        for (half, expect) in [
            (
                "t = f32[4] negate(",
                expect![[r#"
                Error syntax «(»: expects name of an operand, or ')'
            "#]],
            ),
            (
                "t = f32[4] negate(p,",
                expect![[r#"
                Error syntax «,»: expects name of an operand, or ')'
            "#]],
            ),
            (
                "t =",
                expect![[r#"
                Error syntax «=»: expects a result shape and an opcode
            "#]],
            ),
            (
                "t = f32[4]",
                expect![[r#"
                Error syntax «]»: expects opcode
            "#]],
            ),
            (
                "t = f32[4] negate(p), metadata=",
                expect![[r#"
                Error syntax «=»: expects the attribute's value
            "#]],
            ),
            (
                "t= f32[4] negate(p)",
                expect![[r#"
                Error syntax «t=»: a space is missing before '=': t= is the name of an attribute
            "#]],
            ),
            (
                "t = f23[4] negate(p)",
                expect![[r#"
                Error syntax «f23»: unknown element type: f23; did you mean f32?
            "#]],
            ),
            (
                "t = f32[4] negtae(p)",
                expect![[r#"
                Warning unknown-word «negtae»: unknown opcode: negtae; did you mean negate?
            "#]],
            ),
        ] {
            let module = "\
HloModule m

ENTRY e {
  p = f32[4] parameter(0)
  HALF
  r = f32[4] negate(p)
  ROOT s = f32[4] add(p, r)
}
";
            check(&module.replace("HALF", half), expect);
        }
    }

    #[test]
    fn findings_name_the_token_at_fault() {
        check(
            "\
HloModule m

f {
  a = f32[2] parameter(0)
  a = f32[2] negate(a)
  ROOT b = f32[2] add(a)
}

ENTRY e {
  c = f32[2] parameter(0)
  d = f32[2] negate(x)
  ROOT f = f32[2] fusion(c), kind=kLoop, calls=g
}
",
            expect![[r#"
                Error duplicate-name «a»: an instruction named a exists in this computation (the first one is here)
                Error operand-count «add»: add takes 2 operands, but has 1
                Error unknown-operand «x»: no instruction named x above in this computation
                Error unknown-computation «g»: computation does not exist: g
            "#]],
        );
    }

    #[test]
    fn what_the_verifier_refuses_is_told_once_at_its_token() {
        check(
            "\
HloModule m, entry_computation_layout={(f32[8])->f32[9]}, input_output_alias={ {0}: (0, {}) }

f {
  p = f32[8] parameter(0)
  ROOT n = f32[7] negate(p)
}

ENTRY e {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  t = f32[8,4] broadcast(a), dimensions={0}
  u = f32[8,4] transpose(t), dimensions={1,0}
  s = f32[8,4] add(u, a)
  c = f32[8] call(b), to_apply=f
  ROOT d = f32[8] add(c, bias)
}
",
            expect![[r#"
                Error entry-layout «{(f32[8])->f32[9]}»: the entry has 2 parameters, but 1 are written here
                Error aliasing «{ {0}: (0, {}) }»: [0] is no element of the entry's result, f32[8]
                Error shape-mismatch «f32[7]»: negate makes f32[8] here, but the shape is f32[7] (operand 0 is f32[8]) [set the result shape to f32[8]]
                Error shape-mismatch «f32[8,4]»: transpose makes f32[4,8] here, but the shape is f32[8,4] (operand 0 is f32[8,4]) [set the result shape to f32[4,8]]
                Error operand-mismatch «a»: expected operand 1 to have the sizes of f32[8,4], but it is f32[8] (the operand is defined here)
                Error shape-mismatch «f32[8]»: call makes f32[7] here, but the shape is f32[8] (the called computation's root) [set the result shape to f32[7]]
                Error unknown-operand «bias»: no instruction named bias above in this computation
            "#]],
        );
    }

    #[test]
    fn a_fix_ends_its_finding() {
        let cases = [
            (
                "ROOT u = f32[8,4]{1,0} transpose(t), dimensions={1,0}",
                "ROOT u = f32[4,8]{1,0} transpose(t), dimensions={1,0}",
            ),
            ("ROOT u = f32[8,4]{1,0} negate(wide)", "ROOT u = f32[8,4]{1,0} negate(wider)"),
            ("ROOT i = s32[4]{0} iota()", "ROOT i = s32[4]{0} iota(), iota_dimension=0"),
            (
                "ROOT u = f32[8,4]{1,0} triangular-solve(square, t), left_side=true",
                "ROOT u = f32[8,4]{1,0} triangular-solve(square, t), left_side=true, transpose_a=NO_TRANSPOSE",
            ),
        ];
        let head = "HloModule m\n\nENTRY e {\n  t = f32[8,4]{1,0} parameter(0)\n  square = f32[8,8]{1,0} parameter(1)\n  wider = f32[8,4]{1,0} parameter(2)\n  ";
        for (broken, repaired) in cases {
            let text = format!("{head}{broken}\n}}\n");
            let (analysis, file, _) = open(&text);
            let found = analysis.diagnostics(file, 10).expect("nobody cancels").shown;
            let fix = found[0].fix.clone().unwrap_or_else(|| panic!("{found:?}"));
            let mut text = text.clone();
            for edit in &fix.edits {
                text.replace_range(edit.range.clone(), &edit.insert);
            }
            assert_eq!(text, format!("{head}{repaired}\n}}\n"));
            let (analysis, file, _) = open(&text);
            assert_eq!(analysis.diagnostics(file, 10).expect("nobody cancels").shown, []);
        }
    }

    #[test]
    fn two_fusions_do_not_share_a_computation() {
        check(
            "\
HloModule m

f {
  p = f32[2] parameter(0)
  u = f32[2] abs(p)
  ROOT n = f32[2] negate(p)
}

ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] fusion(a), kind=kLoop, calls=f
  c = f32[2] call(b), to_apply=f
  ROOT d = f32[2] fusion(c), kind=kLoop, calls=f
}
",
            expect![[r#"
                Error unused-in-fusion «u»: u is never used: in a fusion everything leads to the root (the root is here)
                Error shared-fusion «f»: f is the computation of another fusion: each needs its own (the other fusion is here)
            "#]],
        );
    }

    #[test]
    fn modules_of_one_file_are_apart() {
        let one = "HloModule a\n\nENTRY e {\n  ROOT c = f32[] constant(1)\n}\n";
        check(&format!("{one}\n// -----\n\n{one}"), expect![""]);
    }

    #[test]
    fn a_callee_stands_above_its_caller() {
        check(
            "\
HloModule m

ENTRY e {
  p = f32[] parameter(0)
  ROOT c = f32[] call(p), to_apply=f
}

f {
  ROOT p = f32[] parameter(0)
}
",
            expect![[r#"
                Error unknown-computation «f»: computation f is defined below; callees come first
            "#]],
        );
    }

    #[test]
    fn texts_that_are_something_else_say_so() {
        check(
            "hlo_module {\n  name: \"m\"\n}\n",
            expect![[r#"
                Warning syntax «hlo_module»: this is a module in protobuf text form, which is not analysed: dump it as HLO text
            "#]],
        );
        check("", expect![""]);
    }
}
