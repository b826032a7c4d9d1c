//! All errors of a file, in text order.

use crate::file_context::FileContext;
use crate::{Diagnostic, Diagnostics};

/// The depth of checking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Errors of XLA's parser.
    Parser,
    /// Also errors of XLA's verifier.
    Verifier,
}

/// The errors of a text.
pub(crate) trait Errors {
    /// The errors of a piece.
    fn diagnostics_in(&self, context: &FileContext<'_>, piece: usize, depth: Depth) -> Vec<Diagnostic>;

    /// The error of a file whose pieces have none, if it is empty of code.
    fn empty_file(&self, _: &FileContext<'_>) -> Option<Diagnostic> {
        None
    }
}

/// In text order.
pub(crate) fn diagnostics(context: &FileContext<'_>, depth: Depth, limit: usize) -> Diagnostics {
    let semantics = context.semantics();
    let mut all = Collector::new(limit);
    if depth == Depth::Verifier {
        context.view.check_ahead(context.db);
    }
    for piece in 0..context.pieces() {
        let mut of_piece = semantics.diagnostics_in(context, piece, depth);
        of_piece.sort_by_key(|d| (d.range.start, d.range.end));
        all.extend(of_piece);
    }
    if all.shown.is_empty() {
        all.extend(semantics.empty_file(context).into_iter().collect());
    }
    all.finish()
}

/// Keeps diagnostics up to the limit, and counts the rest.
struct Collector {
    shown: Vec<Diagnostic>,
    omitted: usize,
    limit: usize,
}

impl Collector {
    fn new(limit: usize) -> Collector {
        Collector { shown: Vec::new(), omitted: 0, limit }
    }

    fn finish(self) -> Diagnostics {
        Diagnostics { shown: self.shown, omitted: self.omitted, omitted_hints: 0 }
    }

    fn extend(&mut self, diagnostics: Vec<Diagnostic>) {
        let room = self.limit.saturating_sub(self.shown.len());
        self.omitted += diagnostics.len().saturating_sub(room);
        self.shown.extend(diagnostics.into_iter().take(room));
    }
}
