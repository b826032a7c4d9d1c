//! Folding ranges: regions, brackets over several lines, comments, runs of aliases, and parts between `//
//! -----`.

use mlir::{Form, TokenKind, tokens};
use syntax::Span;

use crate::TextRange;
use crate::file_context::FileContext;
use crate::folding_ranges::{Fold, FoldKind};

/// The folds of regions, then the others until there are `limit`.
pub(crate) fn folds(context: &FileContext<'_>, limit: usize) -> Vec<Fold> {
    let mut folds = Vec::new();
    // Braces that are closed in a later piece.
    let mut open: Vec<usize> = Vec::new();
    for piece in 0..context.pieces() {
        crate::analysis::check_cancelled(context.db);
        let read = context.mlir_piece(piece);
        for closing in &read.parse.closed_above {
            if let Some(start) = open.pop() {
                let end = context.range(piece, closing.span).start;
                push(context, start..end, FoldKind::Computation, &mut folds);
            }
        }
        if let Some(split) = read.parse.splits.first() {
            let end = context.view.starts[piece].offset + *split as usize;
            for start in open.drain(..) {
                push(context, start..end, FoldKind::Computation, &mut folds);
            }
        }
        for (id, region) in read.parse.regions.iter().enumerate().skip(read.parse.continued as usize) {
            let range = context.range(piece, region.span);
            if read.parse.open_below.contains(&(id as u32)) {
                open.push(range.start);
            } else if folds.len() < limit {
                let end = range.end - usize::from(region.is_closed);
                push(context, range.start..end, FoldKind::Computation, &mut folds);
            }
        }
    }
    let end = context.view.rope.len_bytes();
    for start in open {
        push(context, start..end, FoldKind::Computation, &mut folds);
    }
    for piece in 0..context.pieces() {
        if folds.len() >= limit {
            break;
        }
        crate::analysis::check_cancelled(context.db);
        inside_piece(context, piece, &mut folds);
    }
    folds
}

/// Blanks before a closing bracket stay visible; a range on one line is no fold.
fn push(context: &FileContext<'_>, range: TextRange, kind: FoldKind, folds: &mut Vec<Fold>) {
    let rope = &context.view.rope;
    let end = range.end.min(rope.len_bytes());
    if range.start >= end {
        return;
    }
    let (first, mut last) = (rope.byte_to_line(range.start), rope.byte_to_line(end));
    let mut end = end;
    // Skip blanks backwards: a closing bracket on a line of its own stays visible.
    while last > first {
        let start = rope.line_to_byte(last);
        if rope.byte_slice(start..end).chars().any(|c| !c.is_whitespace()) {
            break;
        }
        end = start;
        last -= 1;
        if end > range.start {
            end -= 1;
        }
    }
    if last > first {
        folds.push(Fold { range: range.start..end, kind });
    }
}

fn inside_piece(context: &FileContext<'_>, piece: usize, folds: &mut Vec<Fold>) {
    let read = context.mlir_piece(piece);
    let text = &*read.text;
    let (all, _) = tokens(text, 0, text.len(), true);
    let mut brackets: Vec<(TokenKind, Span)> = Vec::new();
    let mut comments: Option<Span> = None;
    for token in &all {
        if token.kind == TokenKind::Comment && token.is_first {
            let goes_on = |run: &Span| lines_between(text, run.end, token.span.start) <= 1;
            comments = match comments.filter(goes_on) {
                Some(run) => Some(Span { end: token.span.end, ..run }),
                None => {
                    end_run(context, piece, comments, folds);
                    Some(token.span)
                }
            };
            continue;
        }
        let opener = match token.kind {
            TokenKind::OpenParen | TokenKind::OpenSquare | TokenKind::OpenAngle | TokenKind::OpenBrace => {
                brackets.push((token.kind, token.span));
                continue;
            }
            TokenKind::CloseParen => TokenKind::OpenParen,
            TokenKind::CloseSquare => TokenKind::OpenSquare,
            TokenKind::CloseAngle => TokenKind::OpenAngle,
            TokenKind::CloseBrace => TokenKind::OpenBrace,
            TokenKind::Split => {
                brackets.clear();
                continue;
            }
            _ => continue,
        };
        if let Some((_, open)) = brackets.pop_if(|(kind, _)| *kind == opener) {
            let range = context.range(piece, Span { start: open.start, end: token.span.start });
            push(context, range, FoldKind::Brackets, folds);
        }
    }
    end_run(context, piece, comments, folds);
    aliases(context, piece, folds);
}

fn lines_between(text: &str, from: u32, to: u32) -> usize {
    text.as_bytes()
        .get(from as usize..to as usize)
        .map_or(0, |gap| gap.iter().filter(|&&b| b == b'\n').count())
}

fn end_run(context: &FileContext<'_>, piece: usize, run: Option<Span>, folds: &mut Vec<Fold>) {
    if let Some(run) = run {
        push(context, context.range(piece, run), FoldKind::Comment, folds);
    }
}

/// Consecutive lines `#loc1 = …`: there are hundreds at the end of a dump with locations.
fn aliases(context: &FileContext<'_>, piece: usize, folds: &mut Vec<Fold>) {
    let read = context.mlir_piece(piece);
    let mut run: Option<Span> = None;
    for id in read.parse.top_ops() {
        let op = read.parse.op(id);
        let goes_on = |run: &Span| lines_between(&read.text, run.end, op.span.start) <= 1;
        run = match run.filter(|run| op.form == Form::Alias && goes_on(run)) {
            Some(run) => Some(Span { end: op.span.end, ..run }),
            None => {
                if let Some(run) = run {
                    push(context, context.range(piece, run), FoldKind::Header, folds);
                }
                (op.form == Form::Alias).then_some(op.span)
            }
        };
    }
    if let Some(run) = run {
        push(context, context.range(piece, run), FoldKind::Header, folds);
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open_mlir;

    /// First and last line of each fold.
    fn check(text: &str, expect: Expect) {
        let (analysis, file, _) = open_mlir(text);
        let folds = analysis.folding_ranges(file, 100).expect("nobody cancels");
        let line = |at: usize| {
            let start = text[..at].rfind('\n').map_or(0, |n| n + 1);
            text[start..].lines().next().unwrap_or_default().trim()
        };
        let shown: Vec<String> = folds
            .iter()
            .map(|f| format!("{:?}: {} … {}\n", f.kind, line(f.range.start), line(f.range.end)))
            .collect();
        expect.assert_eq(&shown.concat());
    }

    #[test]
    fn regions_brackets_comments_and_aliases() {
        check(
            "// one\n// two\n#a = 1\n#b = 2\nmodule {\n  func.func @f(%a: f32,\n      %b: f32) {\n    x.y {a = 1,\n      b = 2}\n    return\n  }\n}\n",
            expect![[r#"
                Comment: // one … // two
                Header: #a = 1 … #b = 2
                Computation: module { … }
                Brackets: func.func @f(%a: f32, … %b: f32) {
                Computation: %b: f32) { … return
                Brackets: x.y {a = 1, … b = 2}
            "#]],
        );
    }
}
