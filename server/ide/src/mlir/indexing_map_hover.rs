//! The hover of a map: simplified, with the ranges of its results and a description in words. Handles
//! `#xla.indexing_map<"…">`, `affine_map<…>`, `affine_set<…>`, and aliases of them.

use indexing_map::{Expr, IndexingMap, Interval, PrintStyle, SimplifyMode, print_expr, print_map};
use mlir::{TokenKind, tokens};
use mlir_indexing::{Injectivity, injectivity, words};
use mlir_ops::{AffineSet, WrittenMap};
use syntax::Span;

use crate::file_context::FileContext;
use crate::mlir::map_text::map_text;
use crate::rich_text::{Line, RichText, parts, quoted};
use crate::{Hover, TextRange};

/// The largest size in bytes of a map that is parsed; longer ones do not fit a hover.
const MAX_BYTES: usize = 64 << 10;
/// The number of boxes examined to decide whether a set is empty.
const EMPTINESS_BUDGET: usize = 2000;

/// The hover of the map whose text contains `offset`.
pub(crate) fn indexing_map_hover(context: &FileContext<'_>, offset: usize) -> Option<Hover> {
    let at = context.op_at(offset)?;
    let read = context.mlir_piece(at.piece);
    let op = read.parse.op(at.id);
    let span = if op.head.is_empty() { op.span } else { op.head };
    let local = offset - context.view.starts[at.piece].offset;
    if !span.contains(local) {
        return None;
    }
    let span = near(&read.text, span, local)?;
    let written = maps_in(&read.text, span).into_iter().find(|span| span.contains(local))?;
    let range: TextRange = context.range(at.piece, written);
    Some(Hover { range, text: describe(written.of(&read.text))? })
}

/// The text near the cursor: an op's text may be a payload of megabytes. `None` if no map starts there.
fn near(text: &str, span: Span, local: usize) -> Option<Span> {
    let from = local.saturating_sub(MAX_BYTES).max(span.start as usize);
    let to = (local + MAX_BYTES).min(span.end as usize);
    let window = text.get(from..to).or_else(|| text.get(span.start as usize..span.end as usize))?;
    let heads = ["affine_map", "affine_set", "#xla"];
    let first = heads.iter().filter_map(|head| window.find(head)).min()?;
    let base = window.as_ptr() as usize - text.as_ptr() as usize;
    Some(Span::new(base + first, base + window.len()))
}

/// The spans of maps and sets in a part of a text.
fn maps_in(text: &str, within: Span) -> Vec<Span> {
    let (all, _) = tokens(text, within.start as usize, within.end as usize, false);
    let mut found = Vec::new();
    for (nth, token) in all.iter().enumerate() {
        let is_map = match token.kind {
            TokenKind::AttributeName => WrittenMap::is_name(token.span.of(text)),
            TokenKind::Word => matches!(token.span.of(text), "affine_map" | "affine_set"),
            _ => false,
        };
        if !is_map || all.get(nth + 1).is_none_or(|t| t.kind != TokenKind::OpenAngle) {
            continue;
        }
        let close = all[nth + 2..].iter().find(|t| t.kind == TokenKind::CloseAngle);
        if let Some(close) = close {
            found.push(Span { start: token.span.start, end: close.span.end });
        }
    }
    found
}

/// A map or a set in words; `None` for other attributes.
pub(crate) fn describe(written: &str) -> Option<RichText> {
    let written = written.trim();
    if written.len() > MAX_BYTES {
        return None;
    }
    let not_read =
        |what: &str, error: String| RichText::of_line(parts!["This ", what, " is not read: ", quoted(error)]);
    if written.starts_with("affine_set<") {
        return Some(match AffineSet::parse(written) {
            Ok(set) => of_set(&set),
            Err(error) => not_read("set", error.to_string()),
        });
    }
    if !written.split_once('<').is_some_and(|(name, _)| WrittenMap::is_name(name.trim_end())) {
        return None;
    }
    Some(match WrittenMap::parse(written) {
        Ok(WrittenMap::Affine(map)) => of_map(&map.unbounded(), true),
        Ok(WrittenMap::Indexing(map)) => of_map(&map, false),
        Err(error) => not_read("map", error.to_string()),
    })
}

