//! Maps in a text: `affine_map<…>`, `#xla.indexing_map<"…">`, and its older names.

use indexing_map::is_map_attribute;
use mlir::{TokenKind, tokens};
use syntax::Span;

/// A map in its textual form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MapText {
    /// From the first letter to the closing bracket.
    pub(super) span: Span,
    pub(super) kind: MapKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MapKind {
    Affine,
    Indexing,
}

/// Longer ops are not searched for maps, because they hold a payload.
const MAX_BYTES: usize = 256 << 10;

/// The maps between two offsets of a text, in order.
pub(super) fn map_texts(text: &str, within: Span) -> Vec<MapText> {
    if within.end.saturating_sub(within.start) as usize > MAX_BYTES {
        return Vec::new();
    }
    let (all, _) = tokens(text, within.start as usize, within.end as usize, false);
    let mut found = Vec::new();
    for (nth, token) in all.iter().enumerate() {
        let kind = match (token.kind, token.span.of(text)) {
            (TokenKind::Word, "affine_map") => MapKind::Affine,
            (TokenKind::AttributeName, name) if is_map_attribute(name) => MapKind::Indexing,
            _ => continue,
        };
        let mut depth = 0;
        let mut end = None;
        for token in &all[nth + 1..] {
            match token.kind {
                TokenKind::OpenAngle => depth += 1,
                TokenKind::CloseAngle if depth == 1 => end = Some(token.span.end),
                TokenKind::CloseAngle => depth -= 1,
                _ => {}
            }
            if end.is_some() || depth == 0 {
                break;
            }
        }
        if let Some(end) = end {
            found.push(MapText { span: Span { start: token.span.start, end }, kind });
        }
    }
    found
}

/// The text without white space: equal texts are equal maps.
pub(super) fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}
