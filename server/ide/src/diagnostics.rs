//! Everything that is wrong with a file, in the order of its text.

use ir::{Finding, ModuleFinding, Slot};

use crate::locate::FileContext;
use crate::{Diagnostic, Diagnostics, Related, Severity};

pub(crate) fn diagnostics(context: &FileContext<'_>, limit: usize) -> Diagnostics {
    let mut all = Collector { shown: Vec::new(), omitted: 0, limit };
    if context.view.file.language(context.db) == crate::Language::Mlir {
        return Diagnostics::default();
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
            });
        }
        let links = db::link_findings(context.db, context.view.file.pieces(context.db)[piece]);
        of_piece.extend(block.findings.iter().chain(links).map(|f| diagnostic(context, piece, f)));
        while let Some(finding) = module_findings.next_if(|f| f.segment.piece == piece) {
            of_piece.push(module_diagnostic(context, finding));
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
        }]);
    }
    Diagnostics { shown: all.shown, omitted: all.omitted }
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
    }
}

fn module_diagnostic(context: &FileContext<'_>, finding: &ModuleFinding) -> Diagnostic {
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
    };
    Diagnostic {
        range: context.range(piece, span),
        severity: Severity::Error,
        code: finding.code,
        message: finding.message.clone(),
        related: Vec::new(),
    }
}
