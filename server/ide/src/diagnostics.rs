//! Everything that is wrong with a file, in the order of its text.

use ir::{Finding, InstructionFinding, ModuleFinding, Place, Slot};

use crate::locate::{FileContext, InstructionRef};
use crate::{Diagnostic, Diagnostics, QuickFix, Related, Severity, TextEdit, TextRange};

/// How far a text is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What XLA's parser refuses.
    Parser,
    /// What its verifier refuses, too.
    Verifier,
}

pub(crate) fn diagnostics(context: &FileContext<'_>, depth: Depth, limit: usize) -> Diagnostics {
    let mut all = Collector { shown: Vec::new(), omitted: 0, limit };
    if context.view.file.language(context.db) == crate::Language::Mlir {
        return Diagnostics { shown: vec![not_read(context)], omitted: 0 };
    }
    let module = context.module();
    let mut module_findings: Vec<_> = module.findings.iter().collect();
    module_findings.sort_by_key(|f| f.segment.piece);
    let mut module_findings = module_findings.into_iter().peekable();
    for piece in 0..context.pieces() {
        let block = context.block(piece);
        let mut of_piece: Vec<Diagnostic> = Vec::new();
        let errors = block.parse.errors.iter().map(|e| (e, Severity::Error));
        for (error, severity) in errors.chain(block.parse.warnings.iter().map(|e| (e, Severity::Warning))) {
            of_piece.push(Diagnostic {
                range: context.range(piece, error.span),
                severity,
                code: "syntax",
                message: error.message.clone(),
                related: Vec::new(),
                is_of_parser: true,
                fix: None,
            });
        }
        let links = db::link_findings(context.db, context.view.file.pieces(context.db)[piece]);
        of_piece.extend(block.findings.iter().chain(links).map(|f| diagnostic(context, piece, f)));
        while let Some(finding) = module_findings.next_if(|f| f.segment.piece == piece) {
            of_piece.push(module_diagnostic(context, finding, true));
        }
        if depth == Depth::Verifier {
            let verified = db::verify_findings(context.db, context.view.file.pieces(context.db)[piece]);
            of_piece.extend(verified.iter().map(|f| instruction_diagnostic(context, piece, f)));
            let module_verified = db::module_verify_findings(context.db, context.view.file).iter();
            let here = module_verified.filter(|f| f.segment.piece == piece);
            of_piece.extend(here.map(|f| module_diagnostic(context, f, false)));
        }
        of_piece.sort_by_key(|d| (d.range.start, d.range.end));
        all.extend(of_piece);
    }
    let is_blank = || context.view.rope.chars().all(char::is_whitespace);
    if module.computations.is_empty() && all.shown.is_empty() && !is_blank() {
        let end = context.view.rope.len_bytes();
        all.extend(vec![Diagnostic {
            range: end..end,
            severity: Severity::Error,
            code: "syntax",
            message: "the text holds no computation".to_owned(),
            related: Vec::new(),
            is_of_parser: true,
            fix: None,
        }]);
    }
    Diagnostics { shown: all.shown, omitted: all.omitted }
}

/// What is not supported says so where the user looks.
fn not_read(context: &FileContext<'_>) -> Diagnostic {
    let first_line = context.view.rope.lines().next().map_or(0, |line| line.len_bytes());
    Diagnostic {
        range: 0..first_line,
        severity: Severity::Information,
        code: "not-supported",
        message: "MLIR is not analysed yet: hlo-analyzer reads HLO text".to_owned(),
        related: Vec::new(),
        is_of_parser: true,
        fix: None,
    }
}

struct Collector {
    shown: Vec<Diagnostic>,
    omitted: usize,
    limit: usize,
}

impl Collector {
    fn extend(&mut self, diagnostics: Vec<Diagnostic>) {
        let room = self.limit.saturating_sub(self.shown.len());
        self.omitted += diagnostics.len().saturating_sub(room);
        self.shown.extend(diagnostics.into_iter().take(room));
    }
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

/// Where a place, named from one piece, is in the file.
fn range_of(context: &FileContext<'_>, piece: usize, place: Place) -> Option<TextRange> {
    let block = context.block(piece);
    let name_of =
        |at: InstructionRef| context.range(at.piece, context.block(at.piece).instruction(at.id).name);
    match place {
        Place::Span(span) => Some(context.range(piece, span)),
        Place::Part(id, part) => Some(context.range(piece, block.part(id, part))),
        Place::Definition(id, operand) => {
            context.definition(InstructionRef { piece, id }, operand as usize).map(name_of)
        }
        Place::CalleeParameter(id, key, nth, number) => {
            let callee = context.called_by(InstructionRef { piece, id }, key, nth as usize)?;
            context.parameter_of(&callee, number).map(name_of)
        }
        Place::CalleeRoot(id, key, nth) => {
            let callee = context.called_by(InstructionRef { piece, id }, key, nth as usize)?;
            context.root_of(&callee).map(name_of)
        }
    }
}

fn module_diagnostic(context: &FileContext<'_>, finding: &ModuleFinding, is_of_parser: bool) -> Diagnostic {
    let piece = finding.segment.piece;
    let block = context.block(piece);
    let computation = context.computation(finding.segment);
    let end = syntax::Span { start: computation.span.end, end: computation.span.end };
    let span = match finding.slot {
        Slot::ComputationName => computation.name,
        Slot::ComputationEnd => end,
        Slot::Result => computation.result.map_or(computation.name, |(_, span)| span),
        Slot::Root => block.root(finding.segment.computation).map_or(end, |id| block.instruction(id).name),
        Slot::Callee(n) => block.callees().nth(n).map_or(end, |(_, span)| span),
        Slot::Header(key) => block.header_value(key).unwrap_or(computation.name),
    };
    Diagnostic {
        range: context.range(piece, span),
        severity: Severity::Error,
        code: finding.code,
        message: finding.message.clone(),
        related: Vec::new(),
        is_of_parser,
        fix: None,
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
                format!(
                    "{:?} {} «{}»: {}{}\n",
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

    #[test]
    fn findings_name_the_token_at_fault() {
        check(
            "HloModule m\n\nf {\n  a = f32[2] parameter(0)\n  a = f32[2] negate(a)\n  ROOT b = f32[2] add(a)\n}\n\nENTRY e {\n  c = f32[2] parameter(0)\n  d = f32[2] negate(x)\n  ROOT f = f32[2] fusion(c), kind=kLoop, calls=g\n}\n",
            expect![[r#"
                Error duplicate-name «a»: an instruction named a exists in this computation (the first one is here)
                Error operand-count «add»: add takes 2 operands, but has 1
                Error unknown-operand «x»: no instruction named x above in this computation
                Error unknown-computation «g»: computation does not exist: g
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
            "HloModule m\n\nENTRY e {\n  p = f32[] parameter(0)\n  ROOT c = f32[] call(p), to_apply=f\n}\n\nf {\n  ROOT p = f32[] parameter(0)\n}\n",
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
