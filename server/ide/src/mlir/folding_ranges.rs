//! Folding ranges: regions, brackets over several lines, comments, runs of aliases, and parts between `//
//! -----`.

use mlir::Form;
use syntax::Span;

use crate::TextRange;
use crate::file_context::FileContext;
use crate::folding_ranges::{Foldable, FoldablePart};
use crate::mlir::Mlir;

impl Foldable for Mlir {
    fn bodies(&self, context: &FileContext<'_>) -> Vec<TextRange> {
        let mut bodies = Vec::new();
        // Braces that are closed in a later piece.
        let mut open: Vec<usize> = Vec::new();
        for piece in 0..context.pieces() {
            crate::analysis::check_cancelled(context.db);
            let parse = &context.mlir_piece(piece).parse;
            for closing in &parse.closed_above {
                let end = context.range(piece, closing.span).start;
                bodies.extend(open.pop().map(|start| start..end));
            }
            if let Some(split) = parse.splits.first() {
                let end = context.view.starts[piece].offset + *split as usize;
                bodies.extend(open.drain(..).map(|start| start..end));
            }
            for (id, region) in parse.regions.iter().enumerate().skip(parse.continued as usize) {
                let range = context.range(piece, region.span);
                if parse.open_below.contains(&(id as u32)) {
                    open.push(range.start);
                } else {
                    bodies.push(range.start..range.end - usize::from(region.is_closed));
                }
            }
        }
        let end = context.view.text.len_bytes();
        bodies.extend(open.into_iter().map(|start| start..end));
        bodies
    }

    /// Consecutive lines `#loc1 = …`: there are hundreds at the end of a dump with locations.
    fn headers_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<Span> {
        let read = context.mlir_piece(piece);
        let mut runs: Vec<Span> = Vec::new();
        let mut run: Option<Span> = None;
        for id in read.parse.top_ops() {
            let op = read.parse.op(id);
            let goes_on = |run: &Span| lines_between(&read.text, run.end, op.span.start) <= 1;
            run = match run.filter(|run| op.form == Form::Alias && goes_on(run)) {
                Some(run) => Some(Span { end: op.span.end, ..run }),
                None => {
                    runs.extend(run);
                    (op.form == Form::Alias).then_some(op.span)
                }
            };
        }
        runs.extend(run);
        runs
    }

    fn foldable_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<FoldablePart> {
        vec![FoldablePart { span: Span::new(0, context.mlir_piece(piece).text.len()), has_brackets: true }]
    }
}

fn lines_between(text: &str, from: u32, to: u32) -> usize {
    let between = text.as_bytes().get(from as usize..to as usize);
    between.map_or(0, |gap| gap.iter().filter(|&&b| b == b'\n').count())
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
            "\
// one
// two
#a = 1
#b = 2
module {
  func.func @f(%a: f32,
      %b: f32) {
    x.y {a = 1,
      b = 2} // three
             // four
    return
  }
}
",
            expect![[r#"
                Comment: // one … // two
                Header: #a = 1 … #b = 2
                Computation: module { … }
                Brackets: func.func @f(%a: f32, … %b: f32) {
                Computation: %b: f32) { … return
                Brackets: x.y {a = 1, … b = 2} // three
                Comment: b = 2} // three … // four
            "#]],
        );
    }
}
