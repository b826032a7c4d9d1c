//! Folding ranges: bodies of computations, the module's header and its tables, brackets over several lines,
//! and comments.

use syntax::Span;
use syntax::hlo::{TokenClass, tokens};

use crate::TextRange;
use crate::file_context::FileContext;
use crate::folding_ranges::{Fold, FoldKind};

const TABLES: [&str; 4] = ["FileNames", "FunctionNames", "FileLocations", "StackFrames"];

/// The folds of computations, then the others until there are `limit`.
pub(crate) fn folds(context: &FileContext<'_>, limit: usize) -> Vec<Fold> {
    let mut folds = computations(context);
    folds.truncate(limit);
    let mut comments = Comments { context, run: None };
    for piece in 0..context.pieces() {
        if folds.len() >= limit {
            break;
        }
        crate::analysis::check_cancelled(context.db);
        inside_piece(context, piece, &mut comments, &mut folds);
    }
    folds.extend(comments.end_run());
    folds
}

fn computations(context: &FileContext<'_>) -> Vec<Fold> {
    let mut folds = Vec::new();
    for computation in &context.module().computations {
        let (Some(first), Some(last)) = (computation.segments.first(), computation.segments.last()) else {
            continue;
        };
        let (head, tail) = (context.computation(*first), context.computation(*last));
        let text = &context.block(first.piece).text;
        let behind_head = match head.instructions.clone().next() {
            Some(id) => context.block(first.piece).instruction(id).span.start,
            None => head.span.end,
        };
        let header = Span { start: head.span.start, end: behind_head }.of(text);
        let Some(brace) = header.rfind('{') else { continue };
        let start = context.range(first.piece, head.span).start + brace;
        let mut end = context.range(last.piece, tail.span).end;
        if tail.is_closed {
            let body = Span { start: 0, end: tail.span.end.saturating_sub(1) };
            end = context.range(last.piece, Span::default()).start
                + trimmed(body.of(&context.block(last.piece).text));
        }
        if start < end && has_lines(context, start..end) {
            folds.push(Fold { range: start..end, kind: FoldKind::Computation });
        }
    }
    folds
}

/// The length without trailing white space.
fn trimmed(text: &str) -> usize {
    text.trim_end().len()
}

fn has_lines(context: &FileContext<'_>, range: TextRange) -> bool {
    let rope = &context.view.rope;
    rope.byte_to_line(range.start) < rope.byte_to_line(range.end.min(rope.len_bytes()))
}

fn inside_piece(context: &FileContext<'_>, piece: usize, comments: &mut Comments<'_>, folds: &mut Vec<Fold>) {
    let block = context.block(piece);
    let text: &str = &block.text;
    let mut push = |span: Span, kind| folds.push(Fold { range: context.range(piece, span), kind });
    // Spans of instructions and the header; comments are searched for between them.
    let mut taken: Vec<Span> = Vec::new();
    if let Some(header) = &block.parse.header {
        taken.push(header.span);
        fold_header(text, header.span, &mut push);
    }
    for instruction in &block.parse.instructions {
        taken.push(instruction.span);
        if !instruction.is_nested && instruction.span.of(text).contains('\n') {
            fold_brackets(text, instruction.span, &mut push);
        }
    }
    taken.sort_by_key(|s| (s.start, s.end));
    let mut at = 0;
    for span in taken {
        if span.start as usize >= at {
            comments.gap(piece, text, at, span.start as usize, folds);
            folds.extend(comments.end_run());
        }
        at = at.max(span.end as usize);
    }
    comments.gap(piece, text, at, text.len(), folds);
}

/// Adjacent comments with nothing between them, not even an empty line. A run may span pieces.
struct Comments<'a> {
    context: &'a FileContext<'a>,
    run: Option<TextRange>,
}

impl Comments<'_> {
    /// Adds the comments of a text between instructions.
    fn gap(&mut self, piece: usize, text: &str, start: usize, end: usize, folds: &mut Vec<Fold>) {
        if start >= end || text[start..end].trim().is_empty() {
            return;
        }
        let rope = &self.context.view.rope;
        for token in tokens(text, start, end) {
            let range = self.context.range(piece, token.span);
            if token.class != TokenClass::Comment {
                folds.extend(self.end_run());
                continue;
            }
            let goes_on =
                |run: &&mut TextRange| rope.byte_to_line(range.start) <= rope.byte_to_line(run.end) + 1;
            match self.run.as_mut().filter(goes_on) {
                Some(run) => run.end = range.end,
                None => {
                    folds.extend(self.end_run());
                    self.run = Some(range);
                }
            }
        }
    }

    fn end_run(&mut self) -> Option<Fold> {
        let range = self.run.take().filter(|run| has_lines(self.context, run.clone()))?;
        Some(Fold { range, kind: FoldKind::Comment })
    }
}

