//! Folding ranges of a file.

use syntax::Span;

use crate::TextRange;
use crate::brackets::{Brackets, TokenKind};
use crate::file_context::FileContext;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FoldKind {
    Computation,
    /// `HloModule …` and each of the tables below it.
    Header,
    /// Brackets of an attribute, a constant or an operand list.
    Brackets,
    Comment,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// From a byte of the line that stays visible to the last hidden byte; always several lines. A closing
    /// bracket on a line of its own stays visible.
    pub range: TextRange,
    pub kind: FoldKind,
}

/// What folds in a text, beside its brackets and comments.
pub(crate) trait Foldable {
    /// The bodies, from the opening bracket to the closing one.
    fn bodies(&self, _: &FileContext<'_>) -> Vec<TextRange> {
        Vec::new()
    }

    /// The headers, tables and runs of definitions of a piece.
    fn headers_in(&self, _: &FileContext<'_>, _piece: usize) -> Vec<Span> {
        Vec::new()
    }

    /// The parts of a piece where brackets over several lines and comments are, disjoint and in text order.
    fn foldable_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<FoldablePart>;
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FoldablePart {
    pub(crate) span: Span,
    /// Whether its brackets fold: no bracket is open at its start. Text that belongs to nothing is read for comments
    /// alone, because it may go on in the next piece.
    pub(crate) has_brackets: bool,
}

/// In text order. A limit keeps bodies first, because they contain the rest.
pub(crate) fn folding_ranges(context: &FileContext<'_>, limit: usize) -> Vec<Fold> {
    let bodies = context.semantics().bodies(context).into_iter();
    let bodies = bodies.filter_map(|range| fold(context, range, FoldKind::Computation));
    let mut folds = Folds { context, found: bodies.take(limit).collect(), comments: None, end: 0 };
    for piece in 0..context.pieces() {
        if folds.found.len() >= limit {
            break;
        }
        crate::analysis::check_cancelled(context.db);
        folds.add_piece(piece);
    }
    folds.end_comments();
    let mut folds = folds.found;
    folds.truncate(limit);
    folds.sort_by_key(|f| (f.range.start, std::cmp::Reverse(f.range.end)));
    folds.dedup_by_key(|f| f.range.start);
    folds
}

struct Folds<'a> {
    context: &'a FileContext<'a>,
    found: Vec<Fold>,
    /// The comments read last: adjacent ones with nothing between them, not even an empty line. They may be in
    /// several pieces.
    comments: Option<TextRange>,
    /// The end of the text that was read last.
    end: usize,
}

impl Folds<'_> {
    fn add_piece(&mut self, piece: usize) {
        let (context, semantics) = (self.context, self.context.semantics());
        for span in semantics.headers_in(context, piece) {
            self.add(context.range(piece, span), FoldKind::Header);
        }
        for FoldablePart { span: part, has_brackets } in semantics.foldable_in(context, piece) {
            let range = context.range(piece, part);
            if range.start != self.end {
                self.end_comments();
            }
            self.end = range.end;
            let mut brackets = Brackets::default();
            semantics.tokens(context, piece, part, &mut |token| {
                if token.kind == TokenKind::Comment {
                    self.add_comment(context.range(piece, token.span));
                } else {
                    self.end_comments();
                }
                if let Some(pair) = brackets.pair(&token).filter(|_| has_brackets) {
                    self.add(
                        context.range(piece, Span { end: token.span.start, ..pair }),
                        FoldKind::Brackets,
                    );
                }
            });
        }
    }

    fn add(&mut self, range: TextRange, kind: FoldKind) {
        self.found.extend(fold(self.context, range, kind));
    }

    fn add_comment(&mut self, range: TextRange) {
        let rope = &self.context.view.text;
        match &mut self.comments {
            Some(run) if rope.byte_to_line(range.start) <= rope.byte_to_line(run.end) + 1 => {
                run.end = range.end
            }
            _ => {
                self.end_comments();
                self.comments = Some(range);
            }
        }
    }

    fn end_comments(&mut self) {
        if let Some(run) = self.comments.take() {
            self.add(run, FoldKind::Comment);
        }
    }
}

/// The fold of a range without the white space at its end; `None` if it is on one line.
fn fold(context: &FileContext<'_>, range: TextRange, kind: FoldKind) -> Option<Fold> {
    let rope = &context.view.text;
    let mut end = range.end.min(rope.len_bytes());
    if range.start >= end {
        return None;
    }
    let first = rope.byte_to_line(range.start);
    if rope.byte_to_line(end) == first {
        return None;
    }
    let text = rope.byte_slice(range.start..end);
    let mut before = text.chars_at(text.len_chars());
    while let Some(blank) = before.prev().filter(|c| c.is_whitespace()) {
        end -= blank.len_utf8();
    }
    (rope.byte_to_line(end) > first).then_some(Fold { range: range.start..end, kind })
}
