//! The framework name and the stack of an op, from its `loc(…)`, and links to files in locations.

use memchr::memmem;
use syntax::Span;

use crate::TextRange;
use crate::document_links::{DocumentLink, KnownLocations, SourceFiles};
use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::mlir::context::OpRef;
use crate::source_location::{SourceFrame, SourceLocation};

/// The largest number of bytes of a path in a link.
const PATH_LIMIT: usize = 1024;

pub(crate) fn source_location(context: &FileContext<'_>, at: OpRef) -> SourceLocation {
    // The location follows the regions.
    let at = context.last_of(at).unwrap_or(at);
    let read = context.mlir_piece(at.piece);
    let span = read.parse.op(at.id).location;
    let part = context.part_at(at.piece, span.start);
    mlir::source_place(span.of(&read.text), &|name| alias(context, part, name)).into()
}

impl From<mlir::SourcePlace> for SourceLocation {
    fn from(place: mlir::SourcePlace) -> SourceLocation {
        let frame = |frame: mlir::SourceFrame| SourceFrame {
            function: frame.function,
            path: frame.file,
            line: u32::try_from(frame.line).ok().filter(|line| *line > 0),
        };
        SourceLocation {
            op_name: Some(place.name).filter(|name| !name.is_empty()),
            frames: place.frames.into_iter().map(frame).collect(),
            problem: None,
        }
    }
}

/// The stack of the op whose name or location is at `offset`.
pub(crate) fn frames_at(context: &FileContext<'_>, offset: usize) -> Option<(TextRange, Vec<SourceFrame>)> {
    let at = context.op_at(offset)?;
    let op = context.mlir_piece(at.piece).parse.op(at.id);
    let local = offset.checked_sub(context.range(at.piece, Span::default()).start)?;
    let origin = [op.name, op.location].into_iter().find(|span| span.contains(local))?;
    Some((context.range(at.piece, origin), source_location(context, at).frames))
}

/// The value of an alias in a part of the file.
fn alias(context: &FileContext<'_>, part: usize, name: &str) -> Option<String> {
    context.mlir_module().alias(part, name).iter().find_map(|&piece| {
        let read = context.mlir_piece(piece);
        let mut aliases = read.parse.aliases.iter().filter(|a| a.is_definition);
        let found = aliases
            .find(|a| a.span.of(&read.text) == name && context.part_at(piece, a.span.start) == part)?;
        let (_, value) = read.parse.op(found.op).span.of(&read.text).split_once('=')?;
        Some(value.trim().to_owned())
    })
}

impl SourceFiles for Mlir {
    /// Each `"path":line:column`.
    fn links_in(&self, context: &FileContext<'_>, piece: usize, _: &mut KnownLocations) -> Vec<DocumentLink> {
        let text = &context.mlir_piece(piece).text;
        let link = |quote: usize| {
            let (start, line) = file_and_line(text, quote)?;
            let range = context.range(piece, Span::new(start, quote));
            Some(DocumentLink { range, path: text[start..quote].to_owned(), line: Some(line) })
        };
        memmem::find_iter(text.as_bytes(), b"\":").filter_map(link).collect()
    }
}

/// The start of the path whose closing quote is at `quote`, and the line number after it.
fn file_and_line(text: &str, quote: usize) -> Option<(usize, u32)> {
    let behind = &text[quote + 2..];
    let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let column = behind[digits..].strip_prefix(':')?;
    column.starts_with(|c: char| c.is_ascii_digit()).then_some(())?;
    let line = behind[..digits].parse().ok()?;
    let floor = text.floor_char_boundary(quote.saturating_sub(PATH_LIMIT));
    let start = floor + text[floor..quote].rfind(['"', '\n'])? + 1;
    let is_path = text.as_bytes()[start - 1] == b'"' && start < quote && !text[start..quote].contains('\\');
    is_path.then_some((start, line))
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open_mlir;

    const TEXT: &str = "#loc1 = loc(\"/src/a.py\":3:4)
func.func @f(%a: f32 loc(\"x\")) {
  %0 = x.$0y %a {s = \"not\": i1} : f32 loc(\"jit(f)/add\"(#loc1))
  %1 = x.y %a : f32 loc(#loc2)
  %2 = x.y %a : f32 loc(\"models/ü.py\":12:1)
  %3 = x.y %a : f32 loc(\"jit(f)/sub\"(callsite(\"g\"(#loc1) at callsite(\"h\"(\"/src/a.py\":9:1) at \"/src/b.py\":1:1))))
}
#loc2 = loc(fused[\"p\", \"q\"(#loc1)])
";

    fn hover(offset: usize) -> String {
        let (analysis, file, _) = open_mlir(TEXT);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("an op").markdown();
        hover.lines().last().unwrap_or_default().to_owned()
    }

    #[test]
    fn ops_tell_where_they_come_from() {
        let text = TEXT.replace("$0", "");
        let at = |n: usize| text.match_indices("x.y").nth(n).expect("it is there").0;
        assert_eq!(hover(at(0)), "`jit(f)/add` · [a.py:3](file:///src/a.py#L3)");
        assert_eq!(hover(at(1)), "`p;q` · [a.py:3](file:///src/a.py#L3)");
        assert_eq!(hover(at(2)), "`models/ü.py:12`");
        let (analysis, file, _) = open_mlir(TEXT);
        let hover = analysis.hover(file, at(3)).expect("nobody cancels").expect("an op").markdown();
        let (_, stack) = hover.rsplit_once("---\n").expect("a footer");
        expect![[r#"
            `jit(f)/sub` · [a.py:3](file:///src/a.py#L3)

            called from
            - [a.py:9](file:///src/a.py#L9) in `h`
            - [b.py:1](file:///src/b.py#L1)
        "#]]
        .assert_eq(stack);
        let (origin, frames) = analysis.source_frames(file, at(3)).expect("nobody cancels").expect("a stack");
        assert_eq!(&text[origin], "x.y");
        let frames: Vec<_> =
            frames.iter().map(|f| format!("{} {}:{:?}", f.function, f.path, f.line)).collect();
        assert_eq!(frames, ["g /src/a.py:Some(3)", "h /src/a.py:Some(9)", " /src/b.py:Some(1)"]);
    }

    #[test]
    fn paths_are_links() {
        let check = |limit: usize, expect: Expect| {
            let (analysis, file, _) = open_mlir(TEXT);
            let links = analysis.document_links(file, limit).expect("nobody cancels");
            let text = TEXT.replace("$0", "");
            let shown =
                links.iter().map(|l| format!("{} -> {} {:?}\n", &text[l.range.clone()], l.path, l.line));
            expect.assert_eq(&shown.collect::<String>());
        };
        check(
            10,
            expect![[r#"
                /src/a.py -> /src/a.py Some(3)
                models/ü.py -> models/ü.py Some(12)
                /src/a.py -> /src/a.py Some(9)
                /src/b.py -> /src/b.py Some(1)
            "#]],
        );
        check(
            1,
            expect![[r#"
            /src/a.py -> /src/a.py Some(3)
        "#]],
        );
    }
}