fn fold_header(text: &str, header: Span, push: &mut impl FnMut(Span, FoldKind)) {
    let whole = header.of(text);
    let mut table: Option<usize> = None;
    let mut close = |table: &mut Option<usize>, end: usize| {
        if let Some(start) = table.take() {
            let end = start + trimmed(&text[start..end]);
            if text[start..end].contains('\n') {
                push(Span::new(start, end), FoldKind::Header);
            }
        }
    };
    let mut at = header.start as usize;
    for line in whole.split_inclusive('\n') {
        if TABLES.contains(&line.trim_end()) {
            close(&mut table, at);
            table = Some(at);
        }
        at += line.len();
    }
    close(&mut table, header.end as usize);
    fold_brackets(text, header, push);
    if whole.contains('\n') {
        push(header, FoldKind::Header);
    }
}

fn fold_brackets(text: &str, within: Span, push: &mut impl FnMut(Span, FoldKind)) {
    let mut open: Vec<(u8, usize)> = Vec::new();
    for token in tokens(text, within.start as usize, within.end as usize) {
        let TokenClass::Bracket(bracket) = token.class else { continue };
        let at = token.span.start as usize;
        let opener = match bracket {
            b'}' => b'{',
            b')' => b'(',
            b']' => b'[',
            opening => {
                open.push((opening, at));
                continue;
            }
        };
        if let Some((_, start)) = open.pop_if(|(b, _)| *b == opener) {
            let end = start + trimmed(&text[start..at]);
            if text[start..end].contains('\n') {
                push(Span::new(start, end), FoldKind::Brackets);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open;

    /// First and last line of each fold.
    fn check(text: &str, limit: usize, expect: Expect) {
        let (analysis, file, _) = open(text);
        let folds = analysis.folding_ranges(file, limit).expect("nobody cancels");
        let shown: Vec<String> = folds
            .iter()
            .map(|f| {
                let (start, end) = (f.range.start, f.range.end);
                let first = text[..start].rfind('\n').map_or(0, |n| n + 1);
                let last = text[..end].rfind('\n').map_or(0, |n| n + 1);
                let line = |at: usize| text[at..].lines().next().unwrap_or_default().trim();
                format!("{:?}: {} … {}\n", f.kind, line(first), line(last))
            })
            .collect();
        expect.assert_eq(&shown.concat());
    }

    const TEXT: &str = "// one
// two

// alone
HloModule m, entry_computation_layout={(f32[2],
  f32[2])->f32[2]}

FileNames
1 \"a.py\"

FunctionNames
1 \"f\"
2 \"g\"

FileLocations

StackFrames

/* a
   b */
ENTRY e {
  c = f32[2] constant({
    1,
    2
  })
  d = f32[2] negate(c), metadata={op_name=\"{\" /* x */}
  ROOT r = f32[2] negate(d) // so
  // it is
}
";

    #[test]
    fn what_has_lines_can_be_folded() {
        check(
            TEXT,
            100,
            expect![[r#"
                Comment: // one … // two
                Header: HloModule m, entry_computation_layout={(f32[2], … StackFrames
                Brackets: HloModule m, entry_computation_layout={(f32[2], … f32[2])->f32[2]}
                Brackets: HloModule m, entry_computation_layout={(f32[2], … f32[2])->f32[2]}
                Header: FileNames … 1 "a.py"
                Header: FunctionNames … 2 "g"
                Comment: /* a … b */
                Computation: ENTRY e { … // it is
                Brackets: c = f32[2] constant({ … })
                Brackets: c = f32[2] constant({ … 2
                Comment: ROOT r = f32[2] negate(d) // so … // it is
            "#]],
        );
    }

    #[test]
    fn a_limit_leaves_the_computations() {
        check(
            TEXT,
            1,
            expect![[r#"
                Computation: ENTRY e { … // it is
            "#]],
        );
    }
}
