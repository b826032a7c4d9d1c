//! `#xla.indexing_map<"…">` under the cursor, simplified, with what its results can be.

use indexing_map::{IndexingMap, PrintStyle, SimplifyMode, parse_map, print_map, wrap};
use mlir::{TokenKind, tokens};
use syntax::Span;

use crate::locate::FileContext;
use crate::markdown::fence;
use crate::{Hover, TextRange};

/// Columns of a map before it is broken at a comma: popups are narrow.
const MAP_WIDTH: usize = 72;
/// Letters of a map that are read: one that is longer is not for a popup.
const MAX_BYTES: usize = 64 << 10;

/// The map in whose text `offset` stands.
pub(crate) fn indexing_map_hover(context: &FileContext<'_>, offset: usize) -> Option<Hover> {
    let at = context.op_at(offset)?;
    let read = context.mlir_piece(at.piece);
    let op = read.parse.op(at.id);
    let span = if op.head.is_empty() { op.span } else { op.head };
    let local = offset - context.view.starts[at.piece].offset;
    let (written, found) = maps_in(&read.text, span).into_iter().find(|(span, _)| span.contains(local))?;
    let range: TextRange = context.range(at.piece, written);
    Some(Hover { range, markdown: describe(&found) })
}

/// The maps in the text of an op: the span of each, and its strings joined.
fn maps_in(text: &str, within: Span) -> Vec<(Span, String)> {
    let (all, _) = tokens(text, within.start as usize, within.end as usize, false);
    let mut found = Vec::new();
    for (nth, token) in all.iter().enumerate() {
        let is_map = token.kind == TokenKind::AttributeName && token.span.of(text) == "#xla.indexing_map";
        if !is_map || all.get(nth + 1).is_none_or(|t| t.kind != TokenKind::OpenAngle) {
            continue;
        }
        let strings = all[nth + 2..].iter().take_while(|t| t.kind == TokenKind::String);
        let mut map = String::new();
        let mut end = all[nth + 1].span.end;
        for string in strings {
            map += string.span.of(text).trim_matches('"');
            end = string.span.end;
        }
        if map.len() <= MAX_BYTES {
            found.push((Span { start: token.span.start, end: end + 1 }, map));
        }
    }
    found
}

/// The map of an alias or an attribute, in words.
fn describe(text: &str) -> String {
    // Older dumps say at the end whether the map is simplified.
    let text = text.split(", is_simplified:").next().unwrap_or(text);
    let map = match parse_map(text) {
        Ok(map) => map,
        Err(error) => return format!("This map is not read: {}\n", error.message),
    };
    let simple = map.clone().simplified(SimplifyMode::Replace);
    let mut markdown = shown(&simple);
    if print_map(&simple, PrintStyle::Floordiv) != print_map(&map, PrintStyle::Floordiv) {
        markdown += "simplified; as it is written:\n";
        markdown += &shown(&map);
    }
    if simple.is_known_empty() {
        markdown += "\nno point is in its domain\n";
    } else if simple.is_mapped() && !simple.results().is_empty() {
        let ranges: Vec<_> =
            simple.result_ranges().iter().map(|r| format!("[{}, {}]", r.lower, r.upper)).collect();
        markdown += &format!("\nresults in {}\n", ranges.join(", "));
    }
    markdown
}

fn shown(map: &IndexingMap) -> String {
    let text = print_map(map, PrintStyle::Floordiv);
    match text.split_once(", domain: ") {
        Some((map, domain)) => {
            let domain = format!("domain: {domain}");
            fence("", &format!("{}\n{}", wrap(map, MAP_WIDTH), wrap(&domain, MAP_WIDTH)))
        }
        None => fence("", &wrap(&text, MAP_WIDTH)),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::fixture::open_mlir;

    #[test]
    fn maps_are_shown_simplified() {
        let (analysis, file, offset) = open_mlir(
            "%0 = xla.apply_indexing #xla.indexing_map<\"(d0) -> (d0 mod 16),$0\"\n  \" domain: d0 in [0, 9]\">(%a)\n",
        );
        let hover = analysis.hover(file, offset).expect("nobody cancels").expect("there is a map");
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
        "#]]
        .assert_eq(&hover.markdown);
    }
}
