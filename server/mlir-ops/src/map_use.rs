//! Maps applied to arguments: `#map(%i, %j)[%n]`.

use std::rc::Rc;

use indexing_map::{Expr, IndexingMap, MapAttribute, is_map_attribute, parse_map};
use mlir::TokenKind;

use crate::affine_expr::NoAffineText;
use crate::affine_map::AffineMap;
use crate::op_text::OpText;

/// A map as written in an attribute.
#[derive(Debug, Clone, PartialEq)]
pub enum WrittenMap {
    Affine(AffineMap),
    /// `#xla.indexing_map<"…">`, `#xla_gpu.map<…>`, `#xla.symbolic_map<"…">`
    Indexing(IndexingMap),
}

impl WrittenMap {
    /// Parses `affine_map<…>` or one of XLA's maps. The error says what is wrong.
    pub fn parse(text: &str) -> Result<WrittenMap, NoAffineText> {
        let text = text.trim();
        let read = |map: &str| {
            parse_map(map).map(WrittenMap::Indexing).map_err(|e| NoAffineText::IndexingMap(e.message.into()))
        };
        if MapAttribute::read(text).is_some() {
            return read(text);
        }
        match text.strip_prefix("#xla.symbolic_map<") {
            Some(body) => read(&with_domain(&joined_strings(body))),
            None if text.starts_with("affine_map") => AffineMap::parse(text).map(WrittenMap::Affine),
            None => Err(NoAffineText::NoMap(text.into())),
        }
    }

    /// Whether [`WrittenMap::parse`] accepts attributes of this name: `affine_map`, `#xla.indexing_map`, ….
    pub fn is_name(name: &str) -> bool {
        matches!(name, "affine_map" | "#xla.symbolic_map") || is_map_attribute(name)
    }

    /// The numbers of dimensions and of arguments in the second brackets.
    pub fn arity(&self) -> (usize, usize) {
        match self {
            WrittenMap::Affine(map) => (map.dims.len(), map.symbols.len()),
            WrittenMap::Indexing(map) => (map.num_dims(), map.num_ranges()),
        }
    }

    pub fn result_count(&self) -> usize {
        match self {
            WrittenMap::Affine(map) => map.results.len(),
            WrittenMap::Indexing(map) => map.results().len(),
        }
    }

    /// The results with the variables replaced.
    pub fn apply(&self, dims: &[Expr], symbols: &[Expr]) -> Option<Vec<Expr>> {
        if self.arity() != (dims.len(), symbols.len()) {
            return None;
        }
        match self {
            WrittenMap::Affine(map) => map.apply(dims, symbols),
            WrittenMap::Indexing(map) => {
                if !map.is_mapped() || map.num_runtime() > 0 {
                    return None;
                }
                let replace = |v: u32| {
                    let v = v as usize;
                    dims.get(v).or_else(|| symbols.get(v.checked_sub(dims.len())?)).cloned()
                };
                Some(map.results().iter().map(|r| r.substitute(&mut { replace })).collect())
            }
        }
    }
}

/// Adds an unbounded domain to a map that has none.
fn with_domain(text: &str) -> String {
    let head = text.split("->").next().unwrap_or_default();
    let names = head.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|name| !name.is_empty());
    let bounds: Vec<String> = names.map(|name| format!("{name} in [{}, {}]", i64::MIN, i64::MAX)).collect();
    match bounds.is_empty() || text.contains("domain:") {
        true => text.to_owned(),
        false => format!("{text}, domain: {}", bounds.join(", ")),
    }
}

/// The contents of `"a" "b">`, concatenated.
fn joined_strings(body: &str) -> String {
    let mut joined = String::new();
    for (nth, part) in body.split('"').enumerate() {
        if nth % 2 == 1 {
            joined += part;
        }
    }
    joined
}

/// A map, and the argument lists after it.
pub struct MapUse {
    pub map: Rc<WrittenMap>,
    /// The token at which it starts.
    pub start: usize,
    /// The tokens between `(` and `)`; empty if there are none.
    pub dims: std::ops::Range<usize>,
    pub symbols: std::ops::Range<usize>,
    /// The token after all of it.
    pub end: usize,
}

/// The map at a token, with its arguments; `None` if there is no map.
pub fn map_use(text: &OpText<'_>, at: usize) -> Option<Result<MapUse, NoAffineText>> {
    let word = text.word(at);
    let is_map = match text.kind(at)? {
        TokenKind::Word => word == "affine_map",
        TokenKind::AttributeName => true,
        _ => false,
    };
    if !is_map {
        return None;
    }
    let has_body = text.kind(at + 1) == Some(TokenKind::OpenAngle);
    let behind = if has_body { text.behind(at + 1) } else { at + 1 };
    let start = text.tokens[at].span.start;
    let map = match text.source.written_map(text.text_of(at..behind.min(text.tokens.len())), start) {
        Ok(map) => map,
        Err(error) => return Some(Err(error)),
    };
    let mut end = behind;
    let mut list = |open: TokenKind| {
        if text.kind(end) == Some(open) {
            let inside = text.inside(end);
            end = text.behind(end);
            inside
        } else {
            0..0
        }
    };
    let dims = list(TokenKind::OpenParen);
    let symbols = list(TokenKind::OpenSquare);
    Some(Ok(MapUse { map, start: at, dims, symbols, end }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_of_older_xla_are_read() {
        let today = WrittenMap::parse(
            "#xla.indexing_map<\"(a)[s0] -> (a * 2 + s0), domain: a in [0, 9], s0 in [0, 3]\">",
        );
        for older in [
            "#xla_gpu.indexing_map<(a)[s0] -> (a * 2 + s0),\n  domain:\n  a in [0, 9],\n  s0 in [0, 3],\n  is_simplified: true\n>",
            "#xla_gpu.indexing_map<\"(a)[s0] -> (a * 2 + s0), domain: a in [0, 9], s0 in [0, 3], is_simplified: false\">",
            "#xla_gpu.map<(a)[s0] -> (a * 2 + s0)\n domain: a in [0, 9], s0 in [0, 3]>",
        ] {
            assert_eq!(WrittenMap::parse(older), today, "{older}");
        }
        assert!(WrittenMap::parse("#xla_gpu.map<(a) -> (a)>").is_err());
    }

    #[test]
    fn maps_of_all_kinds_are_read() {
        let check = |text: &str, arity: (usize, usize), expect: &[i64]| {
            let map = WrittenMap::parse(text).expect("it is a map");
            assert_eq!(map.arity(), arity, "{text}");
            let dims: Vec<Expr> = (0..arity.0).map(|k| Expr::Const(k as i64 + 7)).collect();
            let symbols: Vec<Expr> = (0..arity.1).map(|k| Expr::Const(k as i64 + 3)).collect();
            let values: Vec<_> =
                map.apply(&dims, &symbols).expect("as many").iter().map(|e| e.as_const()).collect();
            assert_eq!(values, expect.iter().map(|&v| Some(v)).collect::<Vec<_>>(), "{text}");
            assert_eq!(map.apply(&dims[1..], &symbols), None);
        };
        check("affine_map<(i, j)[n] -> (j * n, i floordiv 2)>", (2, 1), &[24, 3]);
        check(
            "#xla.indexing_map<\"(a)[s0] -> (a + s0),\" \" domain: a in [0, 9], s0 in [0, 3]\">",
            (1, 1),
            &[10],
        );
        check("#xla.symbolic_map<\"(a, b)[s0] -> (max(a, b) floorDiv s0)\">", (2, 1), &[2]);
        assert!(WrittenMap::parse("#other.map<\"(a) -> (a)\">").is_err());
    }
}