/// `is_affine` for an affine map, which writes symbols in square brackets.
fn of_map(map: &IndexingMap, is_affine: bool) -> RichText {
    let shown = |map: &IndexingMap| match is_affine {
        true => map_text(map).replace('{', "[").replace('}', "]"),
        false => map_text(map),
    };
    let simple = map.clone().simplified(SimplifyMode::Replace);
    let mut text = RichText::default();
    text.map(&shown(&simple));
    if print_map(&simple, PrintStyle::Floordiv) != print_map(map, PrintStyle::Floordiv) {
        text.titled_map("simplified; as it is written:", &shown(map));
    }
    if simple.is_known_empty() || simple.prove_empty(EMPTINESS_BUDGET) == Some(true) {
        text.space();
        text.line("no point is in its domain");
        return text;
    }
    if !simple.is_mapped() {
        return text;
    }
    let ranges = simple.result_ranges();
    if !ranges.is_empty() && ranges.iter().any(|r| *r != Interval::ALL) {
        let ranges: Vec<_> = ranges.iter().map(|r| interval(*r)).collect();
        text.space();
        text.line(format!("results in {}", ranges.join(", ")));
    }
    let name = |e: &Expr| print_expr(e, &simple, PrintStyle::Floordiv);
    let mut said = words(&simple, &name);
    match injectivity(&simple) {
        Injectivity::Bijective => said.push("bijective".to_owned()),
        Injectivity::Injective => said.push("injective".to_owned()),
        Injectivity::Not => said.push("not injective".to_owned()),
        Injectivity::Unknown => {}
    }
    text.space();
    text.line(Line::facts(said));
    text
}

fn interval(i: Interval) -> String {
    match (i.lower, i.upper) {
        (i64::MIN, i64::MAX) => "all integers".to_owned(),
        (i64::MIN, u) => format!("[-∞, {u}]"),
        (l, i64::MAX) => format!("[{l}, ∞]"),
        (l, u) => format!("[{l}, {u}]"),
    }
}

/// The points that satisfy its constraints, with a bounding box if there is one.
fn of_set(set: &AffineSet) -> RichText {
    let map = set.unbounded();
    let simple = map.clone().simplified(SimplifyMode::Replace);
    let mut text = RichText::default();
    if simple.is_known_empty() || simple.prove_empty(EMPTINESS_BUDGET) == Some(true) {
        text.code("", "empty");
        text.space();
        text.line("no point is in it");
        return text;
    }
    text.map(&map_text(&simple));
    let bounded = simple.variables().iter().all(|v| v.bounds.upper != i64::MAX && v.bounds.lower != i64::MIN);
    if bounded
        && simple.box_size() <= 1 << 16
        && let Some(points) = simple.points(1 << 16)
    {
        text.space();
        text.line(format!("{} points", points.count()));
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open_mlir;

    fn check(text: &str, expect: Expect) {
        let (analysis, file, offset) = open_mlir(text);
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is a map");
        expect.assert_eq(&hover.markdown());
    }

    #[test]
    fn maps_are_shown_simplified() {
        check(
            "%0 = xla.apply_indexing #xla.indexing_map<\"(d0) -> (d0 mod 16),$0\"\n  \" domain: d0 in [0, 9]\">(%a)\n",
            expect![[r#"
                ```
                (d0) -> (d0)
                domain: d0 in [0, 9]
                ```
                simplified; as it is written:
                ```
                (d0) -> (d0 mod 16)
                domain: d0 in [0, 9]
                ```

                results in [0, 9]

                identity · bijective
            "#]],
        );
    }

    #[test]
    fn affine_maps_and_sets_are_told_in_words() {
        check(
            "x.y {m = affine_map<(d0, d1)$0[s0] -> (d1, d0 + s0 * 2 - s0)>}\n",
            expect![[r#"
                ```
                (d0, d1)[s0] -> (d1, d0 + s0)
                ```
                simplified; as it is written:
                ```
                (d0, d1)[s0] -> (d1, d0 + s0 * 2 - s0)
                ```

                starts further on: d0 + s0 · injective
            "#]],
        );
        check(
            "x.y {m = affine_map<(d0, d1, $0d2) -> (d2, d0)>}\n",
            expect![[r#"
            ```
            (d0, d1, d2) -> (d2, d0)
            ```

            transposes: order d2, d0 · the same for every d1, as a broadcast · not injective
        "#]],
        );
        check(
            "x.y {m = affine_set<(d0) : (d0 - 3 >= 0, $0-d0 + 9 >= 0, d0 mod 2 == 0)>}\n",
            expect![[r#"
            ```
            (d0) -> (d0)
            domain: d0 in [4, 8], d0 mod 2 in [0, 0]
            ```

            3 points
        "#]],
        );
        check(
            "x.y {m = affine_set<(d0) : (d0 - 3 >= 0, $0-d0 + 2 >= 0)>}\n",
            expect![[r#"
            ```
            empty
            ```

            no point is in it
        "#]],
        );
    }

    #[test]
    fn aliases_are_described() {
        check(
            "\
#map = affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>
func.func @f(%i: index) {
  %0:2 = x.y #m$0ap(%i)
}
",
            expect![[r#"
                ```mlir
                #map = affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>
                ```

                ```
                (d0) -> (d0 floordiv 4, d0 mod 4)
                ```

                results in all integers, [0, 3]

                splits and joins dimensions, as a reshape: d0 floordiv 4, d0 mod 4 · injective

                used once
            "#]],
        );
    }
}
