//! Folding ranges: bodies of computations, the module's header and its tables, brackets over several lines,
//! and comments.

use syntax::Span;

use crate::TextRange;
use crate::file_context::FileContext;
use crate::folding_ranges::{Foldable, FoldablePart};
use crate::hlo::Hlo;

const TABLES: [&str; 4] = ["FileNames", "FunctionNames", "FileLocations", "StackFrames"];

impl Foldable for Hlo {
    fn bodies(&self, context: &FileContext<'_>) -> Vec<TextRange> {
        let body = |computation: &ir::ModuleComputation| {
            let (first, last) = (*computation.segments.first()?, *computation.segments.last()?);
            let (head, tail) = (context.computation(first), context.computation(last));
            let block = context.block(first.piece);
            let end = match head.instructions.clone().next() {
                Some(id) => block.instruction(id).span.start,
                None => head.span.end,
            };
            let brace = Span { start: head.span.start, end }.of(&block.text).rfind('{')?;
            let end = context.range(last.piece, tail.span).end - usize::from(tail.is_closed);
            Some(context.range(first.piece, head.span).start + brace..end)
        };
        context.module().computations.iter().filter_map(body).collect()
    }

    fn headers_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<Span> {
        let block = context.block(piece);
        let Some(header) = &block.parse.header else { return Vec::new() };
        let mut spans = vec![header.span];
        // A table ends where the next one starts.
        let mut table = None;
        let mut at = header.span.start;
        for line in header.span.of(&block.text).split_inclusive('\n') {
            if TABLES.contains(&line.trim_end()) {
                spans.extend(table.replace(at).map(|start| Span { start, end: at }));
            }
            at += line.len() as u32;
        }
        spans.extend(table.map(|start| Span { start, end: header.span.end }));
        spans
    }

    /// The header and instructions over several lines, and what is between instructions.
    fn foldable_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<FoldablePart> {
        let block = context.block(piece);
        let header = block.parse.header.iter().map(|header| header.span);
        let instructions = block.parse.instructions.iter().filter(|i| !i.is_nested).map(|i| i.span);
        let mut taken: Vec<Span> = header.chain(instructions).collect();
        taken.sort_by_key(|span| (span.start, span.end));
        let mut parts = Vec::new();
        let mut at = 0;
        let text_end = block.text.len() as u32;
        for span in taken.into_iter().chain([Span { start: text_end, end: text_end }]) {
            let gap = Span { start: at, end: span.start.max(at) };
            if !gap.of(&block.text).trim().is_empty() {
                parts.push(FoldablePart { span: gap, has_brackets: false });
            }
            if span.start >= at && span.of(&block.text).contains('\n') {
                parts.push(FoldablePart { span, has_brackets: true });
            }
            at = at.max(span.end);
        }
        parts
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
